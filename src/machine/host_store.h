/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The member "store" of a device in HOST.json: its files are those of a store (whyio-serve(1)),
 * whose targets serve one request at a time.
 *
 *     "store": {"targets": 4, "op_s": 5e-5, "bw": 1e9, "net_s": 2e-5, "timeout_s": 30,
 *               "stripe_unit": 1048576}
 */
#ifndef WIO_MACHINE_HOST_STORE_H
#define WIO_MACHINE_HOST_STORE_H

#include <stdbool.h>
#include <stdint.h>

#define WIO_HOST_STORE_TARGETS_MAX 256

struct wio_host_store {
    uint32_t targets;     /* 0: the device is no store */
    double op_s;          /* that a target works on a request .. */
    double bw;            /* .. and bytes per second of it */
    double net_s;         /* from client to target, and back */
    double timeout_s;     /* of a request: then it fails */
    uint64_t stripe_unit; /* bytes */
};

/* False: there is no such number, or it cannot be that. */
bool wio_host_store_set(struct wio_host_store *store, const char *name, double value);

static inline bool wio_host_store_is_same(const struct wio_host_store *a,
                                          const struct wio_host_store *b)
{
    return a->targets == b->targets && !(a->op_s < b->op_s) && !(a->op_s > b->op_s) &&
           !(a->bw < b->bw) && !(a->bw > b->bw) && !(a->net_s < b->net_s) &&
           !(a->net_s > b->net_s) && !(a->timeout_s < b->timeout_s) &&
           !(a->timeout_s > b->timeout_s) && a->stripe_unit == b->stripe_unit;
}

#endif
