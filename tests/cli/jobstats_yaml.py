#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`whyio jobstats` as a YAML reader takes it: names come back byte by byte, numbers agree with
--format=json, keys are those of Lustre's job_stats. Skips (77) without python3-yaml."""
import json
import os
import subprocess
import sys
import tempfile

try:
    import yaml
except ImportError:
    print("no python3-yaml here", file=sys.stderr)
    sys.exit(77)

NAMES = [b"4711", b"4712", b"a b:c\"d'e\\f", b"caf\xc3\xa9 \xff", b"true", b"", b"1e3", b"@odd",
         b"n" * 4096, b"dd.4854"]
LUSTRE = {"job_id", "snapshot_time", "start_time", "elapsed_time", "open", "close", "mknod", "link",
          "unlink", "mkdir", "rmdir", "rename", "getattr", "setattr", "getxattr", "setxattr",
          "statfs", "sync", "samedir_rename", "crossdir_rename", "read_bytes", "write_bytes",
          "read", "write", "punch", "fallocate"}
OWN = {"readdir"}
UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40, "P": 50, "E": 60}


def run(*arguments):
    return subprocess.run([os.environ["WHYIO"], "jobstats", *arguments], check=True,
                          stdout=subprocess.PIPE, timeout=60).stdout


def name_of(value):
    """Of a quoted text each character is a byte (\\xHH); digits alone are a number to YAML."""
    return str(value).encode("ascii") if isinstance(value, int) else value.encode("latin-1")


def bucket(key):
    text = str(key)
    digits = text.rstrip("KMGTPE")
    return int(digits) << UNITS[text[len(digits):]]


def seconds(text):
    number, unit = text.split(" ")
    assert unit == "secs.nsecs" and len(number.split(".")[1]) == 9, text
    return float(number)


def same_operation(name, got, wanted):
    histogram = {bucket(key): count for key, count in got.pop("hist").items()}
    assert histogram == {item["at_most"]: item["samples"] for item in wanted.pop("hist")}, name
    assert sum(histogram.values()) == got["samples"], name
    assert float(got.pop("sumsq")) == wanted.pop("sumsq"), name
    assert got == wanted, (name, got, wanted)


def same_job(job, wanted):
    assert abs(seconds(job.pop("elapsed_time")) - wanted["elapsed_s"]) < 1e-6
    assert seconds(job.pop("snapshot_time")) >= seconds(job.pop("start_time"))
    job.pop("job_id")
    assert set(job) == set(wanted["ops"]) and set(job) <= LUSTRE | OWN, set(job)
    for name, operation in job.items():
        same_operation(name, operation, wanted["ops"][name])


def main():
    with tempfile.TemporaryDirectory(prefix="whyio-jobs.") as scratch:
        trace = os.path.join(scratch, "jobs")
        subprocess.run([os.environ["MAKE_TRACE"], "jobs", trace], check=True)
        jobs = yaml.safe_load(run(trace))["job_stats"]
        wanted = json.loads(run("--format=json", trace))["jobs"]
        everything = yaml.safe_load(run("--all-operations", trace))["job_stats"]
    assert [name_of(job["job_id"]) for job in jobs] == NAMES
    assert len(wanted) == len(jobs)
    for job in everything:
        assert set(job) == LUSTRE | OWN, set(job) ^ (LUSTRE | OWN)
    assert set(everything[-1]) - set(jobs[-1]) == {"read", "read_bytes"}, "one of each but reads"
    for job, other in zip(jobs, wanted):
        same_job(job, other)
    print(f"{len(jobs)} jobs")


if __name__ == "__main__":
    main()
