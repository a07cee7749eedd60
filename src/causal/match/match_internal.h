/* SPDX-License-Identifier: Apache-2.0 */
/* What the kinds of matching share: channels found by key, and lists of what waits in them. */
#ifndef WIO_CAUSAL_MATCH_MATCH_INTERNAL_H
#define WIO_CAUSAL_MATCH_MATCH_INTERNAL_H

#include "base/pair_map.h"
#include "causal/core/table.h"
#include "causal/match/match.h"

enum wio_match_kind {
    WIO_MATCH_MESSAGE, /* of one communicator, source, destination and tag */
    WIO_MATCH_BYTES,
    WIO_MATCH_LOCK
};

/* A call, or a part of one, that is not matched yet. */
struct wio_match_item {
    uint64_t begin_op;
    uint64_t end_op;
    uint64_t from; /* bytes [from, to) of a channel */
    uint64_t to;
    uint32_t thread;
    uint32_t rank;
    uint64_t begin_ns;
    uint64_t end_ns;
    uint64_t bytes; /* of a send that may wait */
    bool gives;
    bool takes;
    uint32_t next; /* in its list; WIO_NO_INDEX at the end */
    bool is_synchronous;
};

struct wio_match_list {
    uint32_t first; /* WIO_NO_INDEX where it is empty */
    uint32_t last;
    uint32_t count;
};

struct wio_match_channel {
    struct wio_match_list given; /* sends, writes, shared releases: of a thread the last */
    struct wio_match_list taken; /* receives, reads */
    uint64_t given_end;          /* bytes ever */
    uint64_t taken_end;
    struct wio_point last; /* exclusive release */
    bool has_last;
    bool has_owner; /* of a lock: `owner` has taken it */
    uint32_t owner;
};

/* The operations that made and removed a file. */
struct wio_match_file {
    uint64_t op;
    uint64_t gone_op;
    uint64_t gone_ns; /* when that began */
    uint64_t made_ns; /* when the making was over */
    uint32_t thread;
    uint32_t gone_thread;
    bool has_maker;
    bool has_remover;
    bool is_there; /* made, or found after a wait, and not gone since */
};

struct wio_match_looker {
    uint64_t file;
    uint64_t first_op;
    bool until_gone;
    uint64_t looks; /* 0: does not wait */
};

/* Where a thread begins. */
struct wio_match_birth {
    uint64_t first_op;
    struct wio_point by;
    bool is_known;
};

/* An MPI_Send that lasted until its receive was there, or longer. */
struct wio_match_slow {
    struct wio_edge edge; /* out of the receive, if it waited for that */
    uint64_t bytes;
};

/* Up to where a thread has peeked at a channel's bytes. */
struct wio_match_peek {
    uint64_t to;
    uint64_t op;   /* that did so: earlier ones of the thread do not follow it */
    uint32_t item; /* the write that ends there, in its list as long as not all of it is read */
};

/* A collective whose members have not all come. */
struct wio_match_gathering {
    struct wio_match_list members;
    struct wio_collective_call call; /* what the first member said */
    uint32_t next_free;
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
    struct wio_match_file *files;     /* by number */
    size_t file_room;
    struct wio_match_birth *births; /* per thread */
    struct wio_pair_map reader_of;  /* (lock's channel, thread) -> item of its last release */
    struct wio_pair_map waiters_of; /* (lock's channel, thread) -> its acquires that wait */
    struct wio_pair_map peek_of;    /* (channel, thread) -> peek */
    struct wio_match_peek *peeks;
    size_t peek_room;
    uint32_t peek_count;
    struct wio_pair_map gathering_of; /* (communicator, sequence) -> gathering */
    struct wio_pair_map member_of;    /* (gathering, rank): has come */
    struct wio_match_gathering *gatherings;
    size_t gathering_room;
    uint32_t gathering_count;
    uint32_t gathering_free; /* list of those to be used again */
    struct wio_match_slow *slow;
    size_t slow_room;
    size_t slow_count;
    uint64_t eager_bytes; /* the largest MPI_Send that was over before its receive began */
    struct wio_match_left left;
    wio_match_watch_fn *watch; /* may be NULL */
    void *watch_context;
};

/* Calls `watch`, where there is one. */
WIO_MUST_CHECK enum wio_status wio_match_tell(struct wio_match *match, uint32_t from_thread,
                                              uint64_t sent_ns, uint32_t to_thread,
                                              uint64_t received_ns);

extern const struct wio_match_list wio_match_list_empty;

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

#endif
