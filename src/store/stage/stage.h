/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trees of files into a store, out of it, and away: many files at a time. What fails is told by its
 * name and counted, and the rest goes on.
 *
 * Local names below a tree are opened beneath it and through no symbolic link (openat2(2)); links
 * are copied as links. Names that the caller gives are followed, as cp(1) follows them with -H.
 */
#ifndef WIO_STORE_STAGE_STAGE_H
#define WIO_STORE_STAGE_STAGE_H

#include <whyio/store.h>
#include <whyio/trace.h>

struct wio_stage_params {
    bool is_recursive;
    unsigned jobs; /* files at a time; 0: 8 */
    bool is_stable;
    bool is_update;       /* files that seem to be there already are not copied */
    uint32_t segments;    /* of new files; 0: the store's */
    uint32_t stripe_unit; /* .. */
    /* From any thread, one at a time. Both may be NULL. */
    wio_progress_fn *progress; /* unit "bytes" */
    void *progress_arg;
    void (*failed)(void *context, const struct wio_error *err);
    void *context;
};

struct wio_stage_counts {
    uint64_t files;
    uint64_t directories;
    uint64_t links;
    uint64_t bytes;
    uint64_t failed;
    uint64_t skipped; /* is_update: a file of that size and time was there */
};

/*
 * Sources into a directory, the last of `count` paths (at least two), or the only source as that
 * name where it is no directory. An
 * error is one of all of it (WIO_ERR_USAGE: several sources and no directory); single failures are
 * told by `failed` and counted.
 */
WIO_MUST_CHECK enum wio_status wio_stage_put(struct wio_store *store, const char *const *paths,
                                             size_t count, const struct wio_stage_params *params,
                                             struct wio_stage_counts *counts_out,
                                             struct wio_error *err);
WIO_MUST_CHECK enum wio_status wio_stage_get(struct wio_store *store, const char *const *paths,
                                             size_t count, const struct wio_stage_params *params,
                                             struct wio_stage_counts *counts_out,
                                             struct wio_error *err);
/* Directories only where it is recursive. */
WIO_MUST_CHECK enum wio_status wio_stage_remove(struct wio_store *store, const char *const *paths,
                                                size_t count, const struct wio_stage_params *params,
                                                struct wio_stage_counts *counts_out,
                                                struct wio_error *err);

#endif
