/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What metadata operations cost on a file system, as measured: the object "meta" of HOST.json.
 *
 *     "meta": {"open": 2e-6, "create": 3e-5, "close": 4e-7, "stat": 1e-6, ...}
 *
 * Names are those of operations (include/whyio/ops.def), and "create": an open that makes a file.
 * An operation without a number of its own has that of its family: fstat that of stat, fclose that
 * of close. Of operations that have neither nothing is known.
 */
#ifndef WIO_MACHINE_META_H
#define WIO_MACHINE_META_H

#include <stdbool.h>

#include "ops/calls.h"

struct wio_meta {
    double op_s[WIO_OP_COUNT]; /* NaN: not known */
    double create_s;
};

/* Nothing is known. */
void wio_meta_init(struct wio_meta *meta);
/* False: there is no such operation. */
bool wio_meta_set(struct wio_meta *meta, const char *name, double seconds);
/* Seconds; NaN: not known. `makes_file`: an open that does. */
double wio_meta_cost(const struct wio_meta *meta, unsigned op, bool makes_file);

#endif
