# SPDX-License-Identifier: Apache-2.0
"""Measurements that lie beside the project, where they are: its own and the CAWL authors'."""
import csv
import os
import statistics

from model_errors import MIB, Series, Skipped, op

WRITES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "shared", "data", "writes")

# The scenarios that the first two targets are about, without those over a file that is cached.
JUDGED = ("A1_", "A2_", "A3_", "A4_", "A5_", "A8_")
TEXTS = {
    "A1_seq16": "16 MiB one after the other",
    "A1k_seq16_cached": "... over a file that is cached",
    "A2_seq64": "64 MiB",
    "A3_seq16_d100": "16 MiB, 0.1 s of computing before each",
    "A4_back25": "16 MiB, each rewrites the last 25 %",
    "A5_back75": "16 MiB, each rewrites the last 75 %",
    "A6_seq1": "1 MiB",
    "A7_rnd4": "4 MiB at random places of a cached file",
    "A8_fwrite16": "fwrite of 16 MiB",
}


def limited_host(is_cached):
    """A loop device limited to 100 MiB/s, as its README describes it."""
    return {
        "bw_mem": 8e9, "bw_ramdisk": 16 * MIB / (2.4e-3 if is_cached else 4.0e-3),
        "bw_reduced": 16 * MIB / (2.6e-3 if is_cached else 4.6e-3), "bw_dev": 102 * MIB,
        "bw_rdev": 100 * MIB, "sc_w": 2e-6, "sc_sw": 1.6e-4, "c_sk": 0, "bs": 4096, "bf": 4096,
        "limit_bg": 128 * MIB, "limit_hard": 512 * MIB, "dirty_expire": 30, "c_lib": 5e-8,
        "hz": 250, "balance_step": 2 * MIB, "dirty_ratelimit0": 0.86 * 102 * MIB,
        "write_bw0": 0.95 * 102 * MIB,
    }


def directory(name):
    path = os.path.join(WRITES, name)
    if not os.path.isdir(path):
        raise Skipped("the measurements are not beside this project (../shared/data/writes)")
    return path


def measured():
    """Series of res_<scenario>_<run>.csv."""
    path = directory("measured")
    for name in sorted(os.listdir(path)):
        scenario = name[len("res_"):-len(".csv")]
        with open(os.path.join(path, name), encoding="ascii") as file:
            rows = list(csv.DictReader(file))
        yield Series(scenario, TEXTS.get(scenario.rpartition("_")[0], scenario),
                     limited_host(scenario.startswith(("A1k", "A7"))),
                     [op(int(row["offset"]), int(row["size"]), float(row["delay"]),
                         "fwrite" if row["mode"] == "f" else "write", row["file"]) for row in rows],
                     [float(row["cost"]) for row in rows],
                     [int(row["d1"]) + int(row["w1"]) for row in rows])


# Share of memory that counts for the dirty limits: on host 2, by its file of parameters.
USABLE = 0.98976
# Host 1: 384 GiB, limits of 10 and 40 %. Host 2: pages.
HOST1_LIMITS = [USABLE * share * (384 << 30) for share in (0.1, 0.4)]
HOST2_LIMITS = [USABLE * pages * 4096 for pages in (4796170, 9592338)]
HOST2_DEVICE = 414.15e6


def paper_host(first, reduced, device, limits):
    """A host of the paper: a device in use before, so that the kernel knows it."""
    return {
        "bw_mem": 8e9, "bw_ramdisk": first, "bw_reduced": reduced, "bw_dev": device,
        "bw_rdev": 500e6, "sc_w": 2e-6, "sc_sw": 1e-4, "c_sk": 0, "bs": 4096, "bf": 4096,
        "limit_bg": limits[0], "limit_hard": limits[1], "dirty_expire": 30,
        "dirty_ratelimit0": 0.86 * device, "write_bw0": 0.95 * device,
    }


def paper_rows(name):
    """Sizes and costs of a series."""
    with open(os.path.join(directory("paper"), name), encoding="ascii") as file:
        rows = [[float(word) for word in line.split()] for line in file if line.strip()]
    ends = [int(row[0]) for row in rows]
    return [end - begin for begin, end in zip([0, *ends], ends)], [row[1] for row in rows]


def speed(sizes, costs, which):
    return statistics.median(size / cost for size, cost in zip(sizes[which], costs[which]))


def paper_series(name, text, sizes, costs, host, delay_s):
    starts = [sum(sizes[:i]) for i in range(len(sizes))]
    ops = [op(start, size, delay_s) for start, size in zip(starts, sizes)]
    return Series(name, f"the authors' {text}, {delay_s:g} s before each", host, ops, costs)


def paper():
    """Series of 1 GiB writes; both speeds of copying are read off the first writes, as the authors
    do it. Nobody says what host 1's device does: that is read off its last writes."""
    sizes, costs = paper_rows("gplot_async_cost_1_svg.dat")
    host1 = paper_host(speed(sizes, costs, slice(16)), speed(sizes, costs, slice(60, 120)),
                       speed(sizes, costs, slice(-100, None)), HOST1_LIMITS)
    yield paper_series("paper_host1_0s", "host 1", sizes, costs, host1, 0.0)
    for name, delay_s in (("gplot_async_cost_2_svg.dat", 0.0),
                          ("gplot_async_comp_0_1s_cost_2_svg.dat", 0.1)):
        sizes, costs = paper_rows(name)
        host = paper_host(speed(sizes, costs, slice(16)), speed(sizes, costs, slice(20, 30)),
                          HOST2_DEVICE, HOST2_LIMITS)
        yield paper_series(f"paper_host2_{delay_s:g}s", "host 2", sizes, costs, host, delay_s)
    yield from near_the_device(host1)


COMPUTING_S = 0.5


def near_the_device(host1):
    """With 0.5 s of computing a writer is about as fast as the device: by the description that the other
    series of the host have, and by what each says itself of its device and of copying (kernels of these
    hosts check the limits after each page). While it computes the device goes on, so computing counts in
    the time that a write took the device: 1.75 s on host 1 at last; on host 2 2.20 s up to the 62nd write
    and 2.55 s from then on, so that 5 GB went into a fast buffer."""
    for number, copying in ((1, slice(150, 230)), (2, slice(30, 45))):
        sizes, costs = paper_rows(f"gplot_async_comp_0_5s_cost_{number}_svg.dat")
        both = [cost + COMPUTING_S for cost in costs]
        host = host1 if number == 1 else paper_host(
            speed(sizes, costs, slice(16)), speed(sizes, costs, slice(20, 30)), HOST2_DEVICE, HOST2_LIMITS)
        rate = speed(sizes, both, slice(-100, None) if number == 1 else slice(50, 60))
        own = paper_host(host["bw_ramdisk"], speed(sizes, costs, copying), rate,
                         [host["limit_bg"], host["limit_hard"]])
        two_phase = {"bw_dev": HOST2_DEVICE, "bw_burst": rate, "burst_size": 5e9} if number == 2 else {}
        series = paper_series(f"paper_host{number}_0.5s", f"host {number}", sizes, costs, host, COMPUTING_S)
        yield series
        yield series._replace(name=series.name + "_own", what=series.what + ", as it says itself",
                              host={**own, **two_phase, "balance_step": 4096})
