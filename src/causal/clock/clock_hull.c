/* SPDX-License-Identifier: Apache-2.0 */
#include "causal/clock/clock_hull.h"

#include "base/cleanup.h"

#define LIMIT_FIRST 256

static bool is_left(const struct wio_hull_point *a, const struct wio_hull_point *b)
{
    return a->t != b->t ? a->t < b->t : a->y < b->y;
}

static void sink(struct wio_hull_point *points, size_t at, size_t count)
{
    struct wio_hull_point moved = points[at];
    for (size_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && is_left(&points[child], &points[child + 1])) {
            child++;
        }
        if (!is_left(&moved, &points[child])) {
            break;
        }
        points[at] = points[child];
        at = child;
    }
    points[at] = moved;
}

/* Heapsort: the C library's sorting takes memory of its own. */
static void sort(struct wio_hull_point *points, size_t count)
{
    for (size_t i = count / 2; i > 0; i--) {
        sink(points, i - 1, count);
    }
    for (size_t i = count; i > 1; i--) {
        struct wio_hull_point last = points[i - 1];
        points[i - 1] = points[0];
        points[0] = last;
        sink(points, 0, i - 1);
    }
}

/* Does `b` lie on the line's side of the chord from `a` to `c`? */
static bool bulges(const struct wio_hull *hull, const struct wio_hull_point *a,
                   const struct wio_hull_point *b, const struct wio_hull_point *c)
{
    double turn = (b->t - a->t) * (c->y - a->y) - (b->y - a->y) * (c->t - a->t);
    return turn * hull->sign < 0;
}

/* Andrew's monotone chain, the half that faces the line. */
static void reduce(struct wio_hull *hull)
{
    size_t kept = 0;
    sort(hull->points, hull->count);
    for (size_t i = 0; i < hull->count; i++) {
        struct wio_hull_point point = hull->points[i];
        while (kept >= 2 &&
               !bulges(hull, &hull->points[kept - 2], &hull->points[kept - 1], &point)) {
            kept--;
        }
        hull->points[kept++] = point;
    }
    hull->count = kept;
}

enum wio_status wio_hull_add(struct wio_hull *hull, const struct wio_alloc *alloc,
                             struct wio_hull_point point)
{
    if (hull->count >= hull->limit && hull->count > 0) {
        reduce(hull);
        hull->limit = hull->count * 2 > LIMIT_FIRST ? hull->count * 2 : LIMIT_FIRST;
    }
    WIO_TRY(wio_alloc_room(alloc, (void **)&hull->points, &hull->room, hull->count + 1,
                           sizeof(*hull->points)));
    hull->points[hull->count++] = point;
    return WIO_OK;
}

double wio_hull_touch(const struct wio_hull *hull, double slope)
{
    WIO_PRE(hull->count > 0);
    double touch = hull->points[0].y - slope * hull->points[0].t;
    for (size_t i = 1; i < hull->count; i++) {
        double intercept = hull->points[i].y - slope * hull->points[i].t;
        touch = (intercept - touch) * hull->sign > 0 ? intercept : touch;
    }
    return touch;
}
