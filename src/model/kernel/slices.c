/* SPDX-License-Identifier: Apache-2.0 */
#include "model/kernel/slices.h"

#include <math.h>

/* What fits exactly does, however the numbers are rounded. */
#define FITS (1 + 1e-9)

void wio_slices_init(struct wio_slices *slices, double slice_s, double page_s)
{
    *slices = (struct wio_slices){.slice_s = slice_s, .page_s = page_s};
}

/* Slices are counted from the first write after a rest, and from the begin of the last but one
 * later on; what they had left over is lost then. */
static void renew(struct wio_slices *slices, double now)
{
    double past = floor((now - slices->begin_s) / slices->slice_s) - 1;
    if (now > slices->end_s) {
        slices->begin_s = now;
        slices->passed = 0;
    } else if (past >= 1) {
        slices->begin_s += past * slices->slice_s;
        slices->passed = fmax(slices->passed - past * slices->slice_s / slices->page_s, 0);
    }
}

/* When all of it is paid for. */
static double paid_s(const struct wio_slices *slices)
{
    return slices->begin_s + slices->passed * slices->page_s;
}

/* They are forgotten a slice later, or two, since their ends are multiples of one; not before all
 * is paid for. */
static void count(struct wio_slices *slices, double pages, double now)
{
    slices->passed += pages;
    double ends = fmax(ceil(now / slices->slice_s) + 1, ceil(paid_s(slices) / slices->slice_s));
    slices->end_s = fmax(slices->end_s, ends * slices->slice_s);
}

double wio_slices_pass(struct wio_slices *slices, double pages, double now)
{
    double at_s = fmax(now, slices->opened_s);
    renew(slices, at_s);
    double begun = fmax(ceil((at_s - slices->begin_s) / slices->slice_s), 1);
    double room = begun * slices->slice_s / slices->page_s;
    count(slices, pages, at_s);
    if (slices->passed > room * FITS) {
        at_s = fmax(at_s, paid_s(slices));
        slices->opened_s = at_s;
        count(slices, 0, at_s);
    }
    return at_s;
}

void wio_slices_owe(struct wio_slices *slices, double pages, double now)
{
    renew(slices, now);
    count(slices, pages, now);
}
