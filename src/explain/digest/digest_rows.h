/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of a digest with the most time. Private to digest. */
#ifndef WIO_EXPLAIN_DIGEST_ROWS_H
#define WIO_EXPLAIN_DIGEST_ROWS_H

#include "explain/accounts/places.h"
#include "explain/accounts/speakers.h"
#include "explain/digest/digest.h"

/* Sums of lines, by place. Zero-initialise but for `trace` of both. */
struct wio_digest_places {
    struct wio_places places;
    struct wio_speakers speakers;
    struct wio_digest_sums *sums; /* by place */
    uint32_t capacity;
};

void wio_digest_places_fini(struct wio_digest_places *places);

void wio_digest_sums_merge(struct wio_digest_sums *sums, const struct wio_digest_sums *other);

/* Adds what one thread did at each of the `count` sources `touched`. */
WIO_MUST_CHECK enum wio_status wio_digest_places_add(struct wio_digest_places *places,
                                                     uint32_t stream, const uint32_t *touched,
                                                     uint32_t count,
                                                     const struct wio_digest_sums *by_source);

/* The `rows` with the most time of `by_path`, which has `count` of them. */
WIO_MUST_CHECK enum wio_status wio_digest_list_files(struct wio_digest *digest, uint32_t rows,
                                                     const struct wio_digest_sums *by_path,
                                                     uint32_t count);
WIO_MUST_CHECK enum wio_status wio_digest_list_lines(struct wio_digest *digest, uint32_t rows,
                                                     const struct wio_digest_places *places);

#endif
