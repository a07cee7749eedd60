# SPDX-License-Identifier: Apache-2.0
"""A disk that fails when it is told to, or is slow: nbdkit's filters, a loop device on it by nbdfuse, and ext4.
Missing says why there can be none."""
import contextlib
import os
import shutil
import subprocess
import time

MEGABYTES = 256
WAIT = 30


class Missing(Exception):
    pass


def run(*words, ok=(0,)):
    try:
        done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=WAIT)
    except FileNotFoundError as error:
        raise Missing(f"{words[0]} is not installed") from error
    if done.returncode not in ok:
        raise Missing(f"{' '.join(words)}: {done.stderr.strip()}")
    return done.stdout.strip()


def wait_for(path, process):
    end = time.monotonic() + WAIT
    while not os.path.exists(path):
        if process.poll() is not None or time.monotonic() > end:
            raise Missing(f"{process.args[0]} does not begin")
        time.sleep(0.01)


class Disk:
    """`mount` is its file system. What is written while `fail("writes")` holds is lost, with EIO."""

    def __init__(self, directory, delay_ms):
        self.directory = directory
        self.mount = self.path("mount")
        self.device = None
        self.processes = []
        self.is_mounted = False
        for program in ("nbdkit", "nbdfuse", "losetup", "mkfs.ext4", "e2fsck", "mount"):
            if shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin") is None:
                raise Missing(f"{program} is not installed")
        if os.geteuid() != 0:
            raise Missing("a loop device needs root")
        for name in ("fuse", "mount"):
            os.makedirs(self.path(name))
        self.start(delay_ms)

    def path(self, name):
        return os.path.join(self.directory, name)

    def start(self, delay_ms):
        delay = ["--filter=delay"] if delay_ms else []
        of_delay = [f"wdelay={delay_ms}ms"] if delay_ms else []
        socket = self.path("nbd.sock")
        self.begin(socket, "nbdkit", "-f", "-U", socket, "--filter=error", *delay, "memory", f"{MEGABYTES}M",
                   "error-pwrite-rate=100%", f"error-pwrite-file={self.path('writes')}",
                   "error-pread-rate=100%", f"error-pread-file={self.path('reads')}", *of_delay)
        self.begin(self.path("fuse/disk"), "nbdfuse", self.path("fuse/disk"), f"nbd+unix:///?socket={socket}")
        self.attach()
        run("mkfs.ext4", "-q", self.device)
        self.attach_again()

    def begin(self, appears, *words):
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.processes.append(process)
        wait_for(appears, process)

    def attach(self):
        self.device = run("losetup", "--direct-io=on", "--find", "--show", self.path("fuse/disk"))

    def detach(self):
        if self.is_mounted:
            run("umount", self.mount)
            self.is_mounted = False
        if self.device is not None:
            run("losetup", "--detach", self.device)
            self.device = None

    def attach_again(self):
        """Nothing of it is in memory any more; where it fails, what was not written is lost."""
        self.detach()
        self.heal()
        self.attach()
        run("e2fsck", "-fy", self.device, ok=(0, 1))
        run("mount", self.device, self.mount)
        self.is_mounted = True

    def fail(self, what):
        with open(self.path(what), "w", encoding="ascii"):
            pass

    def heal(self):
        for what in ("writes", "reads"):
            with contextlib.suppress(FileNotFoundError):
                os.remove(self.path(what))

    def end(self):
        self.heal()
        with contextlib.suppress(Missing):
            self.detach()
        for process in reversed(self.processes):
            process.terminate()
            process.wait(WAIT)


@contextlib.contextmanager
def disk(directory, delay_ms=0):
    one = None
    try:
        one = Disk(directory, delay_ms)
        yield one
    finally:
        if one is not None:
            one.end()
