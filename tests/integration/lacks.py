# SPDX-License-Identifier: Apache-2.0
"""What a machine may lack that tests need (a plain chroot does): why, "" where it is there."""

import os
import pty
import sys

SKIPPED = 77


def terminal():
    """A pseudo terminal: /dev/ptmx and /dev/pts."""
    try:
        ends = pty.openpty()
    except OSError as fault:
        return f"no terminal can be made here: {fault}"
    try:
        return "" if os.path.exists(os.ttyname(ends[1])) else "no terminal can be opened here"
    except OSError as fault:
        return f"no terminal can be opened here: {fault}"
    finally:
        for end in ends:
            os.close(end)


def shared_memory():
    """Where shm_open and sem_open make their files."""
    return "" if os.path.isdir("/dev/shm") and os.access("/dev/shm", os.W_OK) else "no /dev/shm to write into here"


def skip_script(reason):
    """End the whole script, where there is a reason."""
    if reason:
        print(f"skipped: {reason}", file=sys.stderr)
        sys.exit(SKIPPED)
