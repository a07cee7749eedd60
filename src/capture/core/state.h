/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An event while it is made, and the state of the thread that makes it. Part of capture.h. A state
 * is written by its own thread alone, its signal handlers among that.
 */
#ifndef WIO_CAPTURE_CORE_STATE_H
#define WIO_CAPTURE_CORE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <whyio/event.h>

#include "capture/core/attributes.h"
#include "ops/calls.h"
#include "ring/ring.h"

/* One event while a wrapper fills it. In classes without position and size (FORMAT.md R-EVENT-2)
 * offset is arg0 and size is arg1, unless it is emitted with an ext. */
struct cap_event {
    uint64_t begin;
    uint64_t end;
    uintptr_t source;
    int64_t result;
    int64_t offset;
    uint64_t size;
    int32_t fd;
    uint32_t path;
    uint16_t call;
    uint8_t flags;
    int error;
};

#define CAP_EVENT(symbol, caller) CAP_EVENT_OF(WIO_CALL_##symbol, caller)
#define CAP_EVENT_OF(number, caller)                                                               \
    ((struct cap_event){.source = (caller),                                                        \
                        .offset = WIO_NO_OFFSET,                                                   \
                        .size = WIO_NO_SIZE,                                                       \
                        .fd = WIO_NO_FD,                                                           \
                        .call = (uint16_t)(number)})

struct cap_ext {
    uint32_t path2;
    int32_t fd2;
    int64_t offset2;
    int64_t arg[4];
    uint64_t key;
};

#define CAP_EXT ((struct cap_ext){.fd2 = WIO_NO_FD, .offset2 = WIO_NO_OFFSET})

/* A lock that a thread holds: sync_held.h. */
struct cap_held {
    uintptr_t lock; /* 0 = none */
    uint64_t begin; /* ticks when it was taken */
    uintptr_t source;
    uint32_t call;
    uint32_t use; /* CAP_HELD_*; 0 = taken once, its event is still to be written */
};

#define CAP_HELD_MAX 8u

/* What an event finds to be done. */
enum cap_pending {
    CAP_PENDING_EVENTS = 1, /* a feature has events to write before the next one: cap_on_event */
    CAP_PENDING_SITE = 2,   /* a library has called: its stack may be asked for, see stack.h */
};

/* A call site of a library, and when its stack is taken next. */
struct cap_site {
    uint32_t tag;  /* of return address and stack pointer */
    uint16_t left; /* calls until then */
    uint16_t taken;
};

#define CAP_SITE_SETS 2048u
#define CAP_SITE_WAYS 2u

/* One thread's writer. Lives in memory that a fork wipes, so that a child finds span = 0, ready = 0
 * and begins its own ring. The first line is all that the fast path touches. */
struct cap_thread {
    uintptr_t lo;   /* calls from [lo, lo + span) are recorded without further questions */
    uintptr_t span; /* 0 = take the slow path */
    uint64_t word;  /* high half: seq of slot 0; low half: next free slot. See cap_reserve */
    uint8_t *slots; /* slot 0 of the mapped chunk */
    union {
        struct {
            uint8_t flags;       /* enum wio_event_flags of every event of this thread just now */
            uint8_t has_pending; /* enum cap_pending */
            uint8_t is_ready;
            uint8_t is_causal; /* cap_is_causal, since the thread is ready */
            uint8_t watch;     /* enum cap_watch */
            uint8_t reserved;
            uint16_t mute; /* > 0: nothing is recorded */
        };
        uint16_t special; /* flags and has_pending: 0 = an event is written as it is */
        uint64_t state;   /* all of them: cap_is_plain */
    };
    uint32_t held_count;
    int32_t pid;
    int32_t tid;
    uint8_t is_internal; /* the thread belongs to an MPI library */
    uint64_t sampled;    /* ticks when its processor time was last asked for: cap_begin */

    uint64_t dropped;
    int64_t cpu_ns;  /* as of `sampled`; WIO_NO_OFFSET: not known */
    uint64_t sleeps; /* how often it had given its processor away by itself */

    /* What calls of MPI touch besides, in one place. */
    uintptr_t lo2; /* the caller range before the last one */
    uintptr_t span2;
    uintptr_t outer_frame; /* inside a call of a feature that stands there on the stack, whose inner
                              calls it judges (cap_on_call); 0 = none */
    uintptr_t mpi_source;  /* the last call by an MPI library that is I/O: its return address .. */
    uint32_t mpi_io;       /* .. and what it is: enum cap_mpi_io */
    uintptr_t mpi_lo;      /* of the MPI library that called last inside such a call */
    uintptr_t mpi_span;
    uint64_t mpi_looks;      /* calls in a row that found nothing .. */
    uint64_t mpi_look_begin; /* .. since then .. */
    uint64_t mpi_look_word;  /* .. while nothing else was recorded */

    uint64_t token; /* of pthread_create, 0 = main or unknown */
    struct wio_chunk_header *chunk;
    uint32_t writer;
    uint32_t index;     /* place in the table of threads */
    uint32_t next_free; /* free list: index + 1 of the next, 0 = last */
    uint32_t place;     /* a chunk place that was claimed and not yet used, + 1; 0 = none */
    uint32_t retry_in;  /* records to drop before the next attempt on a full disk */
    int32_t clock_pid;  /* as in the last CLOCK record */
    int32_t clock_tid;
    uint64_t stacks[64];         /* hashes of stacks that were written, by hash (see stack.c) */
    cap_function *start_routine; /* for the trampoline of pthread_create */
    void *start_arg;
    uint32_t birth;              /* is its maker done with it? thread_birth.c */
    uint32_t left_cwd;           /* the directory that the chdir under way leaves, 0 = none */
    struct cap_event pending;    /* the vfork that is under way */
    void *left;                  /* memory that a child of vfork left behind at its exec, */
    size_t left_bytes;           /* until its parent runs again */
    struct wio_board_node *node; /* place on the board of a throttled run: hold.h. NULL = none */
    uint64_t node_key;           /* of the node, and of its creator: */
    uint64_t node_parent;
    uint32_t node_children; /* that this thread has made */
    uint32_t waits;         /* depth of cap_state_enter .. */
    uintptr_t wait_frame;   /* .. and where on the stack the outermost was */
    uint64_t look;          /* the last call that could be held: hash of call and target */
    uint8_t look_failed;    /* it did */
    uint8_t look_again;     /* it is made once more */
    struct cap_team *team;  /* of OpenMP, NULL = none: sync_gomp.c */
    struct cap_held held[CAP_HELD_MAX];

    uintptr_t library_lo; /* of the library that called last, where its stacks are sampled */
    uintptr_t library_span;
    uint32_t stack_count; /* samples taken */
    uint32_t site_tag;    /* of the event that is written: cap_site_is_quiet */
    uint64_t stack_first; /* ticks of the first sample .. */
    uint64_t stack_ticks; /* .. and what all of them took */
    struct cap_site sites[CAP_SITE_SETS][CAP_SITE_WAYS];
};

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ &&
                   offsetof(struct cap_thread, is_ready) == offsetof(struct cap_thread, state) + 2,
               "cap_is_plain looks at all at once");

/* Synchronisation is recorded, and there is nothing unusual about this thread: ready, not muted,
 * no vfork or clone child in its memory. */
static inline bool cap_is_plain(const struct cap_thread *self)
{
    return self->state >> 16 == 0x0101;
}

/* Flags that a feature gives to one event alone: cap_on_event_flags. */
#define CAP_CALL_FLAGS (WIO_EVENT_CAUSED | WIO_EVENT_MPI | WIO_EVENT_HOLD)

/* Another process may run on this thread's memory: compare ids before recording. */
enum cap_watch {
    CAP_WATCH_NONE = 0,
    CAP_WATCH_VFORK = 1, /* its events are framed by CLOCK records, until the parent is back */
    CAP_WATCH_CLONE = 2, /* for ever: runs beside the parent, is not recorded */
};

extern __thread struct cap_thread *cap_self __attribute__((tls_model("initial-exec"))) CAP_HIDDEN;
extern bool cap_clock_is_tsc CAP_HIDDEN;
/* Synchronisation is recorded (record --causal=observe, throttle). */
extern bool cap_is_causal CAP_HIDDEN;

#endif
