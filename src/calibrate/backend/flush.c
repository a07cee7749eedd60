/* SPDX-License-Identifier: Apache-2.0 */
#include "calibrate/backend/flush.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/system/thread.h"
#include "calibrate/system/system_info.h"

static void *ask(void *arg)
{
    struct wio_flush *flush = arg;
    /* What fails here is told by the fsync at the end. */
    (void)sync_file_range(flush->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
    atomic_store(&flush->is_asking, false);
    return NULL;
}

static enum wio_status begin_thread(struct wio_flush *flush, const char *path,
                                    struct wio_error *err)
{
    atomic_store(&flush->is_asking, true);
    int cause = wio_thread_start(&flush->thread, ask, flush);
    flush->has_thread = cause == 0;
    if (cause != 0) {
        atomic_store(&flush->is_asking, false);
        errno = cause;
        return wio_error_sys(err, path, "cannot start a thread");
    }
    return WIO_OK;
}

enum wio_status wio_flush_begin(struct wio_flush *flush, int fd, const char *path,
                                struct wio_error *err)
{
    flush->fd = fd;
    if (flush->limits != NULL && wio_limits_lower(flush->limits, NULL) != WIO_OK) {
        flush->limits =
            NULL; /* root may be refused as well: in a container, by a security module */
    }
    return flush->limits != NULL ? WIO_OK : begin_thread(flush, path, err);
}

bool wio_flush_is_busy(const struct wio_flush *flush)
{
    uint64_t writing = wio_facts_vmstat_bytes("nr_writeback");
    if (flush->limits != NULL) {
        /* Above the limit the kernel's flusher is at work, since the next write wakes it. */
        return writing + wio_facts_vmstat_bytes("nr_dirty") > WIO_LIMITS_LOWERED;
    }
    return atomic_load(&flush->is_asking) || writing > 0;
}

void wio_flush_stop(struct wio_flush *flush)
{
    if (flush->has_thread) {
        (void)pthread_join(flush->thread, NULL);
        flush->has_thread = false;
    }
}

enum wio_status wio_flush_end(struct wio_flush *flush, const char *path, struct wio_error *err)
{
    wio_flush_stop(flush);
    if (flush->limits != NULL) {
        WIO_TRY(wio_limits_restore(flush->limits, err));
    }
    return fsync(flush->fd) == 0 ? WIO_OK : wio_error_sys(err, path, "cannot flush");
}
