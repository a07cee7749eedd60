/* SPDX-License-Identifier: Apache-2.0 */
/* One LTTng event per call, with what an event of whyio has. Layout and names are LTTng's. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER whyio_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./bench_tp.h"

#if !defined(BENCH_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_TP_H

#include <lttng/tracepoint.h>
#include <stdint.h>

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT(whyio_bench, call,
    LTTNG_UST_TP_ARGS(int, call, int, fd, int64_t, offset, uint64_t, size, int64_t, result,
                      uint64_t, begin),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_integer(int, call, call)
        lttng_ust_field_integer(int, fd, fd)
        lttng_ust_field_integer(int64_t, offset, offset)
        lttng_ust_field_integer(uint64_t, size, size)
        lttng_ust_field_integer(int64_t, result, result)
        lttng_ust_field_integer(uint64_t, begin, begin)
    )
)
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
