/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The phases of a whole run: those of its ranks laid side by side, and those of two runs aligned.
 *
 * Two phases can be the same one if they are of the same kind; better if on the same file. The
 * alignment keeps the order of both sequences and is the one with the most matches (longest
 * common subsequence): what has no partner stands alone.
 */
#ifndef WIO_EXPLAIN_PHASES_H
#define WIO_EXPLAIN_PHASES_H

#include <stdint.h>

#include "explain/compare/segmenter.h"

#define WIO_PHASES_MAX 64u

/* Zero-initialise. Owns nothing. */
struct wio_phases {
    struct wio_phase phases[WIO_PHASES_MAX];
    uint32_t count;
};

/* Lay the phases of one more rank beside those that are there (a finished segmenter). */
void wio_phases_add(struct wio_phases *phases, const struct wio_segmenter *rank);

struct wio_phase_pair {
    int32_t a; /* index, -1 = only in b */
    int32_t b; /* index, -1 = only in a */
};

/* Align two runs: pairs in order, at most a->count + b->count of them (room for
 * 2 * WIO_PHASES_MAX is enough). Returns how many. */
uint32_t wio_phases_align(const struct wio_phases *a, const struct wio_phases *b,
                          struct wio_phase_pair *pairs_out);

#endif
