/* SPDX-License-Identifier: Apache-2.0 */
#include "predict/changes/change_ends.h"

#include "ops/calls.h"
#include "schedule/sync.h"

bool wio_change_gives(struct wio_change_giving *giving, const struct wio_change_work *work,
                      const struct wio_event *event)
{
    const struct wio_waits *waits = &work->program->waits;
    bool is_given = false;
    if (event->stream != giving->stream) {
        giving->stream = event->stream;
        giving->act = waits->first[event->stream];
        giving->is_alone = work->program->streams_of[wio_change_image(work, event)] == 1;
    }
    for (; giving->act < waits->first[event->stream + 1] &&
           waits->acts[giving->act].seq <= event->seq;
         giving->act++) {
        unsigned kind = waits->acts[giving->act].kind;
        is_given |= kind == WIO_ACT_GIVE || kind == WIO_ACT_ENTER || kind == WIO_ACT_PUT ||
                    kind == WIO_ACT_GIVE_END;
    }
    return is_given;
}

/* Locks in memory of a thread that is alone in its process are habits of a library. */
static bool is_lock(const struct wio_change_giving *giving, const struct wio_event *event)
{
    enum wio_class cls = wio_op_class(event->op);
    return cls == WIO_CLASS_LOCK || (cls == WIO_CLASS_FCNTL && event->arg[0] >= 5) ||
           (!giving->is_alone && wio_lock_step_of(event) != WIO_LOCK_NONE);
}

enum wio_change_end wio_change_ends(const struct wio_change_giving *giving,
                                    const struct wio_event *event)
{
    enum wio_class cls = wio_op_class(event->op);
    if (is_lock(giving, event) || cls == WIO_CLASS_SYNC) {
        return WIO_CHANGE_ENDS_ALL;
    }
    bool is_of_file = cls == WIO_CLASS_CLOSE || cls == WIO_CLASS_READ || cls == WIO_CLASS_WRITE ||
                      cls == WIO_CLASS_COPY || cls == WIO_CLASS_SIZE || cls == WIO_CLASS_UNLINK ||
                      cls == WIO_CLASS_RENAME || cls == WIO_CLASS_MAP;
    return is_of_file ? WIO_CHANGE_ENDS_FILE : WIO_CHANGE_ENDS_NOTHING;
}
