/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What if: the committed transactions of a trace run again through the real lock manager
 * (lock/lock.h), one for each server, with another layout, granularity, order or policy. Virtual
 * time, the same result each time. A server works on one request after the other; what its storage
 * took runs beside. A client sends as it did, waits as long in between, and begins an aborted
 * attempt again with its age, after a pause that doubles.
 */
#ifndef WIO_EXPLAIN_WHATIF_WHATIF_H
#define WIO_EXPLAIN_WHATIF_WHATIF_H

#include "explain/whatif/replays.h"
#include "explain/whatif/whatif_costs.h"
#include "lock/types.h"

/* With another layout a request becomes so many runs of contiguous bytes at most. */
#define WIO_WHATIF_PIECES 4096u

struct wio_whatif_change {
    enum wio_lock_policy policy; /* 0: wound-wait, the store's */
    uint64_t timeout_ns;         /* of a wait; WIO_LOCK_TIMEOUT needs one */
    uint64_t granularity; /* bytes that locks are rounded to; 0: as recorded; 1: those that were
                             read or written alone */
    bool is_sorted;       /* requests of a transaction in one order of server, file and bytes */
    bool is_apart;        /* no two clients use the same bytes */
    bool is_storage_free; /* log and storage take no time */
    bool is_think_behind; /* what a client does for WIO_THINK_NS and more while it has locks, it
                             does when it has committed */
    uint64_t stripe_unit; /* 0: as recorded */
    uint32_t segments;    /* 0: as recorded */
};

struct wio_whatif_result {
    uint64_t transactions; /* that committed */
    uint64_t aborts;
    uint64_t waits;        /* requests that waited for locks */
    uint64_t requests_cut; /* whose layout has more runs than are tried (WIO_WHATIF_PIECES) */
    double wait_s;
    double duration_s; /* from the first begin to the last end */
    bool is_cut;       /* it was ended: too many aborts for a result */
};

/* What is told of a file: NULL where its layout is not known. */
typedef const struct wio_txn_file *wio_whatif_file_fn(void *arg, uint64_t file);

/* `costs` are those of `replays` (wio_whatif_costs). */
WIO_MUST_CHECK enum wio_status wio_whatif(const struct wio_replays *replays,
                                          const struct wio_whatif_costs *costs,
                                          const struct wio_whatif_change *change,
                                          wio_whatif_file_fn *file_of, void *arg,
                                          struct wio_whatif_result *result_out);

#endif
