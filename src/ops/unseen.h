/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was not recorded, and why: the kinds that rings and segments count. The numbers are part of
 * the formats, so kinds are only added at the end; a ring has room for 16. calls.c has their texts.
 */
#ifndef WIO_OPS_UNSEEN_H
#define WIO_OPS_UNSEEN_H

#define WIO_UNSEEN_LIST(X)                                                                         \
    X(STATIC_EXEC, "static_exec", "a static program was executed: it cannot be preloaded")         \
    X(FOREIGN_EXEC, "foreign_exec", "a program of another word size or root was executed")         \
    X(SETUID_EXEC, "setuid_exec",                                                                  \
      "a set-user-id program was executed: the loader ignores preload")                            \
    X(SHARED_CLONE, "shared_clone", "a child made by clone() shared its parent's memory")          \
    X(RAW_CALL, "raw_call", "syscall(2) with a number that is not recorded")                       \
    X(NO_RING, "no_ring", "the ring file could not be made (disk full, no permission)")            \
    X(LOST_COMPLETION, "lost_completion", "a completion was overwritten before it was seen")       \
    X(HIDDEN_URING, "hidden_uring",                                                                \
      "an io_uring request was submitted by code that calls the kernel itself")                    \
    X(HIDDEN_STDIO, "hidden_stdio", "libc's streams could not be looked into: what they caused")   \
    X(HIDDEN_STORES, "hidden_stores",                                                              \
      "stores into a mapped file could not be watched (Linux 6.7 can)")                            \
    X(MPI_HANDLE, "mpi_handle", "MPI communicators or requests beyond the room for them")          \
    X(OWN_CALLS, "own_calls", "a program of Go was executed: it calls the kernel past libc")       \
    X(MANY_MAPS, "many_maps", "a file was mapped beyond the room for maps: what followed for it")  \
    X(FILTERED_EXEC, "filtered_exec",                                                              \
      "a program was executed under a filter of system calls (seccomp) that recording could "      \
      "break")                                                                                     \
    X(KILLED_EARLY, "killed_early", "a child was killed before it could record anything")          \
    X(MPI_ASYNC, "mpi_async",                                                                      \
      "an MPI library submitted a request on a file of the program to libaio or io_uring")

enum wio_unseen {
#define WIO_UNSEEN_ENUM(name, key, text) WIO_UNSEEN_##name,
    WIO_UNSEEN_LIST(WIO_UNSEEN_ENUM)
#undef WIO_UNSEEN_ENUM
        WIO_UNSEEN_COUNT
};

#endif
