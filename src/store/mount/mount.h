/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A store as a file system, through libfuse3.
 *
 *     struct wio_mount_config config = {.point = "/mnt", .connect = {..}, .ready = print};
 *     wio_mount(&config, &err);      until SIGTERM, SIGINT, umount(8), or the store is gone
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
    void (*ready)(void *context, const char *point); /* requests are served from now on */
    void *context;
};

/* WIO_OK: ended by a signal or by umount(8); the mount point is free. WIO_ERR_IO: it cannot be
 * mounted, or the store did not answer any more; then, too, it is unmounted.
 * WIO_ERR_UNSUPPORTED: whyio was built without libfuse3. */
WIO_MUST_CHECK enum wio_status wio_mount(const struct wio_mount_config *config,
                                         struct wio_error *err);

#endif
