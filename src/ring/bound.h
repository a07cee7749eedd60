/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bound of a recording (record --max-size): one file in a directory of rings for each boot and
 * user, shared by all processes that are recorded there. FORMAT.md#bound.
 *
 * A header, a table with one state for each place, and, where the last events are kept, the places
 * themselves: chunks of all processes, one behind the other as they became full, the oldest
 * overwritten. Where the first events are kept there are no places; the file only counts the
 * chunks of the rings.
 *
 * Used inside the traced process, as ring.h: plain data.
 */
#ifndef WIO_RING_BOUND_H
#define WIO_RING_BOUND_H

#include <stdbool.h>
#include <stdint.h>

#include "ring/ring.h"

#define WIO_BOUND_MAGIC "WIOBOUN\n"
#define WIO_BOUND_VERSION 1u
#define WIO_BOUND_HEADER_BYTES 4096u
#define WIO_BOUND_ENDING ".bound"
/* Bytes of events: at least 16 chunks, at most 1 TiB. */
#define WIO_BOUND_MIN_BYTES ((uint64_t)16 * WIO_CHUNK_BYTES)
#define WIO_BOUND_MAX_BYTES ((uint64_t)1 << 40)

enum wio_bound_keep {
    WIO_BOUND_NONE = 0, /* no bound */
    WIO_BOUND_FIRST = 1,
    WIO_BOUND_LAST = 2,
};

/* FORMAT.md#bound */
struct wio_bound_header {
    char magic[8];
    uint32_t version;
    uint32_t keep; /* enum wio_bound_keep */
    uint64_t max_bytes;
    uint64_t places;      /* atomic: chunks; made less where the disk has no room for more */
    uint64_t data_offset; /* of the first place */
    uint64_t pid_space;   /* inode of the pid namespace whose pids the states have */
    uint64_t hand;        /* atomic: places looked at so far; the next one is hand % places */
    uint64_t text_bytes;  /* atomic: of definitions, in the rings: at most max_bytes */
};

_Static_assert(sizeof(struct wio_bound_header) <= WIO_BOUND_HEADER_BYTES, "bound header grew");

enum wio_place_kind {
    WIO_PLACE_FREE = 0,
    WIO_PLACE_BUSY = 1,   /* being filled */
    WIO_PLACE_STORED = 2, /* a full chunk */
    WIO_PLACE_LIVE = 3,   /* mapped by its writer */
    WIO_PLACE_LEFT = 4,   /* was mapped by an image that exec has ended */
};

/* A state: the kind in the low 8 bits, how often the place has changed hands in the next 24, and in
 * the high 32 the pid that fills or maps it (0 = of another pid namespace). */
static inline uint64_t wio_place_state(uint64_t before, enum wio_place_kind kind, int32_t pid)
{
    const uint64_t turn = ((before >> 8) + (kind == WIO_PLACE_BUSY)) & 0xffffff;
    return (uint64_t)(uint32_t)pid << 32 | turn << 8 | (uint64_t)kind;
}

/* Has the place changed hands more than `laps` times? Modulo 2^24, as they are counted. */
static inline bool wio_place_is_behind(uint64_t state, uint64_t laps)
{
    const uint32_t ahead = ((uint32_t)(state >> 8) - (uint32_t)laps) & 0xffffff;
    return ahead != 0 && ahead < 0x800000;
}

static inline enum wio_place_kind wio_place_kind(uint64_t state)
{
    return (enum wio_place_kind)(state & 0xff);
}

static inline int32_t wio_place_pid(uint64_t state)
{
    return (int32_t)(state >> 32);
}

#endif
