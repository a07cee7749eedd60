/* SPDX-License-Identifier: Apache-2.0 */
#include <whyio/derive.h>

#include "base/cleanup.h"
#include "base/sized.h"
#include "edges/edges.h"

enum wio_status wio_trace_derive_edges(struct wio_trace *trace,
                                       const struct wio_derive_params *params,
                                       struct wio_error *err)
{
    struct wio_derive_params given;
    struct wio_join_params join = {.struct_size = sizeof(join)};

    if (params != NULL) {
        WIO_TRY(wio_take_sized(&given, sizeof(given), params, "struct wio_derive_params", err));
        join.progress = given.progress;
        join.progress_arg = given.progress_arg;
        join.in_memory = given.is_in_memory;
    }
    return wio_join(trace, &join, err);
}
