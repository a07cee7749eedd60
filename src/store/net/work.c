/* SPDX-License-Identifier: Apache-2.0 */
/* What blocks, in a thread of its own: flushes have libuv's threads, and shall not wait for it. */
#include "store/net/net_internal.h"

static struct wio_io_work *next_of(struct wio_io_work *work)
{
    return work->reserved[0];
}

static void append(struct wio_io_work **list, struct wio_io_work *work)
{
    struct wio_io_work *last = *list;
    work->reserved[0] = NULL;
    if (last == NULL) {
        *list = work;
        return;
    }
    while (next_of(last) != NULL) {
        last = next_of(last);
    }
    last->reserved[0] = work;
}

static void run(void *context)
{
    struct wio_net *net = context;
    struct wio_net_worker *worker = &net->worker;
    uv_mutex_lock(&worker->mutex);
    while (!worker->is_ending) {
        struct wio_io_work *work = worker->todo;
        if (work == NULL) {
            uv_cond_wait(&worker->cond, &worker->mutex);
            continue;
        }
        worker->todo = next_of(work);
        uv_mutex_unlock(&worker->mutex);
        work->run(work);
        uv_mutex_lock(&worker->mutex);
        append(&worker->done, work);
        (void)uv_async_send(&net->async);
    }
    uv_mutex_unlock(&worker->mutex);
}

static bool start(struct wio_net *net)
{
    struct wio_net_worker *worker = &net->worker;
    if (worker->is_started) {
        return true;
    }
    if (uv_mutex_init(&worker->mutex) != 0) {
        return false;
    }
    if (uv_cond_init(&worker->cond) != 0) {
        uv_mutex_destroy(&worker->mutex);
        return false;
    }
    sigset_t before;
    wio_net_block_signals(&before);
    int failed = uv_thread_create(&worker->thread, run, net);
    wio_net_allow_signals(&before);
    if (failed != 0) {
        uv_cond_destroy(&worker->cond);
        uv_mutex_destroy(&worker->mutex);
        return false;
    }
    worker->is_started = true;
    return true;
}

enum wio_status wio_net_work(struct wio_io *io, struct wio_io_work *work)
{
    struct wio_net *net = wio_net_of(io);
    if (!start(net)) {
        return WIO_ERR_NOMEM;
    }
    if (net->worker.under_way++ == 0) {
        uv_ref((uv_handle_t *)&net->async);
    }
    uv_mutex_lock(&net->worker.mutex);
    append(&net->worker.todo, work);
    uv_cond_signal(&net->worker.cond);
    uv_mutex_unlock(&net->worker.mutex);
    return WIO_OK;
}

static struct wio_io_work *take_done(struct wio_net_worker *worker)
{
    uv_mutex_lock(&worker->mutex);
    struct wio_io_work *work = worker->done;
    worker->done = work == NULL ? NULL : next_of(work);
    uv_mutex_unlock(&worker->mutex);
    return work;
}

void wio_net_work_done(struct wio_net *net)
{
    struct wio_io_work *work = NULL;
    while (net->worker.is_started && (work = take_done(&net->worker)) != NULL) {
        if (--net->worker.under_way == 0) {
            uv_unref((uv_handle_t *)&net->async);
        }
        work->done(work);
    }
}

/* What was not begun is told as done: its owner gives its memory back there. */
void wio_net_work_end(struct wio_net *net)
{
    struct wio_net_worker *worker = &net->worker;
    if (!worker->is_started) {
        return;
    }
    uv_mutex_lock(&worker->mutex);
    worker->is_ending = true;
    uv_cond_signal(&worker->cond);
    uv_mutex_unlock(&worker->mutex);
    (void)uv_thread_join(&worker->thread);
    while (worker->todo != NULL) {
        struct wio_io_work *work = worker->todo;
        worker->todo = next_of(work);
        append(&worker->done, work);
    }
    wio_net_work_done(net);
    uv_cond_destroy(&worker->cond);
    uv_mutex_destroy(&worker->mutex);
    worker->is_started = false;
}
