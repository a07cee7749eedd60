/* SPDX-License-Identifier: Apache-2.0 */
#include "store/mount/watch.h"
#include "base/system/thread.h"

#include <signal.h>
#include <time.h>

enum { WATCH_TRIES = 3 };
#define WATCH_TIMEOUT_NS UINT64_C(5000000000)

/* False: the end. */
static bool wait_a_second(struct mount_watch *watch)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec++;
    (void)pthread_mutex_lock(&watch->lock);
    int waited = 0;
    while (!watch->is_ending && waited == 0) {
        waited = pthread_cond_timedwait(&watch->end, &watch->lock, &until);
    }
    bool is_ending = watch->is_ending;
    (void)pthread_mutex_unlock(&watch->lock);
    return !is_ending;
}

static void *watch_main(void *context)
{
    struct mount_watch *watch = context;
    int failed = 0;
    while (failed < WATCH_TRIES && wait_a_second(watch)) {
        struct wio_store_attr attr = {.struct_size = sizeof(attr)};
        struct wio_error err = WIO_ERROR_INIT;
        bool is_there = wio_store_stat(watch->store, "/", WIO_STORE_NO_SIZE, &attr, &err) == WIO_OK;
        failed = is_there ? 0 : failed + 1;
        watch->why = err;
    }
    if (failed == WATCH_TRIES) {
        atomic_store(&watch->is_lost, true);
        /* The loop's thread handles it. NOLINTNEXTLINE(bugprone-bad-signal-to-kill-thread) */
        (void)pthread_kill(watch->thread, SIGTERM);
    }
    return NULL;
}

enum wio_status mount_watch_begin(struct mount_watch *watch, const struct wio_store_params *connect,
                                  struct wio_error *err)
{
    struct wio_store_params own = *connect;
    pthread_condattr_t monotonic;
    *watch = (struct mount_watch){.thread = pthread_self()};
    own.timeout_ns = WATCH_TIMEOUT_NS;
    enum wio_status status = wio_store_connect(&own, &watch->store, err);
    if (status != WIO_OK) {
        return status;
    }
    (void)pthread_mutex_init(&watch->lock, NULL);
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&watch->end, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    int failed = wio_thread_start(&watch->self, watch_main, watch);
    if (failed != 0) {
        wio_store_disconnect(watch->store);
        err->sys_errno = failed;
        return wio_error_set(err, WIO_ERR_IO, NULL, WIO_ERROR_NO_OFFSET, "cannot start a thread");
    }
    return WIO_OK;
}

void mount_watch_end(struct mount_watch *watch)
{
    (void)pthread_mutex_lock(&watch->lock);
    watch->is_ending = true;
    (void)pthread_cond_signal(&watch->end);
    (void)pthread_mutex_unlock(&watch->lock);
    (void)pthread_join(watch->self, NULL);
    wio_store_disconnect(watch->store);
    (void)pthread_cond_destroy(&watch->end);
    (void)pthread_mutex_destroy(&watch->lock);
}
