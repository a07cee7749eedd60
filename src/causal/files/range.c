/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks on ranges of bytes: those of fcntl(2) and lockf(3) belong to a process and go when it
 * closes any descriptor of the file, those of F_OFD_SETLK belong to the open file. An acquire
 * follows the releases of ranges that overlap its own.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/pick.h"
#include "causal/files/files.h"
#include "causal/infer/name.h"

/* Locked ranges of one file that are kept: a hostile trace has more, and each call looks at all. */
#define RANGES_MOST 4096u

/* In owners of ranges: an open file, not an image. */
#define OWNER_FILE 0x80000000u

enum wio_status wio_infer_ranges_init(struct wio_infer *infer)
{
    const size_t threads = infer->edges->threads;
    infer->ranges.latest = wio_alloc_array(&infer->alloc, threads, sizeof(*infer->ranges.latest));
    infer->ranges.threads = wio_alloc_array(&infer->alloc, threads, sizeof(*infer->ranges.threads));
    return infer->ranges.latest != NULL && infer->ranges.threads != NULL ? WIO_OK : WIO_ERR_NOMEM;
}

void wio_infer_ranges_fini(struct wio_infer *infer)
{
    infer->alloc.put(infer->alloc.context, infer->ranges.latest);
    infer->alloc.put(infer->alloc.context, infer->ranges.threads);
}

static const struct wio_range all = {0, UINT64_MAX};

/* What a call of fcntl or lockf wants. */
struct request {
    bool is_lock;
    bool releases;
    bool is_shared;
    bool is_of_file;        /* held by the open file, not by the process */
    struct wio_range range; /* `to` is UINT64_MAX: to the end */
};

static struct request range_of(const struct wio_event *event, struct request request)
{
    /* From where the descriptor stands, or from the end, if the position is not known: then all. */
    request.range.from =
        event->offset == WIO_NO_OFFSET || event->offset < 0 ? 0 : (uint64_t)event->offset;
    bool is_open = event->size == WIO_NO_SIZE || event->size == 0 || event->size > INT64_MAX;
    request.range.to = is_open ? UINT64_MAX : request.range.from + event->size;
    return request;
}

static struct request request_of(const struct wio_event *event)
{
    struct request request = {0};
    if (event->op == WIO_OP_lockf) {
        request.is_lock = event->arg[0] != F_TEST;
        request.releases = event->arg[0] == F_ULOCK;
        return range_of(event, request);
    }
    switch (event->arg[0]) {
    case F_SETLK:
    case F_SETLKW:
    case F_OFD_SETLK:
    case F_OFD_SETLKW:
        request.is_lock = true;
        request.is_of_file = event->arg[0] == F_OFD_SETLK || event->arg[0] == F_OFD_SETLKW;
        request.releases = event->arg[2] == F_UNLCK;
        request.is_shared = event->arg[2] == F_RDLCK;
        if (event->arg[3] != SEEK_SET) {
            request.range.to = UINT64_MAX;
            return request;
        }
        return range_of(event, request);
    default:
        return request;
    }
}

/* The image is to give back ranges of this file when it closes it. */
static enum wio_status note_ranges(struct wio_infer *infer, const struct wio_event *event)
{
    struct wio_infer_list *ranges =
        &infer->processes.images[wio_infer_stream(infer, event)->process].ranges;
    uint64_t file;
    WIO_TRY(wio_infer_opened(infer, event, event->fd, event->path, &file));
    for (uint32_t i = ranges->first; i != WIO_INFER_NONE; i = infer->lists.nodes[i].next) {
        if (infer->lists.nodes[i].a == file) {
            return WIO_OK;
        }
    }
    struct wio_infer_node node = {.a = file, .b = (uint64_t)event->fd};
    return wio_infer_append(infer, ranges, &node);
}

/* The lock's owner: the image, or with OFD locks the open file, where its descriptor is known. */
static enum wio_status owner_of(struct wio_infer *infer, const struct wio_event *event,
                                const struct request *request, uint32_t *owner_out)
{
    uint32_t file = WIO_INFER_NONE;
    *owner_out = wio_infer_stream(infer, event)->process;
    if (request->is_of_file) {
        WIO_TRY(wio_infer_file(infer, event, event->fd, &file));
        *owner_out = file == WIO_INFER_NONE ? *owner_out : file | OWNER_FILE;
    }
    return WIO_OK;
}

/* Of each thread only the latest release is followed: its order implies the others. */
static enum wio_status note_release(void *context, struct wio_point release)
{
    struct wio_infer *infer = context;
    uint64_t *latest = &infer->ranges.latest[release.thread];
    if (*latest == 0) {
        infer->ranges.threads[infer->ranges.count++] = release.thread;
    }
    *latest = release.op + 1 > *latest ? release.op + 1 : *latest;
    return WIO_OK;
}

static enum wio_status follow_releases(struct wio_infer *infer, const struct wio_event *event,
                                       uint32_t object)
{
    struct wio_point to = wio_infer_point(infer, event);
    while (infer->ranges.count > 0) {
        uint32_t thread = infer->ranges.threads[--infer->ranges.count];
        uint64_t op = infer->ranges.latest[thread] - 1;
        infer->ranges.latest[thread] = 0;
        WIO_TRY(wio_infer_edge(infer, (struct wio_edge){.from_thread = thread,
                                                        .from_op = op,
                                                        .to_thread = to.thread,
                                                        .to_op = to.op,
                                                        .object = object,
                                                        .class = WIO_EDGE_MUTEX,
                                                        .evidence = WIO_EVIDENCE_LOCK}));
    }
    return WIO_OK;
}

/* One more range that is locked. What is too much is not followed, and counted. */
static enum wio_status add_range(struct wio_infer *infer, struct wio_infer_list *held,
                                 const struct wio_infer_node *node)
{
    if (held->count >= RANGES_MOST) {
        infer->ranges.unkept++;
        return WIO_OK;
    }
    return wio_infer_append(infer, held, node);
}

uint64_t wio_infer_unkept_ranges(const struct wio_infer *infer)
{
    return infer->ranges.unkept;
}

/* The list holds the ranges that are locked. */
static enum wio_status acquire(struct wio_infer *infer, const struct wio_event *event,
                               uint32_t object, const struct request *request)
{
    struct wio_infer_record_lock *lock = wio_infer_record_lock(infer, object);
    struct wio_infer_node node = wio_infer_node_of(infer, event);
    node.a = request->range.from;
    node.b = request->range.to;
    node.is_shared = request->is_shared;
    WIO_TRY(owner_of(infer, event, request, &node.image));
    if (lock->released != NULL) {
        WIO_TRY(wio_ranges_find(lock->released, request->range, request->is_shared, note_release,
                                infer));
        WIO_TRY(follow_releases(infer, event, object));
    }
    WIO_TRY(add_range(infer, &lock->held, &node));
    if ((node.image & OWNER_FILE) == 0) {
        return note_ranges(infer, event);
    }
    infer->files.items[node.image & ~OWNER_FILE].ranges = object;
    return WIO_OK;
}

/* What the owner keeps of a range that it holds. */
static enum wio_status keep(struct wio_infer *infer, struct wio_infer_list *held,
                            struct wio_infer_node node, uint64_t from, uint64_t to)
{
    node.a = from;
    node.b = to;
    return from < to ? add_range(infer, held, &node) : WIO_OK;
}

static enum wio_status give_back(struct wio_infer *infer, const struct wio_event *event,
                                 uint32_t object, const struct wio_infer_node *held,
                                 struct wio_range range)
{
    struct wio_infer_record_lock *lock = wio_infer_record_lock(infer, object);
    struct wio_range part = {wio_larger(held->a, range.from), wio_smaller(held->b, range.to)};
    if (lock->released == NULL) {
        WIO_TRY(wio_ranges_create(&infer->alloc, &lock->released));
    }
    WIO_TRY(
        wio_ranges_release(lock->released, part, wio_infer_point(infer, event), held->is_shared));
    WIO_TRY(keep(infer, &lock->held, *held, held->a, part.from));
    return keep(infer, &lock->held, *held, part.to, held->b);
}

/* The owner gives back what it holds of a range, now. */
static enum wio_status release(struct wio_infer *infer, const struct wio_event *event,
                               uint32_t object, uint32_t owner, struct wio_range range)
{
    struct wio_infer_list *held = &wio_infer_record_lock(infer, object)->held;
    uint32_t before = WIO_INFER_NONE;
    uint32_t left = held->count; /* what is kept comes behind */
    for (uint32_t i = held->first; left > 0; left--) {
        const struct wio_infer_node node = infer->lists.nodes[i];
        if (node.image != owner || node.a >= range.to || range.from >= node.b) {
            before = i;
        } else {
            wio_infer_drop_behind(infer, held, before);
            WIO_TRY(give_back(infer, event, object, &node, range));
        }
        i = node.next;
    }
    return WIO_OK;
}

enum wio_status wio_infer_range_begin(struct wio_infer *infer, const struct wio_event *event)
{
    const struct request request = request_of(event);
    uint32_t object;
    uint32_t owner;
    if (!request.is_lock || event->error != 0) {
        return WIO_OK;
    }
    WIO_TRY(wio_infer_lock_object(infer, event, WIO_INFER_RECORD_LOCK, &object));
    WIO_TRY(owner_of(infer, event, &request, &owner));
    return release(infer, event, object, owner, request.range);
}

enum wio_status wio_infer_range_end(struct wio_infer *infer, const struct wio_event *event)
{
    const struct request request = request_of(event);
    uint32_t object;
    if (!request.is_lock || request.releases || event->error != 0) {
        return WIO_OK;
    }
    WIO_TRY(wio_infer_lock_object(infer, event, WIO_INFER_RECORD_LOCK, &object));
    return acquire(infer, event, object, &request);
}

enum wio_status wio_infer_unlock_file_ranges(struct wio_infer *infer, uint32_t file,
                                             const struct wio_event *event)
{
    uint32_t object = infer->files.items[file].ranges;
    return object == 0 ? WIO_OK : release(infer, event, object, file | OWNER_FILE, all);
}

static enum wio_status unlock_one(struct wio_infer *infer, const struct wio_event *event,
                                  uint64_t file)
{
    uint32_t image = wio_infer_stream(infer, event)->process;
    uint32_t object =
        wio_pair_map_get(&infer->objects.of, (uint64_t)WIO_INFER_RECORD_LOCK << 32, file);
    return object == WIO_INFER_NONE ? WIO_OK : release(infer, event, object, image, all);
}

enum wio_status wio_infer_unlock_ranges(struct wio_infer *infer, const struct wio_event *event,
                                        uint64_t file)
{
    struct wio_infer_list *ranges =
        &infer->processes.images[wio_infer_stream(infer, event)->process].ranges;
    uint32_t before = WIO_INFER_NONE;
    uint32_t i = ranges->first;
    while (i != WIO_INFER_NONE) {
        const struct wio_infer_node node = infer->lists.nodes[i];
        if (file != WIO_INFER_ALL_FILES && node.a != file) {
            before = i;
        } else {
            WIO_TRY(unlock_one(infer, event, node.a));
            wio_infer_drop_behind(infer, ranges, before);
        }
        i = node.next;
    }
    return WIO_OK;
}

static void change_owner(struct wio_infer *infer, const struct wio_infer_list *held, uint32_t from,
                         uint32_t to)
{
    for (uint32_t i = held->first; i != WIO_INFER_NONE; i = infer->lists.nodes[i].next) {
        infer->lists.nodes[i].image =
            infer->lists.nodes[i].image == from ? to : infer->lists.nodes[i].image;
    }
}

enum wio_status wio_infer_pass_ranges(struct wio_infer *infer, const struct wio_event *event,
                                      uint32_t next)
{
    uint32_t image = wio_infer_stream(infer, event)->process;
    struct wio_infer_list *ranges = &infer->processes.images[image].ranges;
    uint32_t before = WIO_INFER_NONE;
    uint32_t i = ranges->first;
    while (i != WIO_INFER_NONE) {
        const struct wio_infer_node node = infer->lists.nodes[i];
        uint32_t object =
            wio_pair_map_get(&infer->objects.of, (uint64_t)WIO_INFER_RECORD_LOCK << 32, node.a);
        if (object == WIO_INFER_NONE || wio_infer_closes_on_exec(infer, image, (int64_t)node.b)) {
            before = i;
        } else {
            change_owner(infer, &wio_infer_record_lock(infer, object)->held, image, next);
            wio_infer_drop_behind(infer, ranges, before);
            WIO_TRY(wio_infer_append(infer, &infer->processes.images[next].ranges, &node));
        }
        i = node.next;
    }
    return WIO_OK;
}
