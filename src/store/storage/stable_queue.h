/* SPDX-License-Identifier: Apache-2.0 */
/* Operations of a stable store that wait: to be logged, or for their record to be durable. */
#ifndef WIO_STORE_STORAGE_STABLE_QUEUE_H
#define WIO_STORE_STORAGE_STABLE_QUEUE_H

#include "base/buf.h"
#include "store/storage/stable.h"

struct stable_op {
    struct stable_op *next;
    struct wio_log_record record; /* participants are owned, redo is not set */
    struct wio_blob redo;         /* the changes without images */
    wio_io_done *done;            /* NULL: not asked for */
    void *context;
    uint64_t lsn;
    bool is_cutting; /* truncates or removes when it is applied */
    bool is_applied; /* .. which it is already */
};

/* First in, first out. Zero-initialise. */
struct stable_queue {
    struct stable_op *first;
    struct stable_op *last;
};

/* NULL where there is no memory. */
struct stable_op *stable_op_create(const struct wio_log_record *record,
                                   const struct wio_redo_change *changes, size_t count);
void stable_op_destroy(struct stable_op *op);
void stable_queue_push(struct stable_queue *queue, struct stable_op *op);
/* The first one, taken out; NULL: none. */
struct stable_op *stable_queue_pop(struct stable_queue *queue);
void stable_queue_fini(struct stable_queue *queue);

#endif
