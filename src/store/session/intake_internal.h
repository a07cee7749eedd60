/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the admission of a server: intake.c on intake_clients.c and intake_waiting.c. */
#ifndef WIO_STORE_SESSION_INTAKE_INTERNAL_H
#define WIO_STORE_SESSION_INTAKE_INTERNAL_H

#include "base/map.h"
#include "store/session/intake_waiting.h"

/* Nothing is read of a client for no longer: less than a lease. */
#define WIO_INTAKE_PAUSE_MAX_NS UINT64_C(500000000)

/* The request that is served now. */
struct wio_intake_running {
    struct wio_intake_client *client;
    uint64_t number;
    uint64_t handle;
    uint64_t began_ns;
    bool is_open; /* wio_admit_done is still to be called */
};

struct wio_intake {
    struct wio_io *io;
    struct wio_admit *shard;
    const struct wio_intake_ops *ops;
    void *context;
    struct wio_io_timer *timer;
    uint64_t timer_ns; /* when it fires; UINT64_MAX: it is not set */
    struct wio_intake_running running;
    struct wio_intake_queue all; /* copies in the policy's queue .. */
    uint32_t waiting;            /* .. so many */
    size_t behind_bytes;         /* of copies behind them */
    bool is_due;                 /* the queue is to be served at once */
    uint32_t passed;             /* requests that could pass unmeasured */
    uint64_t last_ns;            /* when the last request was answered */
    uint64_t busy_since_ns;      /* without a pause */
    uint64_t holds_ns;           /* when the first held connection is let go */
    uint64_t pause_max_ns;
    uint64_t space_ns; /* when the free space is looked at again */
    uint8_t space;
    struct wio_intake_client **clients; /* by number of wio_admit_join */
    uint32_t clients_room;
    struct wio_strtab names; /* of jobs .. */
    struct wio_map name_of;  /* .. by number */
};

/* NULL: it has left. */
struct wio_intake_client *intake_client_at(const struct wio_intake *intake, uint32_t number);
void intake_names_fini(struct wio_intake *intake);
/* The copy and those behind it. */
void intake_free_all(struct wio_intake_waiting *item);

#endif
