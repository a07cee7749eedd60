/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening a FIFO: an open for reading waits for one for writing, and the other way round, unless
 * its flags say otherwise. Both begin, and the first waits for the second; so the end of each call
 * waits for the begin of one that opened the other side.
 *
 * Openings are in the list `openings` of the pipe, by their begin: `a` is the side they open, `b` 1
 * + the open file or 0 while the call is under way, begin_ns when the file was closed. Closed ones
 * stay while a call is under way: they may have released it.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "causal/files/files.h"
#include "causal/infer/name.h"

enum wio_status wio_infer_fifos_init(struct wio_infer *infer)
{
    wio_pair_map_init(&infer->pipes.opening_of, &infer->alloc);
    return WIO_OK;
}

void wio_infer_fifos_fini(struct wio_infer *infer)
{
    wio_pair_map_fini(&infer->pipes.opening_of);
}

enum { READS = 1, WRITES = 2 };

static uint64_t side_of(const struct wio_event *event)
{
    switch (event->arg[0] & O_ACCMODE) {
    case O_RDONLY:
        return READS;
    case O_WRONLY:
        return WRITES;
    default:
        return READS | WRITES;
    }
}

/* The FIFO that the program is about to open by this event; 0 where it is none. */
static enum wio_status find_opened(struct wio_infer *infer, const struct wio_event *event,
                                   uint32_t *object_out)
{
    bool has_flags = event->op != WIO_OP_fdopen && event->op != WIO_OP_fdopendir &&
                     event->op != WIO_OP_popen && event->op != WIO_OP_opendir;
    *object_out = 0;
    if (!has_flags || (event->arg[0] & O_PATH) != 0 || (event->flags & WIO_EVENT_CAUSED) != 0 ||
        wio_infer_path_kind(infer, event->path) != WIO_INFER_PATH_FIFO) {
        return WIO_OK;
    }
    return wio_infer_channel(infer, event, event->path, object_out);
}

enum wio_status wio_infer_fifo_made(struct wio_infer *infer, const struct wio_event *event)
{
    uint32_t object;
    bool is_fifo = event->op == WIO_OP_mkfifo || S_ISFIFO((mode_t)event->arg[0]);
    if (event->error != 0 || !is_fifo || event->path >= infer->params.string_count) {
        return WIO_OK;
    }
    uint64_t file;
    infer->names.kinds[wio_infer_real(infer, event->path, false)] = WIO_INFER_PATH_FIFO;
    WIO_TRY(wio_infer_named(infer, event, event->path, &file));
    return wio_infer_new_object(infer,
                                (struct wio_infer_object){.kind = WIO_INFER_PIPE,
                                                          .id = file,
                                                          .place = wio_infer_host(infer, event)},
                                &object);
}

enum wio_status wio_infer_fifo_begin(struct wio_infer *infer, const struct wio_event *event)
{
    uint32_t object;
    struct wio_infer_node node = wio_infer_node_of(infer, event);
    WIO_TRY(find_opened(infer, event, &object));
    if (object == 0) {
        return WIO_OK;
    }
    node.a = side_of(event);
    node.b = 0;
    node.begin_ns = UINT64_MAX;
    wio_infer_pipe(infer, object)->opening++;
    WIO_TRY(wio_pair_map_put(&infer->pipes.opening_of, event->stream, event->seq, object));
    return wio_infer_append(infer, &wio_infer_pipe(infer, object)->openings, &node);
}

static void drop_where(struct wio_infer *infer, struct wio_infer_list *list, uint32_t thread,
                       uint64_t op)
{
    uint32_t before = WIO_INFER_NONE;
    for (uint32_t i = list->first; i != WIO_INFER_NONE;
         before = i, i = infer->lists.nodes[i].next) {
        if (infer->lists.nodes[i].thread == thread && infer->lists.nodes[i].op == op) {
            wio_infer_drop_behind(infer, list, before);
            return;
        }
    }
}

static struct wio_infer_node *find(struct wio_infer *infer, const struct wio_infer_list *list,
                                   uint32_t thread, uint64_t op)
{
    uint32_t i = list->first;
    while (i != WIO_INFER_NONE &&
           (infer->lists.nodes[i].thread != thread || infer->lists.nodes[i].op != op)) {
        i = infer->lists.nodes[i].next;
    }
    return i == WIO_INFER_NONE ? NULL : &infer->lists.nodes[i];
}

/* The call has its file; its opening lasts until that is closed. */
static enum wio_status note_file(struct wio_infer *infer, const struct wio_event *event,
                                 const struct wio_infer_list *list)
{
    uint32_t file;
    struct wio_point point = wio_infer_point(infer, event);
    struct wio_infer_node *own = find(infer, list, point.thread, point.op);
    if (event->result < 0 || event->result > INT32_MAX) {
        return WIO_OK;
    }
    WIO_TRY(wio_infer_file(infer, event, (int32_t)event->result, &file));
    if (own != NULL && file != WIO_INFER_NONE) {
        own->b = (uint64_t)file + 1;
        infer->files.items[file].is_opening = true;
    }
    return WIO_OK;
}

/* The first opening of the other side that was there at some time during the call. */
static enum wio_status after_partner(struct wio_infer *infer, const struct wio_event *event,
                                     const struct wio_infer_list *list)
{
    uint64_t wanted = side_of(event) == READS ? WRITES : READS;
    struct wio_point point = wio_infer_point(infer, event);
    for (uint32_t i = list->first; i != WIO_INFER_NONE; i = infer->lists.nodes[i].next) {
        const struct wio_infer_node *node = &infer->lists.nodes[i];
        if ((node->a & wanted) == 0 || node->begin_ns < event->t_ns) {
            continue;
        }
        return wio_infer_edge_from_before(infer, (struct wio_edge){.from_thread = node->thread,
                                                                   .from_op = node->op,
                                                                   .to_thread = point.thread,
                                                                   .to_op = point.op,
                                                                   .class = WIO_EDGE_HARD,
                                                                   .evidence = WIO_EVIDENCE_PIPE});
    }
    return WIO_OK;
}

static void forget_closed(struct wio_infer *infer, struct wio_infer_list *list)
{
    uint32_t before = WIO_INFER_NONE;
    uint32_t i = list->first;
    while (i != WIO_INFER_NONE) {
        uint32_t next = infer->lists.nodes[i].next;
        if (infer->lists.nodes[i].begin_ns != UINT64_MAX) {
            wio_infer_drop_behind(infer, list, before);
        } else {
            before = i;
        }
        i = next;
    }
}

uint32_t wio_infer_fifo_opened(const struct wio_infer *infer, const struct wio_event *event)
{
    uint32_t object = wio_pair_map_get(&infer->pipes.opening_of, event->stream, event->seq);
    return object == WIO_INFER_NONE ? 0 : object;
}

enum wio_status wio_infer_fifo_end(struct wio_infer *infer, const struct wio_event *event)
{
    struct wio_point point = wio_infer_point(infer, event);
    uint32_t object = wio_infer_fifo_opened(infer, event);
    if (object == 0) {
        return WIO_OK;
    }
    wio_pair_map_remove(&infer->pipes.opening_of, event->stream, event->seq);
    struct wio_infer_list *list = &wio_infer_pipe(infer, object)->openings;
    wio_infer_pipe(infer, object)->opening--;
    if (event->error != 0) {
        drop_where(infer, list, point.thread, point.op);
    } else {
        WIO_TRY(note_file(infer, event, list));
        list = &wio_infer_pipe(infer, object)->openings; /* note_file may make objects */
        bool waits = (event->arg[0] & O_NONBLOCK) == 0 && side_of(event) != (READS | WRITES);
        WIO_TRY(waits ? after_partner(infer, event, list) : WIO_OK);
    }
    if (wio_infer_pipe(infer, object)->opening == 0) {
        forget_closed(infer, list);
    }
    return WIO_OK;
}

void wio_infer_fifo_close(struct wio_infer *infer, uint32_t file, const struct wio_event *event)
{
    const uint32_t object = infer->files.items[file].object;
    if (!wio_infer_is(infer, object, WIO_INFER_PIPE)) {
        return;
    }
    struct wio_infer_pipe *pipe = wio_infer_pipe(infer, object);
    for (uint32_t i = pipe->openings.first; i != WIO_INFER_NONE; i = infer->lists.nodes[i].next) {
        if (infer->lists.nodes[i].b == (uint64_t)file + 1 &&
            infer->lists.nodes[i].begin_ns == UINT64_MAX) {
            infer->lists.nodes[i].begin_ns = event->t_ns;
        }
    }
    if (pipe->opening == 0) {
        forget_closed(infer, &pipe->openings);
    }
}
