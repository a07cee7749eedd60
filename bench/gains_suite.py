#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How right the predicted gains of `whyio explain` are, over the programs of tests/diagnosis.

usage: gains_suite.py [--pairs=N] BUILD [PROGRAM..]

Each program with one planted cause runs slow and mended in turn, N times each (default 7). Measured
is the difference of the medians of both, predicted the median of the gains that the findings of the
planted cause have in the slow runs; the error is their difference as part of the slow run. Needs
FUSE and Open MPI, and a quiet machine. Prints a table (Markdown) and what the targets say: at most
10 % in all but two of the programs, at most 5 % in the median.
"""
import os
import statistics
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
MOST = 0.10
MOST_MEDIAN = 0.05
MISSES = 2  # programs that may be beyond


def load(build):
    os.environ["WHYIO"] = os.path.join(build, "tools", "whyio", "whyio")
    os.environ["WHYIO_BUILD"] = build
    os.environ["LD_LIBRARY_PATH"] = f"{build}/src/capture:{build}/tests/diagnosis"
    sys.path.insert(0, os.path.join(HERE, "..", "tests", "diagnosis"))
    import diagnosis_test  # pylint: disable=import-outside-toplevel
    return diagnosis_test


def run(diagnosis, name, variant):
    """What explain says of one run."""
    with tempfile.TemporaryDirectory(prefix="whyio-gains.") as scratch:
        return diagnosis.explain(diagnosis.record(name, variant, diagnosis.CASES[name], scratch))


def gain_of(diagnosis, name, answer):
    """Of the findings of the planted cause together, and of those that the mended variant mends as well, if the causes
    before them are mended; None: not predicted."""
    case = diagnosis.CASES[name]
    gains = []
    for finding in diagnosis.causes(answer):
        change = finding["change"]
        if finding["kind"] == case.kind and diagnosis.is_planted(name, case, finding):
            gains.append(change["gain_s"])
        elif finding["kind"] in case.also:
            gains.append(change["gain_with_s"] if change["gain_with_s"] is not None else change["gain_s"])
    known = [gain for gain in gains if gain is not None]
    return sum(known) if known else None


def measure(diagnosis, name, pairs):
    """Slow run, measured and predicted gain, in seconds."""
    slow, mended, gains = [], [], []
    for _ in range(pairs):
        answer = run(diagnosis, name, "slow")
        slow.append(answer["duration_s"])
        gains.append(gain_of(diagnosis, name, answer))
        mended.append(run(diagnosis, name, "mended")["duration_s"])
    known = [gain for gain in gains if gain is not None]
    slow_s = statistics.median(slow)
    return (slow_s, slow_s - statistics.median(mended),
            statistics.median(known) if 2 * len(known) > pairs else None)


def show(name, kind, slow_s, measured_s, predicted_s):
    """A row; gives the error."""
    error = None if predicted_s is None else abs(predicted_s - measured_s) / slow_s
    predicted = "-" if predicted_s is None else f"{predicted_s:.2f}"
    print(f"| {name} | {kind} | {slow_s:.2f} | {measured_s:.2f} | {predicted} | "
          f"{'-' if error is None else f'{100 * error:.1f} %'} |", flush=True)
    return error


def main():
    arguments = sys.argv[1:]
    pairs = 7
    if arguments and arguments[0].startswith("--pairs="):
        pairs = int(arguments.pop(0).split("=")[1])
    if not arguments or arguments[0].startswith("-") or pairs < 1:
        print(__doc__, file=sys.stderr)
        return 2
    diagnosis = load(os.path.realpath(arguments[0]))
    names = arguments[1:] or [name for name, case in diagnosis.CASES.items()
                              if isinstance(case.kind, str)]
    print("| program | cause | slow s | gain measured s | predicted s | error |\n|---|---|---|---|---|---|")
    errors = [show(name, diagnosis.CASES[name].kind, *measure(diagnosis, name, pairs)) for name in names]
    known = [error for error in errors if error is not None]
    within = sum(error <= MOST for error in known)
    median = statistics.median(known) if known else float("nan")
    print(f"\nwithin {100 * MOST:.0f} %: {within} of {len(errors)} (target: all but {MISSES}); "
          f"median {100 * median:.1f} % (target {100 * MOST_MEDIAN:.0f}), of {len(known)} with a gain")
    return 0 if within >= len(errors) - MISSES and median <= MOST_MEDIAN else 1


if __name__ == "__main__":
    sys.exit(main())
