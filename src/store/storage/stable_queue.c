/* SPDX-License-Identifier: Apache-2.0 */
#include "store/storage/stable_queue.h"

#include <stdlib.h>
#include <string.h>

static bool copy_participants(struct stable_op *op, const struct wio_log_record *record)
{
    size_t bytes = record->participant_count * sizeof(uint16_t);
    uint16_t *copy = bytes > 0 ? malloc(bytes) : NULL;
    if (copy != NULL) {
        memcpy(copy, record->participants, bytes);
    }
    op->record.participants = copy;
    return bytes == 0 || copy != NULL;
}

struct stable_op *stable_op_create(const struct wio_log_record *record,
                                   const struct wio_redo_change *changes, size_t count)
{
    struct stable_op *op = calloc(1, sizeof(*op));
    if (op == NULL) {
        return NULL;
    }
    op->record = *record;
    bool is_whole = copy_participants(op, record);
    for (size_t i = 0; is_whole && i < count; i++) {
        is_whole = wio_change_encode(&op->redo, &changes[i]) == WIO_OK;
        op->is_cutting = op->is_cutting ||
                         (changes[i].kind != WIO_CHANGE_WRITE && record->kind != WIO_LOG_PREPARED);
    }
    if (!is_whole) {
        stable_op_destroy(op);
        return NULL;
    }
    return op;
}

void stable_op_destroy(struct stable_op *op)
{
    if (op != NULL) {
        free((void *)(uintptr_t)op->record.participants);
        wio_blob_fini(&op->redo);
        free(op);
    }
}

void stable_queue_push(struct stable_queue *queue, struct stable_op *op)
{
    op->next = NULL;
    if (queue->last != NULL) {
        queue->last->next = op;
    } else {
        queue->first = op;
    }
    queue->last = op;
}

struct stable_op *stable_queue_pop(struct stable_queue *queue)
{
    struct stable_op *op = queue->first;
    if (op != NULL) {
        queue->first = op->next;
        queue->last = queue->first != NULL ? queue->last : NULL;
    }
    return op;
}

void stable_queue_fini(struct stable_queue *queue)
{
    for (struct stable_op *op = stable_queue_pop(queue); op != NULL; op = stable_queue_pop(queue)) {
        stable_op_destroy(op);
    }
}
