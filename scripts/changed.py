#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Print the source files whose preprocessed text is another one than in a commit: what a program that
reads code would see anew. A header that only gets a comment changes no file, one that gets a member
changes all that include it.

usage: changed.py BUILD COMMIT FILE...    BUILD was configured with CC=clang; the commit is configured
                                          below it, in BUILD/base
       changed.py --self-test             check the checker
"""
import concurrent.futures
import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys


def preprocess_of(command, source):
    """The command that preprocesses instead of compiling: no output file, no list of dependencies."""
    words, kept, skip = shlex.split(command), [], False
    for word in words:
        if skip:
            skip = False
        elif word in ("-o", "-MF", "-MQ", "-MT"):
            skip = True
        elif word not in ("-c", "-MD", "-MMD", source):
            kept.append(word)
    return kept + ["-w", "-E", "-P", source]


def commands_of(build, root):
    """{source, relative to the root: (directory, command)}"""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        entries = json.load(file)
    commands = {}
    for entry in entries:
        source = os.path.relpath(os.path.join(entry["directory"], entry["file"]), root)
        commands.setdefault(source, (entry["directory"], preprocess_of(entry["command"], entry["file"])))
    return commands


def digest(root, commands, source):
    """None: not there, or not to be preprocessed. What this machine does not compile counts as it stands."""
    if source not in commands:
        try:
            with open(os.path.join(root, source), "rb") as file:
                return hashlib.sha256(file.read()).digest()
        except FileNotFoundError:
            return None
    directory, command = commands[source]
    result = subprocess.run(command, cwd=directory, check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return hashlib.sha256(result.stdout).digest() if result.returncode == 0 else None


def touches_code(root, commit):
    """Has anything but documents and tests changed since, in commits or in the work tree?"""
    names = subprocess.run(["git", "-C", root, "diff", "--name-only", commit], check=True, text=True,
                           stdout=subprocess.PIPE).stdout.split("\n")
    return any(name.endswith((".c", ".h", ".def", ".py", "meson.build", "meson_options.txt"))
               and not name.startswith(("tests/", "bench/", "docs/")) for name in names)


def make_headers(build):
    """Build what is generated and included."""
    text = subprocess.run(["ninja", "-C", build, "-t", "targets", "all"], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    headers = [name for name, rule in (line.rsplit(": ", 1) for line in text.splitlines() if ": " in line)
               if rule == "CUSTOM_COMMAND" and name.endswith((".h", ".c", ".def"))]
    if headers:
        subprocess.run(["ninja", "-C", build, "--quiet", *headers], check=True, stdout=subprocess.DEVNULL)


def configure(root, build, commit):
    """The commit's tree, configured; made once for each commit."""
    base = os.path.join(build, "base")
    stamp = os.path.join(base, ".commit")
    if os.path.exists(stamp):
        with open(stamp, encoding="ascii") as file:
            if file.read() == commit:
                return base
    shutil.rmtree(base, ignore_errors=True)
    os.makedirs(base)
    archive = subprocess.Popen(["git", "-C", root, "archive", commit], stdout=subprocess.PIPE)
    subprocess.run(["tar", "-x", "-C", base], check=True, stdin=archive.stdout)
    if archive.wait() != 0:
        raise subprocess.CalledProcessError(archive.returncode, "git archive")
    subprocess.run(["sh", os.path.join(base, "scripts", "configure.sh"), "build"], check=True,
                   stdout=subprocess.DEVNULL, env={**os.environ, "CC": "clang"})
    make_headers(os.path.join(base, "build"))
    with open(stamp, "w", encoding="ascii") as file:
        file.write(commit)
    return base


def changed(now, before, sources):
    """`now`, `before`: (root, commands)"""
    def is_changed(source):
        digest_now = digest(*now, source)
        return digest_now is None or digest_now != digest(*before, source)
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return [source for source, is_new in zip(sources, pool.map(is_changed, sources)) if is_new]


def self_test():
    command = "ccache clang -Isrc -I../src -DX='a b' -MD -MQ o.o -MF o.o.d -o o.o -c ../src/a.c"
    wanted = ["ccache", "clang", "-Isrc", "-I../src", "-DX=a b", "-w", "-E", "-P", "../src/a.c"]
    def echo(text):
        return (".", ["printf", "%s", text])
    now = {"a.c": echo("one"), "b.c": echo("two"), "new.c": echo("three"), "bad.c": (".", ["false"])}
    before = {"a.c": echo("one"), "b.c": echo("other"), "bad.c": (".", ["false"])}
    found = changed(("/nowhere", now), ("/nowhere", before), ["a.c", "b.c", "new.c", "bad.c", "unknown.c"])
    cases = [preprocess_of(command, "../src/a.c") == wanted, found == ["b.c", "new.c", "bad.c", "unknown.c"]]
    print(f"{len(cases)} cases" if all(cases) else f"self-test: {cases} {found}",
          file=sys.stdout if all(cases) else sys.stderr)
    return 0 if all(cases) else 1


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    build, commit, sources = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3:]
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if not touches_code(root, commit):
        return 0
    base = configure(root, build, commit)
    make_headers(build)
    now = (root, commands_of(build, root))
    before = (base, commands_of(os.path.join(base, "build"), base))
    for source in changed(now, before, sources):
        print(source)
    return 0


if __name__ == "__main__":
    sys.exit(main())
