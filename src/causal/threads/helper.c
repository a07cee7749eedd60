/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that libc starts inside a call of its own and waits for in the same or another one:
 * system(), popen() and pclose().
 */
#include "causal/threads/sync.h"

/* system() does not report its child: the child that began meanwhile, if it is the only one. */
static uint32_t only_child_within(struct wio_infer *infer, const struct wio_event *event)
{
    uint32_t found = WIO_INFER_NONE;
    uint32_t child = wio_infer_first_unborn(infer, wio_infer_stream(infer, event)->process);
    for (; child != WIO_INFER_NONE; child = wio_infer_next_unborn(infer, child)) {
        uint64_t start_ns = infer->params.processes[child].start_ns;
        if (start_ns > wio_infer_end_ns(event)) {
            break; /* they are in the order of their begin */
        }
        if (start_ns < event->t_ns) {
            continue;
        }
        if (found != WIO_INFER_NONE) {
            return WIO_INFER_NONE;
        }
        found = child;
    }
    return found;
}

static enum wio_status remember(struct wio_infer *infer, uint64_t caller, uint64_t what,
                                uint32_t child)
{
    return child == WIO_INFER_NONE ? WIO_OK
                                   : wio_pair_map_put(&infer->processes.helper_of, caller, what,
                                                      (uint32_t)infer->params.processes[child].pid);
}

/* Streams and images are numbers of their own. */
static uint64_t stream_key(const struct wio_event *event)
{
    return (uint64_t)event->stream << 1;
}

static uint64_t image_key(const struct wio_infer *infer, const struct wio_event *event)
{
    return (uint64_t)wio_infer_stream(infer, event)->process << 1 | 1;
}

enum wio_status wio_infer_helper_begin(struct wio_infer *infer, const struct wio_event *event)
{
    uint32_t child = WIO_INFER_NONE;
    if (event->error != 0) {
        return WIO_OK;
    }
    if (event->op == WIO_OP_system) {
        child = only_child_within(infer, event);
        WIO_TRY(remember(infer, stream_key(event), event->seq, child));
        return wio_infer_make_image(infer, event, child, true);
    }
    /* fclose() may have closed the stream that had this number: its program is not waited for. */
    wio_pair_map_remove(&infer->processes.helper_of, image_key(infer, event),
                        (uint64_t)event->result);
    if (event->arg[2] > 0) {
        child = wio_infer_find_child(infer, wio_infer_stream(infer, event)->process, event->arg[2]);
        WIO_TRY(remember(infer, image_key(infer, event), (uint64_t)event->result, child));
    }
    return wio_infer_make_image(infer, event, child, true);
}

enum wio_status wio_infer_helper_end(struct wio_infer *infer, const struct wio_event *event)
{
    bool is_system = event->op == WIO_OP_system;
    if (!is_system && event->op != WIO_OP_pclose) {
        return WIO_OK;
    }
    uint64_t caller = is_system ? stream_key(event) : image_key(infer, event);
    uint64_t what = is_system ? event->seq : (uint64_t)(int64_t)event->fd;
    uint32_t pid = wio_pair_map_get(&infer->processes.helper_of, caller, what);
    if (pid == WIO_INFER_NONE) {
        return WIO_OK;
    }
    wio_pair_map_remove(&infer->processes.helper_of, caller, what);
    return wio_infer_after_process(infer, event, pid, WIO_EVIDENCE_PROCESS);
}
