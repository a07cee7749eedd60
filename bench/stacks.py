# SPDX-License-Identifier: Apache-2.0
"""What sampled stacks cost: 1,000 call sites at depth 40, of the program's own code and of a library, with
`--stacks=sampled` directly after `--stacks=never`."""
import os
import re
import shutil
import statistics
import subprocess

TARGET = 1.02
ROUNDS = 300  # of 1,000 calls


def stacks(bench, table):
    program = bench.tool("stacks")
    if program is None:
        table.note("not measured: stacks is not built.")
        return
    for site in ("own", "library"):
        pairs = [[a_call(bench, program, site, when) for when in ("never", "sampled")]
                 for _ in range(5 if bench.quick else 15)]
        table.add(f"{site} code calls, time", round(statistics.median(b / a for a, b in pairs), 3), "x",
                  at_most=TARGET, **{"without, ns": f"{statistics.median(a for a, _ in pairs):.0f}",
                                     "sampled, ns": f"{statistics.median(b for _, b in pairs):.0f}"})
        if shutil.which("valgrind"):
            without, sampled = (counted(bench, program, site, when) for when in ("2", "0"))
            table.add(f"{site} code calls, instructions", round(sampled / without, 3), "x",
                      at_most=TARGET if site == "own" else None,
                      **{"without, ns": f"{without:.0f} instr.", "sampled, ns": f"{sampled:.0f} instr."})
    table.note("instructions: per call in user space, by valgrind --tool=callgrind, depth 40 and all.")


def fresh(bench):
    work = os.path.join(bench.place, "work")
    shutil.rmtree(work, ignore_errors=True)
    os.mkdir(work)
    return work


def a_call(bench, program, site, when):
    """Nanoseconds, as the program says."""
    run = subprocess.run([bench.whyio, "record", "-q", f"--stacks={when}", "-o", "trace", "--", program, site,
                          str(ROUNDS)], cwd=fresh(bench), check=True, stdout=subprocess.PIPE)
    return float(run.stdout)


def counted(bench, program, site, when):
    """Instructions per call: two runs of different length, so that start and end drop out."""
    library = os.path.join(bench.build, "src", "capture", "libwhyio-capture.so")
    few, many = 20, 60
    totals = []
    for rounds in (few, many):
        work = fresh(bench)
        run = subprocess.run(
            ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, site, str(rounds)],
            cwd=work, check=True, capture_output=True, text=True,
            env={**os.environ, "LD_PRELOAD": library, "WHYIO_RINGS": work, "WHYIO_CAUSAL": "1",
                 "WHYIO_STACKS": when})
        totals.append(int(re.search(r"Collected : (\d+)", run.stderr).group(1)))
    return (totals[1] - totals[0]) / ((many - few) * 1000)
