/* SPDX-License-Identifier: Apache-2.0 */
/* The loop, time, and the table of functions. */
#include "store/net/net.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "store/net/net_internal.h"

#define MILLISECOND_NS UINT64_C(1000000)

/* ---- time and chance ----------------------------------------------------------------------- */

static uint64_t now_ns(struct wio_io *io)
{
    (void)io;
    return wio_clock_mono_ns();
}

static uint64_t unix_ns(struct wio_io *io)
{
    (void)io;
    return wio_clock_unix_ns();
}

/* getrandom(2) of up to 256 bytes is whole, once the kernel has entropy at all. */
static void random_bytes(struct wio_io *io, void *bytes, size_t size)
{
    enum { WHOLE = 256 };
    (void)io;
    for (size_t done = 0; done < size;) {
        size_t part = size - done < WHOLE ? size - done : WHOLE;
        ssize_t got = getrandom((char *)bytes + done, part, 0);
        done += got > 0 ? (size_t)got : 0;
    }
}

/* ---- timers -------------------------------------------------------------------------------- */

struct wio_io_timer {
    uv_timer_t uv; /* its data: this */
    void (*fire)(void *context);
    void *context;
};

static struct wio_io_timer *timer_create_in(struct wio_io *io, void (*fire)(void *context),
                                            void *context)
{
    struct wio_io_timer *timer = calloc(1, sizeof(*timer));
    if (timer == NULL || uv_timer_init(&wio_net_of(io)->loop, &timer->uv) != 0) {
        free(timer);
        return NULL;
    }
    timer->uv.data = timer;
    timer->fire = fire;
    timer->context = context;
    return timer;
}

static void fired(uv_timer_t *uv)
{
    struct wio_io_timer *timer = uv->data;
    timer->fire(timer->context);
}

/* libuv's clock counts whole milliseconds: one more, so as not to be early. */
static void timer_set(struct wio_io_timer *timer, uint64_t after_ns)
{
    uint64_t after_ms = after_ns == 0 ? 0 : (after_ns + MILLISECOND_NS - 1) / MILLISECOND_NS + 1;
    uv_update_time(timer->uv.loop);
    (void)uv_timer_start(&timer->uv, fired, after_ms, 0);
}

static void timer_stop(struct wio_io_timer *timer)
{
    (void)uv_timer_stop(&timer->uv);
}

static void timer_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void timer_destroy(struct wio_io_timer *timer)
{
    if (timer != NULL) {
        uv_close((uv_handle_t *)&timer->uv, timer_closed);
    }
}

/* ---- signals and wakes --------------------------------------------------------------------- */

static void signal_came(uv_signal_t *uv, int number)
{
    struct wio_net_signal *signal = uv->data;
    signal->came(signal->context, number);
}

enum wio_status wio_net_on_signal(struct wio_net *net, int number,
                                  void (*came)(void *context, int signal), void *context,
                                  struct wio_error *err)
{
    struct wio_net_signal *signal = &net->signals[net->signal_count];
    if (net->signal_count == WIO_NET_SIGNALS || uv_signal_init(&net->loop, &signal->handle) != 0) {
        return wio_error_set(err, WIO_ERR_IO, NULL, WIO_ERROR_NO_OFFSET,
                             "cannot watch for signal %d", number);
    }
    net->signal_count++;
    signal->handle.data = signal;
    signal->came = came;
    signal->context = context;
    uv_unref((uv_handle_t *)&signal->handle);
    return uv_signal_start(&signal->handle, signal_came, number) == 0
               ? WIO_OK
               : wio_error_set(err, WIO_ERR_IO, NULL, WIO_ERROR_NO_OFFSET,
                               "cannot watch for signal %d", number);
}

static void woken(uv_async_t *async)
{
    struct wio_net *net = async->data;
    wio_net_work_done(net);
    if (net->wake != NULL) {
        net->wake(net->wake_context);
    }
}

void wio_net_on_wake(struct wio_net *net, void (*wake)(void *context), void *context)
{
    net->wake = wake;
    net->wake_context = context;
}

void wio_net_wake(struct wio_net *net)
{
    (void)uv_async_send(&net->async);
}

/* ---- the table ----------------------------------------------------------------------------- */

static const struct wio_io_ops *ops_of(struct wio_io_ops *ops)
{
    *ops = (struct wio_io_ops){
        .now_ns = now_ns,
        .unix_ns = unix_ns,
        .random = random_bytes,
        .timer_create = timer_create_in,
        .timer_set = timer_set,
        .timer_stop = timer_stop,
        .timer_destroy = timer_destroy,
        .listen = wio_net_listen,
        .listener_address = wio_net_listener_address,
        .listener_close = wio_net_listener_close,
        .connect = wio_net_connect,
        .conn_attach = wio_net_conn_attach,
        .conn_send = wio_net_conn_send,
        .conn_unsent = wio_net_conn_unsent,
        .conn_pause = wio_net_conn_pause,
        .conn_close = wio_net_conn_close,
        .connect_failure = wio_net_connect_failure,
        .work = wio_net_work,
    };
    wio_net_file_ops(ops);
    return ops;
}

/* ---- life ---------------------------------------------------------------------------------- */

static bool make_handles(struct wio_net *net)
{
    wio_net_guard(net);
    if (uv_loop_init(&net->loop) != 0) {
        return false;
    }
    net->has_loop = true;
    if (uv_async_init(&net->loop, &net->async, woken) != 0 ||
        uv_idle_init(&net->loop, &net->idle) != 0) {
        return false;
    }
    net->async.data = net;
    net->idle.data = net;
    uv_unref((uv_handle_t *)&net->async);
    return true;
}

static void close_handle(uv_handle_t *handle, void *context)
{
    (void)context;
    if (!uv_is_closing(handle)) {
        uv_close(handle, NULL);
    }
}

void wio_net_destroy(struct wio_net *net)
{
    if (net == NULL) {
        return;
    }
    wio_net_work_end(net);
    if (net->has_loop) {
        uv_walk(&net->loop, close_handle, NULL);
        (void)uv_run(&net->loop, UV_RUN_DEFAULT);
        (void)uv_loop_close(&net->loop);
    }
    wio_net_leave(net);
    wio_fd_cleanup(&net->dir);
    free(net);
}

static void destroy(struct wio_net **net)
{
    wio_net_destroy(*net);
}

enum wio_status wio_net_create(const char *dir, struct wio_net **net_out, struct wio_error *err)
{
    WIO_CLEANUP(destroy) struct wio_net *net = calloc(1, sizeof(*net));
    if (net == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    net->dir = -1;
    net->io.ops = ops_of(&net->ops);
    if (!make_handles(net)) {
        return wio_error_set(err, WIO_ERR_IO, NULL, WIO_ERROR_NO_OFFSET,
                             "cannot make an event loop");
    }
    if (dir != NULL) {
        net->dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (net->dir < 0) {
            return wio_error_sys(err, dir, "cannot open the directory");
        }
    }
    *net_out = net;
    net = NULL;
    return WIO_OK;
}

struct wio_io *wio_net_io(struct wio_net *net)
{
    return &net->io;
}

void wio_net_run(struct wio_net *net)
{
    (void)uv_run(&net->loop, UV_RUN_DEFAULT);
}

bool wio_net_poll(struct wio_net *net)
{
    return uv_run(&net->loop, UV_RUN_NOWAIT) != 0;
}

void wio_net_turn(struct wio_net *net)
{
    (void)uv_run(&net->loop, UV_RUN_ONCE);
}

void wio_net_stop(struct wio_net *net)
{
    uv_stop(&net->loop);
}
