/* SPDX-License-Identifier: Apache-2.0 */
/* What a direct or synchronous write takes on an idle device; docs/MODEL.md#kernel, rule 13. */
#ifndef WIO_MODEL_WAIT_COST_H
#define WIO_MODEL_WAIT_COST_H

#include <stdbool.h>

#include "model/cache.h"

/* Seconds, with the seek of one that `is_random`. */
double wio_wait_cost(const struct wio_cache_file *file, const struct wio_model_op *op,
                     bool is_random);
/* Is there a table that says it? */
bool wio_wait_is_measured(const struct wio_cache_file *file, const struct wio_model_op *op);

#endif
