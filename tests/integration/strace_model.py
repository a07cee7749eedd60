# SPDX-License-Identifier: Apache-2.0
"""From the system calls that strace saw to operations on files.

strace tells which call was made with which arguments. Which file a descriptor stands for, where
its position is and what a relative path starts from follows from the calls before: here every
process has its table of descriptors and its working directory, shared or copied by fork, clone
and exec as the kernel does it.
"""
import os
import re
from dataclasses import dataclass, field

from strace_parse import descriptor, quoted

FORKS = {"fork", "vfork", "clone", "clone3"}


@dataclass
class Operation:
    op: str
    path: str           # absolute, links not resolved
    offset: int = None  # None: not known, or the operation has none
    size: int = None
    result: int = None  # None: of no interest (descriptors, addresses)
    error: str = ""
    path2: str = ""
    pid: int = 0
    internal: bool = False  # such as libc makes by itself (see strace_compare.py)
    index: int = 0      # place in the order of the run


@dataclass
class Description:
    """An open file description: what dup'ed and inherited descriptors share."""
    path: str
    position: int = None  # None: not known
    append: bool = False


@dataclass
class Process:
    cwd: list                                       # of one string: threads share it
    fds: dict = field(default_factory=dict)         # number -> Description
    cloexec: set = field(default_factory=set)
    maps: dict = field(default_factory=dict)        # address -> path


def absolute(directory, path):
    """`path` seen from `directory`; "." and ".." taken away, links not resolved."""
    return os.path.normpath(os.path.join(directory or "/", path)) if path else directory


def through_proc(process, path):
    """What /proc/self/fd/N stands for: libc changes modes through it."""
    match = re.fullmatch(r"/proc/self/fd/(\d+)", path)
    handle = process.fds.get(int(match.group(1))) if match else None
    return handle.path if handle else path


class Model:
    """Feed it calls (strace_parse.Call) with `run`; it returns the operations."""

    def __init__(self, cwd):
        self.root_cwd = cwd
        self.processes = {}
        self.operations = []

    def run(self, calls):
        # A child runs before its parent's fork has returned: fork counts from its begin.
        ordered = sorted(calls, key=lambda c: c.begin if c.name in FORKS else c.end)
        for call in ordered:
            handler = getattr(self, "do_" + ALIASES.get(call.name, call.name), None)
            if handler:
                handler(call, self.process(call.pid))
        return self.operations

    def process(self, pid):
        return self.processes.setdefault(pid, Process([self.root_cwd]))

    def add(self, call, op, path, **fields):
        if path:
            self.operations.append(Operation(op, path, error=call.error, pid=call.pid,
                                             index=len(self.operations), **fields))

    # Arguments

    def at(self, process, dirfd_arg, path_arg):
        """The path of a (dirfd, path) pair of arguments."""
        fd, shown = descriptor(dirfd_arg)
        text = quoted(path_arg)
        if fd is None:
            base = process.cwd[0]
        else:
            base = process.fds[fd].path if fd in process.fds else shown
        return absolute(base, text or "")

    def here(self, process, path_arg):
        return absolute(process.cwd[0], quoted(path_arg) or "")

    def handle(self, process, arg):
        """The description behind a descriptor argument, made up where it was never opened."""
        fd, shown = descriptor(arg)
        if fd not in process.fds:
            process.fds[fd] = Description(shown)
        return process.fds[fd]

    # Descriptors and processes

    def do_openat(self, call, process):
        path = self.at(process, call.args[0], call.args[1])
        self.opened(call, process, path, call.args[2])

    def do_open(self, call, process):
        self.opened(call, process, self.here(process, call.args[0]), call.args[1])

    def do_creat(self, call, process):
        self.opened(call, process, self.here(process, call.args[0]), "O_TRUNC")

    def opened(self, call, process, path, flags):
        if not call.error and call.result is not None:
            process.fds[call.result] = Description(path, 0, "O_APPEND" in flags)
            process.cloexec.discard(call.result)
            if "O_CLOEXEC" in flags:
                process.cloexec.add(call.result)
        self.add(call, "open", path)

    def do_close(self, call, process):
        handle = self.handle(process, call.args[0])
        fd, _ = descriptor(call.args[0])
        process.fds.pop(fd, None)
        process.cloexec.discard(fd)
        self.add(call, "close", handle.path)

    def do_dup(self, call, process):
        handle = self.handle(process, call.args[0])
        if not call.error:
            process.fds[call.result] = handle
            process.cloexec.discard(call.result)
            if any("O_CLOEXEC" in arg for arg in call.args[1:]):
                process.cloexec.add(call.result)
        self.add(call, "dup", handle.path)

    def do_fcntl(self, call, process):
        handle = self.handle(process, call.args[0])
        fd, _ = descriptor(call.args[0])
        command = call.args[1]
        if command.startswith("F_DUPFD") and not call.error:
            process.fds[call.result] = handle
            if command == "F_DUPFD_CLOEXEC":
                process.cloexec.add(call.result)
        if command == "F_SETFD":
            (process.cloexec.add if "FD_CLOEXEC" in call.args[2] else process.cloexec.discard)(fd)
        if command == "F_SETFL":
            handle.append = "O_APPEND" in call.args[2]
        self.add(call, "fcntl", handle.path, internal=command in ("F_GETFL", "F_SETFD"))

    def do_clone(self, call, process):
        if call.error or not call.result:
            return
        flags = " ".join(call.args)
        child = Process(process.cwd if "CLONE_FS" in flags else list(process.cwd))
        shared = "CLONE_FILES" in flags
        child.fds = process.fds if shared else dict(process.fds)
        child.cloexec = process.cloexec if shared else set(process.cloexec)
        child.maps = process.maps if "CLONE_VM" in flags else dict(process.maps)
        self.processes[call.result] = child

    def do_execve(self, call, process):
        if not call.error:
            for fd in process.cloexec:
                process.fds.pop(fd, None)
            process.cloexec = set()
            process.maps = {}

    def do_chdir(self, call, process):
        path = self.here(process, call.args[0])
        if not call.error:
            process.cwd[0] = path
        self.add(call, "chdir", path)

    def do_fchdir(self, call, process):
        path = self.handle(process, call.args[0]).path
        if not call.error:
            process.cwd[0] = path
        self.add(call, "chdir", path)

    # Reading and writing

    def sequential(self, call, op, handle, size):
        """A call that reads or writes at the position of the descriptor and moves it."""
        offset = None if handle.append and op.startswith("write") else handle.position
        if call.result is not None and call.result > 0:
            if offset is not None:
                handle.position += call.result
            elif handle.append:
                handle.position = None
        self.add(call, op, handle.path, offset=offset, size=size, result=call.result)

    def do_read(self, call, process):
        self.sequential(call, call.name, self.handle(process, call.args[0]), int(call.args[2], 0))

    do_write = do_read

    def do_readv(self, call, process):
        size = sum(int(n) for n in re.findall(r"iov_len=(\d+)", call.args[1]))
        self.sequential(call, call.name, self.handle(process, call.args[0]), size)

    do_writev = do_readv

    def do_pread64(self, call, process):
        self.add(call, call.name.removesuffix("64"), self.handle(process, call.args[0]).path,
                 offset=int(call.args[3], 0), size=int(call.args[2], 0), result=call.result)

    do_pwrite64 = do_pread64

    def do_preadv(self, call, process):
        size = sum(int(n) for n in re.findall(r"iov_len=(\d+)", call.args[1]))
        handle = self.handle(process, call.args[0])
        offset = int(call.args[3], 0)
        if offset == -1 and call.name.endswith("2"):
            self.sequential(call, call.name, handle, size)
            return
        self.add(call, call.name, handle.path, offset=offset, size=size, result=call.result)

    do_pwritev = do_preadv2 = do_pwritev2 = do_preadv

    def do_lseek(self, call, process):
        handle = self.handle(process, call.args[0])
        if not call.error:
            handle.position = call.result
        self.add(call, "lseek", handle.path, offset=int(call.args[1], 0), result=call.result)

    def do_copy_file_range(self, call, process):
        source, target = (self.handle(process, call.args[i]) for i in (0, 2))
        if call.args[1] == "NULL" and source.position is not None and not call.error:
            source.position += call.result
        if call.args[3] == "NULL" and target.position is not None and not call.error:
            target.position += call.result
        self.add(call, call.name, target.path, size=int(call.args[4], 0), result=call.result,
                 path2=source.path)

    def do_sendfile(self, call, process):
        target, source = (self.handle(process, call.args[i]) for i in (0, 1))
        if not call.error:
            target.position = None if target.position is None else target.position + call.result
            if call.args[2] == "NULL" and source.position is not None:
                source.position += call.result
        self.add(call, "sendfile", target.path or source.path, size=int(call.args[3], 0),
                 result=call.result, path2=source.path)

    def do_io_submit(self, call, process):
        ops = {"PREAD": "pread", "PWRITE": "pwrite", "PREADV": "pread", "PWRITEV": "pwrite",
               "FSYNC": "fsync", "FDSYNC": "fsync"}
        request = re.compile(r"IOCB_CMD_(\w+).*?aio_fildes=(\d+(?:<.*?>)?)(.*?)(?=aio_data|$)")
        accepted = call.result if not call.error else 0
        for kind, fd, rest in request.findall(" ".join(call.args))[:accepted]:
            offset = re.search(r"aio_offset=(\d+)", rest)
            vector = re.findall(r"iov_len=(\d+)", rest)
            size = re.search(r"aio_nbytes=(\d+)", rest)
            total = sum(map(int, vector)) if vector else int(size.group(1)) if size else None
            self.add(call, ops.get(kind, kind), self.handle(process, fd).path,
                     offset=int(offset.group(1)) if offset else None, size=total)

    # Flushing, space, advice

    def do_fsync(self, call, process):
        self.add(call, call.name, self.handle(process, call.args[0]).path, result=call.result)

    do_fdatasync = do_syncfs = do_flock = do_fsync

    def do_sync_file_range(self, call, process):
        self.add(call, call.name, self.handle(process, call.args[0]).path,
                 offset=int(call.args[1], 0), size=int(call.args[2], 0), result=call.result)

    def do_ftruncate(self, call, process):
        self.add(call, "ftruncate", self.handle(process, call.args[0]).path,
                 size=int(call.args[1], 0), result=call.result)

    def do_truncate(self, call, process):
        self.add(call, "truncate", self.here(process, call.args[0]), size=int(call.args[1], 0),
                 result=call.result)

    def do_fallocate(self, call, process):
        self.add(call, "fallocate", self.handle(process, call.args[0]).path,
                 offset=int(call.args[2], 0), size=int(call.args[3], 0), result=call.result)

    def do_fadvise64(self, call, process):
        self.add(call, "posix_fadvise", self.handle(process, call.args[0]).path,
                 offset=int(call.args[1], 0), size=int(call.args[2], 0))

    # Looking at files

    def do_newfstatat(self, call, process):
        by_descriptor = "AT_EMPTY_PATH" in call.args[3] and quoted(call.args[1]) == ""
        path = self.at(process, call.args[0], call.args[1])
        self.add(call, "fstat" if by_descriptor else "stat", path, internal=by_descriptor)

    def do_fstat(self, call, process):
        self.add(call, "fstat", self.handle(process, call.args[0]).path, internal=True)

    def do_stat(self, call, process):
        self.add(call, "stat", self.here(process, call.args[0]))

    do_lstat = do_stat

    def do_statx(self, call, process):
        self.add(call, "statx", self.at(process, call.args[0], call.args[1]))

    def do_readlink(self, call, process):
        self.add(call, "readlink", self.here(process, call.args[0]), result=call.result,
                 internal=True)

    def do_readlinkat(self, call, process):
        self.add(call, "readlink", self.at(process, call.args[0], call.args[1]),
                 result=call.result, internal=True)

    # Mappings

    def do_mmap(self, call, process):
        fd, _ = descriptor(call.args[4])
        if fd is None or fd < 0:
            return
        handle = self.handle(process, call.args[4])
        if not call.error:
            process.maps[call.result] = handle.path
        self.add(call, "mmap", handle.path, offset=int(call.args[5], 0),
                 size=int(call.args[1], 0))

    def do_msync(self, call, process):
        path = process.maps.get(int(call.args[0], 0), "")
        self.add(call, "msync", path, size=int(call.args[1], 0), result=call.result)


# Calls that only take one path, or a directory descriptor and a path.
PATH_CALLS = {"access": "access", "mkdir": "mkdir", "rmdir": "unlink", "unlink": "unlink",
              "chmod": "chmod", "chown": "chown", "lchown": "chown", "mknod": "mknod",
              "statfs": "statfs", "utimes": "utimens", "utime": "utimens",
              "getxattr": "getxattr", "lgetxattr": "getxattr", "listxattr": "listxattr",
              "llistxattr": "listxattr", "setxattr": "setxattr", "lsetxattr": "setxattr"}
AT_CALLS = {"faccessat": "access", "faccessat2": "access", "mkdirat": "mkdir",
            "unlinkat": "unlink", "fchmodat": "chmod", "fchownat": "chown",
            "mknodat": "mknod", "utimensat": "utimens"}
FD_CALLS = {"fchmod": "chmod", "fchown": "chown", "fstatfs": "statfs",
            "fgetxattr": "getxattr", "flistxattr": "listxattr", "fsetxattr": "setxattr"}
# Two paths: the places of (directory, path) or path of the first and of the second.
PAIR_CALLS = {"rename": ("rename", (0,), (1,)), "link": ("link", (0,), (1,)),
              "renameat": ("rename", (0, 1), (2, 3)), "renameat2": ("rename", (0, 1), (2, 3)),
              "linkat": ("link", (0, 1), (2, 3))}
ALIASES = {"openat2": "openat", "dup2": "dup", "dup3": "dup", "vfork": "clone", "fork": "clone",
           "clone3": "clone"}


def _install():
    def by_path(op):
        return lambda self, call, process: self.add(
            call, op, through_proc(process, self.here(process, call.args[0])))

    def by_at(op):
        return lambda self, call, process: self.add(
            call, op, self.at(process, call.args[0], call.args[1]))

    def by_fd(op):
        return lambda self, call, process: self.add(
            call, op, self.handle(process, call.args[0]).path)

    def by_pair(op, first, second):
        def place(self, call, process, where):
            args = [call.args[i] for i in where]
            return self.at(process, *args) if len(args) == 2 else self.here(process, *args)
        return lambda self, call, process: self.add(
            call, op, place(self, call, process, first), path2=place(self, call, process, second))

    for table, make in ((PATH_CALLS, by_path), (AT_CALLS, by_at), (FD_CALLS, by_fd)):
        for name, op in table.items():
            setattr(Model, "do_" + name, make(op))
    for name, (op, first, second) in PAIR_CALLS.items():
        setattr(Model, "do_" + name, by_pair(op, first, second))
    Model.do_symlink = lambda self, call, process: self.add(
        call, "symlink", self.here(process, call.args[1]), path2=quoted(call.args[0]))
    Model.do_symlinkat = lambda self, call, process: self.add(
        call, "symlink", self.at(process, call.args[1], call.args[2]), path2=quoted(call.args[0]))


_install()
