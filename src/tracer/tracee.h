/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tracer knows of the threads and processes of one session: a tree of processes, from the
 * thread that asked to be traced on, that one thread of the tracer follows.
 */
#ifndef WIO_TRACER_TRACEE_H
#define WIO_TRACER_TRACEE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/system/boot_id.h"
#include "ops/syscall_rules.h"
#include "ring/ring_writer.h"
#include "tracer/caller.h"
#include "tracer/fds.h"
#include "tracer/maps.h"

#define TRACER_ARGUMENTS 6

/* Counted for the recorder, in memory that it shares; atomic. */
struct tracer_losses {
    uint32_t no_ring; /* images of which no file tells, since it could not be made */
};

/* What all sessions of a tracer share; constant while they run, but for `stopping`. */
struct tracer_settings {
    int rings; /* descriptor of their directory */
    const char *capture_lib;
    bool causal;
    bool is_tsc;
    char host[64];
    char boot_id[WIO_BOOT_ID_ROOM];
    bool *stopping; /* atomic: let go of everything */
    struct tracer_losses *losses;
};

struct tracer_process {
    int32_t pid;
    uint32_t threads; /* that are known */
    bool is_recorded; /* runs a static image, and no other process records it */
    bool is_leaving;  /* its threads are let go as soon as they stop */
    bool has_ended;   /* its end is in the ring */
    bool ring_failed;
    struct wio_ring_writer ring; /* header NULL: none yet */
    char parent_ring[WIO_RING_NAME_BYTES];
    uint32_t first_string;
    uint32_t cwd; /* string of the working directory; 0 = ask */
    bool is_described;
    struct tracer_fds fds;
    struct tracer_maps maps;
    struct tracer_code code;
};

/* The system call that a thread is in. arg[0] is not used, as in the rules. */
struct tracer_call {
    bool is_inside;
    uint64_t number;
    uint64_t arg[TRACER_ARGUMENTS + 1];
    uint64_t begin; /* ticks */
    uint64_t end;
    uint64_t source; /* behind the system call instruction */
    uint64_t caller; /* of the function that has it */
    uint64_t stack;  /* pointer, which tells a call from another one at the same place */
    int64_t result;  /* as libc gives it: -1 on failure */
    int error;
    uint32_t path; /* noted before the call changes what it means; 0 = none */
};

struct tracer_thread {
    int32_t tid;
    struct tracer_process *process;
    struct wio_ring_stream stream;
    struct tracer_call call;
    struct tracer_call suspended;
    bool is_new;       /* has not run yet: its beginning is an event of its own */
    bool is_suspended; /* `suspended` was cut off by a signal: it goes on, or fails with EINTR */
    bool has_returned; /* from the handler of that signal */
    bool is_root;      /* is to be recorded from its next exec on */
    bool has_tried;    /* is_root: an exec has failed */
    bool is_spawner;   /* the process that it makes next is; it is let go then */
};

struct tracer_session {
    const struct tracer_settings *settings;
    struct wio_map threads;   /* tid -> struct tracer_thread * */
    struct wio_map processes; /* pid -> struct tracer_process * */
    struct wio_map ends;      /* pid -> wait status + 1 of traced processes that ended */
};

void tracer_session_init(struct tracer_session *session, const struct tracer_settings *settings);
/* Closes all rings. */
void tracer_session_fini(struct tracer_session *session);

/* NULL where it is not known. */
struct tracer_thread *tracer_thread_find(const struct tracer_session *session, int32_t tid);
/* NULL where memory is out. */
struct tracer_process *tracer_process_add(struct tracer_session *session, int32_t pid);
struct tracer_thread *tracer_thread_add(struct tracer_session *session,
                                        struct tracer_process *process, int32_t tid);
/* The last thread takes its process away, too. */
void tracer_thread_remove(struct tracer_session *session, struct tracer_thread *thread);
/* All of its process but this one: what an exec does. */
void tracer_thread_keep_only(struct tracer_session *session, struct tracer_thread *thread);
/* The process becomes another image: a ring and tables of its own from here on. */
void tracer_process_renew(struct tracer_process *process);
/* A child of fork begins with what its parent has: strings, descriptors, directory, maps. */
void tracer_process_inherit(struct tracer_process *child, struct tracer_thread *parent);

/* The thread may write events: the image's ring is there and described. False where it is not
 * recorded, or no ring could be made. */
bool tracer_thread_ready(struct tracer_session *session, struct tracer_thread *thread);

#endif
