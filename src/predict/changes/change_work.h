/* SPDX-License-Identifier: Apache-2.0 */
/* What the changes of a program (change.h) have in common: each is a function that reads the
 * operations as the changes before it left them, and writes edits. Private to the room. */
#ifndef WIO_PREDICT_CHANGES_CHANGE_WORK_H
#define WIO_PREDICT_CHANGES_CHANGE_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/event.h>
#include <whyio/status.h>

#include "model/model.h"
#include "predict/changes/change.h"

/* Is the event one of those? `scope` may be NULL. */
bool wio_change_has(const struct wio_change_scope *scope, const struct wio_event *event);

struct wio_change_work {
    const struct wio_program *program;
    const struct wio_change *change;
    const struct wio_change_net *net;
    struct wio_used_files_reader *files; /* of each stream */
    const struct wio_edits *before;      /* of the changes before it: sorted */
    struct wio_edits *edits;             /* to be written */
    struct wio_error *err;
};

/* An event that no change before has dropped; its offset and size are as they left it. */
typedef enum wio_status wio_change_see_fn(void *arg, const struct wio_event *event);
/* All events of these operations (count 0: of all), by time or one stream after the other. */
WIO_MUST_CHECK enum wio_status wio_change_read(const struct wio_change_work *work, bool is_by_time,
                                               const uint16_t *ops, size_t op_count,
                                               wio_change_see_fn *see, void *arg);
/* The operations of some classes, for wio_change_read: `ops` has room for WIO_OP_COUNT of them. */
size_t wio_change_ops(const bool *has_class, uint16_t *ops);
/* How many bytes it read or wrote on storage by itself; 0: it did not. */
uint64_t wio_change_moves(const struct wio_program *program, const struct wio_event *event,
                          bool *is_write_out);
/* What it works on. */
static inline const struct wio_event_files *wio_change_files(const struct wio_change_work *work,
                                                             const struct wio_event *event)
{
    return wio_used_files_at(&work->files[event->stream], event->seq);
}
/* How it did, by the flags of its descriptor. */
enum wio_model_method wio_change_method(const struct wio_change_work *work,
                                        const struct wio_event *event);
static inline uint32_t wio_change_image(const struct wio_change_work *work,
                                        const struct wio_event *event)
{
    return wio_trace_stream(work->program->trace, event->stream)->process;
}

typedef enum wio_status wio_change_fn(struct wio_change_work *work);
wio_change_fn wio_change_remove;
wio_change_fn wio_change_fsync_every;
wio_change_fn wio_change_aggregate;
wio_change_fn wio_change_collective;
wio_change_fn wio_change_merge_files;
wio_change_fn wio_change_balance;
wio_change_fn wio_change_no_polling;
wio_change_fn wio_change_sort;
wio_change_fn wio_change_read_maps;

#endif
