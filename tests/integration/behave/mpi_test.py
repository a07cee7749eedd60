#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mpi_test.py LIBRARY PROGRAM MPIRUN...: of an MPI program only its own I/O and its MPI-IO are there
(marked where that is on files beside the program's, R-MPI-10), under the right rank; launchers are not
recorded. With internals the rest is there, and marked."""

import os
import re
import subprocess
import sys
import tempfile

import mpi_environment  # noqa: F401
import ring_reader

RANKS = 3
LIBRARY_PLACES = ("/dev/", "/proc/", "/sys/", "/etc/", "/usr/", "/lib")


def run(library, command, top, **extra):
    rings, work = os.path.join(top, "rings"), os.path.join(top, "work")
    os.mkdir(rings)
    os.mkdir(work)
    env = dict(os.environ, LD_PRELOAD=library, WHYIO_RINGS=rings, **extra)
    subprocess.run(command, cwd=work, env=env, check=True, timeout=100)
    for rank in range(RANKS):
        assert os.path.getsize(os.path.join(work, f"own.{rank}")) == 10
    return ring_reader.read_rings(rings, os.environ["WHYIO_SOURCE"])


def check_rank(ring):
    events = [event for event in ring.events() if event["path"] is not None]
    strange = [event for event in events if event["path"].startswith(LIBRARY_PLACES)]
    assert not strange, f"an MPI library's own: {strange[0]}"
    assert ring.ranks == RANKS, ring.ranks
    own = [event["op"] for event in events if event["path"].endswith(f"/own.{ring.rank}")]
    assert own == ["open", "write", "close"], own
    shared = [event for event in events if event["path"].endswith("/shared.dat")]
    wrote = [(event["offset"], event["size"]) for event in shared if event["op"] == "pwrite"]
    assert wrote == [(1000 * ring.rank, 1000)], wrote
    ops = [event["op"] for event in shared]
    assert {"open", "pread", "fsync", "close"} <= set(ops), ops
    sides = [event["path"] for event in events if event["flags"] & ring_reader.FLAG_MPI]
    assert all(re.search(r"/\.?shared\.dat[._-][^/]*$", path) for path in sides), sides
    return len(events)


def main(library, program, *mpirun):
    library, program = os.path.abspath(library), os.path.abspath(program)
    command = [*mpirun, "-np", str(RANKS), program]
    with tempfile.TemporaryDirectory(prefix="whyio-mpi-") as top:
        rings = run(library, command, top)
    assert sorted(ring.rank for ring in rings) == list(range(RANKS)), [r.name for r in rings]
    plain = sum(check_rank(ring) for ring in rings)
    with tempfile.TemporaryDirectory(prefix="whyio-mpi-") as top:
        rings = run(library, command, top, WHYIO_MPI_INTERNALS="1")
        marked = [bool(event["flags"] & ring_reader.FLAG_MPI)
                  for ring in rings for event in ring.events()]
    print(f"{plain} events, with internals {len(marked)}, {sum(marked)} of them marked")
    assert sum(marked) > plain and len(marked) - sum(marked) >= 3 * RANKS


if __name__ == "__main__":
    main(*sys.argv[1:])
