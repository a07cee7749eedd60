/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of the thread that makes an event. Part of capture.h. A state is written by its own
 * thread alone, its signal handlers among that.
 */
#ifndef WIO_CAPTURE_CORE_STATE_H
#define WIO_CAPTURE_CORE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/core/attributes.h"
#include "capture/core/event.h"
#include "capture/thread_parts_gen.h"
#include "ring/ring.h"

/* What an event finds to be done. */
enum cap_pending {
    CAP_PENDING_EVENTS = 1, /* a feature has events to write before the next one: cap_on_event */
    CAP_PENDING_SITE = 2,   /* a library has called: its stack may be asked for, see stack.h */
    CAP_PENDING_SCRIPT = 4, /* it may be an interpreted program's line that has */
};

/* A call site of a library, and when its stack is taken next. */
struct cap_site {
    uint32_t tag;  /* of return address and stack pointer */
    uint16_t left; /* calls until then */
    uint16_t taken;
};

#define CAP_SITE_SETS 2048u
#define CAP_SITE_WAYS 2u

#define CAP_SCRIPT_SETS 128u

/* The stack of a call from a line of an interpreted program. */
struct cap_script_site {
    uint64_t tag; /* of place and return address; 0 = none */
    uint32_t id;  /* 0: there is no line */
};

/* Call stacks (stack.c): known and measured for the writer, whichever thread has it. */
struct cap_stack_state {
    uint64_t written[64]; /* hashes of stacks that were written, by hash */
    uint32_t count;       /* samples taken */
    uint32_t site_tag;    /* of the event that is written: cap_site_is_quiet */
    uint64_t first;       /* ticks of the first sample .. */
    uint64_t ticks;       /* .. and what all of them took */
    struct cap_site sites[CAP_SITE_SETS][CAP_SITE_WAYS];
    struct cap_script_site scripts[CAP_SCRIPT_SETS][2]; /* by tag, the last one in front */
};

/* One writer of the ring (chunk.c). */
struct cap_writer {
    struct wio_chunk_header *chunk;
    uint32_t number;
    uint32_t place;    /* a chunk place that was claimed and not yet used, + 1; 0 = none */
    uint32_t retry_in; /* records to drop before the next attempt on a full disk */
    int32_t clock_pid; /* as in the last CLOCK record */
    int32_t clock_tid;
    uint64_t dropped;
};

/*
 * One thread's state. Lives in memory that a fork wipes, so that a child finds span = 0, ready = 0
 * and begins its own ring. The first line is all that the fast path touches. The parts of
 * features.def belong to one thread: a state begins with each of them zero. The writer and what
 * stands behind it go on with the next thread that gets the state.
 */
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
    int32_t pid;
    int32_t tid;
    uint8_t is_internal; /* the thread belongs to an MPI library */
    uint64_t sampled;    /* ticks when its processor time was last asked for: cap_begin */

    CAP_THREAD_PARTS

    struct cap_writer writer;
    uint32_t index;     /* place in the table of threads */
    uint32_t next_free; /* free list: index + 1 of the next, 0 = last */
    struct cap_stack_state stacks;
};

_Static_assert(offsetof(struct cap_thread, sampled) + sizeof(uint64_t) == 64, "the first line");
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
