/* SPDX-License-Identifier: Apache-2.0 */
/* The control groups of a process and those above them: cgroups(7). */
#ifndef WIO_BASE_SYSTEM_CGROUPS_H
#define WIO_BASE_SYSTEM_CGROUPS_H

#include <stdbool.h>
#include <stddef.h>

#include <whyio/status.h>

#include "base/buf.h"

/* A group in a hierarchy. */
struct wio_cgroup {
    const char *root;  /* where the hierarchy is mounted */
    const char *group; /* "/a/b": `length` bytes, 0 for the root */
    size_t length;
    unsigned version; /* of the hierarchy: 1 or 2 */
};

/* False: the groups above are not looked at. */
typedef bool wio_cgroup_fn(void *context, const struct wio_cgroup *group);

/*
 * Calls `each` for the group of a process in the hierarchy of `controller` (version 1) and in those
 * of version 2, and for each group above. `cgroups`: the text of /proc/PID/cgroup; `root`: where
 * the hierarchies are mounted, below it "CONTROLLER" for version 1 and "unified" for version 2 on
 * systems that have both. What `each` is given is lent for the call.
 */
void wio_cgroups_each(const char *cgroups, const char *root, const char *controller,
                      wio_cgroup_fn *each, void *context);

/* The file `name` of a group, ended by a NUL; false where it cannot be read. */
bool wio_cgroup_read(const struct wio_cgroup *group, const char *name, struct wio_blob *text);

#endif
