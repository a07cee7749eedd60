/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work that any free thread takes. Threads take a lock on a file, read there what is to be done
 * next, give the lock back, and do it:
 *
 *     thread a   lock | which? | unlock | item 0 ............... | lock | which? | unlock | item 3
 *     thread b         lock | which? | unlock | item 1 | lock | which? | unlock | item 2 ...
 *
 * What lies between a lock and the next one is a *turn*. Which thread had which turn was chance: on
 * other storage, or on another day, the same program shares them out in another way, and takes
 * another time where the trace's way leaves some threads without work. So a run that is not the
 * recorded one gives the next turn to the first thread that comes for it (a *pool*), as the program
 * would.
 *
 * Nothing in a trace says so, but the data does: what a turn does behind its lock lies at places
 * that go up (or down) with the order in which the lock was got, over all threads. Threads that
 * have parts of their own show no such order. Only turns are taken that consist of nothing but the
 * file lock and reads, writes and flushes at places that the calls name, on files that all of them
 * have open, and that no other thread waits in or for; the others stay where they were.
 */
#ifndef WIO_SCHEDULE_TASK_POOL_H
#define WIO_SCHEDULE_TASK_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/event.h>
#include <whyio/status.h>

#include "schedule/waits.h"

#define WIO_TURN_FILES 8u
/* Fewer may be in order by chance. */
#define WIO_TURNS_MIN 8u
/* Of all turns together: they are held in memory. */
#define WIO_TURN_EVENTS_MAX (1u << 20)

struct wio_turn {
    uint64_t taken_ns; /* when it had the lock, in the trace */
    uint64_t end_ns;   /* when its thread came for the next one */
    uint32_t first;    /* of its events */
    uint32_t count;
    uint32_t path; /* of what it did first behind its lock .. */
    int64_t offset;
    uint16_t op; /* .. WIO_OP_unknown = nothing */
};

/* Turns of one thread, one behind the other. */
struct wio_turn_span {
    uint32_t stream;
    uint32_t pool;      /* UINT32_MAX = none */
    uint64_t first_seq; /* its events in the stream: from here .. */
    uint64_t end_seq;   /* .. to before this one */
    uint64_t begin_ns;
    uint64_t end_ns;
    uint32_t first; /* of its turns */
    uint32_t count;
    uint32_t lock; /* path */
    uint32_t files;
    uint32_t paths[WIO_TURN_FILES]; /* which the thread has open .. */
    int32_t fds[WIO_TURN_FILES];    /* .. as these */
    uint8_t uses[WIO_TURN_FILES];   /* 1 it reads there, 2 it writes */
    bool is_mixed;                  /* there are more, or one twice */
};

struct wio_turn_pool {
    uint32_t first; /* in `order` */
    uint32_t count;
};

/* Zero-initialise; release with wio_turns_fini. What is found does not change afterwards. */
struct wio_turns {
    struct wio_event *events;
    struct wio_turn *turns;
    struct wio_turn_span *spans; /* by (stream, first_seq) */
    struct wio_turn_pool *pools;
    uint32_t *order; /* turns of each pool as they had the lock */
    uint32_t event_count;
    uint32_t turn_count;
    uint32_t span_count;
    uint32_t pool_count;
    uint32_t event_room;
    uint32_t turn_room;
    uint32_t span_room;
};

/* Read the trace of the waits (finished) once more, if file locks were handed on in it. */
WIO_MUST_CHECK enum wio_status wio_turns_read(const struct wio_waits *waits,
                                              struct wio_turns *turns, struct wio_error *err);
void wio_turns_fini(struct wio_turns *turns);

/* The first span of the stream that is not over before the event `seq`, NULL = none. */
const struct wio_turn_span *wio_turns_span(const struct wio_turns *turns, uint32_t stream,
                                           uint64_t seq);
/* The span's descriptor of a file that its pool works on. */
int32_t wio_turns_fd(const struct wio_turn_span *span, uint32_t path);

/* In task_pool_find.c: spans become pools; what makes none is dropped. */
WIO_MUST_CHECK enum wio_status wio_turns_settle(struct wio_turns *turns);

#endif
