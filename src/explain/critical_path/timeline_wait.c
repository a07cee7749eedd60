/* SPDX-License-Identifier: Apache-2.0 */
/* Waits: what an operation waits for, where it was released, and the jump to that thread's path. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "explain/critical_path/timeline.h"
#include "ops/calls.h"

/* Shorter waits are followed, but not explained one by one. */
#define SHORT_WAIT_NS 1000u

static void release_clear(struct wio_wait_release *release)
{
    wio_path_unref(release->path);
    *release = (struct wio_wait_release){.stream = WIO_NOTHING};
}

/* ---- requests to other threads ---- */

static enum wio_status add_request(struct wio_timeline *timeline, uint32_t stream,
                                   const struct wio_request *request)
{
    struct wio_thread_time *thread = &timeline->threads[stream];
    uint32_t at = timeline->free_request;
    void *array = timeline->requests;

    if (at == WIO_NOTHING) {
        at = timeline->request_count;
        WIO_TRY(wio_make_room(&array, sizeof(*request), &timeline->request_capacity, at + 1));
        timeline->requests = array;
        timeline->request_count++;
    } else {
        timeline->free_request = timeline->requests[at].next;
    }
    timeline->requests[at] = *request;
    timeline->requests[at].next = thread->requests;
    thread->requests = at;
    if (request->seq < thread->requested) {
        thread->requested = request->seq;
    }
    return WIO_OK;
}

/* Edges of these begin at the call that leaves the lock. */
static bool leaves_lock(unsigned cls)
{
    return cls == WIO_CLASS_UNLOCK || cls == WIO_CLASS_MPI_UNLOCK || cls == WIO_CLASS_LOCK ||
           cls == WIO_CLASS_FCNTL || cls == WIO_CLASS_CLOSE || cls == WIO_CLASS_DUP;
}

static uint8_t when_of(const struct wio_edge_link *link)
{
    if (link->evidence == WIO_EVIDENCE_POLL) {
        return WIO_WHEN_END;
    }
    return link->edge_class == WIO_EDGE_MUTEX ? WIO_WHEN_BEGIN : WIO_WHEN_BEHIND;
}

/* Is the releasing point ahead of where the thread is? */
static bool is_ahead(const struct wio_thread_time *thread, const struct wio_edge_link *link,
                     uint8_t when)
{
    if (!thread->has_begun || thread->last_seq < link->other_seq) {
        return true;
    }
    if (thread->last_seq > link->other_seq || (thread->events_left == 0 && thread->depth == 0)) {
        return false;
    }
    return when == WIO_WHEN_BEHIND || (when == WIO_WHEN_END && thread->depth > 0) ||
           (when == WIO_WHEN_BEGIN && !leaves_lock(thread->last_class));
}

/* Thread `stream` at `ns`, by its operation `seq`, releases the wait, if nothing later has. */
static enum wio_status give(struct wio_timeline *timeline, uint32_t stream, uint64_t seq,
                            uint64_t ns, uint8_t evidence, struct wio_wait_release *release)
{
    struct wio_thread_time *thread = &timeline->threads[stream];
    struct wio_path *path = NULL;

    if (release->stream != WIO_NOTHING && release->ns > ns) {
        return WIO_OK;
    }
    WIO_TRY(wio_time_path(timeline, stream, &path));
    release_clear(release);
    *release = (struct wio_wait_release){
        .ns = ns,
        .held_ns = ns > thread->released_ns ? ns - thread->released_ns : 0,
        .io_ns = thread->io_ns,
        .path = path,
        .seq = seq,
        .stream = stream,
        .evidence = evidence};
    return WIO_OK;
}

/* The other end of the edge lies behind: was there a wait for it before this operation? */
static enum wio_status look_back(struct wio_timeline *timeline, uint32_t stream,
                                 const struct wio_edge_link *link)
{
    struct wio_wait *wait = &timeline->threads[stream].wait;
    struct wio_look look;

    if (!wait->is_active || wait->is_poll || !wio_rest_take(timeline, stream, link, &look)) {
        return WIO_OK;
    }
    wait->begin_ns = look.begin_ns;
    wait->is_poll = true;
    wait->before = look.before;
    timeline->looked_ns +=
        link->evidence == WIO_EVIDENCE_PROCESS ? look.release_ns - look.begin_ns : 0;
    return give(timeline, link->other, link->other_seq, look.release_ns, link->evidence,
                &wait->release);
}

static enum wio_status ask(struct wio_timeline *timeline, uint32_t stream,
                           const struct wio_edge_link *link)
{
    struct wio_request request = {.seq = link->other_seq,
                                  .stream = stream,
                                  .generation = timeline->threads[stream].wait.generation,
                                  .evidence = link->evidence,
                                  .when = when_of(link)};

    if (link->other >= timeline->streams || link->other == stream ||
        link->evidence == WIO_EVIDENCE_HELD) {
        return WIO_OK;
    }
    if (!is_ahead(&timeline->threads[link->other], link, request.when)) {
        return look_back(timeline, stream, link);
    }
    const struct wio_thread_time *thread = &timeline->threads[link->other];
    if (thread->depth > 0 && thread->has_begun && thread->last_seq == link->other_seq &&
        (request.when == WIO_WHEN_END || thread->events_left == 0)) {
        WIO_TRY(wio_wait_look_at(timeline, link->other, thread->stack[thread->depth - 1].end_ns));
    }
    return add_request(timeline, link->other, &request);
}

static enum wio_status answer(struct wio_timeline *timeline, uint32_t stream,
                              const struct wio_request *request, uint64_t seq, uint64_t ns)
{
    struct wio_wait *wait = &timeline->threads[request->stream].wait;

    if (!wait->is_active || wait->generation != request->generation || ns < wait->begin_ns) {
        return WIO_OK;
    }
    return give(timeline, stream, seq != UINT64_MAX ? seq : request->seq, ns, request->evidence,
                &wait->release);
}

/* Answer the requests for which the thread is there: `is_end`: at the end of event `seq`. */
static enum wio_status release(struct wio_timeline *timeline, uint32_t stream, uint64_t seq,
                               uint64_t ns, bool is_end)
{
    struct wio_thread_time *thread = &timeline->threads[stream];
    bool is_unlock = leaves_lock(thread->last_class);
    uint32_t *link = &thread->requests;

    thread->requested = UINT64_MAX;
    while (*link != WIO_NOTHING) {
        uint32_t at = *link;
        struct wio_request *request = &timeline->requests[at];
        bool is_there = is_end ? request->when == WIO_WHEN_END && request->seq <= seq
                               : request->seq < seq || (request->when == WIO_WHEN_BEGIN &&
                                                        request->seq == seq && is_unlock);
        if (!is_there) {
            thread->requested = request->seq < thread->requested ? request->seq : thread->requested;
            link = &request->next;
            continue;
        }
        WIO_TRY(answer(timeline, stream, request, seq, ns));
        *link = timeline->requests[at].next;
        timeline->requests[at].next = timeline->free_request;
        timeline->free_request = at;
    }
    return WIO_OK;
}

enum wio_status wio_wait_release(struct wio_timeline *timeline, uint32_t stream, uint64_t seq,
                                 uint64_t ns)
{
    return release(timeline, stream, seq, ns, false);
}

enum wio_status wio_wait_release_end(struct wio_timeline *timeline, uint32_t stream, uint64_t seq,
                                     uint64_t ns)
{
    return release(timeline, stream, seq, ns, true);
}

/* ---- collectives ---- */

static enum wio_status find_gathering(struct wio_timeline *timeline,
                                      const struct wio_edge_link *link, uint32_t *at_out)
{
    const uint64_t *known = wio_map_get(&timeline->gathering_index, link->other);
    void *array = timeline->gatherings;

    if (known != NULL) {
        *at_out = (uint32_t)*known;
        return WIO_OK;
    }
    *at_out = timeline->free_gathering;
    if (*at_out == WIO_NOTHING) {
        *at_out = timeline->gathering_count;
        WIO_TRY(wio_make_room(&array, sizeof(*timeline->gatherings), &timeline->gathering_capacity,
                              *at_out + 1));
        timeline->gatherings = array;
        timeline->gathering_count++;
    } else {
        timeline->free_gathering = timeline->gatherings[*at_out].next;
    }
    timeline->gatherings[*at_out] = (struct wio_gathering){
        .release = {.stream = WIO_NOTHING}, .members_left = link->members, .next = link->other};
    return wio_map_put(&timeline->gathering_index, link->other, *at_out);
}

/* One member has done its part. While it is in use, `next` is the collective's number. */
static void leave_gathering(struct wio_timeline *timeline, uint32_t at)
{
    struct wio_gathering *gathering = &timeline->gatherings[at];

    if (gathering->members_left > 1) {
        gathering->members_left--;
        return;
    }
    release_clear(&gathering->release);
    (void)wio_map_remove(&timeline->gathering_index, gathering->next);
    gathering->next = timeline->free_gathering;
    timeline->free_gathering = at;
}

static enum wio_status leave_later(struct wio_timeline *timeline, uint32_t stream,
                                   const struct wio_edge_link *link, uint32_t gathering)
{
    struct wio_thread_time *thread = &timeline->threads[stream];
    uint32_t at = timeline->free_leave;
    void *array = timeline->leaves;

    if (at == WIO_NOTHING) {
        at = timeline->leave_count;
        WIO_TRY(
            wio_make_room(&array, sizeof(*timeline->leaves), &timeline->leave_capacity, at + 1));
        timeline->leaves = array;
        timeline->leave_count++;
    } else {
        timeline->free_leave = timeline->leaves[at].next;
    }
    timeline->leaves[at] = (struct wio_leave){link->other_seq, gathering, thread->leaves};
    thread->leaves = at;
    thread->leave_seq = link->other_seq < thread->leave_seq ? link->other_seq : thread->leave_seq;
    return WIO_OK;
}

static enum wio_status enter(struct wio_timeline *timeline, uint32_t stream,
                             const struct wio_edge_link *link, uint64_t ns)
{
    struct wio_thread_time *thread = &timeline->threads[stream];
    uint32_t at;

    WIO_TRY(find_gathering(timeline, link, &at));
    if (link->gives) {
        WIO_TRY(give(timeline, stream, link->seq, ns, link->evidence,
                     &timeline->gatherings[at].release));
    }
    if (!link->takes) {
        leave_gathering(timeline, at);
        return WIO_OK;
    }
    if (link->other_seq != link->seq) {
        return leave_later(timeline, stream, link, at);
    }
    if (thread->wait.collective != WIO_NOTHING) {
        leave_gathering(timeline, thread->wait.collective);
    }
    thread->wait.collective = at;
    return WIO_OK;
}

/* Collectives that the thread entered before and leaves with event `seq`. */
static void see_leaves(struct wio_timeline *timeline, uint32_t stream, uint64_t seq)
{
    struct wio_thread_time *thread = &timeline->threads[stream];
    uint32_t *link = &thread->leaves;

    thread->leave_seq = UINT64_MAX;
    while (*link != WIO_NOTHING) {
        uint32_t at = *link;
        struct wio_leave *leave = &timeline->leaves[at];
        if (leave->seq > seq) {
            thread->leave_seq = leave->seq < thread->leave_seq ? leave->seq : thread->leave_seq;
            link = &leave->next;
            continue;
        }
        if (thread->wait.collective != WIO_NOTHING) {
            leave_gathering(timeline, thread->wait.collective);
        }
        thread->wait.collective = leave->collective;
        *link = leave->next;
        leave->next = timeline->free_leave;
        timeline->free_leave = at;
    }
}

/* ---- waits ---- */

static void drop(struct wio_timeline *timeline, struct wio_wait *wait)
{
    release_clear(&wait->release);
    wio_path_unref(wait->before);
    wait->before = NULL;
    if (wait->collective != WIO_NOTHING) {
        leave_gathering(timeline, wait->collective);
        wait->collective = WIO_NOTHING;
    }
    wait->is_active = false;
    wait->is_poll = false;
}

static void begin(struct wio_timeline *timeline, uint32_t stream, uint64_t seq, uint64_t ns,
                  uint32_t step)
{
    struct wio_wait *wait = &timeline->threads[stream].wait;

    drop(timeline, wait);
    *wait = (struct wio_wait){.begin_ns = ns,
                              .seq = seq,
                              .release = {.stream = WIO_NOTHING},
                              .generation = wait->generation + 1,
                              .collective = WIO_NOTHING,
                              .step = step,
                              .is_active = true};
}

static void edge_cursor_cleanup(struct wio_edge_cursor **cursor)
{
    wio_edge_cursor_destroy(*cursor);
}

/* The edge from the call that made the file to the look that finds it lies ahead. */
static enum wio_status ask_ahead(struct wio_timeline *timeline, uint32_t stream, uint64_t seq,
                                 struct wio_error *err)
{
    struct wio_edge_filter filter = {.struct_size = sizeof(filter),
                                     .kind = WIO_EDGES_IN,
                                     .has_stream = true,
                                     .stream = stream,
                                     .from_seq = seq};
    WIO_CLEANUP(edge_cursor_cleanup) struct wio_edge_cursor *cursor = NULL;
    const struct wio_edge_row *row;
    enum wio_status status;

    WIO_TRY(wio_edge_cursor_create(timeline->edges.file, &filter, &cursor, err));
    while ((status = wio_edge_cursor_next(cursor, &row, err)) == WIO_OK && row->to.seq == seq) {
        struct wio_edge_link link = {.other_seq = row->from.seq,
                                     .other = row->from.stream,
                                     .edge_class = row->edge_class,
                                     .evidence = row->evidence};
        WIO_TRY(ask(timeline, stream, &link));
    }
    return status == WIO_END ? WIO_OK : status;
}

static enum wio_status begin_poll(struct wio_timeline *timeline, const struct wio_event *event,
                                  const struct wio_edge_link *link, struct wio_error *err)
{
    struct wio_thread_time *thread = &timeline->threads[event->stream];
    struct wio_step_key key = {.stream = event->stream,
                               .source = event->source,
                               .path = event->path,
                               .op = event->op,
                               .outer = WIO_OUTER_POLL,
                               .kind = WIO_STEP_WAIT};
    uint32_t step;

    WIO_TRY(wio_steps_find(timeline->steps, &key, &step));
    begin(timeline, event->stream, link->other_seq, event->t_ns, step);
    thread->wait.is_poll = true;
    thread->poll_end_seq = link->other_seq;
    WIO_TRY(wio_time_path(timeline, event->stream, &thread->wait.before));
    return ask_ahead(timeline, event->stream, link->other_seq, err);
}

/* Edges and collectives of event `seq`, which belongs to the wait at hand or begins one. */
static enum wio_status see_links(struct wio_timeline *timeline, const struct wio_event *event,
                                 uint32_t step, struct wio_error *err)
{
    struct wio_thread_time *thread = &timeline->threads[event->stream];
    bool is_attached = thread->depth > 0 && thread->wait.is_active;
    struct wio_edge_link link;
    enum wio_status status;

    if (!is_attached && !thread->wait.is_poll) {
        bool is_part = thread->depth > 0 && (event->flags & WIO_EVENT_CAUSED) != 0;
        const struct wio_under_way *outer = &thread->stack[is_part ? thread->depth - 1 : 0];
        begin(timeline, event->stream, is_part ? outer->seq : event->seq, event->t_ns,
              is_part ? outer->step : step);
        if (is_part) {
            WIO_TRY(wio_wait_look_at(timeline, event->stream, outer->end_ns));
        }
    }
    while ((status = wio_edge_rows_take(&timeline->edges, event->stream, event->seq, &link, err)) ==
           WIO_OK) {
        WIO_TRY(ask(timeline, event->stream, &link));
    }
    if (status != WIO_END) {
        return status;
    }
    while ((status = wio_edge_rows_take(&timeline->members, event->stream, event->seq, &link,
                                        err)) == WIO_OK) {
        WIO_TRY(enter(timeline, event->stream, &link, event->t_ns));
    }
    if (thread->leave_seq <= event->seq) {
        see_leaves(timeline, event->stream, event->seq);
    }
    return status == WIO_END ? WIO_OK : status;
}

enum wio_status wio_wait_begin(struct wio_timeline *timeline, const struct wio_event *event,
                               uint32_t step, struct wio_error *err)
{
    struct wio_thread_time *thread = &timeline->threads[event->stream];
    uint32_t stream = event->stream;
    struct wio_edge_link link;

    if (wio_edge_rows_next(&timeline->polls, stream) <= event->seq && !thread->wait.is_active) {
        enum wio_status status =
            wio_edge_rows_take(&timeline->polls, stream, event->seq, &link, err);
        if (status == WIO_OK) {
            return begin_poll(timeline, event, &link, err);
        }
        if (status != WIO_END) {
            return status;
        }
    }
    if (wio_edge_rows_next(&timeline->edges, stream) > event->seq &&
        wio_edge_rows_next(&timeline->members, stream) > event->seq &&
        thread->leave_seq > event->seq) {
        return WIO_OK;
    }
    return see_links(timeline, event, step, err);
}

/* ---- the end of a wait ---- */

/* From `begin_ns` to the release: explain it, and go on from the path of the other thread. */
static enum wio_status jump(struct wio_timeline *timeline, uint32_t stream, uint64_t begin_ns)
{
    struct wio_wait *wait = &timeline->threads[stream].wait;
    struct wio_path *mine = wait->before;
    struct wio_path *theirs = wait->release.path;
    uint64_t waited_ns = wait->release.ns - begin_ns;
    uint64_t own_io_ns = timeline->threads[stream].own_io_ns;
    enum wio_status status = WIO_OK;

    wait->before = NULL;
    if (mine == NULL) {
        WIO_TRY(wio_time_path(timeline, stream, &mine));
    }
    if (waited_ns >= SHORT_WAIT_NS && timeline->wait_ended != NULL) {
        status =
            timeline->wait_ended(timeline->wait_arg, wait->step, mine, &wait->release, begin_ns);
    }
    wio_path_unref(mine);
    wait->release.path = NULL;
    wio_time_jump(timeline, stream, theirs, wait->release.ns);
    return status != WIO_OK ? status : wio_shadow_add(timeline, stream, wait, waited_ns, own_io_ns);
}

static enum wio_status choose_release(struct wio_timeline *timeline, uint32_t stream,
                                      uint64_t end_ns)
{
    struct wio_wait *wait = &timeline->threads[stream].wait;

    if (wait->collective != WIO_NOTHING) {
        const struct wio_wait_release *last = &timeline->gatherings[wait->collective].release;
        if (last->stream != WIO_NOTHING &&
            (wait->release.stream == WIO_NOTHING || last->ns >= wait->release.ns)) {
            struct wio_path *path = wio_path_ref(last->path);
            release_clear(&wait->release);
            wait->release = *last;
            wait->release.path = path;
        }
    }
    if (wait->release.stream == stream) {
        release_clear(&wait->release);
    }
    if (wait->release.stream != WIO_NOTHING && wait->release.ns > end_ns) {
        wait->release.ns = end_ns;
    }
    return WIO_OK;
}

/* What is left of a poll loop behind the release is its own: the next look came late. */
static enum wio_status end_poll(struct wio_timeline *timeline, uint32_t stream)
{
    struct wio_thread_time *thread = &timeline->threads[stream];
    struct wio_wait *wait = &thread->wait;

    thread->poll_end_seq = UINT64_MAX;
    if (wait->release.stream == WIO_NOTHING || wait->release.ns <= wait->begin_ns) {
        return WIO_OK;
    }
    uint64_t late_ns = thread->cur_ns > wait->release.ns ? thread->cur_ns - wait->release.ns : 0;
    WIO_TRY(jump(timeline, stream, wait->begin_ns));
    wio_time_add_path(timeline, stream, wait->step, late_ns);
    return WIO_OK;
}

static enum wio_status end_operation(struct wio_timeline *timeline, uint32_t stream)
{
    struct wio_thread_time *thread = &timeline->threads[stream];
    struct wio_wait *wait = &thread->wait;
    uint64_t begin_ns = thread->cur_ns > wait->begin_ns ? thread->cur_ns : wait->begin_ns;
    uint64_t release_ns = wait->release.ns;

    if (wait->release.stream == WIO_NOTHING || release_ns <= begin_ns) {
        return WIO_OK;
    }
    WIO_TRY(jump(timeline, stream, begin_ns));
    if (begin_ns >= timeline->origin_ns) {
        timeline->steps->steps[wait->step].self_ns += release_ns - begin_ns;
    }
    thread->cur_ns = release_ns;
    return WIO_OK;
}

enum wio_status wio_wait_end(struct wio_timeline *timeline, uint32_t stream, uint64_t end_ns)
{
    struct wio_wait *wait = &timeline->threads[stream].wait;

    WIO_TRY(choose_release(timeline, stream, end_ns));
    if (wait->is_poll) {
        WIO_TRY(end_poll(timeline, stream));
    } else {
        WIO_TRY(end_operation(timeline, stream));
    }
    if (wait->collective != WIO_NOTHING) {
        timeline->threads[stream].own_io_ns = 0;
    }
    drop(timeline, wait);
    return WIO_OK;
}
