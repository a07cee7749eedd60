/* SPDX-License-Identifier: Apache-2.0 */
/* The tables in the order in which an event changes them, and the questions. */
#include "state/state.h"

#include "ops/lookup.h"
#include "state/state_internal.h"

void wio_state_destroy(struct wio_state *state)
{
    if (state == NULL) {
        return;
    }
    const struct wio_alloc alloc = state->params.alloc;
    state_fds_fini(state);
    state_names_fini(state);
    state_processes_fini(state);
    alloc.put(alloc.context, state->files.items);
    alloc.put(alloc.context, state);
}

enum wio_status wio_state_create(const struct wio_state_params *params,
                                 struct wio_state **state_out)
{
    struct wio_state *state = params->alloc.get(params->alloc.context, sizeof(*state));
    if (state == NULL) {
        return WIO_ERR_NOMEM;
    }
    *state =
        (struct wio_state){.params = *params, .opens.free = WIO_NO_INDEX, .ended = WIO_NO_INDEX};
    state_names_init(state);
    const enum wio_status status = state_processes_init(state);
    if (status != WIO_OK) {
        wio_state_destroy(state);
        return status;
    }
    *state_out = state;
    return WIO_OK;
}

enum wio_status wio_state_initial_link(struct wio_state *state, uint32_t path, uint32_t target)
{
    uint32_t node;
    WIO_TRY(state_find_name(state, 0, path, false, &node));
    if (node != WIO_NO_INDEX) {
        state->names.nodes[node].target = target;
        state->names.epoch++;
    }
    return WIO_OK;
}

enum wio_status wio_state_event(struct wio_state *state, const struct wio_event *event)
{
    WIO_PRE(event->stream < state->params.stream_count);
    state_close_ended(state);
    WIO_TRY(state_process_event(state, event));
    WIO_TRY(state_name_event(state, event));
    WIO_TRY(state_fd_event(state, event));
    state_count_event(state, event);
    return WIO_OK;
}

static void describe(const struct wio_state *state, uint32_t file, struct wio_state_file *file_out)
{
    const struct state_file *it = &state->files.items[file];
    *file_out = (struct wio_state_file){
        .file = file, .path = it->path, .origin = it->origin, .has_name = it->names > 0};
}

/* What an open file description leads to. */
static void describe_open(const struct wio_state *state, uint32_t open, bool is_cloexec,
                          struct wio_state_file *file_out)
{
    describe(state, state->opens.items[open].file, file_out);
    file_out->flags = state->opens.items[open].flags;
    file_out->is_there = true;
    file_out->is_cloexec = is_cloexec;
}

/* Reads or writes, and not both: a copy has two descriptors. */
static bool moves_bytes(const struct wio_event *event)
{
    const unsigned both = WIO_DOES_READS | WIO_DOES_WRITES;
    const unsigned does = wio_op_properties(event->op) & both;
    return does != 0 && does != both;
}

bool wio_state_moves(struct wio_state *state, const struct wio_event *event,
                     struct wio_state_file *file_out)
{
    bool is_cloexec;
    const uint32_t process = state_process_of(state, event);
    const uint32_t open = state_open_of(state, process, event->fd, &is_cloexec);
    if (open == WIO_NO_INDEX || state->opens.items[open].path != event->path ||
        state->ended != WIO_NO_INDEX || !state->images[process].is_born || !moves_bytes(event)) {
        return false;
    }
    describe_open(state, open, is_cloexec, file_out);
    state_count_event(state, event);
    return true;
}

static const struct wio_state_file no_file = {.file = WIO_NO_INDEX, .path = WIO_NO_STRING};

void wio_state_fd(const struct wio_state *state, uint32_t process, int64_t fd,
                  struct wio_state_file *file_out)
{
    bool is_cloexec;
    const uint32_t open = state_open_of(state, process, fd, &is_cloexec);
    *file_out = no_file;
    if (open == WIO_NO_INDEX) {
        return;
    }
    describe_open(state, open, is_cloexec, file_out);
}

enum wio_status wio_state_name(struct wio_state *state, uint32_t process, uint32_t path,
                               bool follows, struct wio_state_file *file_out)
{
    uint32_t node;
    uint32_t file;
    *file_out = no_file;
    WIO_TRY(state_find_name(state, state->params.processes[process].host, path, follows, &node));
    if (node == WIO_NO_INDEX) {
        return WIO_OK;
    }
    WIO_TRY(state_file_at(state, node, path, &file));
    describe(state, file, file_out);
    file_out->is_there = state->names.nodes[node].presence == STATE_NAME_PRESENT;
    return WIO_OK;
}

enum wio_status wio_state_is_there(struct wio_state *state, const struct wio_event *event,
                                   bool *is_there_out)
{
    uint32_t node;
    const uint32_t host = state->params.processes[state_process_of(state, event)].host;
    WIO_TRY(state_find_name(state, host, event->path, wio_event_follows_links(event), &node));
    *is_there_out = node != WIO_NO_INDEX && state->names.nodes[node].presence == STATE_NAME_PRESENT;
    return WIO_OK;
}

enum wio_status wio_state_file_of(struct wio_state *state, const struct wio_event *event,
                                  struct wio_state_file *file_out)
{
    const uint32_t process = state_process_of(state, event);
    const bool is_open = state_class(event) == WIO_CLASS_OPEN && event->error == 0;
    wio_state_fd(state, process, is_open ? event->result : event->fd, file_out);
    if (file_out->file != WIO_NO_INDEX) {
        return WIO_OK;
    }
    return wio_state_name(state, process, event->path, wio_event_follows_links(event), file_out);
}

uint32_t wio_state_made_by(const struct wio_state *state, const struct wio_event *event)
{
    return wio_pair_map_get(&state->made_by, event->stream, event->seq);
}

uint32_t wio_state_process_of_pid(const struct wio_state *state, uint32_t process, int64_t pid)
{
    const uint32_t host = state->params.processes[process].host;
    return wio_pair_map_get(&state->pid_of, (uint64_t)host << 32 | (uint32_t)pid, 0);
}

bool wio_state_is_alive(const struct wio_state *state, uint32_t process)
{
    return state->images[process].is_born && !state->images[process].is_ended;
}
