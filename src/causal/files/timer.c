/* SPDX-License-Identifier: Apache-2.0 */
/* Timer descriptors: a read waits until the timer is set, and then until it expires. R-CHAN-8 */
#include <sys/timerfd.h>

#include "causal/files/files.h"
#include "causal/threads/sync.h"

/* How far two clocks' times of one moment may differ. */
#define CLOCKS_NS 100000u

enum wio_status wio_infer_timer_set(struct wio_infer *infer, const struct wio_event *event)
{
    uint32_t number;
    WIO_TRY(wio_infer_file(infer, event, event->fd, &number));
    if (number == WIO_INFER_NONE) {
        return WIO_OK;
    }
    struct wio_infer_file *file = &infer->files.items[number];
    bool is_moment = (event->arg[0] & TFD_TIMER_ABSTIME) != 0; /* by a clock that is not known */
    uint64_t after_ns = is_moment ? 0 : (uint64_t)event->arg[1];
    file->timer_by = wio_infer_release_point(infer, event);
    file->timer_ns = event->arg[1] > 0 ? event->t_ns + after_ns : WIO_INFER_NO_TIME;
    return WIO_OK;
}

/* No edge if the timer was set anew after its expiry and before the end of the read. */
enum wio_status wio_infer_timer_read(struct wio_infer *infer, const struct wio_event *event)
{
    uint32_t number;
    struct wio_point point = wio_infer_point(infer, event);
    WIO_TRY(wio_infer_file(infer, event, event->fd, &number));
    const struct wio_infer_file *file =
        number != WIO_INFER_NONE ? &infer->files.items[number] : NULL;
    bool is_set = file != NULL && file->timer_ns != 0 && file->timer_ns != WIO_INFER_NO_TIME;
    if (!is_set || event->result <= 0 || file->timer_ns > wio_infer_end_ns(event) + CLOCKS_NS ||
        file->timer_by.thread == point.thread) {
        return WIO_OK;
    }
    return wio_infer_edge_from_before(infer, (struct wio_edge){.from_thread = file->timer_by.thread,
                                                               .from_op = file->timer_by.op,
                                                               .to_thread = point.thread,
                                                               .to_op = point.op,
                                                               .class = WIO_EDGE_HARD,
                                                               .evidence = WIO_EVIDENCE_PIPE});
}
