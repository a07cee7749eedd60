#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`whyio predict --ops` with the models cawl and naive beside their rules, written down a second time
(cawl_rules.py): random machines and operations, to 1e-9. Then what must be refused, by its name.

usage: predict_rules.py [FIRST [END]]   seeds, where WHYIO is set
"""
import json
import math
import os
import random
import subprocess
import sys
import tempfile

import cawl_rules

SEEDS = 120
OPS = 80
MIB = 1 << 20
METHODS = ("write", "direct", "sync", "fwrite", "fflush", "fsync", "read")
MIXES = ((1, 0, 0, 0, 0, 0, 0), (6, 1, 1, 3, 1, 1, 1), (1, 0, 0, 6, 1, 0, 0), (10, 1, 1, 0, 0, 1, 1),
         (1, 1, 1, 1, 1, 1, 1))
HOST = {"bw_mem": 8e9, "bw_ramdisk": 4e9, "bw_reduced": 2e9, "bw_dev": 1e8, "bw_rdev": 2e8,
        "sc_w": 2e-6, "sc_sw": 1e-4, "c_sk": 1e-3, "bs": 4096, "bf": 4096, "limit_bg": 8 * MIB,
        "limit_hard": 32 * MIB, "dirty_expire": 30}
# What only model kernel looks at.
DETAILS = {"c_new": 1, "c_call": 2, "c_folio": 3, "c_clean": 4, "bw_clean": 5, "sc_r": 6, "bw_hit": 7, "c_forget": 8, "c_flush": 9, "c_length": 9,
           "bw_far": 1, "cache_size": 1, "new_table": [[1, 9]], "dirty_table": [[1, 9]], "clean_table": [[1, 9]],
           "hit_table": [[1, 9]], "dev_table": [[1, 9]], "append_table": [[1, 10]], "hz": 1000, "mem_bytes": 4096, "commit_bytes": 4096}
failures = []


def fail(text):
    failures.append(text)
    print("# " + text, file=sys.stderr)


def any_size(rng, least, most):
    return math.exp(rng.uniform(math.log(least), math.log(most)))


def even_host(rng):
    """Round numbers: limits that are met exactly."""
    limit = rng.choice((1, 2, 4, 8, 16, 128)) * rng.choice((1024, 65536, MIB))
    return {"bw_mem": 8e9, "bw_ramdisk": rng.choice((4e9, 1 << 32)), "bw_reduced": rng.choice((2e9, 3e9)),
            "bw_dev": rng.choice((1e8, 100 * MIB, 1e9, 5e9)), "bw_rdev": 2e8, "sc_w": rng.choice((0, 2e-6, 1e-3)),
            "sc_sw": rng.choice((0, 1e-4)), "c_sk": rng.choice((0, 1e-3)), "bs": rng.choice((512, 4096)),
            "bf": rng.choice((1, 512, 4096, 65536)), "limit_bg": limit, "limit_hard": limit * rng.choice((1.5, 2, 4)),
            "dirty_expire": rng.choice((0, 0.5, 30, 1e9))}


def odd_host(rng):
    limit = rng.choice((0, 1, any_size(rng, 1, 1e10), any_size(rng, 1e3, 1e9)))
    hard = max(rng.choice((limit * 1.0000001, limit + any_size(rng, 1e-3, 1e9), limit * 4 + 4096)),
               math.nextafter(limit, math.inf))
    return {"bw_mem": any_size(rng, 1, 1e12), "bw_ramdisk": any_size(rng, 1e3, 1e11),
            "bw_reduced": any_size(rng, 1e2, 1e11), "bw_dev": any_size(rng, 1, 1e11),
            "bw_rdev": any_size(rng, 1, 1e10), "sc_w": rng.choice((0, any_size(rng, 1e-9, 1))),
            "sc_sw": rng.choice((0, any_size(rng, 1e-9, 1))), "c_sk": rng.choice((0, any_size(rng, 1e-6, 1))),
            "bs": rng.choice((1, 512, 1000, 4096, rng.randint(1, 100000))),
            "bf": rng.choice((1, 2, 1000, 4096, rng.randint(1, MIB))), "limit_bg": limit, "limit_hard": hard,
            "dirty_expire": rng.choice((0, any_size(rng, 1e-3, 1e3), 30, 1e9))}


def random_ops(rng, host, is_even):
    """Sizes and offsets around the limits and the buffer, with overlaps and holes."""
    unit = max(int(host["limit_bg"] / rng.choice((1, 2, 4, 8, 16, 64))), rng.choice((1, 1000, 4096)))
    mix, files, ends, ops = rng.choice(MIXES), rng.randint(1, 4), {}, []
    buffer, took = int(host["bf"]), unit / host["bw_dev"]
    for _ in range(OPS):
        method, file = rng.choices(METHODS, mix)[0], rng.randrange(files)
        key = (file, method == "fwrite")
        end = ends.get(key, 0)
        if method == "fwrite" and rng.random() < 0.7:
            size = rng.choice((0, 1, buffer - 1, buffer, buffer + 1, 2 * buffer, rng.randint(0, 10 * buffer)))
        elif is_even:
            size = unit * rng.choice((0, 1, 1, 1, 2, 3, 4, 8)) // rng.choice((1, 1, 2, 4))
        else:
            size = rng.choice((0, 1, int(host["limit_bg"]), int(host["limit_hard"]) + 1,
                               rng.randint(0, 8 * unit), rng.randint(0, 4096)))
        offset = rng.choice((end, end, max(0, end - size * 3 // 4), unit * rng.randint(0, 24) // 2,
                             rng.randint(0, 20 * unit)))
        ends[key] = offset + size
        op = {"file": f"f{file}", "offset": offset, "size": size, "method": method,
              "delay_s": min(rng.choice((0, 0, 0, took, took / 2, rng.uniform(0, 4) * took, rng.expovariate(1),
                                         host["dirty_expire"])), 1e9)}
        op.update(rng.choice(({}, {}, {"random": None}, {"random": True}, {"random": False})))
        ops.append(op)
    return ops


def predict(host, lines, model):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(host if isinstance(host, str) else json.dumps(host))
        file.flush()
        return subprocess.run([os.environ["WHYIO"], "predict", "--ops=-", f"--host={file.name}", "--per-op",
                               "--format=json", f"--model={model}"], input="\n".join(lines) + "\n",
                              capture_output=True, text=True, timeout=60, check=False)


def is_near(a, b, least=0.0):
    return abs(a - b) <= max(1e-9 * max(abs(a), abs(b)), least)


def compare(seed, model, rules):
    rng = random.Random(seed)
    host = (even_host if seed % 2 == 0 else odd_host)(rng)
    host.update(rng.choice(({}, {"c_lib": 5e-8}, {"c_lib": 1e-3})))
    host.update(rng.choice(({}, DETAILS)))
    ops = random_ops(rng, host, seed % 2 == 0)
    result = predict(host, [json.dumps(op) for op in ops], model)
    if result.returncode != 0:
        return fail(f"seed {seed}, {model}: {result.stderr}")
    *lines, total = [json.loads(line) for line in result.stdout.splitlines()]
    wanted = rules(host)
    written = 0
    for i, (op, got) in enumerate(zip(ops, lines, strict=True)):
        want = wanted.step(op)
        written += op["size"]
        if not (is_near(want["cost_s"], got["cost_s"]) and is_near(want["time_s"], got["time_s"])
                and want["state"] == got["state"] and 0 <= got["dirty_bytes"] <= written
                and is_near(want["dirty_bytes"], got["dirty_bytes"], 1e-9 * written)):
            return fail(f"seed {seed}, {model}, operation {i} {op}: expected {want}, found {got}; {host}")
    if not is_near(total["io_s"], math.fsum(line["cost_s"] for line in lines)):
        fail(f"seed {seed}, {model}: the sum is {total['io_s']}")
    return None


def refuse(what, host, line, needs):
    for model in ("kernel", "cawl", "naive"):
        result = predict(host, [json.dumps({"file": 1, "offset": 0, "size": 1}), line], model)
        message = result.stderr.splitlines()
        if result.returncode != 3 or len(message) != 1 or not all(word in message[0] for word in needs):
            fail(f"{what}, {model}: {needs} expected, found {result.returncode} {message}")


def bad_hosts():
    good = json.dumps({"file": 1, "offset": 0, "size": 1})
    for name in HOST:
        refuse(f"no {name}", {k: v for k, v in HOST.items() if k != name}, good, [".json", f"'{name}'", "missing"])
        for value in (math.nan, math.inf, -math.inf, -1, "4096", [1], True):
            refuse(f"{name}: {value}", {**HOST, name: value}, good, [".json", f"'{name}'"])
        if name not in ("sc_w", "sc_sw", "c_sk", "dirty_expire", "limit_bg"):
            refuse(f"{name}: 0", {**HOST, name: 0}, good, [".json", f"'{name}'"])
        refuse(f"{name} twice", json.dumps(HOST)[:-1] + f', "{name}": 7e9}}', good, [".json", name, "duplicate"])
    for limit in (HOST["limit_bg"], HOST["limit_bg"] / 2):
        refuse(f"limit_hard {limit}", {**HOST, "limit_hard": limit}, good, ["limit_hard", "limit_bg"])


def bad_lines():
    op = {"file": "a", "offset": 0, "size": 1, "delay_s": 0, "method": "write", "random": False}
    for name, values in (("size", (-1, 0.5, math.nan, math.inf, "1", True, [], 2**53 + 2, 10**400)),
                         ("offset", (-1, 0.5, math.nan, -math.inf, "0", 2**53 + 2, 2**53)),
                         ("delay_s", (-1e-9, math.nan, math.inf, "0", 1e10, False)),
                         ("method", ("mmap", "", 5, "WRITE")), ("random", (0, "yes")),
                         ("file", (True, [], {}))):
        for value in values:
            refuse(f"{name} {value}", HOST, json.dumps({**op, name: value}), ["standard input", "line 2", f'"{name}"'])
        refuse(f"{name} twice", HOST, json.dumps(op)[:-1] + f', "{name}": {json.dumps(op[name])}}}',
               ["standard input", "line 2", f'"{name}"'])
    for name in ("file", "offset", "size"):
        refuse(f"no {name}", HOST, json.dumps({k: v for k, v in op.items() if k != name}),
               ["standard input", "line 2", f'"{name}"', "missing"])


def main():
    first = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    end = int(sys.argv[2]) if len(sys.argv) > 2 else first + SEEDS
    for seed in range(first, end):
        compare(seed, "cawl", cawl_rules.Cawl)
        compare(seed, "naive", cawl_rules.Naive)
    if len(sys.argv) < 2:
        bad_hosts()
        bad_lines()
    print(f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
