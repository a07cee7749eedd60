/* SPDX-License-Identifier: Apache-2.0 */
/* The children of a process, from /proc. */
#ifndef WIO_RECORD_CHILDREN_H
#define WIO_RECORD_CHILDREN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialise. */
struct wio_children {
    int32_t *pids;
    size_t count;
};

/* The present children, zombies included. False where /proc does not tell (a kernel without
 * CONFIG_PROC_CHILDREN) or memory is out; `out` is empty then. */
bool wio_children_read(struct wio_children *out);
/* The same of a thread of another process: those that it has made. */
bool wio_children_read_of(int32_t pid, int32_t tid, struct wio_children *out);
bool wio_children_has(const struct wio_children *children, int32_t pid);
void wio_children_fini(struct wio_children *children);

/* The name of a process as in /proc/PID/comm, "" where it is gone. */
void wio_children_name(int32_t pid, char *name, size_t size);

#endif
