/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vector clocks that are shared as long as they are equal, and where they differ share the parts
 * that do not: of ten thousand processes each knows a few, and a clock of its own for each would
 * take ten thousand squared entries.
 */
#include <string.h>

#include "base/cleanup.h"
#include "causal/order/order_internal.h"

void wio_order_clocks_init(struct wio_order_clocks *clocks, const struct wio_alloc *alloc,
                           uint32_t threads)
{
    *clocks = (struct wio_order_clocks){
        .alloc = *alloc,
        .threads = threads,
        .group_count = threads / (WIO_ORDER_PART * WIO_ORDER_GROUP) + 1,
        .part_size = threads < WIO_ORDER_PART ? threads : WIO_ORDER_PART,
    };
}

const uint64_t *wio_order_known_part(const struct wio_order_clock *clock, uint32_t part)
{
    const struct wio_order_group *group = clock->groups[part / WIO_ORDER_GROUP];
    const struct wio_order_part *known =
        group == NULL ? NULL : group->parts[part % WIO_ORDER_GROUP];
    return known == NULL ? NULL : known->at;
}

uint64_t wio_order_known(const struct wio_order_clock *clock, uint32_t thread)
{
    const uint64_t *part = wio_order_known_part(clock, thread / WIO_ORDER_PART);
    return part == NULL ? 0 : part[thread % WIO_ORDER_PART];
}

struct wio_order_clock *wio_order_clock_get(struct wio_order_clocks *clocks)
{
    size_t bytes = clocks->group_count * sizeof(struct wio_order_group *);
    struct wio_order_clock *clock = clocks->free;
    if (clock != NULL) {
        clocks->free = clock->next;
        memset(clock->groups, 0, bytes);
    } else {
        clock = clocks->alloc.get(clocks->alloc.context, sizeof(*clock) + bytes);
    }
    if (clock != NULL) {
        clock->refs = 1;
        clock->next = NULL;
    }
    return clock;
}

static void put_part(struct wio_order_clocks *clocks, struct wio_order_part *part)
{
    if (part != NULL && --part->refs == 0) {
        part->next = clocks->free_parts;
        clocks->free_parts = part;
    }
}

static void put_group(struct wio_order_clocks *clocks, struct wio_order_group *group)
{
    if (group == NULL || --group->refs > 0) {
        return;
    }
    for (uint32_t p = 0; p < WIO_ORDER_GROUP; p++) {
        put_part(clocks, group->parts[p]);
    }
    group->next = clocks->free_groups;
    clocks->free_groups = group;
}

void wio_order_clock_put(struct wio_order_clocks *clocks, struct wio_order_clock *clock)
{
    if (clock == NULL || --clock->refs > 0) {
        return;
    }
    for (uint32_t g = 0; g < clocks->group_count; g++) {
        put_group(clocks, clock->groups[g]);
    }
    clock->next = clocks->free;
    clocks->free = clock;
}

/* Replace *clock by one that is not shared; its groups are shared still. */
static enum wio_status own_clock(struct wio_order_clocks *clocks, struct wio_order_clock **clock)
{
    if ((*clock)->refs == 1) {
        return WIO_OK;
    }
    struct wio_order_clock *own = wio_order_clock_get(clocks);
    if (own == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t g = 0; g < clocks->group_count; g++) {
        own->groups[g] = (*clock)->groups[g];
        if (own->groups[g] != NULL) {
            own->groups[g]->refs++;
        }
    }
    wio_order_clock_put(clocks, *clock);
    *clock = own;
    return WIO_OK;
}

/* Replace *group, which may be NULL, by one that is not shared; its parts are shared still. */
static enum wio_status own_group(struct wio_order_clocks *clocks, struct wio_order_group **group)
{
    if (*group != NULL && (*group)->refs == 1) {
        return WIO_OK;
    }
    struct wio_order_group *own = clocks->free_groups;
    if (own != NULL) {
        clocks->free_groups = own->next;
    } else {
        own = clocks->alloc.get(clocks->alloc.context, sizeof(*own));
    }
    if (own == NULL) {
        return WIO_ERR_NOMEM;
    }
    *own = (struct wio_order_group){.refs = 1};
    for (uint32_t p = 0; p < WIO_ORDER_GROUP && *group != NULL; p++) {
        own->parts[p] = (*group)->parts[p];
        if (own->parts[p] != NULL) {
            own->parts[p]->refs++;
        }
    }
    put_group(clocks, *group);
    *group = own;
    return WIO_OK;
}

/* The place of a part in *clock, which it alone has from now on, and its group. */
static enum wio_status own_place(struct wio_order_clocks *clocks, struct wio_order_clock **clock,
                                 uint32_t part, struct wio_order_part ***place_out)
{
    WIO_TRY(own_clock(clocks, clock));
    struct wio_order_group **group = &(*clock)->groups[part / WIO_ORDER_GROUP];
    WIO_TRY(own_group(clocks, group));
    *place_out = &(*group)->parts[part % WIO_ORDER_GROUP];
    return WIO_OK;
}

/* Replace *part, which may be NULL, by one that is not shared. */
static enum wio_status own_part(struct wio_order_clocks *clocks, struct wio_order_part **part)
{
    if (*part != NULL && (*part)->refs == 1) {
        return WIO_OK;
    }
    size_t bytes = clocks->part_size * sizeof((*part)->at[0]);
    struct wio_order_part *own = clocks->free_parts;
    if (own != NULL) {
        clocks->free_parts = own->next;
    } else {
        own = clocks->alloc.get(clocks->alloc.context, sizeof(*own) + bytes);
    }
    if (own == NULL) {
        return WIO_ERR_NOMEM;
    }
    if (*part != NULL) {
        memcpy(own->at, (*part)->at, bytes);
    } else {
        memset(own->at, 0, bytes);
    }
    own->refs = 1;
    own->next = NULL;
    put_part(clocks, *part);
    *part = own;
    return WIO_OK;
}

/* Does `a` know something of these threads that `b` does not? */
static bool knows_more(const struct wio_order_clocks *clocks, const struct wio_order_part *a,
                       const struct wio_order_part *b)
{
    if (a == NULL || a == b) {
        return false;
    }
    for (uint32_t i = 0; i < clocks->part_size; i++) {
        if (a->at[i] > (b == NULL ? 0 : b->at[i])) {
            return true;
        }
    }
    return false;
}

static enum wio_status raise_part(struct wio_order_clocks *clocks, struct wio_order_clock **into,
                                  struct wio_order_part *from, uint32_t p)
{
    struct wio_order_part **part;
    WIO_TRY(own_place(clocks, into, p, &part));
    if (!knows_more(clocks, *part, from)) {
        from->refs++;
        put_part(clocks, *part);
        *part = from;
        return WIO_OK;
    }
    WIO_TRY(own_part(clocks, part));
    for (uint32_t i = 0; i < clocks->part_size; i++) {
        (*part)->at[i] = from->at[i] > (*part)->at[i] ? from->at[i] : (*part)->at[i];
    }
    return WIO_OK;
}

static enum wio_status share_group(struct wio_order_clocks *clocks, struct wio_order_clock **into,
                                   struct wio_order_group *from, uint32_t g)
{
    WIO_TRY(own_clock(clocks, into));
    from->refs++;
    put_group(clocks, (*into)->groups[g]);
    (*into)->groups[g] = from;
    return WIO_OK;
}

/* What the group number `g` of another clock knows; it is shared where that is all. */
static enum wio_status raise_group(struct wio_order_clocks *clocks, struct wio_order_clock **into,
                                   struct wio_order_group *from, uint32_t g)
{
    bool is_raised = false;
    if (from == NULL || from == (*into)->groups[g]) {
        return WIO_OK;
    }
    if ((*into)->groups[g] == NULL) {
        return share_group(clocks, into, from, g);
    }
    for (uint32_t p = 0; p < WIO_ORDER_GROUP; p++) {
        if (knows_more(clocks, from->parts[p], (*into)->groups[g]->parts[p])) {
            WIO_TRY(raise_part(clocks, into, from->parts[p], g * WIO_ORDER_GROUP + p));
            is_raised = true;
        }
    }
    bool is_same =
        is_raised && memcmp(from->parts, (*into)->groups[g]->parts, sizeof(from->parts)) == 0;
    return is_same ? share_group(clocks, into, from, g) : WIO_OK;
}

enum wio_status wio_order_clock_join(struct wio_order_clocks *clocks, struct wio_order_clock **into,
                                     const struct wio_order_clock *from, struct wio_point done)
{
    struct wio_order_part **part;
    for (uint32_t g = 0; g < clocks->group_count; g++) {
        WIO_TRY(raise_group(clocks, into, from->groups[g], g));
    }
    if (done.op <= wio_order_known(*into, done.thread)) {
        return WIO_OK;
    }
    WIO_TRY(own_place(clocks, into, done.thread / WIO_ORDER_PART, &part));
    WIO_TRY(own_part(clocks, part));
    (*part)->at[done.thread % WIO_ORDER_PART] = done.op;
    return WIO_OK;
}

void wio_order_clocks_fini(struct wio_order_clocks *clocks)
{
    while (clocks->free != NULL) {
        struct wio_order_clock *clock = clocks->free;
        clocks->free = clock->next;
        clocks->alloc.put(clocks->alloc.context, clock);
    }
    while (clocks->free_groups != NULL) {
        struct wio_order_group *group = clocks->free_groups;
        clocks->free_groups = group->next;
        clocks->alloc.put(clocks->alloc.context, group);
    }
    while (clocks->free_parts != NULL) {
        struct wio_order_part *part = clocks->free_parts;
        clocks->free_parts = part->next;
        clocks->alloc.put(clocks->alloc.context, part);
    }
}
