/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a client's connections have to hear before requests that need it: the grants of files
 * (docs/STORE-PROTOCOL.md#grants), the texts of call sites, and the jobs that requests are made
 * for. Each is told once on each connection, in front of the first request that needs it.
 */
#ifndef WIO_STORE_SESSION_PREAMBLE_H
#define WIO_STORE_SESSION_PREAMBLE_H

#include "base/map.h"
#include "store/messages.h"

struct wio_preamble;

/* The caller owns it. NULL: no memory. */
struct wio_preamble *wio_preamble_create(uint16_t targets);
void wio_preamble_destroy(struct wio_preamble *preamble); /* NULL is allowed */

/* The target has a new connection, which has heard nothing. `knows_jobs`: both sides have
 * WIO_STORE_FEATURE_JOBS; without it jobs are not told. */
void wio_preamble_connected(struct wio_preamble *preamble, uint16_t target, bool knows_jobs);

/* One more user of the file, and what it was granted. */
WIO_MUST_CHECK enum wio_status wio_preamble_add_grant(struct wio_preamble *preamble, uint64_t file,
                                                      const void *grant, size_t bytes);
/* One user less: with the last one its grants go. */
void wio_preamble_drop_grants(struct wio_preamble *preamble, uint64_t file);
/* From 1, the same for the same text; 0: none. */
uint32_t wio_preamble_source(struct wio_preamble *preamble, const char *text, size_t bytes);
/* A number for requests that are made at call site `source` (0: none) for the job of that name; 0:
 * no name, one of more than WIO_STORE_PATH_MAX bytes or with a NUL, or there is no memory. */
uint32_t wio_preamble_caller(struct wio_preamble *preamble, uint32_t source, const char *job,
                             size_t bytes);

/* Each request to be sent to the target before `request`; false where one could not be. */
typedef bool wio_preamble_send(void *context, uint16_t target,
                               const struct wio_store_request *request);
void wio_preamble_before(struct wio_preamble *preamble, uint16_t target,
                         const struct wio_store_request *request, wio_preamble_send *send,
                         void *context);

#endif
