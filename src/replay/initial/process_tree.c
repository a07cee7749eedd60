/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/initial/process_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "ops/calls.h"

static uint64_t birth_key(uint32_t stream, uint64_t seq)
{
    return (uint64_t)stream << 40 | (seq & ((UINT64_C(1) << 40) - 1));
}

bool rp_family_is_birth(const struct wio_event *event)
{
    return event->error == 0 &&
           (wio_op_class(event->op) == WIO_CLASS_PROCESS || event->op == WIO_OP_popen);
}

static const struct wio_process_info *process(const struct rp_family *family, uint32_t image)
{
    return wio_trace_process(family->trace, image);
}

/* The image that exec replaced by this one, RP_NONE. */
static uint32_t exec_parent(const struct rp_family *family, uint32_t image)
{
    const struct wio_process_info *info = process(family, image);
    if (info->parent >= family->image_count || info->parent == image) {
        return RP_NONE;
    }
    const struct wio_process_info *parent = process(family, info->parent);
    bool is_exec = parent->pid == info->pid && parent->start_ns <= info->start_ns &&
                   strcmp(parent->host, info->host) == 0;
    return is_exec ? info->parent : RP_NONE;
}

static void chain_images(struct rp_family *family)
{
    for (uint32_t i = 0; i < family->image_count; i++) {
        uint32_t parent = exec_parent(family, i);
        if (parent == RP_NONE) {
            continue;
        }
        uint32_t *next = &family->images[parent].next;
        if (*next == RP_NONE || process(family, *next)->start_ns > process(family, i)->start_ns) {
            *next = i;
        }
    }
}

/* Groups: an image that no other one goes on to, and all that follow. An image met twice (a wrong
 * trace) ends the chain. */
static void make_groups(struct rp_family *family, const bool *is_next)
{
    for (uint32_t i = 0; i < family->image_count; i++) {
        if (is_next[i]) {
            continue;
        }
        struct rp_group *group = &family->groups[family->group_count];
        *group = (struct rp_group){.head = i,
                                   .sibling = RP_NONE,
                                   .same_pid = RP_NONE,
                                   .start_ns = process(family, i)->start_ns};
        uint32_t end = RP_NONE;
        uint32_t *link = &end;
        for (uint32_t image = i; image != RP_NONE; image = family->images[image].next) {
            if (family->images[image].group != RP_NONE) {
                *link = RP_NONE;
                break;
            }
            family->images[image].group = family->group_count;
            group->last_ns = family->images[image].last_ns;
            link = &family->images[image].next;
        }
        family->group_count++;
    }
}

static enum wio_status index_groups(struct rp_family *family)
{
    bool *is_next = calloc((size_t)family->image_count + 1, sizeof(*is_next));
    if (is_next == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < family->image_count; i++) {
        if (family->images[i].next != RP_NONE) {
            is_next[family->images[i].next] = true;
        }
    }
    make_groups(family, is_next);
    free(is_next);
    for (uint32_t i = 0; i < family->group_count; i++) {
        uint64_t pid = (uint32_t)process(family, family->groups[i].head)->pid;
        const uint64_t *other = wio_map_get(&family->by_pid, pid);
        family->groups[i].same_pid = other == NULL ? RP_NONE : (uint32_t)*other;
        WIO_TRY(wio_map_put(&family->by_pid, pid, i));
    }
    return WIO_OK;
}

/* Tokens are used again, and other processes have the same ones. */
static enum wio_status index_tokens(struct rp_family *family)
{
    for (uint32_t i = family->stream_count; i-- > 0;) {
        uint64_t token = wio_trace_stream(family->trace, i)->thread;
        const uint64_t *other = wio_map_get(&family->by_token, token);
        family->streams[i].same_token = other == NULL ? RP_NONE : (uint32_t)*other;
        WIO_TRY(wio_map_put(&family->by_token, token, i));
    }
    return WIO_OK;
}

static void index_streams(struct rp_family *family)
{
    for (uint32_t i = family->stream_count; i-- > 0;) {
        const struct wio_stream_info *info = wio_trace_stream(family->trace, i);
        struct rp_stream *stream = &family->streams[i];
        stream->image = info->process < family->image_count ? info->process : RP_NONE;
        stream->next = RP_NONE;
        if (stream->image == RP_NONE) {
            continue;
        }
        struct rp_image *image = &family->images[stream->image];
        stream->next = image->streams;
        image->streams = i;
        image->stream_count++;
        if (info->last_ns > image->last_ns) {
            image->last_ns = info->last_ns;
        }
        if (info->tid == process(family, stream->image)->pid) {
            image->main_stream = i;
        }
    }
}

enum wio_status rp_family_init(struct rp_family *family, const struct wio_trace *trace)
{
    family->trace = trace;
    family->image_count = wio_trace_process_count(trace);
    family->stream_count = wio_trace_stream_count(trace);
    family->images = calloc((size_t)family->image_count + 1, sizeof(*family->images));
    family->groups = calloc((size_t)family->image_count + 1, sizeof(*family->groups));
    family->streams = calloc((size_t)family->stream_count + 1, sizeof(*family->streams));
    if (family->images == NULL || family->groups == NULL || family->streams == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < family->image_count; i++) {
        family->images[i] = (struct rp_image){
            .group = RP_NONE, .next = RP_NONE, .main_stream = RP_NONE, .streams = RP_NONE};
    }
    index_streams(family);
    WIO_TRY(index_tokens(family));
    chain_images(family);
    return index_groups(family);
}

void rp_family_fini(struct rp_family *family)
{
    free(family->images);
    free(family->streams);
    free(family->groups);
    free(family->births);
    wio_map_fini(&family->by_birth);
    wio_map_fini(&family->by_pid);
    wio_map_fini(&family->by_token);
    *family = (struct rp_family){0};
}

static enum wio_status add_birth(struct rp_family *family, const struct wio_event *event)
{
    void *births = family->births;
    WIO_TRY(wio_make_room(&births, sizeof(*family->births), &family->birth_capacity,
                          family->birth_count + 1));
    family->births = births;
    family->births[family->birth_count++] = (struct rp_birth){
        family->streams[event->stream].image, event->stream, event->seq, event->t_ns};
    return WIO_OK;
}

/* The earliest process with this pid that `image` made and that no operation was tied to yet. A
 * process that was tied is marked by is_root for the time being. */
static uint32_t find_child(const struct rp_family *family, uint32_t image, int64_t pid)
{
    uint32_t best = RP_NONE;
    const uint64_t *first = wio_map_get(&family->by_pid, (uint32_t)pid);
    for (uint32_t i = first == NULL ? RP_NONE : (uint32_t)*first; i != RP_NONE;
         i = family->groups[i].same_pid) {
        const struct rp_group *group = &family->groups[i];
        if (process(family, group->head)->parent == image && !group->is_root &&
            (best == RP_NONE || group->start_ns < family->groups[best].start_ns)) {
            best = i;
        }
    }
    return best;
}

static enum wio_status tie(struct rp_family *family, uint32_t group, uint32_t stream, uint64_t seq)
{
    const uint64_t *other = wio_map_get(&family->by_birth, birth_key(stream, seq));
    family->groups[group].sibling = other == NULL ? RP_NONE : (uint32_t)*other;
    family->groups[group].is_root = true;
    return wio_map_put(&family->by_birth, birth_key(stream, seq), group);
}

static void see_thread(struct rp_family *family, const struct wio_event *event, uint32_t image)
{
    uint64_t token = (uint64_t)event->arg[0];
    const uint64_t *first = token == 0 ? NULL : wio_map_get(&family->by_token, token);
    for (uint32_t i = first == NULL ? RP_NONE : (uint32_t)*first; i != RP_NONE;
         i = family->streams[i].same_token) {
        if (family->streams[i].image != image || i == event->stream) {
            continue;
        }
        if (family->streams[i].is_created) {
            break; /* and so are all others of them, by an earlier one */
        }
        family->streams[i].is_created = true;
    }
}

static void see_caused(struct rp_image *image, const struct wio_event *event)
{
    switch ((int)wio_op_class(event->op)) {
    case WIO_CLASS_OPEN:
        image->caused |= RP_CAUSED_OPEN;
        break;
    case WIO_CLASS_CLOSE:
        image->caused |= RP_CAUSED_CLOSE;
        break;
    case WIO_CLASS_WRITE:
        image->caused |= RP_CAUSED_WRITE;
        break;
    default:
        break;
    }
}

enum wio_status rp_family_see(struct rp_family *family, const struct wio_event *event)
{
    if (event->stream >= family->stream_count) {
        return WIO_OK;
    }
    uint32_t image = family->streams[event->stream].image;
    if (image == RP_NONE) {
        return WIO_OK;
    }
    struct rp_stream *stream = &family->streams[event->stream];
    if ((event->flags & WIO_EVENT_CAUSED) == 0) {
        stream->is_in_mpi = wio_class_is_mpi(wio_op_class(event->op));
    } else if (!stream->is_in_mpi) {
        see_caused(&family->images[image], event);
    }
    if (event->error != 0) {
        return WIO_OK;
    }
    if (event->op == WIO_OP_pthread_create || event->op == WIO_OP_thrd_create) {
        see_thread(family, event, image);
        return WIO_OK;
    }
    if (!rp_family_is_birth(event)) {
        return WIO_OK;
    }
    bool has_pid = event->op != WIO_OP_popen && event->op != WIO_OP_system && event->result > 0;
    uint32_t child = has_pid ? find_child(family, image, event->result) : RP_NONE;
    return child != RP_NONE ? tie(family, child, event->stream, event->seq)
                            : add_birth(family, event);
}

static int by_image_and_time(const void *a, const void *b)
{
    const struct rp_birth *x = a;
    const struct rp_birth *y = b;
    if (x->image != y->image) {
        return x->image < y->image ? -1 : 1;
    }
    return (x->t_ns > y->t_ns) - (x->t_ns < y->t_ns);
}

/* The last operation of the parent before the child began that could have made it. Births are
 * sorted. */
static const struct rp_birth *guess_birth(const struct rp_family *family, uint32_t group)
{
    const struct rp_birth child = {.image = process(family, family->groups[group].head)->parent,
                                   .t_ns = family->groups[group].start_ns};
    size_t behind =
        WIO_FIRST(i, 0, family->birth_count, by_image_and_time(&family->births[i], &child) > 0);
    bool is_there = behind > 0 && family->births[behind - 1].image == child.image;
    return is_there ? &family->births[behind - 1] : NULL;
}

/* Groups that make each other in a cycle would never start: they become roots. `path`, zero at
 * first: the group from which a walk over all ancestors came by here, + 1. */
static void break_circles(struct rp_family *family, const uint32_t *starter, uint32_t *path)
{
    for (uint32_t i = 0; i < family->group_count; i++) {
        uint32_t at = i;
        while (at != RP_NONE && path[at] == 0) {
            path[at] = i + 1;
            at = starter[at];
        }
        bool is_circle = at != RP_NONE && path[at] == i + 1;
        for (; is_circle && !family->groups[at].is_root; at = starter[at]) {
            family->groups[at].is_root = true;
        }
    }
}

static enum wio_status tie_rest(struct rp_family *family)
{
    if (family->birth_count > 0) {
        qsort(family->births, family->birth_count, sizeof(*family->births), by_image_and_time);
    }
    for (uint32_t i = 0; i < family->group_count; i++) {
        if (family->groups[i].is_root) {
            continue;
        }
        const struct rp_birth *birth = guess_birth(family, i);
        if (birth != NULL && family->images[birth->image].group != i) {
            WIO_TRY(tie(family, i, birth->stream, birth->seq));
        }
    }
    return WIO_OK;
}

enum wio_status rp_family_finish(struct rp_family *family)
{
    WIO_TRY(tie_rest(family));
    uint32_t *starter = calloc(2 * ((size_t)family->group_count + 1), sizeof(*starter));
    if (starter == NULL) {
        return WIO_ERR_NOMEM;
    }
    uint32_t *path = starter + family->group_count + 1;
    for (uint32_t i = 0; i < family->group_count; i++) {
        uint32_t parent = process(family, family->groups[i].head)->parent;
        bool is_tied = family->groups[i].is_root && parent < family->image_count;
        starter[i] = is_tied ? family->images[parent].group : RP_NONE;
    }
    for (uint32_t i = 0; i < family->group_count; i++) {
        family->groups[i].is_root = starter[i] == RP_NONE;
    }
    break_circles(family, starter, path);
    free(starter);
    free(family->births);
    family->births = NULL;
    return WIO_OK;
}

uint32_t rp_family_born(const struct rp_family *family, uint32_t stream, uint64_t seq)
{
    const uint64_t *group = wio_map_get(&family->by_birth, birth_key(stream, seq));
    return group == NULL ? RP_NONE : (uint32_t)*group;
}

uint32_t rp_family_ended(const struct rp_family *family, uint32_t image, int64_t pid,
                         uint64_t end_ns)
{
    uint32_t best = RP_NONE;
    const char *host = process(family, image)->host;
    const uint64_t *first = wio_map_get(&family->by_pid, (uint32_t)pid);
    for (uint32_t i = first == NULL ? RP_NONE : (uint32_t)*first; i != RP_NONE;
         i = family->groups[i].same_pid) {
        const struct rp_group *group = &family->groups[i];
        if (group->last_ns < end_ns && strcmp(process(family, group->head)->host, host) == 0 &&
            (best == RP_NONE || group->start_ns > family->groups[best].start_ns)) {
            best = i;
        }
    }
    return best;
}
