/* SPDX-License-Identifier: Apache-2.0 */
/* What capture does where a process becomes another program, or ends. */
#ifndef WIO_CAPTURE_PROCESS_EXEC_H
#define WIO_CAPTURE_PROCESS_EXEC_H

#include <stdbool.h>
#include <stddef.h>

#include "capture/core/capture.h"
#include "ring/trace_request.h"

/* Keep our own environment entries (LD_PRELOAD, WHYIO_*) as they were at the start: the program may
 * change or drop them, its children are to be recorded nevertheless. */
void cap_exec_remember(void) CAP_HIDDEN;

/* The last handler that exit() runs: marks the ring. Registered by the constructor. */
void cap_exit_register(void) CAP_HIDDEN;

enum cap_target {
    CAP_TARGET_GOOD,     /* can be preloaded, or nothing is known against it */
    CAP_TARGET_STATIC,   /* ignores preloading */
    CAP_TARGET_FOREIGN,  /* its loader would fail or complain: another word size, machine, libc */
    CAP_TARGET_SECURE,   /* set-user-id: its loader ignores preloading */
    CAP_TARGET_FILTERED, /* our calls may be forbidden to it: filters.h */
};

/* What will run when `path` (relative to dirfd; NULL = not known) is executed; follows #! lines.
 * Raw system calls only. */
enum cap_target cap_exec_target(int dirfd, const char *path) CAP_HIDDEN;
/* For the program that is executed: as which user it makes its ring; or count it where it will not
 * be recorded. */
void cap_exec_count(enum cap_target target) CAP_HIDDEN;

/* Ask the tracer of static programs (record --static=trace) to follow this thread over its exec, or
 * the process that it is about to spawn. False where there is none, or it cannot: then the program
 * runs unrecorded. */
bool cap_exec_ask_tracer(enum cap_target target, enum wio_trace_kind kind) CAP_HIDDEN;

/* The first file on PATH of that name that could be executed, put into `room`; `name` itself where
 * there is none or it is a path. libc searches for itself: this is only to look at it. */
const char *cap_exec_search(const char *name, char *room, size_t size) CAP_HIDDEN;

/*
 * The environment for a program that is about to be executed: `given` itself where it holds all of
 * ours, else one with our entries put back (or LD_PRELOAD taken out for a foreign or filtered
 * target). Between the two calls `given` must not change.
 */
struct cap_environment {
    char *const *entries; /* what to pass on */
    void *map;            /* memory behind it, NULL where `given` is used */
    size_t map_bytes;
};
void cap_environment_init(struct cap_environment *environment, char *const *given,
                          enum cap_target target) CAP_HIDDEN;
void cap_environment_fini(struct cap_environment *environment) CAP_HIDDEN;

/* An exec that succeeds in a child of vfork leaves that memory in its parent: note it before, and
 * give it back when the parent runs again. */
void cap_exec_leave(struct cap_thread *self, const struct cap_environment *environment) CAP_HIDDEN;
void cap_exec_tidy(struct cap_thread *self) CAP_HIDDEN;

/*
 * The same for functions inside of which libc starts a shell with `environ` as it is. Between the
 * two `environ` is another array where the program took our entries out; an entry that another
 * thread changes there meanwhile is changed no longer afterwards.
 */
struct cap_environ {
    struct cap_environment environment;
    char **before;
};
void cap_environ_init(struct cap_environ *swapped) CAP_HIDDEN;
void cap_environ_fini(struct cap_environ *swapped) CAP_HIDDEN;

/* Which children this thread has at a moment, by the kernel's list. */
struct cap_child_mark {
    uint64_t ticks; /* hundredths of a second since the machine began */
    int32_t latest; /* the last one that has not been waited for; 0 = none */
};
struct cap_child_mark cap_child_mark(void) CAP_HIDDEN;
/* The child that it has made since then and that has not been waited for; 0 where there is none, or
 * the kernel keeps no list. */
int32_t cap_child_since(const struct cap_child_mark *mark) CAP_HIDDEN;

#endif
