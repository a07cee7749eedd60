# SPDX-License-Identifier: Apache-2.0
"""Run a real program three times: alone, under strace, under `whyio record`.

Then: exit status, stdout, stderr and the files that it leaves are the same with whyio as alone,
and the operations in the trace agree with strace (see ../strace_compare.py).
"""
import hashlib
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from typing import Callable

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import strace_compare  # noqa: E402

SKIP = 77
TIMEOUT_S = 120


class Skip(Exception):
    """The test cannot run here; the text says why."""


class Failure(Exception):
    """The test failed; the text says how."""


@dataclass
class Case:
    name: str
    command: Callable          # (place) -> list of arguments
    setup: Callable = None     # (place): makes what the program finds
    needs: tuple = ()          # programs that must be there
    only: set = None           # compare only these operations with strace
    ignore: tuple = ()         # do not compare these
    explained: tuple = ()      # (operation, path): what libc does unseen, see strace_compare
    rename: tuple = ()         # ((pattern, text), ...) for names that change from run to run
    mask: tuple = ()           # the same for stdout and stderr
    changing: tuple = ()       # patterns of files whose content changes from run to run
    ordered: bool = False      # one thread: compare the order too
    check: Callable = None     # (place, events): more to check, raises Failure
    at_least: int = 5          # operations that must have been compared
    unseen: tuple = ()         # kinds of what is not seen: the trace is then not complete
    env: dict = field(default_factory=dict)


@dataclass
class Place:
    """Where a case runs. All three runs use the same paths, made anew each time."""
    base: str

    @property
    def work(self):
        return os.path.join(self.base, "work")

    def path(self, *names):
        return os.path.join(self.work, *names)

    def outside(self, name):
        """A file that is neither compared nor removed between the runs."""
        return os.path.join(self.base, name)


def environment(case, place):
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC", "HOME": place.outside("home"),
           "TMPDIR": place.outside("tmp"), "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0",
           "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
           "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    for name in ("ASAN_OPTIONS", "LD_LIBRARY_PATH", "WHYIO_CAPTURE_LIB"):
        if name in os.environ:
            env[name] = os.environ[name]
    return {**env, **case.env}


def run(case, place, prefix=()):
    """One run from a clean start."""
    for directory in (place.work, place.outside("home"), place.outside("tmp")):
        shutil.rmtree(directory, ignore_errors=True)
        os.makedirs(directory)
    if case.setup:
        case.setup(place)
    return subprocess.run([*prefix, *case.command(place)], cwd=place.work, timeout=TIMEOUT_S,
                          env=environment(case, place), stdin=subprocess.DEVNULL,
                          capture_output=True, check=False)


def snapshot(case, place):
    """What lies in the work directory: path -> (type and mode, size, content or link)."""
    files = {}
    for directory, names, others in os.walk(place.work):
        for name in names + others:
            path = os.path.join(directory, name)
            shown = os.path.relpath(path, place.work)
            for pattern, text in case.rename:
                shown = pattern.sub(text, shown)
            files[shown] = describe(case, path, shown)
    return files


def describe(case, path, shown):
    status = os.lstat(path)
    if stat.S_ISLNK(status.st_mode):
        return (oct(status.st_mode), os.readlink(path))
    if not stat.S_ISREG(status.st_mode) or any(re.search(p, shown) for p in case.changing):
        return (oct(status.st_mode),)
    with open(path, "rb") as file:
        return (oct(status.st_mode), status.st_size, hashlib.sha256(file.read()).hexdigest())


def masked(case, output):
    text = output.decode("utf-8", "replace")
    for pattern, replacement in case.mask:
        text = re.sub(pattern, replacement, text)
    return text


def same_behaviour(case, alone, files_alone, recorded, files_recorded):
    for what, one, two in (
            ("exit status", alone.returncode, recorded.returncode),
            ("stdout", masked(case, alone.stdout), masked(case, recorded.stdout)),
            ("stderr", masked(case, alone.stderr), masked(case, recorded.stderr))):
        if one != two:
            raise Failure(f"{what} differs:\n  alone      {one!r:.2000}\n  with whyio {two!r:.2000}")
    for path in sorted(files_alone.keys() | files_recorded.keys()):
        if files_alone.get(path) != files_recorded.get(path):
            raise Failure(f"file differs: {path}: alone {files_alone.get(path)}, "
                          f"with whyio {files_recorded.get(path)}")


def whyio(*args):
    command = [os.environ.get("WHYIO", "whyio"), *args]
    result = subprocess.run(command, capture_output=True, check=False, timeout=TIMEOUT_S)
    if result.returncode != 0:
        raise Failure(f"{' '.join(command)}: exit {result.returncode}: {result.stderr.decode()}")
    return result.stdout


def sound_trace(trace, unseen=()):
    info = json.loads(whyio("info", "--format=json", trace))
    if info["dropped"] != 0 or info["complete"] is bool(unseen) or set(info["unseen"]) != set(unseen):
        raise Failure(f"trace: dropped {info['dropped']}, complete {info['complete']}, "
                      f"unseen {info['unseen']}")
    return info


def run_case(case, keep=False):
    for program in case.needs:
        if shutil.which(program) is None and not os.path.exists(program):
            raise Skip(f"{program} is not installed")
    base = os.path.realpath(tempfile.mkdtemp(prefix="whyio-program-"))
    try:
        return compare_runs(case, Place(base))
    finally:
        if not keep:
            shutil.rmtree(base, ignore_errors=True)
        else:
            print("kept:", base)


def compare_runs(case, place):
    alone = run(case, place)
    files_alone = snapshot(case, place)
    if alone.returncode != 0:
        raise Failure(f"alone: exit {alone.returncode}: {alone.stderr.decode()}")

    trace = place.outside("trace")
    recorder = os.environ.get("WHYIO", "whyio")
    recorded = run(case, place, (recorder, "record", "-q", "-o", trace, "--"))
    files_recorded = snapshot(case, place)
    same_behaviour(case, alone, files_alone, recorded, files_recorded)
    sound_trace(trace, case.unseen)
    dump = place.outside("dump")
    with open(dump, "wb") as file:
        file.write(whyio("dump", trace))
    events = strace_compare.read_events(dump)
    if case.check:
        case.check(place, events)
    return agree_with_strace(case, place, events)


def agree_with_strace(case, place, events):
    log = place.outside("strace")
    if shutil.which("strace") is None:
        raise Skip("behaviour is the same; strace is not installed")
    traced = run(case, place, (*strace_compare.STRACE, "-o", log))
    if traced.returncode != 0:
        raise Skip(f"behaviour is the same; strace fails here: {traced.stderr.decode()[:500]}")
    explained = [(op, os.path.normpath(place.path(path))) for op, path in case.explained]
    comparison = strace_compare.Comparison(place.work, case.rename, case.only, case.ordered,
                                           case.ignore, explained)
    differences = comparison.run(strace_compare.read_strace(log, place.work), events)
    if differences:
        shown = "\n  ".join(differences[:40])
        raise Failure(f"{len(differences)} differences from strace:\n  {shown}")
    if comparison.compared < case.at_least:
        raise Failure(f"only {comparison.compared} operations compared")
    return f"{comparison.compared} operations agree with strace"
