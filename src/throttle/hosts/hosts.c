/* SPDX-License-Identifier: Apache-2.0 */
/* Throttled runs over several hosts: starting the coordinator, and the workers' reports. */
#include "base/cleanup.h"
#include "throttle/rules/throttle_internal.h"

enum wio_status wio_throttle_direct(struct wio_throttle_session *t, struct wio_error *err)
{
    if (!t->params->hosts) {
        return WIO_OK;
    }
    const struct wio_remote_where where = {t->params->interface, t->params->host_names};
    WIO_TRY(wio_director_create(t->board.board, &where, &t->director, err));
    t->record.director = wio_director_address(t->director);
    t->roster.director = t->director;
    return WIO_OK;
}

enum wio_status wio_throttle_direct_run(struct wio_throttle_session *t, const char *dir,
                                        uint32_t first_grant, uint64_t limit_ns,
                                        struct wio_error *err)
{
    const struct wio_director_run run = {dir, first_grant, limit_ns};
    return t->director != NULL ? wio_director_begin_run(t->director, &run, err) : WIO_OK;
}

enum wio_status wio_throttle_start(const struct wio_throttle_session *t,
                                   const struct wio_record_params *params, struct wio_rerun *rerun,
                                   struct wio_error *err)
{
    struct wio_rerun_own own = {.mask = &t->original_mask};
    if (t->director != NULL) {
        const struct wio_remote_listeners *listeners = wio_director_listeners(t->director);
        own.fds = listeners->fds;
        own.fd_count = listeners->count;
    }
    return wio_rerun_start(rerun, params, &own, err);
}

static void add_totals(struct wio_seal_totals *totals, const struct wio_seal_totals *more)
{
    totals->rings += more->rings;
    totals->events += more->events;
    totals->dropped += more->dropped;
    totals->bytes += more->bytes;
    for (size_t i = 0; i < WIO_ARRAY_SIZE(totals->unseen); i++) {
        totals->unseen[i] += more->unseen[i];
    }
}

/* What the recorders of all hosts say of the run belongs to its result. */
void wio_throttle_end_run(struct wio_throttle_session *t, struct wio_record_result *result,
                          struct wio_conduct *conduct)
{
    struct wio_director_totals totals;
    if (t->director == NULL) {
        return;
    }
    wio_director_end_run(t->director, &totals);
    add_totals(&result->totals, &totals.seal);
    result->exit_status = result->exit_status != 0 ? result->exit_status : totals.exit_status;
    if (totals.lost != NULL && conduct != NULL && conduct->verdict == WIO_CONDUCT_GOOD) {
        conduct->verdict = WIO_CONDUCT_GONE;
        conduct->host = totals.lost;
        conduct->pid = totals.lost_pid;
    }
    struct wio_error *why = &result->seal_error;
    if (why->status == WIO_OK && totals.lost != NULL) {
        (void)wio_error_set(why, WIO_ERR_IO, result->dir, WIO_ERROR_NO_OFFSET,
                            "expected all recorders to end after their commands, found that "
                            "the one of host %s (process %d) was gone before",
                            totals.lost, (int)totals.lost_pid);
    } else if (why->status == WIO_OK && totals.is_unsealed) {
        (void)wio_error_set(why, WIO_ERR_IO, result->dir, WIO_ERROR_NO_OFFSET,
                            "a recorder behind the launcher could not finish its part");
    }
}
