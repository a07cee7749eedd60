/* SPDX-License-Identifier: Apache-2.0 */
/* I/O of other threads that a thread has waited for: threads that do theirs in turn are told by it.
 */
#include "base/cleanup.h"
#include "explain/critical_path/timeline.h"

/* The I/O of `over_ns` that the wait was for: what the releasing thread did since its path was last
 * taken. */
static void mark_held(struct wio_timeline *timeline, const struct wio_path *path, uint64_t over_ns)
{
    uint64_t io_ns = 0;

    for (uint32_t i = 0; path != NULL && i < path->count; i++) {
        const struct wio_step *step = &timeline->steps->steps[path->parts[i].step];
        io_ns += timeline->steps->sites[step->site].kind == WIO_STEP_IO ? path->parts[i].ns : 0;
    }
    double part = io_ns > over_ns ? (double)over_ns / (double)io_ns : 1;
    for (uint32_t i = 0; path != NULL && i < path->count; i++) {
        struct wio_step *step = &timeline->steps->steps[path->parts[i].step];
        step->held_ns += (uint64_t)(part * (double)path->parts[i].ns);
    }
}

/* The wait goes on where the thread asks the one that has released it for something else at once: a
 * thread of Python that has a lock needs the interpreter's, too. What this wait was for stands in a
 * path that the second jump has left. */
#define AT_ONCE_PART 16u /* of the time that was waited for */

static bool goes_on(const struct wio_shadow *shadow, const struct wio_wait_release *from)
{
    return shadow->over_ns > 0 && shadow->from == from->stream && from->ns >= shadow->release_ns &&
           from->ns - shadow->release_ns < shadow->over_ns / AT_ONCE_PART;
}

enum wio_status wio_shadow_add(struct wio_timeline *timeline, uint32_t stream,
                               const struct wio_wait *wait, uint64_t waited_ns, uint64_t own_io_ns)
{
    const struct wio_step *row = &timeline->steps->steps[wait->step];
    const struct wio_site *site = &timeline->steps->sites[row->site];
    const struct wio_wait_release *from = &wait->release;
    uint64_t over_ns = from->held_ns < waited_ns ? from->held_ns : waited_ns;
    struct wio_step_key key = {
        .stream = stream,
        .source = site->place == 0 ? 0 : timeline->steps->places.sources[site->place],
        .path = row->path == WIO_SEVERAL_FILES ? 0 : row->path,
        .op = site->op,
        .outer = (uint16_t)(WIO_OUTER_SHADOW + from->evidence +
                            (wait->collective != WIO_NOTHING ? WIO_EVIDENCE_COUNT : 0)),
        .kind = WIO_STEP_SHADOW};
    uint32_t step;

    struct wio_shadow *shadow = &timeline->threads[stream].shadow;
    if (goes_on(shadow, from)) {
        wio_time_add_path(timeline, stream, shadow->step, shadow->over_ns);
        return WIO_OK;
    }
    shadow->over_ns = 0;
    over_ns = over_ns < from->io_ns ? over_ns : from->io_ns;
    /* a process that waits for its child takes no turns with it */
    if (over_ns == 0 || from->evidence == WIO_EVIDENCE_PROCESS ||
        (wait->collective != WIO_NOTHING && own_io_ns > over_ns / 4)) {
        return WIO_OK;
    }
    mark_held(timeline, timeline->threads[stream].path, over_ns);
    WIO_TRY(wio_steps_find(timeline->steps, &key, &step));
    timeline->steps->steps[step].held_ns += over_ns;
    wio_time_add_path(timeline, stream, step, over_ns);
    *shadow = (struct wio_shadow){from->ns, over_ns, step, from->stream};
    return WIO_OK;
}
