/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A store as a file system, through libfuse3.
 *
 *     struct wio_mount_config config = {.point = "/mnt", .connect = {..}, .ready = print};
 *     wio_mount(&config, &err);      until SIGTERM, SIGINT, umount(8), or the store is gone
 *
 * Users: without is_for_all the kernel refuses all others (EACCES), user 0 too. With it the kernel
 * judges by the modes that the store has, the store goes by user 0, and what is made is given to
 * the user who made it.
 *
 * Jobs: each request counts for the job of the process that made it (jobs.h); connect.job is
 * none's. Locks of fcntl(2) and flock(2) are those of the store: against other mounts and clients,
 * too.
 *
 * Consistency: the kernel keeps neither data nor attributes nor names (direct I/O, time-outs of 0,
 * no write-back). Each read and write of at most max_write bytes (1 MiB) is one transaction of the
 * store; the kernel makes several of a longer one. Data is durable when write(2) returns.
 */
#ifndef WIO_STORE_MOUNT_H
#define WIO_STORE_MOUNT_H

#include <whyio/store.h>

#include "probe/probe.h"

struct wio_mount_config {
    const char *point; /* a directory */
    struct wio_store_params connect;
    const struct wio_probe_params *jobs; /* how jobs are found; NULL: requests have none */
    bool is_for_all; /* other users may use it, too: user 0 only can offer that */
    void (*ready)(void *context, const char *point); /* requests are served from now on */
    void *context;
};

/* WIO_OK: ended by a signal or by umount(8); the mount point is free. WIO_ERR_IO: it cannot be
 * mounted, or the store did not answer any more; then, too, it is unmounted.
 * WIO_ERR_USAGE: is_for_all by another one than user 0. WIO_ERR_UNSUPPORTED: whyio was built
 * without libfuse3. */
WIO_MUST_CHECK enum wio_status wio_mount(const struct wio_mount_config *config,
                                         struct wio_error *err);

#endif
