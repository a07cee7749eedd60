/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Closes of write ends of pipes and sockets, each of which may be the last: the latest one of each
 * thread is kept.
 */
#include "causal/files/files.h"

enum wio_status wio_infer_closings_init(struct wio_infer *infer)
{
    wio_pair_map_init(&infer->pipes.closing_of, &infer->alloc);
    return WIO_OK;
}

void wio_infer_closings_fini(struct wio_infer *infer)
{
    wio_pair_map_fini(&infer->pipes.closing_of);
}

/* Is the event the last of its image, and that has ended with it? */
static bool is_exit(const struct wio_infer *infer, const struct wio_event *event)
{
    const struct wio_infer_image *image =
        &infer->processes.images[wio_infer_stream(infer, event)->process];
    return image->events_left == 0 && wio_infer_class(event) != WIO_CLASS_EXEC;
}

/* A pipe for the output of a whole build is closed by every process of it: only so many closes are
 * scanned, the others are found by their thread. */
#define SCANNED_MOST 16u

/* Of the object; NULL: its closes release no reader. */
static struct wio_infer_list *closings_of(const struct wio_infer *infer, uint32_t object)
{
    if (wio_infer_is(infer, object, WIO_INFER_PIPE)) {
        return &wio_infer_pipe(infer, object)->closings;
    }
    return wio_infer_is(infer, object, WIO_INFER_SOCKET) &&
                   !wio_infer_socket(infer, object)->is_shut
               ? &wio_infer_socket(infer, object)->closings
               : NULL;
}

static uint32_t find_closing(const struct wio_infer *infer, const struct wio_infer_list *list,
                             uint32_t object, uint32_t thread)
{
    uint32_t i = list->first;
    for (uint32_t n = 0; i != WIO_INFER_NONE && n < SCANNED_MOST;
         n++, i = infer->lists.nodes[i].next) {
        if (infer->lists.nodes[i].thread == thread) {
            return i;
        }
    }
    return i == WIO_INFER_NONE ? i : wio_pair_map_get(&infer->pipes.closing_of, object, thread);
}

/* A reader that finds EOF waits for the latest close of each thread. A closing call may release the
 * reader before its own end; at an exit all calls have ended. */
enum wio_status wio_infer_note_closing(struct wio_infer *infer, uint32_t object,
                                       const struct wio_event *event)
{
    struct wio_infer_node node = wio_infer_node_of(infer, event);
    struct wio_infer_list *list = closings_of(infer, object);
    if (list == NULL) {
        return WIO_OK;
    }
    node.op = is_exit(infer, event) ? event->seq + 1 : node.op;
    uint32_t known = find_closing(infer, list, object, node.thread);
    if (known != WIO_INFER_NONE) {
        infer->lists.nodes[known].op = node.op;
        infer->lists.nodes[known].a = 0; /* no reader has found it */
        return WIO_OK;
    }
    WIO_TRY(wio_infer_append(infer, list, &node));
    return list->count <= SCANNED_MOST
               ? WIO_OK
               : wio_pair_map_put(&infer->pipes.closing_of, object, node.thread, list->last);
}

void wio_infer_forget_closings(struct wio_infer *infer, uint32_t object)
{
    struct wio_infer_list *list = closings_of(infer, object);
    while (list != NULL && list->count > 0) {
        wio_pair_map_remove(&infer->pipes.closing_of, object,
                            infer->lists.nodes[list->first].thread);
        wio_infer_drop_first(infer, list);
    }
}
