/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of the store: files, directories and symbolic links, with owner, mode, times, number of
 * segments, stripe unit and generation, in SQLite ("catalogue.sqlite", docs/STORE-FORMAT.md
 * section 5) through the seam (store/io.h). Never on the data path: sizes are asked of the targets.
 *
 * Each call is one transaction (R-CAT-2), durable on return unless the catalogue was opened as
 * volatile. Each returns 0 or an errno value as the call of POSIX that it is named after (and
 * path_resolution(7)): ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG, EACCES of paths; EIO or ENOSPC of the
 * disk, after EIO the catalogue has to be opened again. Permissions are those of `user` by uid,
 * groups and mode; uid 0 may all. There are no hard links. Umask is the client's.
 *
 * Paths begin at the root with or without a slash, are not ended by NUL and hold none (EINVAL).
 * Time is an argument. Belongs to one thread.
 */
#ifndef WIO_STORE_CATALOGUE_H
#define WIO_STORE_CATALOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

#include "store/io.h"
#include "store/messages.h"

#define WIO_CATALOGUE_NAME "catalogue.sqlite"

struct wio_catalogue_config {
    struct wio_io *io;
    bool may_create;
    bool is_volatile; /* consistent after a crash, but the last changes may be lost */
    /* of a new one: its root directory */
    uint32_t uid;
    uint32_t gid;
    uint32_t mode;
    int64_t now_ns;
};

/* Proven by the connection. `groups` beside gid; may be NULL. */
struct wio_catalogue_user {
    uint32_t uid;
    uint32_t gid;
    const uint32_t *groups;
    size_t group_count;
    int64_t now_ns; /* since 1970 */
};

/* Borrowed. */
struct wio_catalogue_path {
    const char *text;
    size_t size;
};

/* An entry of a directory; borrowed. `cookie`: to go on behind it. False ends the listing. */
typedef bool wio_catalogue_each(void *context, const char *name, size_t size,
                                const struct wio_store_stat *stat, uint64_t cookie);

struct wio_catalogue;

/* The caller closes it. WIO_ERR_UNSUPPORTED where this whyio was built without SQLite. */
WIO_MUST_CHECK enum wio_status wio_catalogue_open(const struct wio_catalogue_config *config,
                                                  struct wio_catalogue **catalogue_out,
                                                  struct wio_error *err);
void wio_catalogue_close(struct wio_catalogue *catalogue); /* NULL is allowed */
/* Reads all of it: the database's own check, and that each node has a directory. `fault` gets the
 * first fault; WIO_ERR_FORMAT. */
WIO_MUST_CHECK enum wio_status wio_catalogue_check(struct wio_catalogue *catalogue,
                                                   struct wio_error *err);

/* open(2): enum wio_store_open_flag. A new file gets `mode`, `segments` (1 .. 4096) and
 * `stripe_unit`; TRUNC raises the generation of one that is there. EEXIST, EISDIR, EINVAL. */
WIO_MUST_CHECK int wio_catalogue_open_file(struct wio_catalogue *catalogue,
                                           const struct wio_catalogue_user *user,
                                           struct wio_catalogue_path path,
                                           const struct wio_store_request *how,
                                           struct wio_store_stat *stat_out);
WIO_MUST_CHECK int wio_catalogue_mkdir(struct wio_catalogue *catalogue,
                                       const struct wio_catalogue_user *user,
                                       struct wio_catalogue_path path, uint32_t mode,
                                       struct wio_store_stat *stat_out);
WIO_MUST_CHECK int wio_catalogue_symlink(struct wio_catalogue *catalogue,
                                         const struct wio_catalogue_user *user,
                                         struct wio_catalogue_path target,
                                         struct wio_catalogue_path path,
                                         struct wio_store_stat *stat_out);
/* *stat_out: what has no name any more; its segments are the caller's to drop. EISDIR, EPERM. */
WIO_MUST_CHECK int wio_catalogue_unlink(struct wio_catalogue *catalogue,
                                        const struct wio_catalogue_user *user,
                                        struct wio_catalogue_path path,
                                        struct wio_store_stat *stat_out);
/* ENOTEMPTY, EBUSY, EINVAL, EPERM. */
WIO_MUST_CHECK int wio_catalogue_rmdir(struct wio_catalogue *catalogue,
                                       const struct wio_catalogue_user *user,
                                       struct wio_catalogue_path path);
/* Atomic, also over a file: *replaced_out is what has no name any more, or file 0. EINVAL (into
 * itself), EISDIR, ENOTDIR, ENOTEMPTY, EBUSY, EPERM. */
WIO_MUST_CHECK int wio_catalogue_rename(struct wio_catalogue *catalogue,
                                        const struct wio_catalogue_user *user,
                                        struct wio_catalogue_path from,
                                        struct wio_catalogue_path to,
                                        struct wio_store_stat *replaced_out);
/* truncate(2): the caller needs to write; the generation is raised. EISDIR. */
WIO_MUST_CHECK int wio_catalogue_truncate(struct wio_catalogue *catalogue,
                                          const struct wio_catalogue_user *user,
                                          struct wio_catalogue_path path,
                                          struct wio_store_stat *stat_out);
WIO_MUST_CHECK int wio_catalogue_stat(struct wio_catalogue *catalogue,
                                      const struct wio_catalogue_user *user,
                                      struct wio_catalogue_path path, bool follow,
                                      struct wio_store_stat *stat_out);
/* At most `size` bytes; *got_out: those of the link. EINVAL: it is none. */
WIO_MUST_CHECK int wio_catalogue_readlink(struct wio_catalogue *catalogue,
                                          const struct wio_catalogue_user *user,
                                          struct wio_catalogue_path path, char *text, size_t size,
                                          size_t *got_out);
/* Entries behind `cookie` (0: all) in the order in which they were made; no "." and "..". */
WIO_MUST_CHECK int wio_catalogue_list(struct wio_catalogue *catalogue,
                                      const struct wio_catalogue_user *user,
                                      struct wio_catalogue_path path, uint64_t cookie,
                                      wio_catalogue_each *each, void *context);
/* EPERM: not the owner. The group bit goes where the owner is not in the group. */
WIO_MUST_CHECK int wio_catalogue_chmod(struct wio_catalogue *catalogue,
                                       const struct wio_catalogue_user *user,
                                       struct wio_catalogue_path path, uint32_t mode);
/* UINT32_MAX: keep. EPERM. */
WIO_MUST_CHECK int wio_catalogue_chown(struct wio_catalogue *catalogue,
                                       const struct wio_catalogue_user *user,
                                       struct wio_catalogue_path path, bool follow, uint32_t uid,
                                       uint32_t gid);
/* WIO_STORE_TIME_OMIT, WIO_STORE_TIME_NOW. EPERM, EACCES. */
WIO_MUST_CHECK int wio_catalogue_utimens(struct wio_catalogue *catalogue,
                                         const struct wio_catalogue_user *user,
                                         struct wio_catalogue_path path, bool follow,
                                         int64_t atime_ns, int64_t mtime_ns);

#endif
