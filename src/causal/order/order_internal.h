/* SPDX-License-Identifier: Apache-2.0 */
/* What the walk, its clocks, its index and the report of a cycle share. */
#ifndef WIO_CAUSAL_ORDER_ORDER_INTERNAL_H
#define WIO_CAUSAL_ORDER_ORDER_INTERNAL_H

#include "base/memory.h"
#include "causal/order/order.h"

/* Items (edges or members) grouped by thread and sorted by operation within it. */
struct wio_order_index {
    size_t *start; /* threads + 1 */
    uint32_t *items;
};

/* The four reasons why a point is a stop. */
enum wio_order_reason {
    WIO_ORDER_ENTER, /* gives to a collective: before all else at this operation */
    WIO_ORDER_IN,    /* edges into it */
    WIO_ORDER_LEAVE, /* takes from a collective */
    WIO_ORDER_OUT,   /* edges out of it: after all else */
    WIO_ORDER_REASON_COUNT
};

/* The thread and operation of item `item` by reason; false where the item takes no part. */
struct wio_order_keys {
    const struct wio_edges *edges;
    unsigned classes;
};
bool wio_order_key(const struct wio_order_keys *keys, enum wio_order_reason reason, uint32_t item,
                   struct wio_point *point_out);

WIO_MUST_CHECK enum wio_status wio_order_index_init(struct wio_order_index *index,
                                                    const struct wio_order_keys *keys,
                                                    enum wio_order_reason reason);
void wio_order_index_fini(struct wio_order_index *index, const struct wio_alloc *alloc);

struct wio_order_part {
    uint64_t refs;
    struct wio_order_part *next; /* of the free ones */
    uint64_t at[];
};

/* So many parts are one group: of a hundred thousand threads a clock has a hundred groups. */
#define WIO_ORDER_GROUP 16u

struct wio_order_group {
    uint64_t refs;
    struct wio_order_group *next;                  /* of the free ones */
    struct wio_order_part *parts[WIO_ORDER_GROUP]; /* NULL: nothing is known of these threads */
};

/* Shared by all points of one thread between two waits. It may be changed only while it, the group
 * and the part have one reference each. */
struct wio_order_clock {
    uint64_t refs;
    struct wio_order_clock *next;     /* of the free ones */
    struct wio_order_group *groups[]; /* NULL: nothing is known of these threads */
};

struct wio_order_clocks {
    struct wio_alloc alloc;
    struct wio_order_clock *free;
    struct wio_order_group *free_groups;
    struct wio_order_part *free_parts;
    uint32_t threads;
    uint32_t group_count; /* of a clock */
    uint32_t part_size;   /* entries */
};

void wio_order_clocks_init(struct wio_order_clocks *clocks, const struct wio_alloc *alloc,
                           uint32_t threads);
void wio_order_clocks_fini(struct wio_order_clocks *clocks);

/* A clock that knows nothing, with one reference, or NULL. */
struct wio_order_clock *wio_order_clock_get(struct wio_order_clocks *clocks);
/* Accepts NULL. */
void wio_order_clock_put(struct wio_order_clocks *clocks, struct wio_order_clock *clock);
/* Raise *into to what `from` knows, and its entry of done.thread to at least done.op. Where *into
 * is shared and changes, it is replaced. */
WIO_MUST_CHECK enum wio_status wio_order_clock_join(struct wio_order_clocks *clocks,
                                                    struct wio_order_clock **into,
                                                    const struct wio_order_clock *from,
                                                    struct wio_point done);

struct wio_order_thread {
    struct wio_order_clock *clock;
    size_t next[WIO_ORDER_REASON_COUNT]; /* positions in the indices */
    size_t checked;                      /* up to here the sources of its next stop are passed */
    uint32_t blocked_edge;               /* WIO_NO_INDEX where it is not */
    uint32_t blocked_collective;
    uint64_t op; /* of the stop it stands at */
};

struct wio_order_hub {
    struct wio_order_clock *clock; /* NULL until the first giver, and after the last taker */
    size_t givers_missing;
    size_t takers_left;
};

struct wio_order_walk {
    struct wio_order_keys keys;
    struct wio_alloc alloc;
    struct wio_order_clocks clocks;
    struct wio_order_index index[WIO_ORDER_REASON_COUNT];
    struct wio_order_thread *threads;
    struct wio_order_hub *hubs;
    struct wio_order_clock **sources; /* per edge: the clock of `from`, NULL before it is passed */
    uint32_t *collective_of;          /* per member */
    bool *has_entered;                /* per member */
    uint32_t *ready;                  /* ring of threads that can go on */
    size_t ready_first;
    size_t ready_count;
    struct wio_order_in *in; /* of the current stop */
    size_t in_room;
    bool *left_out; /* per edge: does not count; NULL = all do, and a cycle is an error */
    size_t left_out_count;
    wio_order_visit *visit; /* may be NULL */
    void *context;
};

/* All stand still and some are blocked: say which edges go round. */
enum wio_status wio_order_report_cycle(const struct wio_order_walk *walk, struct wio_error *err);
/* The edge of that cycle which is most likely wrong, WIO_NO_INDEX where none may be. */
uint32_t wio_order_weakest_edge(const struct wio_order_walk *walk);

#endif
