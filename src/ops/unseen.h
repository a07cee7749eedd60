/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was not recorded, and why: the kinds that rings and segments count. The numbers are part of
 * the formats, so kinds are only added at the end; a ring has room for 16. calls.c has their texts:
 * what it was, and what makes it seen.
 */
#ifndef WIO_OPS_UNSEEN_H
#define WIO_OPS_UNSEEN_H

#define WIO_UNSEEN_LIST(X)                                                                         \
    X(STATIC_EXEC, "static_exec", "a static program was executed: it cannot be preloaded",         \
      "record --static=trace, or link it dynamically (no -static)")                                \
    X(FOREIGN_EXEC, "foreign_exec",                                                                \
      "a program of another word size, C library or root was executed",                            \
      "use one of this machine's word size and of glibc, outside of chroot")                       \
    X(SETUID_EXEC, "setuid_exec",                                                                  \
      "a set-user-id program was executed: the loader ignores preload",                            \
      "run a copy without that bit, as the user that it changes to")                               \
    X(SHARED_CLONE, "shared_clone", "a child made by clone() shared its parent's memory",          \
      "make it by fork(), vfork() or posix_spawn()")                                               \
    X(RAW_CALL, "raw_call", "syscall(2) with a number that is not recorded",                       \
      "call the function of libc for it")                                                          \
    X(NO_RING, "no_ring", "the ring file could not be made (disk full, no permission)",            \
      "WHYIO_RING_DIR=DIR, with room, that all users of the run may write to")                     \
    X(LOST_COMPLETION, "lost_completion", "a completion was overwritten before it was seen",       \
      "a larger completion ring, or collect more often")                                           \
    X(HIDDEN_URING, "hidden_uring",                                                                \
      "an io_uring request was submitted by code that calls the kernel itself",                    \
      "use liburing as a shared library, or syscall(); fio: --ioengine=libaio")                    \
    X(HIDDEN_STDIO, "hidden_stdio", "libc's streams could not be looked into: what they caused",   \
      "run it with glibc, where mprotect() is allowed")                                            \
    X(HIDDEN_STORES, "hidden_stores",                                                              \
      "stores into a mapped file could not be watched (Linux 6.7 can)",                            \
      "Linux 6.7 or newer, or write by pwrite()")                                                  \
    X(MPI_HANDLE, "mpi_handle", "MPI communicators or requests beyond the room for them",          \
      "free those that are done with")                                                             \
    X(OWN_CALLS, "own_calls", "a program of Go was executed: it calls the kernel past libc",       \
      "strace -f -T -y shows its I/O")                                                             \
    X(MANY_MAPS, "many_maps", "a file was mapped beyond the room for maps: what followed for it",  \
      "unmap files that are done with")                                                            \
    X(FILTERED_EXEC, "filtered_exec",                                                              \
      "a program was executed under a filter of system calls (seccomp) that recording could "      \
      "break",                                                                                     \
      "start whyio inside of the sandbox, or the program without one")                             \
    X(KILLED_EARLY, "killed_early", "a child was killed before it could record anything",          \
      "let it run longer; what it did is lost")                                                    \
    X(MPI_ASYNC, "mpi_async",                                                                      \
      "an MPI library submitted a request on a file of the program to libaio or io_uring",         \
      "use blocking calls of MPI-IO, or a module of it without libaio")

enum wio_unseen {
#define WIO_UNSEEN_ENUM(name, key, text, remedy) WIO_UNSEEN_##name,
    WIO_UNSEEN_LIST(WIO_UNSEEN_ENUM)
#undef WIO_UNSEEN_ENUM
        WIO_UNSEEN_COUNT
};

#endif
