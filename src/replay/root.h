/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths beneath the target directory.
 *
 * Recorded paths are absolute and untrusted. Each is looked up as if the target were "/": `..`
 * stops there, absolute links start there, magic links of /proc are refused. The kernel does it
 * where it has openat2 (RESOLVE_IN_ROOT), else a walk of our own, component by component.
 *
 * These functions stand for system calls: they return a descriptor (owned by the caller, always
 * O_CLOEXEC) or -1 with errno. Thread safe, also after fork.
 */
#ifndef WIO_REPLAY_ROOT_H
#define WIO_REPLAY_ROOT_H

#include <stdbool.h>
#include <sys/types.h>

#include <whyio/status.h>

struct rp_root {
    int fd;
    bool has_openat2;
    const char *path; /* as the user gave it, borrowed: for messages */
};

/* Open the target, make it if only its last component is missing. "/" itself is refused. */
WIO_MUST_CHECK enum wio_status rp_root_open(const char *path, struct rp_root *root_out,
                                            struct wio_error *err);
void rp_root_close(struct rp_root *root);

/* open(2) of a recorded path; "" is ENOENT, as in the kernel. */
int rp_root_openat(const struct rp_root *root, const char *path, int flags, mode_t mode);

/* The directory that holds the last component (O_PATH), and that component: never "..", never
 * with a slash; "." where the path is the root. `name_out`: NAME_MAX + 1 bytes. Links in the
 * last component are not followed, so use it with *at calls that do not follow. */
int rp_root_parent(const struct rp_root *root, const char *path, char *name_out);

/* The two ways to look up, for tests. */
int rp_root_walk(const struct rp_root *root, const char *path, int flags, mode_t mode);

#endif
