/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From what a person writes to what a filter wants: `--rank=0,4-7`, `--op=read,pwrite`,
 * `--path='*.h5'`.
 *
 *     struct wio_wanted wanted = {0};
 *     WIO_TRY(wio_select_ops(&wanted, "read,write", &err));
 *     WIO_TRY(wio_select_paths(&wanted, trace, "/scratch/run1", &err));
 *     wio_wanted_apply(&wanted, &filter);     // the filter borrows
 *     ...
 *     wio_wanted_fini(&wanted);
 *
 * Each function may be called several times: what it selects is added. WIO_ERR_USAGE means that
 * the text makes no sense (an unknown operation: the message says which one may have been meant).
 */
#ifndef WIO_EXPLAIN_SELECT_H
#define WIO_EXPLAIN_SELECT_H

#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>
#include <whyio/trace.h>

/* Zero-initialise. */
struct wio_wanted {
    int32_t *ranks;
    size_t rank_count;
    uint16_t *ops;
    size_t op_count;
    uint32_t *paths;
    size_t path_count;
    int32_t *pids;
    size_t pid_count;
    uint32_t *streams; /* of these processes */
    size_t stream_count;
};

void wio_wanted_fini(struct wio_wanted *wanted);

/* Ranks and ranges with commas between; "none" = processes without a rank. */
WIO_MUST_CHECK enum wio_status wio_select_ranks(struct wio_wanted *wanted, const char *text,
                                                struct wio_error *err);

/* Process ids with commas between; wio_select_processes finds their threads in the trace. */
WIO_MUST_CHECK enum wio_status wio_select_pids(struct wio_wanted *wanted, const char *text,
                                               struct wio_error *err);
WIO_MUST_CHECK enum wio_status wio_select_processes(struct wio_wanted *wanted,
                                                    const struct wio_trace *trace,
                                                    struct wio_error *err);

/* Names of operations as `whyio dump` prints them, with commas between. */
WIO_MUST_CHECK enum wio_status wio_select_ops(struct wio_wanted *wanted, const char *text,
                                              struct wio_error *err);

/*
 * Paths of the trace. A pattern with *, ? or [ is matched against the whole path (* also matches
 * slashes); any other selects the path that is equal to it and, if it is a directory, what lies
 * below. A pattern without a leading slash may begin at any component: "out.h5" selects
 * "/scratch/out.h5". Where no path matches, no event will.
 */
WIO_MUST_CHECK enum wio_status wio_select_paths(struct wio_wanted *wanted,
                                                const struct wio_trace *trace, const char *pattern,
                                                struct wio_error *err);

/* Enter what is wanted into a filter, which borrows it. */
void wio_wanted_apply(const struct wio_wanted *wanted, struct wio_filter *filter);

#endif
