/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace directory of one recording: made, shared with the recorders of the same launch, given
 * rings, cleared up. FORMAT.md#1-the-directory.
 *
 *     wio_directory_claim(...)       DIR exists and is ours (or our launch's)
 *     ... write DIR/<name>.begin.seg: siblings recognise the launch by its name ...
 *     wio_directory_settle(...)      lets waiting siblings in
 *     wio_directory_make_rings(...)  DIR/raw/<name>/, or a link of that name to a local directory
 *     ... run, seal into DIR/<name>.seg ...
 *     wio_directory_remove_rings(...)
 *
 * <name> is <host>.<pid>.<monotonic ns>, and .<launch> behind it where there is one.
 */
#ifndef WIO_RECORD_DIRECTORY_H
#define WIO_RECORD_DIRECTORY_H

#include <limits.h>
#include <stdbool.h>

#include <whyio/status.h>

struct wio_directory {
    char path[PATH_MAX];  /* absolute, links resolved */
    char name[256];       /* of this recorder's segments, without ending */
    char rings[PATH_MAX]; /* absolute; "" before wio_directory_make_rings */
    bool is_made;         /* by this recorder: it did not exist before */
    bool is_local;        /* rings are elsewhere, raw/<name> is a link to them */
    int lock;             /* descriptor of DIR/lock while it is held, else -1 */
    int rings_lock;       /* on `rings`, from making to removing them: says that a recorder is at
                             work there (seal/seal.h, holds_lock); else -1 */
};

/* "./<program>-<pid>.whyio", with the pid of this process. */
#define WIO_DIRECTORY_NAME_BYTES 256
void wio_directory_default_name(const char *program, char name_out[WIO_DIRECTORY_NAME_BYTES]);

/*
 * Make `path`, or join it if a recorder of the same launch made it. An existing one is refused
 * (WIO_ERR_USAGE) unless `force`: then an old trace in it is removed, but nothing else, and a
 * directory that holds something else and no trace is still refused. Atomic: of several recorders
 * of one launch exactly one clears the old trace.
 *
 * `host` begins the names of the segments; `launch` as by wio_launch_identify.
 */
WIO_MUST_CHECK enum wio_status wio_directory_claim(struct wio_directory *dir, const char *path,
                                                   bool force, const char *host, const char *launch,
                                                   struct wio_error *err);

/* Join `path`, which a recorder made that directs us. */
WIO_MUST_CHECK enum wio_status wio_directory_join(struct wio_directory *dir, const char *path,
                                                  const char *host, const char *launch,
                                                  struct wio_error *err);

/* The begin segment is written: siblings that wait for the claim may look. */
void wio_directory_settle(struct wio_directory *dir);

/*
 * `ring_dir`: where to make the directory of the rings; NULL = below the trace directory, or on
 * $TMPDIR, /tmp or /var/tmp where the trace is on a network file system or on one where files
 * cannot be mapped shared. WIO_ERR_UNSUPPORTED or WIO_ERR_IO: no ring can be there, and nothing of
 * it is left. Of root, every user may make rings in it.
 */
WIO_MUST_CHECK enum wio_status
wio_directory_make_rings(struct wio_directory *dir, const char *ring_dir, struct wio_error *err);

/* After sealing: remove what is empty; rings that are still there stay. */
void wio_directory_remove_rings(struct wio_directory *dir);

/* The command never ran: leave things as they were (an old trace that was removed stays so). A
 * failed claim undoes itself. */
void wio_directory_undo(struct wio_directory *dir);

#endif
