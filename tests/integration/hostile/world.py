# SPDX-License-Identifier: Apache-2.0
"""One hostile directory and what must stay as it is around it; commands run with bounds."""

import hashlib
import os
import re
import resource
import shutil
import stat
import subprocess
import tempfile

WHYIO = os.environ["WHYIO"]
MEMORY = 1 << 30  # bytes of address space; a mutated trace of some KiB needs a fraction
CPU_S, TIMEOUT_S = 60, 300
STATUSES = (0, 1, 3)  # done, the answer is no, the input cannot be read
COMMANDS = (
    ("info",), ("dump",), ("check",), ("edges",), ("dump", "--annotate"), ("info", "--format=json"),
    ("replay", "--dry-run", "--root", "root"),
)

# Asked of each case; of a mutation one of them.
HOST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../data/predict/host.json")
MORE = (
    ("explain",), ("explain", "--format=json"), ("explain", "--host", HOST), ("predict", "--host", HOST),
    ("predict", "--format=json", "--host", HOST), ("jobstats",), ("jobstats", "--format=text"),
    ("dump", "--format=text"), ("edges", "--format=json"), ("check", "--format=json"),
)


def is_sanitized():
    with open(WHYIO, "rb") as program:
        return b"__asan_init" in program.read()


SANITIZED = is_sanitized()  # its shadow takes terabytes of address space


def limit():
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 28, 1 << 28))


def describe(path):
    """What may not change about a file: all but the time of its last reading."""
    st = os.lstat(path)
    content = ""
    if stat.S_ISREG(st.st_mode):
        with open(path, "rb") as file:
            content = hashlib.sha256(file.read()).hexdigest()
    elif stat.S_ISLNK(st.st_mode):
        content = os.readlink(path)
    return (oct(st.st_mode), st.st_uid, st.st_gid, st.st_nlink, st.st_size, st.st_mtime_ns, content)


def snapshot(*tops, without=()):
    found = {}
    for top in tops:
        for directory, below, names in os.walk(top):
            below[:] = [name for name in below if os.path.join(directory, name) not in without]
            for name in below + names:
                path = os.path.join(directory, name)
                found[path] = describe(path)
            found[directory] = describe(directory)
    return found


def difference(before, after):
    lines = [f"gone: {path}" for path in sorted(before.keys() - after.keys())]
    lines += [f"new: {path}" for path in sorted(after.keys() - before.keys())]
    lines += [f"changed: {path}: {before[path]} -> {after[path]}"
              for path in sorted(before.keys() & after.keys()) if before[path] != after[path]]
    return lines


class World:
    """`trace` is the hostile directory, for a case to make; `outside` holds what it must not touch,
    among it `precious` (a file), `empty` (a directory), `home` with a file `key`, and `rings`, a
    directory called as a recorder calls one, with the rings of another trace."""

    def __init__(self, seeds):
        self.seeds = seeds
        self.base = tempfile.mkdtemp(prefix="whyio-hostile-")
        self.trace = os.path.join(self.base, "trace")
        self.outside = os.path.join(self.base, "outside")
        self.rings = self.out("whyio-rings-" + str(os.geteuid()) + "-victim")
        self.guarded = []
        for name in ("cwd", "tmp", "outside", "outside/empty", "outside/home"):
            os.mkdir(os.path.join(self.base, name))
        self.write(self.out("precious"), b"precious\n")
        self.write(self.out("home/key"), b"k" * 192)
        shutil.copytree(seeds.ring_directory(), self.rings)
        os.chmod(self.rings, 0o700)

    def out(self, name):
        return os.path.join(self.outside, name)

    def at(self, name):
        return os.path.join(self.trace, name)

    def write(self, path, data):
        with open(path, "wb") as file:
            file.write(data)

    def copy(self, seed):
        """The trace becomes a copy of a seed: seeds.py."""
        shutil.copytree(self.seeds.get(seed), self.trace, symlinks=True)

    def script(self, lines):
        """The trace is made by hand (tests/support/script.h)."""
        os.mkdir(self.trace)
        program = os.path.join(os.environ["WHYIO_BUILD"], "tests/support/trace_script")
        subprocess.run([program, self.trace], input="\n".join(lines).encode(), check=True)

    def guard_trace(self):
        """Nothing may change in the trace itself, too: it is another user's."""
        self.guarded.append(self.trace)

    def more(self):
        """Commands beside COMMANDS."""
        return MORE + (("compare", self.seeds.get("sealed")),)

    def run(self, *args, check=True, **options):
        environment = dict(os.environ, TMPDIR=os.path.join(self.base, "tmp"), HOME=self.outside)
        answer = subprocess.run([WHYIO, *args], cwd=os.path.join(self.base, "cwd"), env=environment,
                                stdin=subprocess.DEVNULL, capture_output=True, check=False,
                                timeout=TIMEOUT_S, preexec_fn=limit, **options)
        if check and answer.returncode not in STATUSES:
            raise AssertionError(f"whyio {' '.join(args)}: status {answer.returncode}\n"
                                 f"{answer.stderr.decode(errors='replace')[-2000:]}")
        return answer

    def run_all(self, commands=COMMANDS):
        """Each command once; the answers. Nothing outside the trace is changed by them."""
        without = () if self.guarded else (self.trace,)
        before = snapshot(self.base, without=without)
        answers = {}
        for command in commands:
            answers[command] = self.run(*command, self.trace)
            self.assert_plain(command, answers[command])
            lines = difference(before, snapshot(self.base, without=without))
            if not self.guarded:  # its directory's own entry in `base` stays, but may be emptied
                lines = [line for line in lines if not line.startswith(f"changed: {self.base}:")]
            if lines:
                raise AssertionError(f"whyio {' '.join(command)} has changed:\n" + "\n".join(lines))
        return answers

    def assert_plain(self, command, answer):
        """Nothing that a terminal takes for a command."""
        for name, data in (("stdout", answer.stdout), ("stderr", answer.stderr)):
            odd = set(data) & (set(range(32)) - {10} | {127})
            if odd:
                raise AssertionError(f"whyio {' '.join(command)}: bytes {sorted(odd)} on {name}")
            if re.search(b"\xc2[\x80-\x9f]", data):
                raise AssertionError(f"whyio {' '.join(command)}: U+0080 to U+009F on {name}")

    def close(self):
        for directory, below, _ in os.walk(self.base):
            for name in below:
                path = os.path.join(directory, name)
                if not os.path.islink(path):
                    os.chmod(path, 0o700)
        shutil.rmtree(self.base)
