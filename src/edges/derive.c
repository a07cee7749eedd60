/* SPDX-License-Identifier: Apache-2.0 */
#include <whyio/derive.h>

#include "edges/edges.h"

enum wio_status wio_trace_derive_edges(struct wio_trace *trace,
                                       const struct wio_derive_params *params,
                                       struct wio_error *err)
{
    struct wio_join_params join = {.struct_size = sizeof(join)};

    if (params != NULL) {
        if (params->struct_size < sizeof(*params)) {
            return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                                 "struct_size of the parameters is %zu B, expected %zu B or more",
                                 params->struct_size, sizeof(*params));
        }
        join.progress = params->progress;
        join.progress_arg = params->progress_arg;
        join.in_memory = params->is_in_memory;
    }
    return wio_join(trace, &join, err);
}
