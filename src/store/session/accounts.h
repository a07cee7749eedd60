/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each job did at one server, a target or the catalogue: operations that succeeded, as
 * Lustre's servers count them (job/stats.h), and how many failed. Of its loop.
 *
 * A target counts reads, writes, truncations and statfs, each request for itself: one write(2) over
 * three segments is three samples. The catalogue counts names. Durations are from the moment when a
 * request has come to that of its answer, waits for locks and for the disk among them.
 */
#ifndef WIO_STORE_SESSION_ACCOUNTS_H
#define WIO_STORE_SESSION_ACCOUNTS_H

#include "job/stats.h"
#include "store/messages.h"
#include "store/session/names.h"

/* Operations of a job that failed. */
struct wio_job_errors {
    uint64_t count;
    uint64_t last_ns; /* of the last one, by the loop's clock */
};

struct wio_accounts {
    struct wio_job_stats *stats;
    struct wio_job_errors *errors; /* by job */
    uint32_t error_room;
    uint64_t unix_offset_ns; /* added to the loop's clock: since 1970 */
    uint32_t admin;          /* the user who may drop statistics, beside user 0 */
    struct wio_blob rows;    /* of an answer */
};

/* WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status wio_accounts_init(struct wio_accounts *accounts,
                                                 uint64_t unix_offset_ns, uint32_t admin);
void wio_accounts_fini(struct wio_accounts *accounts);

/* An answer that is being given: of request->job. A sample that finds no memory is not counted. */
void wio_accounts_count(struct wio_accounts *accounts, const struct wio_store_request *request,
                        const struct wio_store_reply *reply, uint64_t now_ns);

/* JOB_STATS or JOB_CLEAR of a client whose uid is known; the reply's data live until the next call.
 * Sets result, offset, size, data. */
void wio_accounts_answer(struct wio_accounts *accounts, const struct wio_store_names *names,
                         const struct wio_store_request *request, uint32_t uid, uint64_t now_ns,
                         struct wio_store_reply *reply);
bool wio_accounts_is_asked(const struct wio_store_request *request);

#endif
