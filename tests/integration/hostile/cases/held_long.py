# SPDX-License-Identifier: Apache-2.0
"""A file of held edges of 8 TiB without content: it is not read to the end."""
import errno
import os


def make(world):
    world.copy("held")
    try:
        os.truncate(world.at("trace.held"), 1 << 43)
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise Skip("files of 8 TiB cannot be made here") from error  # noqa: F821 (of hostile_test.py)
        raise


def check(world, answers):
    assert answers[("edges",)].returncode == 3, answers[("edges",)]
