#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is a line of the program named where a header of C++'s library has called?

usage: templates_test.py PROGRAM..
"""
import json
import os
import subprocess
import sys
import tempfile

WHYIO = os.environ["WHYIO"]
SOURCE = os.path.join(os.path.dirname(os.path.realpath(__file__)), "templates.cpp")


def lines_of_the_program():
    with open(SOURCE, encoding="utf-8") as file:
        return {number for number, line in enumerate(file, 1) if line.rstrip().endswith("// LINE")}


def wrong_places(program):
    """Of the findings about the directory that the program reads."""
    with tempfile.TemporaryDirectory(prefix="whyio-templates.") as scratch:
        trace = os.path.join(scratch, "trace")
        work = os.path.join(scratch, "work")
        os.mkdir(work)
        subprocess.run([WHYIO, "record", "-q", "-o", trace, "--", program], cwd=work, check=True,
                       stdout=subprocess.DEVNULL, timeout=60)
        text = subprocess.run([WHYIO, "explain", "-q", "--all", "--gains=0", "--format=json", trace],
                              check=True, stdout=subprocess.PIPE, timeout=60).stdout
    findings = [finding for finding in json.loads(text)["findings"] if finding["kind"] == "dir_scan"]
    if not findings:
        yield f"{program}: no finding about the directory"
    for finding in findings:
        if finding["file"] != "templates.cpp" or finding["line"] not in lines_of_the_program():
            yield f"{program}: {finding['title']} at {finding['file']}:{finding['line']}"


def main():
    faults = [fault for program in sys.argv[1:] for fault in wrong_places(os.path.abspath(program))]
    print("\n".join(faults), file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
