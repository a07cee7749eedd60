/* SPDX-License-Identifier: Apache-2.0 */
/* What a direct or synchronous write takes of its device, alone and in the way of others;
 * docs/MODEL.md#kernel, rule 13. */
#ifndef WIO_MODEL_COST_WAIT_COST_H
#define WIO_MODEL_COST_WAIT_COST_H

#include <stdbool.h>

#include "model/kernel/cache.h"
#include "model/kernel/task.h"

/* The step that it is, with the seek of one that `is_random`. */
struct wio_task_step wio_wait_step(const struct wio_cache *cache, const struct wio_cache_file *file,
                                   const struct wio_model_op *op, bool is_random);

#endif
