/* SPDX-License-Identifier: Apache-2.0 */
#include "store/storage/outcomes.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"

void outcomes_init(struct outcomes *outcomes)
{
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    *outcomes = (struct outcomes){0};
    wio_pair_map_init(&outcomes->index, &heap);
}

static void clear(struct outcome *outcome)
{
    free(outcome->participants);
    wio_blob_fini(&outcome->redo);
    *outcome = (struct outcome){0};
}

void outcomes_fini(struct outcomes *outcomes)
{
    for (uint32_t i = 0; i < outcomes->count; i++) {
        clear(&outcomes->places[i]);
    }
    free(outcomes->places);
    wio_pair_map_fini(&outcomes->index);
}

struct outcome *outcomes_get(const struct outcomes *outcomes, const struct wio_txn *txn)
{
    uint32_t place = wio_pair_map_get(&outcomes->index, txn->client, txn->number);
    return place == WIO_NO_INDEX ? NULL : &outcomes->places[place];
}

static enum wio_status find_place(struct outcomes *outcomes, struct outcome **place_out)
{
    for (uint32_t i = 0; outcomes->known < outcomes->count && i < outcomes->count; i++) {
        if (outcomes->places[i].state == WIO_STABLE_UNKNOWN) {
            *place_out = &outcomes->places[i];
            return WIO_OK;
        }
    }
    void *array = outcomes->places;
    WIO_TRY(wio_grow(&array, sizeof(*outcomes->places), &outcomes->capacity, outcomes->count + 1));
    outcomes->places = array;
    *place_out = &outcomes->places[outcomes->count++];
    return WIO_OK;
}

static enum wio_status fill(struct outcome *outcome, const struct wio_txn *txn,
                            enum wio_stable_outcome state, const struct wio_log_record *record,
                            const struct wio_blob *redo)
{
    outcome->txn = *txn;
    outcome->state = state;
    if (redo != NULL) {
        WIO_TRY(wio_blob_put(&outcome->redo, redo->data, redo->size));
    }
    if (record == NULL || record->participant_count == 0) {
        return WIO_OK;
    }
    outcome->participants = calloc(record->participant_count, sizeof(*outcome->participants));
    if (outcome->participants == NULL) {
        return WIO_ERR_NOMEM;
    }
    outcome->participant_count = record->participant_count;
    memcpy(outcome->participants, record->participants,
           record->participant_count * sizeof(*outcome->participants));
    return WIO_OK;
}

enum wio_status outcomes_put(struct outcomes *outcomes, const struct wio_txn *txn,
                             enum wio_stable_outcome state, const struct wio_log_record *record,
                             const struct wio_blob *redo)
{
    struct outcome *place = NULL;
    struct outcome fresh = {0};
    outcomes_remove(outcomes, txn);
    WIO_TRY(find_place(outcomes, &place));
    if (fill(&fresh, txn, state, record, redo) != WIO_OK ||
        wio_pair_map_put(&outcomes->index, txn->client, txn->number,
                         (uint32_t)(place - outcomes->places)) != WIO_OK) {
        clear(&fresh);
        return WIO_ERR_NOMEM;
    }
    *place = fresh;
    outcomes->known++;
    return WIO_OK;
}

void outcomes_remove(struct outcomes *outcomes, const struct wio_txn *txn)
{
    struct outcome *outcome = outcomes_get(outcomes, txn);
    if (outcome != NULL) {
        wio_pair_map_remove(&outcomes->index, txn->client, txn->number);
        clear(outcome);
        outcomes->known--;
    }
}

enum wio_status outcomes_put_waiting(struct outcomes *outcomes, const struct wio_log_record *record,
                                     const struct wio_blob *redo)
{
    const struct outcome *before = outcomes_get(outcomes, &record->txn);
    bool has_tombstone = before != NULL && before->state == WIO_STABLE_ABORTED;
    uint32_t tombstone_attempt = has_tombstone ? before->txn.attempt : 0;
    WIO_TRY(outcomes_put(outcomes, &record->txn, WIO_STABLE_PREPARED, record, redo));
    struct outcome *outcome = outcomes_get(outcomes, &record->txn);
    outcome->is_waiting = true;
    outcome->has_tombstone = has_tombstone;
    outcome->tombstone_attempt = tombstone_attempt;
    return WIO_OK;
}

void outcomes_logged(struct outcomes *outcomes, const struct wio_txn *txn, bool is_logged)
{
    struct outcome *outcome = outcomes_get(outcomes, txn);
    if (outcome == NULL || !outcome->is_waiting || outcome->txn.attempt != txn->attempt) {
        return;
    }
    outcome->is_waiting = false;
    if (is_logged || outcome->state != WIO_STABLE_PREPARED) {
        return;
    }
    if (outcome->has_tombstone) {
        outcome->txn.attempt = outcome->tombstone_attempt;
        outcome_decide(outcome, false);
    } else {
        outcomes_remove(outcomes, txn);
    }
}

void outcome_decide(struct outcome *outcome, bool is_committed)
{
    outcome->state = is_committed ? WIO_STABLE_COMMITTED : WIO_STABLE_ABORTED;
    wio_blob_fini(&outcome->redo);
    outcome->redo = (struct wio_blob){0};
}
