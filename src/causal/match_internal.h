/* SPDX-License-Identifier: Apache-2.0 */
/* What the kinds of matching share: channels found by key, and lists of what waits in them. */
#ifndef WIO_CAUSAL_MATCH_INTERNAL_H
#define WIO_CAUSAL_MATCH_INTERNAL_H

#include "causal/match.h"
#include "causal/table.h"

enum wio_match_kind {
    WIO_MATCH_MESSAGE,      /* a communicator */
    WIO_MATCH_MESSAGE_PAIR, /* its messages of one source, destination and tag */
    WIO_MATCH_BYTES,
    WIO_MATCH_COLLECTIVE,
    WIO_MATCH_LOCK,
    WIO_MATCH_FILE
};

/* Something that has not met its other half. */
struct wio_match_item {
    uint64_t begin_op;
    uint64_t end_op;
    uint64_t from; /* bytes [from, to) of a channel */
    uint64_t to;
    uint32_t thread;
    uint32_t rank;
    uint32_t next; /* in its list; WIO_CAUSAL_NONE at the end */
    bool is_synchronous;
};

struct wio_match_list {
    uint32_t first; /* WIO_CAUSAL_NONE where it is empty */
    uint32_t last;
    uint32_t count;
};

struct wio_match_channel {
    struct wio_match_list given; /* sends, writes, shared releases, members */
    struct wio_match_list taken; /* receives, reads */
    uint64_t given_end;          /* bytes ever */
    uint64_t taken_end;
    struct wio_point last; /* exclusive release; maker of the file */
    bool has_last;
    bool is_done;                    /* a collective that has been made */
    struct wio_collective_call call; /* what the first member said */
};

struct wio_match_looker {
    uint64_t file;
    uint64_t first_op;
    uint64_t looks; /* 0: does not wait */
};

struct wio_match {
    struct wio_edges *edges;
    struct wio_table table;
    struct wio_match_channel *channels; /* by number in the table */
    size_t channel_room;
    uint32_t channel_count;
    struct wio_match_item *items;
    size_t item_room;
    uint32_t item_count;
    uint32_t item_free;               /* list of items to be used again */
    struct wio_match_looker *lookers; /* per thread */
    struct wio_match_left left;
};

/* The channel of a key, made where it is new; valid until the next call. `number_out` may be NULL.
 */
WIO_MUST_CHECK enum wio_status wio_match_channel(struct wio_match *match, enum wio_match_kind kind,
                                                 uint64_t a, uint64_t b,
                                                 struct wio_match_channel **channel_out,
                                                 uint32_t *number_out);
/* Append a copy of `item`. */
WIO_MUST_CHECK enum wio_status wio_match_append(struct wio_match *match,
                                                struct wio_match_list *list,
                                                const struct wio_match_item *item);
/* Remove the first; the list must not be empty. */
void wio_match_drop_first(struct wio_match *match, struct wio_match_list *list);

/* An edge to `to` from the operation before `from_op`, if there is one. Nothing within a thread. */
WIO_MUST_CHECK enum wio_status wio_match_edge_from_before(struct wio_match *match,
                                                          struct wio_edge edge);

#endif
