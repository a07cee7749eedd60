/* SPDX-License-Identifier: Apache-2.0 */
/* Vector clocks that are shared as long as they are equal, and used again when nobody needs them.
 */
#include <string.h>

#include "causal/order_internal.h"

struct wio_order_clock *wio_order_clock_get(struct wio_order_clocks *clocks)
{
    size_t bytes = clocks->threads * sizeof(clocks->free->at[0]);
    struct wio_order_clock *clock = clocks->free;
    if (clock != NULL) {
        clocks->free = clock->next;
        memset(clock->at, 0, bytes);
    } else {
        clock = clocks->alloc.get(clocks->alloc.context, sizeof(*clock) + bytes);
    }
    if (clock != NULL) {
        clock->refs = 1;
        clock->next = NULL;
    }
    return clock;
}

void wio_order_clock_put(struct wio_order_clocks *clocks, struct wio_order_clock *clock)
{
    if (clock != NULL && --clock->refs == 0) {
        clock->next = clocks->free;
        clocks->free = clock;
    }
}

enum wio_status wio_order_clock_own(struct wio_order_clocks *clocks, struct wio_order_clock **clock)
{
    if ((*clock)->refs == 1) {
        return WIO_OK;
    }
    struct wio_order_clock *own = wio_order_clock_get(clocks);
    if (own == NULL) {
        return WIO_ERR_NOMEM;
    }
    memcpy(own->at, (*clock)->at, clocks->threads * sizeof(own->at[0]));
    wio_order_clock_put(clocks, *clock);
    *clock = own;
    return WIO_OK;
}

void wio_order_clocks_fini(struct wio_order_clocks *clocks)
{
    while (clocks->free != NULL) {
        struct wio_order_clock *clock = clocks->free;
        clocks->free = clock->next;
        clocks->alloc.put(clocks->alloc.context, clock);
    }
}
