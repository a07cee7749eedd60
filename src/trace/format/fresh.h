/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of a trace directory while they are written: segments (NAME.seg.tmp) and edges
 * (trace.edges.NAME.tmp, trace.held.NAME.tmp). A file is made under a name that was not there,
 * never through a link, and is locked (flock) until it is closed: one without a lock is of a
 * process that died.
 */
#ifndef WIO_TRACE_FORMAT_FRESH_H
#define WIO_TRACE_FORMAT_FRESH_H

#include <whyio/status.h>

/* Make `name` in the directory `dir` for reading and writing; -1 with errno. Mode 0600, and for
 * group and others reading, as far as the directory's own mode lets them read and enter, and the
 * umask allows. EBUSY: another process locks it, and keeps it so. */
int wio_fresh_create_at(int dir, const char *name);

/* The directory of `path`, as a descriptor for *at calls that the caller owns, -1 with errno;
 * *name_out: what is behind it in `path`. */
int wio_fresh_open_parent(const char *path, const char **name_out);

/* Remove from `dir` the files that are half written, of this user, and not locked. */
void wio_fresh_clear(int dir);

#endif
