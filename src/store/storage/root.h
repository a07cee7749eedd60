/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The root of a store on one node: the directories and the file VERSION, which says that the rest
 * is whole and in which format (docs/STORE-FORMAT.md section 1). VERSION is written last:
 *
 *     wio_store_root_open(io, WIO_LOG_OWN, true, &root, err);
 *     config.may_create = root.is_new;   wio_stable_open(&config, &stable, err);
 *     if (root.is_new) wio_store_root_finish(io, &root, err);
 */
#ifndef WIO_STORE_ROOT_H
#define WIO_STORE_ROOT_H

#include "store/storage/stable.h"

#define WIO_STORE_FORMAT_VERSION 1u
#define WIO_STORE_VERSION_NAME "VERSION"
#define WIO_STORE_VERSION_MAX 256u /* bytes of that file */

struct wio_store_root {
    enum wio_log_choice log;
    bool is_new; /* VERSION is not there yet */
};

/* The text of VERSION: at most WIO_STORE_VERSION_MAX bytes with NUL. */
void wio_store_version_encode(const struct wio_store_root *root, char text[WIO_STORE_VERSION_MAX]);
/* `name` for errors. A version that is not known is WIO_ERR_UNSUPPORTED. */
WIO_MUST_CHECK enum wio_status wio_store_version_decode(const char *text, size_t size,
                                                        const char *name,
                                                        struct wio_store_root *root_out,
                                                        struct wio_error *err);

/* Read VERSION; where it is missing that is WIO_ERR_FORMAT. */
WIO_MUST_CHECK enum wio_status
wio_store_root_read(struct wio_io *io, struct wio_store_root *root_out, struct wio_error *err);
/* Have the root for this process alone, until the descriptor is closed (R-ROOT-3). WIO_ERR_BUSY:
 * another process has it. `path` is no link. */
WIO_MUST_CHECK enum wio_status wio_store_root_lock(const char *path, int *fd_out,
                                                   struct wio_error *err);
/* Read VERSION. Where it is missing and `may_create`: make the directories, in a root that is empty
 * or holds what an interrupted creation left; the log will be `log`. A store with another log than
 * `log` is an error. */
WIO_MUST_CHECK enum wio_status wio_store_root_open(struct wio_io *io, enum wio_log_choice log,
                                                   bool may_create, struct wio_store_root *root_out,
                                                   struct wio_error *err);
/* What a store has is there: write VERSION. Durable on return. */
WIO_MUST_CHECK enum wio_status
wio_store_root_finish(struct wio_io *io, const struct wio_store_root *root, struct wio_error *err);

#endif
