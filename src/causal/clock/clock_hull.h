/* SPDX-License-Identifier: Apache-2.0 */
/* Points that bound a line from one side: only their convex hull is kept. */
#ifndef WIO_CAUSAL_CLOCK_CLOCK_HULL_H
#define WIO_CAUSAL_CLOCK_CLOCK_HULL_H

#include <stdbool.h>

#include "base/memory.h"

struct wio_hull_point {
    double t;
    double y;
};

/* Zero but for `sign`: +1 the line is to lie above the points, -1 below. */
struct wio_hull {
    struct wio_hull_point *points;
    size_t count;
    size_t room;
    size_t limit; /* beyond it points inside the hull are dropped */
    double sign;
};

WIO_MUST_CHECK enum wio_status wio_hull_add(struct wio_hull *hull, const struct wio_alloc *alloc,
                                            struct wio_hull_point point);
/* The intercept of the line with this slope that touches the points: the least that lies above all
 * (sign +1), the largest that lies below all (-1). There must be a point. */
double wio_hull_touch(const struct wio_hull *hull, double slope);

#endif
