/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread adds to its path, and the path that it goes on from. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "explain/critical_path/timeline.h"

static void open_step(struct wio_timeline *timeline, uint32_t stream, uint32_t step, uint64_t ns)
{
    struct wio_thread_time *thread = &timeline->threads[stream];
    struct wio_step *row = &timeline->steps->steps[step];

    if (row->open_ns == 0) {
        row->open_next = thread->open;
        thread->open = step;
        thread->open_count++;
    }
    row->open_ns += ns;
}

void wio_time_add(struct wio_timeline *timeline, uint32_t stream, uint32_t step, uint64_t begin_ns,
                  uint64_t end_ns)
{
    struct wio_thread_time *thread = &timeline->threads[stream];
    uint64_t from = begin_ns > timeline->origin_ns ? begin_ns : timeline->origin_ns;
    struct wio_step *row = &timeline->steps->steps[step];

    if (end_ns <= from) {
        return;
    }
    open_step(timeline, stream, step, end_ns - from);
    row->self_ns += end_ns - from;
    if (thread->poll_end_seq != UINT64_MAX) {
        row->poll_ns += end_ns - from;
    }
    if (timeline->steps->sites[row->site].kind == WIO_STEP_IO) {
        thread->io_ns += end_ns - from;
        thread->own_io_ns += end_ns - from;
    }
}

void wio_time_add_path(struct wio_timeline *timeline, uint32_t stream, uint32_t step, uint64_t ns)
{
    if (ns > 0) {
        open_step(timeline, stream, step, ns);
    }
}

static int by_step(const void *a, const void *b)
{
    uint32_t x = ((const struct wio_path_part *)a)->step;
    uint32_t y = ((const struct wio_path_part *)b)->step;

    return x < y ? -1 : x > y;
}

/* Take the open steps; into `timeline->parts`, which has room, where is_kept. */
static uint32_t take_open(struct wio_timeline *timeline, uint32_t stream, bool is_kept)
{
    struct wio_thread_time *thread = &timeline->threads[stream];
    uint32_t count = 0;

    while (thread->open != WIO_NO_STEP) {
        struct wio_step *row = &timeline->steps->steps[thread->open];
        if (is_kept) {
            timeline->parts[count++] = (struct wio_path_part){thread->open, row->open_ns};
        }
        row->open_ns = 0;
        thread->open = row->open_next;
    }
    thread->open_count = 0;
    return count;
}

enum wio_status wio_time_path(struct wio_timeline *timeline, uint32_t stream,
                              struct wio_path **path_out)
{
    struct wio_thread_time *thread = &timeline->threads[stream];
    void *array = timeline->parts;
    struct wio_path *path = NULL;
    uint32_t count;

    if (thread->open != WIO_NO_STEP) {
        WIO_TRY(wio_make_room(&array, sizeof(*timeline->parts), &timeline->part_capacity,
                              thread->open_count));
        timeline->parts = array;
        count = take_open(timeline, stream, true);
        qsort(timeline->parts, count, sizeof(*timeline->parts), by_step);
        path = thread->path;
        thread->path = NULL;
        WIO_TRY(wio_path_create(path, timeline->parts, count, thread->jumps, &thread->path));
    }
    *path_out = wio_path_ref(thread->path);
    return WIO_OK;
}

void wio_time_jump(struct wio_timeline *timeline, uint32_t stream, struct wio_path *path,
                   uint64_t ns)
{
    struct wio_thread_time *thread = &timeline->threads[stream];

    (void)take_open(timeline, stream, false);
    wio_path_unref(thread->path);
    thread->path = path;
    thread->jumps = path != NULL ? path->jumps + 1 : 1;
    thread->released_ns = ns;
    thread->io_ns = 0;
    thread->own_io_ns = 0;
}
