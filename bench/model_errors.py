# SPDX-License-Identifier: Apache-2.0
"""A series of operations, what each cost when it was measured, and how far a model is from that."""
import collections
import json
import os
import statistics
import subprocess

MODELS = ("naive", "cawl", "kernel")
MIB = 1 << 20
LIMIT_S = 300

# `ops`: lines of an operation list; `costs`: seconds, measured; `dirty`: bytes dirty or under
# write-back after each, measured, or None; those before `first` only prepare and do not count.
Series = collections.namedtuple("Series", "name what host ops costs dirty first", defaults=(None, 0))
Predicted = collections.namedtuple("Predicted", "costs dirty")
# mre: mean |m-a|/a; wape: sum |m-a| / sum a; total: of the sums, -1; worst: largest error of the
# running sum, by the sum of all.
Errors = collections.namedtuple("Errors", "mre wape total worst")


class Skipped(Exception):
    """Says why something cannot be measured here."""


def op(offset=0, size=0, delay_s=0.0, method="write", file="a"):
    return {"file": file, "offset": offset, "size": size, "delay_s": delay_s, "method": method}


def write_list(path, ops):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in ops)


def write_host(path, host):
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"schema": "whyio.host/1", **host}, file)


def whyio(*args):
    done = subprocess.run([os.environ["WHYIO"], *args], capture_output=True, text=True,
                          timeout=LIMIT_S, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"whyio {' '.join(args)}: exit status {done.returncode}: {done.stderr}")
    return done.stdout


def predict(series, model, scratch):
    """What `whyio predict` says of each operation of the series."""
    ops, host = os.path.join(scratch, "ops.jsonl"), os.path.join(scratch, "host.json")
    write_list(ops, series.ops)
    write_host(host, series.host)
    lines = whyio("predict", "-q", "--ops=" + ops, "--host=" + host, "--model=" + model, "--per-op",
                  "--format=json").splitlines()[:len(series.ops)]
    answers = [json.loads(line) for line in lines]
    return Predicted([answer["cost_s"] for answer in answers],
                     [answer["dirty_bytes"] for answer in answers])


def errors(series, predicted):
    pairs = list(zip(predicted.costs, series.costs))[series.first:]
    total = sum(measured for _, measured in pairs)
    off, running, worst = 0.0, 0.0, 0.0
    for model, measured in pairs:
        off += abs(model - measured)
        running += model - measured
        worst = max(worst, abs(running))
    # A call that took less than asking for the time counts as a nanosecond.
    mre = sum(abs(model - measured) / max(measured, 1e-9) for model, measured in pairs) / len(pairs)
    return Errors(mre, off / total, running / total, worst / total)


def scatter(series):
    """MRE of the median of operations that are all alike: no model can do much better."""
    counted = series.costs[series.first:]
    middle = statistics.median(counted)
    return statistics.mean(abs(middle - cost) / max(cost, 1e-9) for cost in counted)
