/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/aborts/txn_compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

void wio_txn_changes_fini(struct wio_txn_changes *changes)
{
    free(changes->items);
}

static uint32_t count_of(const struct wio_txn_side *side)
{
    return side->aborts == NULL ? 0 : side->lost->count;
}

/* "function (file:line)": the function, which stays where lines move. */
static bool is_same_place(const struct wio_txn_side *a, uint32_t source_a,
                          const struct wio_txn_side *b, uint32_t source_b)
{
    if (source_a == WIO_NO_SOURCE || source_b == WIO_NO_SOURCE) {
        return source_a == source_b;
    }
    const struct wio_abort_sources *in_a = &a->aborts->sources;
    const struct wio_abort_sources *in_b = &b->aborts->sources;
    const char *text_a = wio_abort_sources_place_text(in_a, in_a->rows[source_a].place);
    const char *text_b = wio_abort_sources_place_text(in_b, in_b->rows[source_b].place);
    size_t bytes = strcspn(text_a, "(");
    bool is_named = bytes > 0 && text_a[bytes] == '(';
    return is_named ? strncmp(text_a, text_b, bytes + 1) == 0 : strcmp(text_a, text_b) == 0;
}

static bool is_same(const struct wio_txn_side *a, const struct wio_txn_finding *of_a,
                    const struct wio_txn_side *b, const struct wio_txn_finding *of_b,
                    bool is_kind_same)
{
    /* of contention the kind says what the time was lost to */
    bool is_pair = of_a->loss <= WIO_LOSS_THINK && of_b->loss <= WIO_LOSS_THINK;
    return (of_a->loss == of_b->loss || (is_pair && !is_kind_same)) &&
           is_same_place(a, of_a->victim, b, of_b->victim) &&
           (!is_pair || is_same_place(a, of_a->blocker, b, of_b->blocker));
}

/* The first of a that is like `of_b` and is not paired yet. */
static struct wio_txn_change *find(struct wio_txn_changes *changes, uint32_t of_a,
                                   const struct wio_txn_side *a, const struct wio_txn_side *b,
                                   const struct wio_txn_finding *of_b, bool is_kind_same)
{
    for (uint32_t i = 0; i < of_a; i++) {
        struct wio_txn_change *change = &changes->items[i];
        if (change->b == WIO_NO_TXN_FINDING &&
            is_same(a, &a->lost->items[i], b, of_b, is_kind_same)) {
            return change;
        }
    }
    return NULL;
}

static void pair(struct wio_txn_changes *changes, const struct wio_txn_side *a,
                 const struct wio_txn_side *b, bool *is_paired, bool is_kind_same)
{
    for (uint32_t k = 0; k < count_of(b); k++) {
        const struct wio_txn_finding *of_b = &b->lost->items[k];
        struct wio_txn_change *change =
            is_paired[k] ? NULL : find(changes, count_of(a), a, b, of_b, is_kind_same);
        if (change != NULL) {
            change->b = k;
            change->b_s = of_b->seconds;
            is_paired[k] = true;
        }
    }
}

static int by_change(const void *x, const void *y)
{
    double a =
        fabs(((const struct wio_txn_change *)x)->b_s - ((const struct wio_txn_change *)x)->a_s);
    double b =
        fabs(((const struct wio_txn_change *)y)->b_s - ((const struct wio_txn_change *)y)->a_s);
    return (a < b) - (a > b);
}

static void add_new(struct wio_txn_changes *changes, const struct wio_txn_side *b,
                    const bool *is_paired)
{
    for (uint32_t k = 0; k < count_of(b); k++) {
        if (!is_paired[k]) {
            changes->items[changes->count++] = (struct wio_txn_change){
                .a = WIO_NO_TXN_FINDING, .b = k, .b_s = b->lost->items[k].seconds};
        }
    }
}

enum wio_status wio_txn_compare_runs(const struct wio_txn_side *a, const struct wio_txn_side *b,
                                     struct wio_txn_changes *changes)
{
    uint32_t of_a = count_of(a);
    uint32_t of_b = count_of(b);
    bool *is_paired = calloc((size_t)of_b + 1, sizeof(*is_paired));
    changes->items = calloc((size_t)of_a + of_b + 1, sizeof(*changes->items));
    if (is_paired == NULL || changes->items == NULL) {
        free(is_paired);
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < of_a; i++) {
        changes->items[changes->count++] = (struct wio_txn_change){
            .a = i, .b = WIO_NO_TXN_FINDING, .a_s = a->lost->items[i].seconds};
    }
    pair(changes, a, b, is_paired, true);
    pair(changes, a, b, is_paired, false);
    add_new(changes, b, is_paired);
    free(is_paired);
    qsort(changes->items, changes->count, sizeof(*changes->items), by_change);
    return WIO_OK;
}
