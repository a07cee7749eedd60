/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much memory the models of one prediction may take together: a small trace can stand for more
 * pages of files than any machine has memory for. Not thread safe.
 */
#ifndef WIO_PREDICT_BUDGET_H
#define WIO_PREDICT_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"

struct wio_budget {
    uint64_t limit; /* bytes */
    uint64_t used;
    bool is_spent; /* memory was refused since it would have been more */
};

/* The C library's heap, up to the budget's limit. The budget must outlive what is made of it. */
struct wio_alloc wio_budget_alloc(struct wio_budget *budget);

#endif
