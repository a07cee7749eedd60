/* SPDX-License-Identifier: Apache-2.0 */
#include "script.h"

#include <stdlib.h>
#include <string.h>

#include "base/crc.h"
#include "support/unit.h"

enum { SEGMENT_MAX = 40 << 10, SLOT = 700, SLOTS = 24, SHARED_BLOCK = 28672 };

/* ---- a naive store ---- */

struct naive {
    uint8_t data[SCRIPT_FILES + 1][SCRIPT_SEGMENTS][SEGMENT_MAX];
    size_t size[SCRIPT_FILES + 1][SCRIPT_SEGMENTS];
};

static void naive_change(struct naive *naive, const struct wio_redo_change *change)
{
    uint64_t file = change->id.file;
    uint8_t *data = naive->data[file][change->id.segment];
    size_t *size = &naive->size[file][change->id.segment];
    size_t end = (size_t)change->offset + change->bytes;
    if (change->kind == WIO_CHANGE_WRITE) {
        memcpy(data + change->offset, change->data, change->bytes);
        *size = *size > end ? *size : end;
    } else if (change->kind == WIO_CHANGE_TRUNCATE) {
        if (change->offset < *size) {
            memset(data + change->offset, 0, *size - (size_t)change->offset);
        }
        *size = (size_t)change->offset;
    } else {
        memset(naive->data[file], 0, sizeof(naive->data[file]));
        memset(naive->size[file], 0, sizeof(naive->size[file]));
    }
}

static void naive_step(struct naive *naive, const struct step *step)
{
    for (size_t i = 0; i < step->count && !step->is_refused; i++) {
        naive_change(naive, &step->changes[i]);
    }
}

static uint32_t add_contents(uint32_t crc, const uint8_t *data, uint64_t size)
{
    crc = wio_crc32c(crc, &size, sizeof(size));
    return wio_crc32c(crc, data, (size_t)size);
}

static uint32_t naive_contents(const struct naive *naive)
{
    uint32_t crc = 0;
    for (unsigned file = 1; file <= SCRIPT_FILES; file++) {
        for (unsigned segment = 0; segment < SCRIPT_SEGMENTS; segment++) {
            crc = add_contents(crc, naive->data[file][segment], naive->size[file][segment]);
        }
    }
    return crc;
}

/* What the first i steps give, with what was prepared in them and is decided later, for each i. */
static void expect_all(struct script *script)
{
    struct naive *naive = calloc(1, sizeof(*naive));
    assert_non_null(naive);
    script->expected[0] = naive_contents(naive);
    for (unsigned i = 1; i <= SCRIPT_STEPS; i++) {
        const struct step *step = &script->steps[i];
        /* Nothing else has the slots of a prepared transaction until it is decided. */
        if (step->kind == STEP_COMMIT || step->kind == STEP_APPLY ||
            (step->kind == STEP_PREPARE && step->is_committed)) {
            naive_step(naive, step);
        }
        script->expected[i] = naive_contents(naive);
    }
    free(naive);
}

uint32_t script_contents(struct wio_storage *storage)
{
    uint32_t crc = 0;
    uint8_t *data = malloc(SEGMENT_MAX);
    struct wio_error err = WIO_ERROR_INIT;
    assert_non_null(data);
    for (unsigned file = 1; file <= SCRIPT_FILES; file++) {
        for (unsigned segment = 0; segment < SCRIPT_SEGMENTS; segment++) {
            struct wio_segment_id id = {file, segment};
            uint64_t size = 0;
            size_t got = 0;
            assert_ok(wio_storage_size(storage, id, &size, &err), &err);
            if (size > SEGMENT_MAX) {
                size = SEGMENT_MAX + 1; /* wrong in any case */
            }
            assert_ok(wio_storage_read(storage, id, 0, data, SEGMENT_MAX, &got, &err), &err);
            crc = add_contents(crc, data, got < size ? got : size);
        }
    }
    free(data);
    return crc;
}

/* ---- making steps ---- */

static void fill(struct wio_redo_change *change, uint64_t *seed, unsigned number)
{
    uint8_t *data = malloc(change->bytes);
    assert_non_null(data);
    for (uint32_t i = 0; i < change->bytes; i++) {
        data[i] = (uint8_t)(number * 37 + i * 11 + 1);
    }
    data[0] = (uint8_t)wio_test_random(seed);
    change->data = data;
}

static uint64_t below(uint64_t *seed, uint64_t bound)
{
    return wio_test_random(seed) % bound;
}

/* A write in files 1 and 2 anywhere, whole blocks among them, in file 3 within a slot, or of a
 * block that prepared transactions write as a whole and others in part while none is under way. */
static void make_write(struct wio_redo_change *change, uint64_t *seed, unsigned number,
                       unsigned prepared)
{
    bool is_prepared = prepared == number;
    uint64_t file = is_prepared ? 3 : 1 + below(seed, SCRIPT_FILES);
    *change = (struct wio_redo_change){WIO_CHANGE_WRITE,
                                       {file, (uint32_t)below(seed, SCRIPT_SEGMENTS)},
                                       below(seed, 24000),
                                       NULL,
                                       (uint32_t)(1 + below(seed, 5000))};
    if (file != 3 && below(seed, 4) == 0) {
        change->offset = change->offset / 4096 * 4096;
        change->bytes = 4096;
    } else if (file == 3 && (is_prepared || prepared == 0) && below(seed, 3) == 0) {
        change->offset = SHARED_BLOCK + (is_prepared ? 0 : below(seed, 3000));
        change->bytes = is_prepared ? 4096 : (uint32_t)(1 + below(seed, 1000));
    } else if (file == 3) {
        uint64_t slot = below(seed, SLOTS / 2) * 2 + (is_prepared ? 0 : 1);
        change->offset = slot * SLOT + below(seed, 100);
        change->bytes = (uint32_t)(1 + below(seed, SLOT - 100));
    }
    fill(change, seed, number);
}

static void make_commit(struct step *step, uint64_t *seed, unsigned number, unsigned prepared)
{
    step->kind = STEP_COMMIT;
    step->count = 1 + below(seed, SCRIPT_CHANGES);
    for (size_t i = 0; i < step->count; i++) {
        make_write(&step->changes[i], seed, number, prepared);
    }
}

static void make_apply(struct step *step, uint64_t *seed)
{
    step->kind = STEP_APPLY;
    step->count = 1;
    step->changes[0] = below(seed, 3) == 0
                           ? (struct wio_redo_change){.kind = WIO_CHANGE_REMOVE, .id = {1, 0}}
                           : (struct wio_redo_change){
                                 .kind = WIO_CHANGE_TRUNCATE,
                                 .id = {1 + below(seed, 2), (uint32_t)below(seed, SCRIPT_SEGMENTS)},
                                 .offset = below(seed, 30000)};
}

/* One prepared transaction at a time, whose outcome comes a few steps later. */
static void make_step(struct script *script, unsigned number, unsigned *prepared, uint64_t *seed)
{
    struct step *step = &script->steps[number];
    uint64_t dice = below(seed, 16);
    step->txn = (struct wio_txn){5, number, number, 1};
    step->has_turn = below(seed, 3) == 0;
    step->is_checkpoint = below(seed, 9) == 0;
    if (*prepared != 0 && dice < 5) {
        struct step *first = &script->steps[*prepared];
        first->other = number;
        *step = (struct step){.kind = STEP_DECIDE,
                              .txn = first->txn,
                              .other = *prepared,
                              .is_committed = first->is_committed,
                              .has_turn = step->has_turn};
        *prepared = 0;
    } else if (*prepared == 0 && dice < 5) {
        step->kind = STEP_PREPARE;
        step->is_committed = below(seed, 3) != 0;
        step->count = 1 + below(seed, SCRIPT_CHANGES);
        step->has_turn = true; /* its vote is waited for */
        for (size_t i = 0; i < step->count; i++) {
            make_write(&step->changes[i], seed, number, number);
        }
        *prepared = number;
    } else if (dice == 6) {
        step->kind = STEP_TOMBSTONE;
    } else if (dice == 7 || dice == 8) {
        make_apply(step, seed);
    } else if (dice == 9 && number > 12 && script->steps[number - 10].kind == STEP_TOMBSTONE) {
        *step = (struct step){
            .kind = STEP_FORGET, .txn = script->steps[number - 10].txn, .other = number - 10};
    } else {
        make_commit(step, seed, number, *prepared);
    }
}

void script_make(struct script *script, uint64_t seed)
{
    unsigned prepared = 0;
    memset(script, 0, sizeof(*script));
    for (unsigned i = 1; i <= SCRIPT_STEPS; i++) {
        make_step(script, i, &prepared, &seed);
    }
    expect_all(script);
}

void script_refuse(struct script *script, unsigned step)
{
    script->steps[step].kind = STEP_COMMIT;
    script->steps[step].is_refused = true;
    expect_all(script);
}

void script_fini(struct script *script)
{
    for (unsigned i = 1; i <= SCRIPT_STEPS; i++) {
        for (size_t n = 0; n < script->steps[i].count; n++) {
            free((void *)(uintptr_t)script->steps[i].changes[n].data);
        }
    }
}
