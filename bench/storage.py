# SPDX-License-Identifier: Apache-2.0
"""Storage systems that really differ, made for a while: tmpfs, an ext4 whose writes are synchronous
on the disk, the same with a limited rate, a file system whose requests are delayed.

Each is a context manager: the mounted directory; Missing says why there is none on this machine.
"""
import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import time

LOOP_BYTES = 512 << 20
PIECE = os.urandom(1 << 20)  # of what a disk holds at first
BLKIO = "/sys/fs/cgroup/blkio"
TMPFS_SIZE = "size=2g"
MKFS = "lazy_itable_init=0,lazy_journal_init=0,nodiscard"  # a discard would make holes in the image
RATE = 20 << 20  # bytes a second
DELAY_US = 2000


class Missing(Exception):
    pass


def command(*args):
    try:
        done = subprocess.run(args, check=False, capture_output=True, text=True)
    except FileNotFoundError as error:
        raise Missing(f"{args[0]} is not installed") from error
    if done.returncode != 0:
        raise Missing(f"{args[0]}: {done.stderr.strip() or done.returncode}")
    return done.stdout.strip()


def isolate():
    """Go on in a mount namespace of this program's own, if it may have one: its mounts end with it. And end
    in order where a signal asks for it."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    if "WHYIO_BENCH_ISOLATED" in os.environ:
        return
    os.environ["WHYIO_BENCH_ISOLATED"] = "1"
    unshare = ["unshare", "--mount", "--propagation", "private"]
    if subprocess.run([*unshare, "true"], check=False, stderr=subprocess.DEVNULL).returncode == 0:
        sys.stdout.flush()
        os.execvp(unshare[0], [*unshare, sys.executable, *sys.argv])


def unmount(directory):
    """At once, or when the last who uses it has ended."""
    subprocess.run(["umount", "--lazy", directory], check=False)


@contextlib.contextmanager
def mounted(directory, *args):
    os.makedirs(directory, exist_ok=True)
    command("mount", *args, directory)
    try:
        yield directory
    finally:
        unmount(directory)


@contextlib.contextmanager
def tmpfs(scratch):
    with mounted(os.path.join(scratch, "tmpfs"), "-t", "tmpfs", "-o", TMPFS_SIZE,
                 "whyio") as directory:
        yield directory


LOOP_CONTROL = "/dev/loop-control"
LOOP_CTL_ADD, LOOP_CTL_REMOVE, LOOP_CTL_GET_FREE = 0x4C80, 0x4C81, 0x4C82


def fresh_loop(image):
    """The image as a loop device that was made anew: the kernel remembers how fast the one of this number
    was that somebody used before (docs/MODEL.md, the start state), and forgets it only with the device."""
    for _ in range(10):  # somebody else may take it
        try:
            with open(LOOP_CONTROL, "rb") as control:
                number = fcntl.ioctl(control, LOOP_CTL_GET_FREE)
                fcntl.ioctl(control, LOOP_CTL_REMOVE, number)
                fcntl.ioctl(control, LOOP_CTL_ADD, number)
            device = f"/dev/loop{number}"
            command("losetup", "--direct-io=on", device, image)
            return device
        except OSError as error:
            reason = Missing(f"{LOOP_CONTROL}: {error.strerror}")
        except Missing as error:
            reason = error
    raise reason


def make_image(path, size):
    """Small ones are written, not only allocated: the first write to a block that never was costs the file
    system below a commit of its own, so whoever comes first would be slower."""
    with open(path, "wb") as file:
        os.posix_fallocate(file.fileno(), 0, size)
        for at in range(0, size if size <= LOOP_BYTES else 0, len(PIECE)):
            file.write(PIECE[:size - at])
        file.flush()
        os.fsync(file.fileno())


@contextlib.contextmanager
def ext4(scratch, name, size, *options):
    """(device, directory): a file system on a loop device. Nothing of it outlives its mount, however this
    program ends: the device is detached and its file removed already."""
    image, directory = (os.path.join(scratch, name + end) for end in (".image", ""))
    try:
        make_image(image, size)
        command("mkfs.ext4", "-q", "-F", "-E", MKFS, image)
        device = fresh_loop(image)
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(mounted(directory, *options, device))
            finally:
                command("losetup", "--detach", device)  # when its mount is gone
            yield device, directory
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(image)


@contextlib.contextmanager
def sync_disk(scratch):
    """Every write reaches the disk before it returns."""
    with ext4(scratch, "disk", LOOP_BYTES, "-o", "sync") as (_, directory):
        yield directory


def set_rate(device, rate):
    numbers = os.stat(device).st_rdev
    for what in ("read", "write"):
        path = f"{BLKIO}/blkio.throttle.{what}_bps_device"
        try:
            with open(path, "w", encoding="ascii") as file:
                file.write(f"{os.major(numbers)}:{os.minor(numbers)} {rate}\n")
        except OSError as error:
            raise Missing(f"{path}: {error.strerror}") from error


@contextlib.contextmanager
def rate_limited(scratch, name, rate, size, *mount_options):
    """ext4 on a loop device at a limited rate, bytes a second."""
    with ext4(scratch, name, size, *mount_options) as (device, directory):
        set_rate(device, rate)
        try:
            yield directory
        finally:
            set_rate(device, 0)


MEMORY_GROUPS = "/sys/fs/cgroup/memory"  # of version 1


@contextlib.contextmanager
def memory_group(limit):
    """(command prefix, version): what is run behind it is in a memory group that may have so many bytes."""
    place = os.path.join(MEMORY_GROUPS, f"whyio-bench-{os.getpid()}")
    version = 1
    if not os.path.exists(os.path.join(MEMORY_GROUPS, "memory.limit_in_bytes")):
        place, version = f"/sys/fs/cgroup/whyio-bench-{os.getpid()}", 2
    try:
        os.mkdir(place)
    except OSError as error:
        raise Missing(f"{place}: {error.strerror}") from error
    try:
        name = "memory.limit_in_bytes" if version == 1 else "memory.max"
        with open(os.path.join(place, name), "w", encoding="ascii") as file:
            file.write(str(limit))
        yield ["sh", "-c", 'echo $$ >"$0/cgroup.procs" && exec "$@"', place], version
    except OSError as error:
        raise Missing(f"{error.filename}: {error.strerror}") from error
    finally:
        for _ in range(100):  # its pages may have to be written before it is gone
            with contextlib.suppress(OSError):
                os.rmdir(place)
                break
            time.sleep(0.05)


def limited(scratch):
    """The same at a limited rate."""
    return rate_limited(scratch, "limited", RATE, LOOP_BYTES, "-o", "sync")


@contextlib.contextmanager
def delayed(scratch):
    """Each request waits, several side by side; nothing is cached."""
    program = os.path.join(os.environ["WHYIO_BENCH"], "slowfs")
    if not os.path.exists(program):
        raise Missing("built without libfuse3")
    if not os.path.exists("/dev/fuse"):
        raise Missing("no /dev/fuse")
    behind, directory = os.path.join(scratch, "behind"), os.path.join(scratch, "delayed")
    os.makedirs(directory)
    with mounted(behind, "-t", "tmpfs", "-o", TMPFS_SIZE, "whyio"), \
            subprocess.Popen(["setpriv", "--pdeathsig=TERM", program, behind, str(DELAY_US),
                              directory]) as server:
        try:
            for _ in range(500):
                if os.path.ismount(directory) or server.poll() is not None:
                    break
                time.sleep(0.01)
            if not os.path.ismount(directory):
                raise Missing("FUSE cannot be mounted")
            yield directory
        finally:
            unmount(directory)
            server.terminate()


SYSTEMS = {"tmpfs": tmpfs, "sync": sync_disk, "limited": limited, "delayed": delayed}
TEXTS = {
    "tmpfs": "memory",
    "sync": "ext4 on a loop device of the disk, mounted with `-o sync`",
    "limited": f"the same, limited to {RATE >> 20} MiB a second",
    "delayed": f"FUSE, {DELAY_US / 1000:g} ms for each read, write and sync, nothing cached, on memory",
}
