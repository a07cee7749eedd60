/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/pending.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "trace/seal.h"

/* A recorder that is at work holds DIR/lock or its rings are of live processes; both mean: only
 * look. */
static bool may_write(const char *dir)
{
    return access(dir, W_OK) == 0;
}

enum wio_status wio_pending_seal(const char *dir, int *fd_out, struct wio_error *err)
{
    char name[128];
    struct wio_seal_params params = {
        .struct_size = sizeof(params),
        .look_at_files = true,
    };
    *fd_out = -1;
    if (!wio_seal_is_needed(dir)) {
        return WIO_OK;
    }
    if (may_write(dir) && !wio_seal_has_live(dir)) {
        struct wio_error ignored = WIO_ERROR_INIT;
        (void)snprintf(name, sizeof(name), "sealed.%d.%llu", (int)getpid(),
                       (unsigned long long)wio_clock_mono_ns());
        if (wio_seal(dir, NULL, name, &params, &ignored) == WIO_OK) {
            return WIO_OK;
        }
        /* A full disk, a file system that is read-only after all: memory will do. */
    }
    params.keep_rings = true;
    return wio_seal_to_fd(dir, NULL, fd_out, &params, err);
}
