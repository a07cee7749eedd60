/* SPDX-License-Identifier: Apache-2.0 */
/* What an event says of the name that it looks up or makes. Pure, no allocation. */
#ifndef WIO_OPS_LOOKUP_H
#define WIO_OPS_LOOKUP_H

#include <stdbool.h>

#include <whyio/event.h>

/* The flags of open(2) that an event of class OPEN stands for. */
int wio_open_flags(const struct wio_event *event);

/* Does the open fail where the name exists? (O_CREAT with O_EXCL) */
bool wio_open_is_exclusive(const struct wio_event *event);

/* Does the operation make and open a file under a name that libc chooses, or under none? */
bool wio_op_opens_temporary(unsigned op);

/*
 * Does the operation act on what a symbolic link at `path` leads to? If not, it acts on the link
 * itself, or fails because of it. Times of utimensat whose flags are not in the trace (size is
 * WIO_NO_SIZE: ops.def) are taken as those of the link: cp, tar and rsync set these.
 */
bool wio_event_follows_links(const struct wio_event *event);

#endif
