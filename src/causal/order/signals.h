/* SPDX-License-Identifier: Apache-2.0 */
/* What //TRACE does before replay instead of exact reduction. */
#ifndef WIO_CAUSAL_ORDER_SIGNALS_H
#define WIO_CAUSAL_ORDER_SIGNALS_H

#include "causal/core/edge.h"

/* Of a run of signals from one thread that end in the same wait only the last stays. Hard edges
 * only; linear. */
WIO_MUST_CHECK enum wio_status wio_edges_drop_repeated_signals(struct wio_edges *edges,
                                                               size_t *dropped_out);

#endif
