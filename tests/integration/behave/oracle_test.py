#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""oracle_test.py LIBRARY PROGRAM SEED...: whatever is done to descriptors, the paths, offsets and
results of reads and writes in the rings are those that the kernel says."""

import collections
import os
import subprocess
import sys
import tempfile

import ring_reader

ACTIONS = "400"


def key(operation, fd, path, offset, result):
    """A failed call has an offset of no importance."""
    return (operation, fd, path, offset, result) if result >= 0 else (operation, fd, path, None, -1)


def truth_of(name):
    with open(name, encoding="ascii") as lines:
        rows = [line.split() for line in lines]
    return collections.Counter(key(op, int(fd), path, int(offset), int(result))
                               for op, fd, path, offset, result in rows)


def recorded(rings, wanted):
    return collections.Counter(
        key(*(event[name] for name in ("op", "fd", "path", "offset", "result")))
        for ring in rings for event in ring.events() if event["op"] in wanted)


def compare(library, program, seed):
    with tempfile.TemporaryDirectory(prefix="whyio-oracle-") as top:
        top = os.path.realpath(top)
        rings, here, truth = (os.path.join(top, name) for name in ("rings", "here", "truth"))
        os.mkdir(rings)
        os.mkdir(here)
        subprocess.run([program, seed, ACTIONS, truth], cwd=here, check=True, timeout=60,
                       env=dict(os.environ, LD_PRELOAD=library, WHYIO_RINGS=rings))
        want = truth_of(truth)
        have = recorded(ring_reader.read_rings(rings, os.environ["WHYIO_SOURCE"]),
                        {row[0] for row in want})
        missing = want - have
        assert want.total() > 100, want
        assert not missing, (seed, sorted(missing, key=str)[:3],
                             sorted(have - want, key=str)[:3])


def main(library, program, *seeds):
    for seed in seeds:
        compare(os.path.abspath(library), os.path.abspath(program), seed)


if __name__ == "__main__":
    main(*sys.argv[1:])
