/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptor tables of images, and the open files that they share. */
#include "state/state_internal.h"

/* Programs that have more leave the others out. */
#define DESCRIPTORS_MAX (1u << 16)

void state_fds_fini(struct wio_state *state)
{
    const struct wio_alloc *alloc = &state->params.alloc;
    for (uint32_t i = 0; state->images != NULL && i < state->params.process_count; i++) {
        alloc->put(alloc->context, state->images[i].fds);
    }
    alloc->put(alloc->context, state->opens.items);
}

static uint32_t *slot_of(const struct wio_state *state, uint32_t process, int64_t fd)
{
    const struct state_image *image = &state->images[process];
    return fd < 0 || (uint64_t)fd >= image->fd_room ? NULL : &image->fds[fd];
}

static uint32_t open_in(uint32_t slot)
{
    return (slot & ~STATE_CLOEXEC) - 1;
}

uint32_t state_open_of(const struct wio_state *state, uint32_t process, int64_t fd,
                       bool *is_cloexec_out)
{
    const uint32_t *slot = slot_of(state, process, fd);
    *is_cloexec_out = slot != NULL && (*slot & STATE_CLOEXEC) != 0;
    return slot == NULL || *slot == 0 ? WIO_NO_INDEX : open_in(*slot);
}

static void drop(struct wio_state *state, uint32_t open)
{
    struct state_open *it = &state->opens.items[open];
    if (--it->refs == 0) {
        it->next_free = state->opens.free;
        state->opens.free = open;
    }
}

void state_close_fd(struct wio_state *state, uint32_t process, int64_t fd)
{
    uint32_t *slot = slot_of(state, process, fd);
    if (slot == NULL || *slot == 0) {
        return;
    }
    const uint32_t open = open_in(*slot);
    *slot = 0;
    drop(state, open);
}

void state_close_all(struct wio_state *state, uint32_t process)
{
    struct state_image *image = &state->images[process];
    for (size_t fd = 0; fd < image->fd_room; fd++) {
        state_close_fd(state, process, (int64_t)fd);
    }
    state->params.alloc.put(state->params.alloc.context, image->fds);
    image->fds = NULL;
    image->fd_room = 0;
}

enum wio_status state_set_fd(struct wio_state *state, uint32_t process, int64_t fd, uint32_t open,
                             bool is_cloexec)
{
    struct state_image *image = &state->images[process];
    if (fd < 0 || fd >= DESCRIPTORS_MAX) {
        return WIO_OK;
    }
    WIO_TRY(wio_alloc_room(&state->params.alloc, (void **)&image->fds, &image->fd_room,
                           (size_t)fd + 1, sizeof(*image->fds)));
    state->opens.items[open].refs++;
    state_close_fd(state, process, fd); /* its close was not recorded */
    image->fds[fd] = (open + 1) | (is_cloexec ? STATE_CLOEXEC : 0);
    return WIO_OK;
}

static enum wio_status new_open(struct wio_state *state, uint32_t *open_out)
{
    struct state_opens *opens = &state->opens;
    if (opens->free != WIO_NO_INDEX) {
        *open_out = opens->free;
        opens->free = opens->items[opens->free].next_free;
        return WIO_OK;
    }
    WIO_TRY(wio_alloc_room(&state->params.alloc, (void **)&opens->items, &opens->room,
                           (size_t)opens->count + 1, sizeof(*opens->items)));
    *open_out = opens->count++;
    return WIO_OK;
}

enum wio_status state_open_fd(struct wio_state *state, uint32_t process, int64_t fd,
                              const struct state_open *open, bool is_cloexec)
{
    uint32_t number;
    if (fd < 0 || fd >= DESCRIPTORS_MAX) {
        return WIO_OK;
    }
    WIO_TRY(new_open(state, &number));
    state->opens.items[number] = *open;
    return state_set_fd(state, process, fd, number, is_cloexec);
}

void state_mark_cloexec(struct wio_state *state, uint32_t process, int64_t fd, bool is_cloexec)
{
    uint32_t *slot = slot_of(state, process, fd);
    if (slot != NULL && *slot != 0) {
        *slot = is_cloexec ? *slot | STATE_CLOEXEC : *slot & ~STATE_CLOEXEC;
    }
}

enum wio_status state_inherit(struct wio_state *state, uint32_t parent, uint32_t child,
                              bool is_exec)
{
    const struct state_image *from = &state->images[parent];
    struct state_image *to = &state->images[child];
    if (from->fd_room == 0 || to->fd_room > 0) {
        return WIO_OK;
    }
    WIO_TRY(wio_alloc_room(&state->params.alloc, (void **)&to->fds, &to->fd_room, from->fd_room,
                           sizeof(*to->fds)));
    for (size_t fd = 0; fd < from->fd_room; fd++) {
        const uint32_t slot = from->fds[fd];
        if (slot == 0 || (is_exec && (slot & STATE_CLOEXEC) != 0)) {
            continue;
        }
        to->fds[fd] = slot;
        state->opens.items[open_in(slot)].refs++;
    }
    return WIO_OK;
}
