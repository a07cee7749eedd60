#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does a trace of whyio agree with what strace saw of the same program?

    strace -f -y -v -s 0 -e trace=... -o FILE COMMAND
    whyio record -o DIR -- COMMAND; whyio dump DIR > DUMP
    strace_compare.py --root=WORK --cwd=WORK FILE DUMP

Every operation on a path below WORK must be on both sides: the same operation, path, offset, size,
result and error, equally often (and in the same order per path with --ordered, for programs of
one thread). What the two call differently is folded (`newfstatat` and `lstat` are both a stat,
`rmdir` is an unlink, a request of io_submit is a pwrite).

Differences that are right, because whyio stands between the program and libc and strace between
libc and the kernel:

* what libc does inside itself is only in strace: fstat in opendir, fcntl in fdopen and fdopendir,
  readlink in realpath, opening and closing in scandir, open, fstat and close in
  lchmod and fchmodat(AT_SYMLINK_NOFOLLOW), which libc refuses by itself for a link; each is
  allowed as often as the trace has a call that explains it;
* getdents (readdir asks for many entries at once), munmap and madvise are not compared: strace
  cannot say of which file;
* descriptors, addresses and inodes are not compared;
* where strace cannot tell the offset (a descriptor from outside, O_APPEND), any offset is right;
* results of asynchronous requests are not in io_submit: any result is right.

Exit status: 0 they agree, 1 they do not, 2 usage.
"""
import argparse
import collections
import errno
import json
import sys

import strace_model
import strace_parse
from strace_model import Operation

STRACE = ["strace", "-f", "-y", "-v", "-s", "0", "-q", "-q", "-e", "signal=none",
          "-e", "trace=%file,%desc,%process,msync,io_submit"]

# Operation of whyio -> what it is compared as. None: not compared.
FOLD = {
    "creat": "open", "mkstemp": "open", "mkostemp": "open", "mkstemps": "open",
    "mkostemps": "open", "opendir": "open", "closedir": "close", "dup2": "dup", "dup3": "dup",
    "lstat": "stat", "euidaccess": "access", "fstatfs": "statfs", "statvfs": "statfs",
    "fstatvfs": "statfs", "lgetxattr": "getxattr", "fgetxattr": "getxattr",
    "llistxattr": "listxattr", "flistxattr": "listxattr", "lsetxattr": "setxattr",
    "fsetxattr": "setxattr", "mkdtemp": "mkdir", "mkfifo": "mknod", "rmdir": "unlink",
    "remove": "unlink", "lchmod": "chmod", "fchmod": "chmod", "lchown": "chown",
    "fchown": "chown", "utime": "utimens", "utimes": "utimens", "lutimes": "utimens",
    "futimes": "utimens", "futimens": "utimens", "fchdir": "chdir", "aio_read": "pread",
    "aio_write": "pwrite", "aio_fsync": "fsync", "posix_fallocate": "fallocate",
}
# The same for calls of streams, where their system call is not an event of its own (caused).
FOLD_STREAM = {"fopen": "open", "freopen": "open", "popen": "open", "tmpfile": "open",
               "fclose": "close", "pclose": "close", "dprintf": "write", "vdprintf": "write"}
COMPARED = {
    "open", "close", "dup", "fcntl", "chdir", "read", "write", "readv", "writev", "pread",
    "pwrite", "preadv", "pwritev", "preadv2", "pwritev2", "lseek", "copy_file_range", "sendfile",
    "fsync", "fdatasync", "syncfs", "flock", "sync_file_range", "ftruncate", "truncate",
    "fallocate", "posix_fadvise", "fstat", "stat", "statx", "readlink", "mmap", "msync", "access",
    "mkdir", "unlink", "chmod", "chown", "mknod", "statfs", "utimens", "getxattr", "listxattr",
    "setxattr", "rename", "link", "symlink",
}
HAVE_OFFSET = {"read", "write", "readv", "writev", "pread", "pwrite", "preadv", "pwritev",
               "preadv2", "pwritev2", "lseek", "sync_file_range", "fallocate", "posix_fadvise",
               "mmap"}
HAVE_SIZE = HAVE_OFFSET - {"lseek"} | {"copy_file_range", "sendfile", "ftruncate", "truncate",
                                       "msync"}
HAVE_RESULT = HAVE_OFFSET - {"mmap", "posix_fadvise"} | {
    "copy_file_range", "sendfile", "fsync", "fdatasync", "syncfs", "flock", "ftruncate",
    "truncate", "msync", "readlink"}
HAVE_PATH2 = {"copy_file_range", "sendfile", "rename", "link", "symlink"}

# Which of whyio's operations explain calls that libc makes inside itself.
EXPLAINS = {"opendir": ("fstat",), "fdopendir": ("fstat", "fcntl", "fcntl"), "fdopen": ("fcntl",),
            "scandir": ("open", "fstat", "close")}
AT_SYMLINK_NOFOLLOW = 0x100


def read_strace(path, cwd):
    with open(path, encoding="latin-1") as file:
        return strace_model.Model(cwd).run(list(strace_parse.calls(file)))


def read_events(path):
    """The events of `whyio dump`, without its summary."""
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        events = [json.loads(line) for line in file if line.strip()]
    return [event for event in events if "op" in event]


def caused_by(events):
    """Events of streams whose system call follows as an event of its own: (pid, tid, seq)."""
    seen = {(e["pid"], e["tid"], e["seq"]) for e in events if e.get("caused")}
    return lambda e: (e["pid"], e["tid"], e["seq"] + 1) in seen


def operation_of(event, name, index):
    def pick(names, key):
        return event[key] if name in names else None
    error = errno.errorcode.get(event["errno"], str(event["errno"])) if event["errno"] else ""
    return Operation(name, event["path"] or "", offset=pick(HAVE_OFFSET, "offset"),
                     size=pick(HAVE_SIZE, "size"), result=pick(HAVE_RESULT, "result"),
                     error=error, path2=(event["path2"] or "") if name in HAVE_PATH2 else "",
                     pid=event["pid"], index=index)


def whyio_operations(events):
    has_caused = caused_by(events)
    operations = []
    for event in events:
        if refused_by_libc(event):
            continue
        name = FOLD.get(event["op"], event["op"])
        if not has_caused(event):
            name = FOLD_STREAM.get(name, name)
        if name in COMPARED:
            operations.append(operation_of(event, name, len(operations)))
    return operations


def refused_by_libc(event):
    """chmod of a link itself: no system call does that."""
    return spares_links(event) and event["errno"] == errno.ENOTSUP


def spares_links(event):
    """fchmodat(AT_SYMLINK_NOFOLLOW) or lchmod: libc opens the file to see whether it is a link."""
    return event["op"] == "lchmod" or \
        event["op"] == "chmod" and event["args"][1] == AT_SYMLINK_NOFOLLOW


def explanations(events):
    """How many calls of libc's own the events explain: Counter of (operation, path)."""
    count = collections.Counter()
    for event in events:
        path, op = event["path"] or "", event["op"]
        for explained in EXPLAINS.get(op, ()):
            count[explained, path] += 1
        if spares_links(event):
            count.update({("open", path): 1, ("fstat", path): 1, ("close", path): 1})
        if op == "realpath":
            parts = path.split("/")
            for depth in range(2, len(parts) + 1):
                count["readlink", "/".join(parts[:depth])] += 1
    return count


class Comparison:
    """One comparison. `root`: only paths below; `rename`: (pattern, text) for names that change;
    `ignore`: operations that are not compared; `explained`: (operation, path) that only strace
    sees, each as often as it is listed."""

    def __init__(self, root, rename=(), only=None, ordered=False, ignore=(), explained=()):
        self.root, self.rename, self.ordered = root, rename, ordered
        self.only = (only or COMPARED) - set(ignore)
        self.explained = collections.Counter(explained)
        self.compared = 0

    def renamed(self, path):
        for pattern, text in self.rename:
            path = pattern.sub(text, path)
        return path

    def relevant(self, operations):
        kept = []
        for operation in operations:
            if operation.op in self.only and self.below(operation):
                operation.path = self.renamed(operation.path)
                operation.path2 = self.renamed(operation.path2)
                kept.append(operation)
        return kept

    def allowed(self, events):
        """What only strace may see: Counter of (operation, path)."""
        allowed = collections.Counter(self.explained)
        for (op, path), count in explanations(events).items():
            allowed[op, self.renamed(path)] += count
        return allowed

    def below(self, operation):
        return any(path == self.root or path.startswith(self.root + "/")
                   for path in (operation.path, operation.path2))

    def run(self, strace_operations, events):
        """The differences, as texts."""
        theirs = self.relevant(strace_operations)
        ours = self.relevant(whyio_operations(events))
        self.compared = len(ours)
        theirs, ours, pairs = match(theirs, ours)
        allowed = self.allowed(events)
        differences = []
        for operation in theirs:
            key = (operation.op, operation.path)
            if allowed[key] > 0 and (operation.internal or operation.op in ("open", "close")):
                allowed[key] -= 1
            else:
                differences.append("only strace: " + show(operation))
        differences += ["only whyio:  " + show(operation) for operation in ours]
        if self.ordered and not differences:
            differences = order_differences(pairs)
        return differences


def match(theirs, ours):
    """Pair equal operations; returns what is left of both, and the pairs. What libc may have done
    by itself comes last, so that it is left rather than what only the program can have done."""
    theirs = sorted(theirs, key=lambda operation: operation.internal)
    waiting = collections.defaultdict(list)
    for operation in ours:
        waiting[exact_key(operation)].append(operation)
    left, pairs = [], []
    for operation in theirs:
        same = waiting[exact_key(operation)]
        if same:
            pairs.append((operation, same.pop(0)))
        else:
            left.append(operation)
    rest = collections.defaultdict(list)
    for operations in waiting.values():
        for operation in operations:
            rest[operation.op, operation.path, operation.error].append(operation)
    still_left = []
    for operation in left:
        candidates = rest[operation.op, operation.path, operation.error]
        found = next((c for c in candidates if compatible(operation, c)), None)
        if found:
            candidates.remove(found)
            pairs.append((operation, found))
        else:
            still_left.append(operation)
    unmatched = [operation for operations in rest.values() for operation in operations]
    return still_left, sorted(unmatched, key=lambda o: o.index), pairs


def exact_key(operation):
    return (operation.op, operation.path, operation.error, operation.offset, operation.size,
            operation.result, operation.path2)


def compatible(theirs, ours):
    """What strace does not know (None) may be anything."""
    return theirs.path2 == ours.path2 and all(
        mine is None or mine == other for mine, other in
        ((theirs.offset, ours.offset), (theirs.size, ours.size), (theirs.result, ours.result)))


def order_differences(pairs):
    """Per path: the operations in strace's order must be in whyio's order too."""
    by_path = collections.defaultdict(list)
    for theirs, ours in sorted(pairs, key=lambda pair: pair[0].index):
        by_path[theirs.path].append(ours)
    return [f"another order: {path}: {one.op} before {two.op}"
            for path, operations in by_path.items()
            for one, two in zip(operations, operations[1:])
            if one.index > two.index and exact_key(one) != exact_key(two)]


def show(operation):
    parts = [operation.op, operation.path]
    if operation.path2:
        parts.append(f"and {operation.path2}")
    for name in ("offset", "size", "result"):
        value = getattr(operation, name)
        if value is not None:
            parts.append(f"{name} {value}")
    return " ".join(parts + ([operation.error] if operation.error else []))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", required=True, help="compare the paths below this directory")
    parser.add_argument("--cwd", required=True, help="where the program started")
    parser.add_argument("--ordered", action="store_true")
    parser.add_argument("strace")
    parser.add_argument("dump")
    options = parser.parse_args()
    comparison = Comparison(options.root, ordered=options.ordered)
    differences = comparison.run(read_strace(options.strace, options.cwd),
                                 read_events(options.dump))
    for line in differences:
        print(line)
    print(f"{comparison.compared} operations compared, {len(differences)} differences",
          file=sys.stderr)
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
