/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Process images and the calls that make them. Which image a call made is told by pid, parent and
 * time: pids come again.
 */
#include "state/state_internal.h"

static uint64_t key_of(uint32_t host, int64_t pid)
{
    return (uint64_t)host << 32 | (uint32_t)pid;
}

static bool is_same_process(const struct wio_state_process *a, const struct wio_state_process *b)
{
    return a->pid == b->pid && a->host == b->host;
}

/* Children of an image, the earliest first: the tables of traces are in that order. */
static void tie_images(struct wio_state *state)
{
    const struct wio_state_params *params = &state->params;
    for (uint32_t i = 0; i < params->process_count; i++) {
        state->images[i] = (struct state_image){
            .successor = WIO_NO_INDEX, .first_child = WIO_NO_INDEX, .next_child = WIO_NO_INDEX};
    }
    for (uint32_t i = params->process_count; i > 0; i--) {
        const uint32_t child = i - 1;
        const uint32_t parent = params->processes[child].parent;
        if (parent >= params->process_count || parent == child) {
            continue;
        }
        struct state_image *made_by = &state->images[parent];
        if (is_same_process(&params->processes[parent], &params->processes[child])) {
            made_by->successor = child;
        } else {
            state->images[child].next_child = made_by->first_child;
            made_by->first_child = child;
        }
    }
    for (uint32_t s = 0; s < params->stream_count; s++) {
        state->images[params->streams[s].process].events_left += params->streams[s].events;
    }
}

enum wio_status state_processes_init(struct wio_state *state)
{
    const struct wio_alloc *alloc = &state->params.alloc;
    wio_pair_map_init(&state->pid_of, alloc);
    wio_pair_map_init(&state->made_by, alloc);
    state->images = wio_alloc_array(alloc, state->params.process_count, sizeof(*state->images));
    if (state->images == NULL) {
        return WIO_ERR_NOMEM;
    }
    tie_images(state);
    return WIO_OK;
}

void state_processes_fini(struct wio_state *state)
{
    wio_pair_map_fini(&state->pid_of);
    wio_pair_map_fini(&state->made_by);
    state->params.alloc.put(state->params.alloc.context, state->images);
}

static enum wio_status begin_image(struct wio_state *state, uint32_t image)
{
    const struct wio_state_process *process = &state->params.processes[image];
    state->images[image].is_born = true;
    return wio_pair_map_put(&state->pid_of, key_of(process->host, process->pid), 0, image);
}

/* The first image of the list that has not begun; those that have leave it, so that a shell that
 * starts many programs does not pass all of them each time. */
static uint32_t first_unborn(struct wio_state *state, uint32_t *link)
{
    while (*link != WIO_NO_INDEX && state->images[*link].is_born) {
        *link = state->images[*link].next_child;
    }
    return *link;
}

static uint32_t child_of_pid(struct wio_state *state, uint32_t image, int64_t pid)
{
    uint32_t child = first_unborn(state, &state->images[image].first_child);
    while (child != WIO_NO_INDEX && state->params.processes[child].pid != pid) {
        child = first_unborn(state, &state->images[child].next_child);
    }
    return child;
}

/* system() does not tell its child: the only one that began meanwhile. */
static uint32_t only_child_within(struct wio_state *state, uint32_t image,
                                  const struct wio_event *event)
{
    uint32_t found = WIO_NO_INDEX;
    uint32_t child = first_unborn(state, &state->images[image].first_child);
    for (; child != WIO_NO_INDEX; child = first_unborn(state, &state->images[child].next_child)) {
        const uint64_t start_ns = state->params.processes[child].start_ns;
        if (start_ns < event->t_ns || start_ns > event->t_ns + event->dur_ns) {
            continue;
        }
        if (found != WIO_NO_INDEX) {
            return WIO_NO_INDEX;
        }
        found = child;
    }
    return found;
}

static enum wio_status make_image(struct wio_state *state, const struct wio_event *event,
                                  uint32_t child, bool is_program)
{
    if (child == WIO_NO_INDEX) {
        return WIO_OK;
    }
    WIO_TRY(begin_image(state, child));
    WIO_TRY(state_inherit(state, state_process_of(state, event), child, is_program));
    return wio_pair_map_put(&state->made_by, event->stream, event->seq, child);
}

static enum wio_status make_process(struct wio_state *state, const struct wio_event *event)
{
    const uint32_t image = state_process_of(state, event);
    const bool is_program =
        event->op != WIO_OP_fork && event->op != WIO_OP_vfork && event->op != WIO_OP_clone;
    if (event->op == WIO_OP_system) {
        return make_image(state, event, only_child_within(state, image, event), true);
    }
    return event->result <= 0
               ? WIO_OK
               : make_image(state, event, child_of_pid(state, image, event->result), is_program);
}

/* An exec that succeeds does not return: it is the last event of its image. */
static enum wio_status replace_image(struct wio_state *state, const struct wio_event *event)
{
    const uint32_t image = state_process_of(state, event);
    const uint32_t next = state->images[image].successor;
    if (next == WIO_NO_INDEX || state->images[next].is_born ||
        state->images[image].events_left != 1) {
        return WIO_OK;
    }
    return make_image(state, event, next, true);
}

enum wio_status state_process_event(struct wio_state *state, const struct wio_event *event)
{
    const uint32_t image = state_process_of(state, event);
    if (!state->images[image].is_born) { /* the first one, or its making was not recorded */
        WIO_TRY(begin_image(state, image));
    }
    if (event->error != 0) {
        return WIO_OK;
    }
    switch (state_class(event)) {
    case WIO_CLASS_PROCESS:
        return make_process(state, event);
    case WIO_CLASS_EXEC:
        return replace_image(state, event);
    case WIO_CLASS_OPEN:
        return event->op == WIO_OP_popen && event->arg[2] > 0
                   ? make_image(state, event, child_of_pid(state, image, event->arg[2]), true)
                   : WIO_OK;
    default:
        return WIO_OK;
    }
}

void state_count_event(struct wio_state *state, const struct wio_event *event)
{
    const uint32_t process = state_process_of(state, event);
    struct state_image *image = &state->images[process];
    if (image->events_left > 1) {
        image->events_left--;
        return;
    }
    image->events_left = 0;
    image->is_ended = true;
    state->ended = process;
}

void state_close_ended(struct wio_state *state)
{
    if (state->ended != WIO_NO_INDEX) {
        state_close_all(state, state->ended);
        state->ended = WIO_NO_INDEX;
    }
}
