/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the operations of a program differ from the recorded ones in a simulation: by stream, in the
 * order of its events. Changes (change.h) write them, sim_edit.c follows them.
 */
#ifndef WIO_PREDICT_EDITS_H
#define WIO_PREDICT_EDITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

enum wio_edit_kind {                 /* in the order in which those of one event are followed */
                     WIO_EDIT_SKIP,  /* of the time before the event `size` ns do not pass; up to
                                        the event `last` nothing of the time before each */
                     WIO_EDIT_WAIT,  /* before the event `seconds` pass: an exchange of data */
                     WIO_EDIT_ADD,   /* before the event `count` operations, one behind the other */
                     WIO_EDIT_RANGE, /* the event moves [offset, offset + size) */
                     WIO_EDIT_DROP   /* the events `seq` to `last` do nothing and take no time */
};

struct wio_edit {
    uint64_t seq; /* of the event */
    uint64_t last;
    uint64_t offset; /* bytes; of the first operation of ADD */
    uint64_t size;   /* bytes; of each operation of ADD; of SKIP: ns */
    double seconds;
    uint32_t path;  /* ADD: string id of the file's path .. */
    uint32_t file;  /* .. and its number (used_files.h) */
    uint32_t count; /* ADD */
    uint8_t kind;   /* enum wio_edit_kind */
    uint8_t method; /* ADD: enum wio_model_method */
};

struct wio_edit_list {
    struct wio_edit *items; /* owned; by seq and kind once they are sorted */
    uint32_t count;
    uint32_t room;
};

/* Zero-initialise but for wio_edits_init; release with wio_edits_fini. */
struct wio_edits {
    struct wio_edit_list *streams;
    uint32_t stream_count;
};

WIO_MUST_CHECK enum wio_status wio_edits_init(struct wio_edits *edits, uint32_t streams);
void wio_edits_fini(struct wio_edits *edits);

/* Any order; wio_edits_sort comes after the last one. A DROP that follows the last one of its
 * stream without a gap makes that longer. */
WIO_MUST_CHECK enum wio_status wio_edits_add(struct wio_edits *edits, uint32_t stream,
                                             const struct wio_edit *edit);
WIO_MUST_CHECK enum wio_status wio_edits_drop(struct wio_edits *edits, uint32_t stream,
                                              uint64_t seq);
void wio_edits_sort(struct wio_edits *edits);

/* Is the event dropped? Of sorted edits; O(log n). */
bool wio_edits_has_dropped(const struct wio_edits *edits, uint32_t stream, uint64_t seq);
/* The RANGE of the event, or NULL; likewise. */
const struct wio_edit *wio_edits_range(const struct wio_edits *edits, uint32_t stream,
                                       uint64_t seq);

#endif
