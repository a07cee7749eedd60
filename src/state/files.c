/* SPDX-License-Identifier: Apache-2.0 */
/* Files: numbered in the order in which events name them. */
#include "state/state_internal.h"

enum wio_status state_new_file(struct wio_state *state, uint32_t path, enum wio_state_origin origin,
                               uint32_t *file_out)
{
    struct state_files *files = &state->files;
    WIO_TRY(wio_alloc_room(&state->params.alloc, (void **)&files->items, &files->room,
                           (size_t)files->count + 1, sizeof(*files->items)));
    files->items[files->count] = (struct state_file){.path = path, .origin = origin};
    *file_out = files->count++;
    return WIO_OK;
}
