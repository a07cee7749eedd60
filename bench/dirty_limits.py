# SPDX-License-Identifier: Apache-2.0
"""The kernel's dirty limits set for a while, and put back however this process ends."""
import contextlib
import os
import subprocess

import storage

VM = "/proc/sys/vm"
NAMES = ("dirty_background", "dirty")  # each as _bytes or as _ratio, whichever is not 0

# Waits for the end of its input, which comes when whoever holds the other end of the pipe is gone,
# even if it was killed.
GUARD = 'cat >/dev/null; while [ $# -gt 0 ]; do echo "$2" >"$1"; shift 2; done'


def read(path):
    with open(path, encoding="ascii") as file:
        return int(file.read())


def write(path, value):
    try:
        with open(path, "w", encoding="ascii") as file:
            file.write(str(value))
    except OSError as error:
        raise storage.Missing(f"{path}: {error.strerror}") from error


def thresholds():
    """What follows from the settings: bytes by the names of /proc/vmstat."""
    with open("/proc/vmstat", encoding="ascii") as file:
        rows = dict(line.split() for line in file)
    return {name: int(rows[name]) * os.sysconf("SC_PAGESIZE")
            for name in ("nr_dirty_background_threshold", "nr_dirty_threshold")}


def limit(name, unit):
    return os.path.join(VM, name + unit)


def least_share(directory):
    """What part of the limits, percent, the device of `directory` has at least."""
    device = os.stat(directory).st_dev
    return f"/sys/class/bdi/{os.major(device)}:{os.minor(device)}/min_ratio"


def settings(directory):
    """Pairs of path and value that bring back what is set now."""
    paths = [limit(name, "_bytes" if read(limit(name, "_bytes")) != 0 else "_ratio") for name in NAMES]
    for path in [*paths, least_share(directory)]:
        yield path
        yield str(read(path))


@contextlib.contextmanager
def lowered(background, hard, directory):
    """Bytes; for the device of `directory` nearly alone, as if nobody else wrote anything: otherwise its
    part of the limits is what it has lately written of all that was written."""
    with subprocess.Popen(["sh", "-c", GUARD, "guard", *settings(directory)], stdin=subprocess.PIPE,
                          start_new_session=True):  # leaving this block ends its input and waits
        for name, value in zip(NAMES, (background, hard)):
            write(limit(name, "_bytes"), value)
        write(least_share(directory), 99)
        yield
