/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The raw side of a trace: what a traced process writes while it runs. FORMAT.md#ring.
 *
 * One file per process image. A 4 KiB header, then chunks of 64 KiB. A writer (normally one
 * thread) owns one chunk that it maps shared and fills slot by slot; a full chunk is copied to a
 * fresh place of the file by one pwrite, and the mapped one is used again. The page cache holds
 * what was written, so nothing is lost when the process is killed.
 *
 * Everything in this header is used inside the traced process: plain data, no function that
 * allocates, locks or calls libc.
 */
#ifndef WIO_RING_RING_H
#define WIO_RING_RING_H

#include <stdint.h>

#include "ops/image_end.h"
#include "ops/unseen.h"

#define WIO_RING_MAGIC "WIORING\n"
#define WIO_RING_VERSION 1u
#define WIO_RING_HEADER_BYTES 4096u
#define WIO_CHUNK_MAGIC 0x4b4e4843u /* "CHNK" */
#define WIO_CHUNK_BYTES 65536u
#define WIO_SLOT_BYTES 64u
#define WIO_CHUNK_SLOTS (WIO_CHUNK_BYTES / WIO_SLOT_BYTES - 1u) /* the first holds the header */

#define WIO_RING_USERS 8u

/* The writer of definitions, where the last events are kept: FORMAT.md R-BOUND-3. */
#define WIO_TEXT_WRITER 0u

enum wio_ring_clock { WIO_CLOCK_TSC = 1, WIO_CLOCK_MONOTONIC_NS = 2 };

/* FORMAT.md#ring-header. Fixed part of 1 KiB, the rest of the 4 KiB is zero. */
struct wio_ring_header {
    char magic[8];
    uint32_t version;
    uint32_t header_bytes;
    uint32_t chunk_bytes;
    uint32_t clock; /* enum wio_ring_clock: the unit of every "ticks" below */
    uint64_t start_unix_ns;
    uint64_t start_mono_ns; /* taken together with start_ticks */
    uint64_t start_ticks;
    uint64_t
        end_mono_ns; /* a second pair for the calibration, refreshed at each full chunk; 0 = none */
    uint64_t end_ticks;
    int32_t pid;
    int32_t ppid;
    uint64_t pid_start; /* field 22 of /proc/self/stat: tells a recycled pid apart */
    int32_t rank;       /* -1 = none */
    int32_t ranks;      /* size of the world, 0 = unknown */
    uint32_t chunks;    /* atomic: chunks handed out so far */
    uint32_t end;       /* enum wio_ring_end */
    int32_t end_status;
    uint32_t first_string; /* ids below belong to parent_ring: FORMAT.md#ring-strings */
    uint32_t next_string;  /* atomic */
    uint32_t calls_hash;   /* hash of the table of calls: a reader with another table refuses */
    uint64_t dropped;      /* atomic: events lost (disk full, no chunk) */
    uint64_t unseen[16];   /* atomic: enum wio_unseen */
    char parent_ring[128]; /* file name, "" where the image was not made by fork */
    char host[64];
    char job[256];
    char boot_id[40];
    /* Users (uid + 1; 0 = none) of this process, and of what it made or executed, at making rings:
     * whose rings belong to the run (FORMAT.md R-RING-10). Atomic, filled from the front. */
    uint32_t users[WIO_RING_USERS];
    uint32_t refused_user; /* uid + 1 of a user who may not make rings; 0 = none */
    int32_t refused_error; /* errno of the attempt */
    /* The bound of the recording (ring/bound.h). */
    uint32_t keep; /* enum wio_bound_keep */
    uint64_t max_bytes;
    uint64_t text_slots; /* atomic: handed out for definitions, where the last events are kept */
    uint64_t texts_lost; /* atomic: definitions for which there was no room */
    uint64_t evicted;    /* atomic: events of this image that were overwritten */
};

_Static_assert(sizeof(struct wio_ring_header) <= 1024, "ring header grew over its fixed part");
_Static_assert(WIO_UNSEEN_COUNT <= 16, "too many kinds of unseen operations");

/* FORMAT.md#chunk */
struct wio_chunk_header {
    uint32_t magic;
    uint32_t writer;    /* number of the writer within the process image */
    uint32_t chunk_no;  /* atomic: how many chunks this writer has filled before this one */
    uint32_t published; /* the writer's own: slots whose record is whole; readers ignore it */
    /* In a place of the bound (ring/bound.h), else 0. */
    uint64_t ring_ns;       /* start_mono_ns of the ring that it belongs to .. */
    uint64_t events_before; /* of this writer, in its former chunks */
    int32_t ring_pid;       /* .. and its pid */
    uint32_t events;        /* in this chunk, once it is full */
    uint32_t reserved[6];
};

_Static_assert(sizeof(struct wio_chunk_header) == WIO_SLOT_BYTES, "chunk header is one slot");

enum wio_slot_kind {
    WIO_SLOT_EVENT = 1,      /* struct wio_slot_event */
    WIO_SLOT_EVENT_EXT = 2,  /* the same, followed by one struct wio_slot_ext */
    WIO_SLOT_STRING = 3,     /* struct wio_slot_text: defines a string */
    WIO_SLOT_CLOCK = 4,      /* struct wio_slot_clock: calibration and writer from here on */
    WIO_SLOT_MODULE = 5,     /* struct wio_slot_text: a mapped program or library */
    WIO_SLOT_STACK = 6,      /* struct wio_slot_text: payload = return addresses, innermost first */
    WIO_SLOT_META = 7,       /* struct wio_slot_text: id = enum wio_meta_key */
    WIO_SLOT_COMPLETION = 8, /* struct wio_slot_completion */
    WIO_SLOT_EVENT_RUN = 9,  /* struct wio_slot_event: several equal events (FORMAT.md R-EVENT-5) */
    WIO_SLOT_CPU = 10,       /* struct wio_slot_cpu */
    WIO_SLOT_OPENED =
        11, /* struct wio_slot_text: id = path, base = descriptor, lo = flags of open */
};

/* Slots that a record of this kind takes; `said` is what the one after its kind says (byte 5),
 * which counts for texts alone. */
static inline uint32_t wio_slot_count(uint8_t kind, uint8_t said)
{
    switch (kind) {
    case WIO_SLOT_EVENT_EXT:
        return 2;
    case WIO_SLOT_STRING:
    case WIO_SLOT_MODULE:
    case WIO_SLOT_STACK:
    case WIO_SLOT_META:
        return said;
    default:
        return 1;
    }
}

/* The most events that one EVENT_RUN stands for. */
#define WIO_RUN_MAX 1024

enum wio_meta_key {
    WIO_META_EXE = 1,
    WIO_META_ARGV = 2, /* arguments, each ended by NUL */
    WIO_META_CWD = 3,
    WIO_META_MPI = 4, /* the MPI library found */
};

/*
 * Every slot starts with `seq`, written last: slot i of chunk n of a writer is valid when its seq
 * is (uint32_t)(n * WIO_CHUNK_SLOTS + i + 1). Continuation slots of a longer record have no
 * header: `slots` of the first says how many follow.
 */
struct wio_slot_event {
    uint32_t seq;
    uint8_t kind;
    uint8_t flags; /* enum wio_event_flags */
    uint16_t call;
    uint64_t begin;     /* ticks */
    uint64_t dur_error; /* ticks in the low 48 bits, errno in the high 16 */
    uint64_t source;    /* return address, or stack id with WIO_EVENT_STACK */
    int64_t result;
    int64_t offset; /* arg0 for classes without a position (FORMAT.md#pack) */
    uint64_t size;  /* arg1 for classes without a size */
    int32_t fd;
    uint32_t path;
};

struct wio_slot_ext {
    uint32_t path2;
    int32_t fd2;
    int64_t offset2;
    int64_t arg[4];
    uint64_t key; /* asynchronous request: pairs with its completion; 0 = none */
    uint64_t reserved;
};

#define WIO_TEXT_INLINE 32u

struct wio_slot_text {
    uint32_t seq;
    uint8_t kind;
    uint8_t slots;  /* in all, this one included */
    uint16_t bytes; /* of payload, over WIO_TEXT_INLINE in the following slots */
    uint32_t id;    /* string id, stack id, meta key */
    uint32_t base;  /* string: id of the directory that a relative path starts from, 0 = none */
    uint64_t lo;    /* module: first address; string: CRC32C of the payload */
    uint64_t hi;    /* module: end address */
    uint8_t payload[WIO_TEXT_INLINE];
};

struct wio_slot_clock {
    uint32_t seq;
    uint8_t kind;
    uint8_t reason; /* 0 = chunk begins, 1 = another thread or a vfork child writes from here */
    uint16_t reserved;
    uint64_t ticks;
    uint64_t mono_ns; /* 0 = not taken */
    int32_t pid;
    int32_t tid;
    uint64_t thread;  /* token of the thread (pthread_create), 0 = unknown */
    uint64_t dropped; /* events this writer has dropped so far */
    uint64_t reserved2[2];
};

struct wio_slot_completion {
    uint32_t seq;
    uint8_t kind;
    uint8_t reserved[3];
    uint64_t ticks;
    uint64_t key;
    int64_t result; /* as the kernel gave it: negative errno on failure */
    uint64_t reserved2[4];
};

/* Processor time that the thread used between two moments: FORMAT.md#cpu. */
struct wio_slot_cpu {
    uint32_t seq;
    uint8_t kind;
    uint8_t has_slept; /* gave its processor away by itself, as one does that waits */
    uint16_t reserved;
    uint64_t from; /* ticks */
    uint64_t to;   /* ticks */
    uint64_t cpu_ns;
    uint64_t reserved2[4];
};

_Static_assert(sizeof(struct wio_slot_event) == WIO_SLOT_BYTES, "one slot");
_Static_assert(sizeof(struct wio_slot_ext) == WIO_SLOT_BYTES, "one slot");
_Static_assert(sizeof(struct wio_slot_text) == WIO_SLOT_BYTES, "one slot");
_Static_assert(sizeof(struct wio_slot_clock) == WIO_SLOT_BYTES, "one slot");
_Static_assert(sizeof(struct wio_slot_completion) == WIO_SLOT_BYTES, "one slot");
_Static_assert(sizeof(struct wio_slot_cpu) == WIO_SLOT_BYTES, "one slot");

#endif
