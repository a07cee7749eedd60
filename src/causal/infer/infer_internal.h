/* SPDX-License-Identifier: Apache-2.0 */
/* What all kinds of waiting share: where an event stands, lists, edges, and objects by name. Files
 * and channels: causal/files/files.h; threads, processes, messages: causal/threads/sync.h. */
#ifndef WIO_CAUSAL_INFER_INFER_INTERNAL_H
#define WIO_CAUSAL_INFER_INFER_INTERNAL_H

#include "base/cleanup.h"
#include "causal/infer/infer_state.h"
#include "ops/calls.h"

static inline const struct wio_infer_stream *wio_infer_stream(const struct wio_infer *infer,
                                                              const struct wio_event *event)
{
    return &infer->params.streams[event->stream];
}

/* enum wio_class; a number, since each file knows only some of them. */
static inline unsigned wio_infer_class(const struct wio_event *event)
{
    return (unsigned)wio_op_class(event->op);
}

static inline struct wio_point wio_infer_point(const struct wio_infer *infer,
                                               const struct wio_event *event)
{
    return (struct wio_point){event->seq, infer->params.streams[event->stream].thread};
}

static inline uint32_t wio_infer_host(const struct wio_infer *infer, const struct wio_event *event)
{
    return infer->params.processes[wio_infer_stream(infer, event)->process].host;
}

static inline uint32_t wio_infer_host_of(const struct wio_infer *infer, uint32_t thread)
{
    /* a thread has the number of its first stream */
    return infer->params.processes[infer->params.streams[thread].process].host;
}

static inline uint64_t wio_infer_end_ns(const struct wio_event *event)
{
    return event->t_ns + event->dur_ns;
}

/* From where the event releases others: itself, or the call around it that caused it (stdio that
 * writes, MPI_Sendrecv that sends) and is not done either. */
static inline struct wio_point wio_infer_release_point(const struct wio_infer *infer,
                                                       const struct wio_event *event)
{
    struct wio_point point = wio_infer_point(infer, event);
    if ((event->flags & WIO_EVENT_CAUSED) != 0) {
        point.op = infer->callers[point.thread];
    }
    return point;
}

/* list.c */
WIO_MUST_CHECK enum wio_status wio_infer_lists_init(struct wio_infer *infer);
void wio_infer_lists_fini(struct wio_infer *infer);
extern const struct wio_infer_list wio_infer_empty;
WIO_MUST_CHECK enum wio_status wio_infer_append(struct wio_infer *infer,
                                                struct wio_infer_list *list,
                                                const struct wio_infer_node *node);
/* WIO_INFER_NONE: as the first one. */
WIO_MUST_CHECK enum wio_status wio_infer_insert_behind(struct wio_infer *infer,
                                                       struct wio_infer_list *list, uint32_t before,
                                                       const struct wio_infer_node *node);
void wio_infer_drop_first(struct wio_infer *infer, struct wio_infer_list *list);
/* An empty list among infer->lists.items. */
WIO_MUST_CHECK enum wio_status wio_infer_new_list(struct wio_infer *infer, uint32_t *list_out);
/* Remove the node behind `before` (WIO_INFER_NONE: the first). */
void wio_infer_drop_behind(struct wio_infer *infer, struct wio_infer_list *list, uint32_t before);
/* The call of `event` has ended: its node is taken out of the list of calls under way. False: it
 * was not there. */
bool wio_infer_end_call(struct wio_infer *infer, const struct wio_event *event,
                        struct wio_infer_list *list);
struct wio_infer_node wio_infer_node_of(const struct wio_infer *infer,
                                        const struct wio_event *event);

/* infer_edge.c: an edge to the operation `to`, out of the releasing call `from` itself or out of
 * the operation before it. Nothing within a thread. */
WIO_MUST_CHECK enum wio_status wio_infer_edge(struct wio_infer *infer, struct wio_edge edge);
WIO_MUST_CHECK enum wio_status wio_infer_edge_from_before(struct wio_infer *infer,
                                                          struct wio_edge edge);
/* The operation of `event` goes on because of `from`, by an object of threads. */
WIO_MUST_CHECK enum wio_status wio_infer_after(struct wio_infer *infer,
                                               const struct wio_event *event,
                                               const struct wio_infer_node *from, uint32_t object);
WIO_MUST_CHECK enum wio_status wio_infer_after_as(struct wio_infer *infer,
                                                  const struct wio_event *event,
                                                  const struct wio_infer_node *from,
                                                  uint32_t object, enum wio_edge_class edge_class);

/* A member of a collective. Members that contradict each other are counted and left out. */
WIO_MUST_CHECK enum wio_status wio_infer_collective(struct wio_infer *infer,
                                                    const struct wio_collective_call *call);

/* pending_ends.c */
void wio_infer_pending_fini(struct wio_infer *infer);
/* the event goes on until its end. */
WIO_MUST_CHECK enum wio_status wio_infer_end_later(struct wio_infer *infer,
                                                   const struct wio_event *event);
/* Takes out the first one that ended before that time; false: there is none. Of those that ended at
 * the same moment the one that began first. */
bool wio_infer_ended(struct wio_infer *infer, uint64_t before_ns, struct wio_event *event_out);

/* object.c */
WIO_MUST_CHECK enum wio_status wio_infer_objects_init(struct wio_infer *infer);
void wio_infer_objects_fini(struct wio_infer *infer);
/* the object of that kind and name; a new one in its place. */
WIO_MUST_CHECK enum wio_status wio_infer_find_object(struct wio_infer *infer,
                                                     struct wio_infer_object object,
                                                     uint32_t *number_out);
WIO_MUST_CHECK enum wio_status
wio_infer_new_object(struct wio_infer *infer, struct wio_infer_object object, uint32_t *number_out);
/* What has this name from here on is another object. */
void wio_infer_forget_object(struct wio_infer *infer, struct wio_infer_object object);
/* The name of an address or shared id in `arg` (R-SYNC-1), and the object that has it. */
struct wio_infer_object wio_infer_memory_name(const struct wio_infer *infer,
                                              const struct wio_event *event,
                                              enum wio_infer_kind kind, int64_t id);
WIO_MUST_CHECK enum wio_status wio_infer_memory_object(struct wio_infer *infer,
                                                       const struct wio_event *event,
                                                       enum wio_infer_kind kind, int64_t id,
                                                       uint32_t *number_out);
/* The pipe, socket or eventfd that a path names on the event's host; 0 where it is none. */
WIO_MUST_CHECK enum wio_status wio_infer_channel(struct wio_infer *infer,
                                                 const struct wio_event *event, uint32_t path,
                                                 uint32_t *object_out);
/* The same behind a descriptor, whose path this was when it was opened. */
WIO_MUST_CHECK enum wio_status wio_infer_channel_behind(struct wio_infer *infer,
                                                        const struct wio_event *event, int32_t fd,
                                                        uint32_t path, uint32_t *object_out);
/* FLOCK or RECORD_LOCK of the event's file. */
WIO_MUST_CHECK enum wio_status wio_infer_lock_object(struct wio_infer *infer,
                                                     const struct wio_event *event,
                                                     enum wio_infer_kind kind,
                                                     uint32_t *object_out);
/* What an object of this kind has besides, of `bytes`: causal/files/files.h and
 * causal/threads/sync.h say which. Valid until an object is made. */
static inline void *wio_infer_part(const struct wio_infer *infer, uint32_t object,
                                   enum wio_infer_kind kind, size_t bytes)
{
    const struct wio_infer_state *state = &infer->objects.items[object];
    WIO_PRE(object > 0 && state->object.kind == kind);
    return infer->objects.parts[kind].items + state->part * bytes;
}
static inline bool wio_infer_is(const struct wio_infer *infer, uint32_t object,
                                enum wio_infer_kind kind)
{
    return object != 0 && infer->objects.items[object].object.kind == kind;
}
/* The thread gives to, or takes from, the object: notes whether several do. */
void wio_infer_note_giver(struct wio_infer_state *state, uint32_t thread);
void wio_infer_note_taker(struct wio_infer_state *state, uint32_t thread);

#endif
