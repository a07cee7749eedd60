/* SPDX-License-Identifier: Apache-2.0 */
/* A set of ranks, as a bitmap. Zero-initialise, release with wio_rank_set_fini. */
#ifndef WIO_EXPLAIN_RANK_SET_H
#define WIO_EXPLAIN_RANK_SET_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/status.h>

struct wio_rank_set {
    uint64_t *words;
    uint32_t word_count;
    uint32_t count;
};

/* Negative ranks (none) and those above 2^22 are passed over. */
WIO_MUST_CHECK enum wio_status wio_rank_set_add(struct wio_rank_set *set, int32_t rank);
bool wio_rank_set_has(const struct wio_rank_set *set, int32_t rank);
/* The least member that is >= rank, -1 = none. */
int32_t wio_rank_set_next(const struct wio_rank_set *set, int32_t rank);
void wio_rank_set_fini(struct wio_rank_set *set);

#endif
