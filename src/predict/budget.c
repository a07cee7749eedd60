/* SPDX-License-Identifier: Apache-2.0 */
#include "predict/budget.h"

#include <malloc.h>
#include <stdlib.h>

static void *get(void *context, size_t size)
{
    struct wio_budget *budget = context;
    if (size > budget->limit - budget->used) {
        budget->is_spent = true;
        return NULL;
    }
    void *memory = calloc(1, size);
    if (memory != NULL) {
        uint64_t bytes = malloc_usable_size(memory);
        budget->used += bytes < budget->limit - budget->used ? bytes : budget->limit - budget->used;
    }
    return memory;
}

static void put(void *context, void *memory)
{
    struct wio_budget *budget = context;
    uint64_t bytes = malloc_usable_size(memory);
    budget->used -= bytes < budget->used ? bytes : budget->used;
    free(memory);
}

struct wio_alloc wio_budget_alloc(struct wio_budget *budget)
{
    return (struct wio_alloc){.get = get, .put = put, .context = budget};
}
