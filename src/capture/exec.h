/* SPDX-License-Identifier: Apache-2.0 */
/* What capture does where a process becomes another program, or ends. */
#ifndef WIO_CAPTURE_EXEC_H
#define WIO_CAPTURE_EXEC_H

#include <stdbool.h>
#include <stddef.h>

#include "capture/capture.h"

/* Keep our own environment entries (LD_PRELOAD, WHYIO_*) as they were at the start: the program may
 * change or drop them, its children are to be recorded nevertheless. */
void cap_exec_remember(void) CAP_HIDDEN;

/* The last handler that exit() runs: marks the ring. Registered by the constructor. */
void cap_exit_register(void) CAP_HIDDEN;

enum cap_target {
    CAP_TARGET_GOOD,    /* can be preloaded, or nothing is known against it */
    CAP_TARGET_STATIC,  /* ignores preloading */
    CAP_TARGET_FOREIGN, /* its loader would fail or complain: another word size, machine, libc */
    CAP_TARGET_SECURE,  /* set-user-id: its loader ignores preloading */
};

/* What will run when `path` (relative to dirfd) is executed; follows #! lines. Raw system calls
 * only. */
enum cap_target cap_exec_target(int dirfd, const char *path) CAP_HIDDEN;

/* The first file on PATH of that name that could be executed, put into `room`; `name` itself where
 * there is none or it is a path. libc searches for itself: this is only to look at it. */
const char *cap_exec_search(const char *name, char *room, size_t size) CAP_HIDDEN;

/*
 * The environment for a program that is about to be executed: `given` itself where it holds all of
 * ours, else one with our entries put back (or LD_PRELOAD taken out for a foreign target).
 *
 *     size_t count = cap_environment_room(envp);
 *     const char *room[count];  -- or mmap
 *     char text[...]
 */
struct cap_environment {
    char *const *entries; /* what to pass on */
    void *map;            /* memory behind it, NULL where `given` is used */
    size_t map_bytes;
};
void cap_environment_init(struct cap_environment *environment, char *const *given,
                          enum cap_target target) CAP_HIDDEN;
void cap_environment_fini(struct cap_environment *environment) CAP_HIDDEN;

#endif
