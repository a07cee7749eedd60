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


def read(name):
    with open(os.path.join(VM, name), encoding="ascii") as file:
        return int(file.read())


def write(name, value):
    path = os.path.join(VM, name)
    try:
        with open(path, "w", encoding="ascii") as file:
            file.write(str(value))
    except OSError as error:
        raise storage.Missing(f"{path}: {error.strerror}") from error


def settings():
    """Pairs of path and value that bring back what is set now."""
    for name in NAMES:
        unit = "_bytes" if read(name + "_bytes") != 0 else "_ratio"
        yield os.path.join(VM, name + unit)
        yield str(read(name + unit))


@contextlib.contextmanager
def lowered(background, hard):
    """Bytes."""
    with subprocess.Popen(["sh", "-c", GUARD, "guard", *settings()], stdin=subprocess.PIPE,
                          start_new_session=True):  # leaving this block ends its input and waits
        for name, value in zip(NAMES, (background, hard)):
            write(name + "_bytes", value)
        yield
