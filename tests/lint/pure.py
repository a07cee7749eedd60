#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pure rooms ask the system for nothing: of other libraries their objects want only functions
that compute. What they use of other rooms is `arrows.py`'s; here it is listed by name, since a
header may declare more than its pure part.

usage: pure.py LIBRARY.a ...
       pure.py --self-test     check the checker
"""
import re
import subprocess
import sys

COMPUTES = set("""
    bcmp memchr memcmp memcpy memmove memset snprintf
    strchr strcmp strcspn strlen strncmp strnlen strrchr strspn strstr
    ceil exp exp2 fabs floor fma fmax fmin fmod ldexp llround log log2 nearbyint nextafter pow round
    sqrt trunc
    __libc_current_sigrtmin
    __assert_fail
    wio_alloc_array wio_alloc_room wio_stable_sort
    wio_pair_map_fini wio_pair_map_get wio_pair_map_init wio_pair_map_put wio_pair_map_remove
    wio_event_follows_links wio_open_flags wio_open_is_exclusive
    wio_fmt_bytes wio_fmt_of wio_fmt_u64 wio_job_in_cgroup wio_utf8_length
    crypto_shorthash
    wio_edge_class_name wio_error_add wio_error_set wio_evidence_name wio_class_properties wio_op_class wio_op_properties wio_status_text
    """.split())
# What a compiler adds: its own arithmetic, checks of sizes, sanitizers, counters of coverage.
ADDED = re.compile(r"^(_GLOBAL_OFFSET_TABLE_|__stack_chk_fail|__popcount[sdt]i2|__u?(div|mod)ti3"
                   r"|__(asan|ubsan|tsan|sanitizer|gcov|odr_asan)_\w+(\.\w+)?|(__)?llvm_\w+)$")
CHECKED = re.compile(r"^__(\w+)_chk$")


def symbols(text):
    """(defined, wanted) names of all objects of a library, from the output of nm. What an object has
    for itself (t, d, b) is not what another one wants by that name; nm lists no uses of it."""
    rows = [line.split() for line in text.splitlines()]
    defined = {row[2] for row in rows if len(row) == 3 and (row[1].isupper() or row[1] in "uvw")}
    wanted = {row[1] for row in rows if len(row) == 2 and row[0] in "Uvw"}
    return defined, wanted


def list_symbols(library):
    return subprocess.run(["nm", library], check=True, text=True, stdout=subprocess.PIPE).stdout


def is_allowed(name):
    checked = CHECKED.match(name)
    return ADDED.match(name) or name in COMPUTES or (checked and checked[1] in COMPUTES)


def faults(defined, wanted):
    return sorted(name for name in wanted - defined if not is_allowed(name))


def self_test():
    cases = (("clock_gettime", False), ("malloc", False), ("read", False), ("pthread_create", False),
             ("wio_clock_now_ns", False), ("getenv", False), ("printf", False), ("__printf_chk", False),
             ("memcpy", True), ("__memcpy_chk", True), ("__asan_report_load8", True), ("fmax", True))
    wrong = [name for name, allowed in cases if bool(is_allowed(name)) != allowed]
    two_objects = """
one.c.o:
0000000000000080 t accept
0000000000000000 d names.0
0000000000000350 T wio_one
                 U memcpy

two.c.o:
                 U accept
                 U wio_one
                 w weak"""
    if symbols(two_objects) != ({"wio_one"}, {"memcpy", "accept", "wio_one", "weak"}):
        wrong.append("symbols")
    if faults({"mine"}, {"mine", "memcpy", "open"}) != ["open"]:
        wrong.append("faults")
    for name in wrong:
        print(f"{name}: the wrong answer")
    return 1 if wrong else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    status = 0
    for library in sys.argv[1:]:
        defined, wanted = symbols(list_symbols(library))
        if not defined:
            print(f"{library}: nothing in it")
            status = 1
        for name in faults(defined, wanted):
            print(f"{library}: {name}: a pure room takes time, memory and what it reads as arguments")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
