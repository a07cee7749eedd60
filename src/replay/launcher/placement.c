/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/launcher/placement.h"

#include "base/cleanup.h"

static int32_t rank_of(const struct rp_family *family, uint32_t group)
{
    /* a shell that becomes the program: whichever image has a rank */
    uint32_t image = family->groups[group].head;
    for (; image != RP_NONE && family->images[image].group == group;
         image = family->images[image].next) {
        int32_t rank = wio_trace_process(family->trace, image)->rank;
        if (rank >= 0) {
            return rank;
        }
    }
    return -1;
}

static uint32_t starter_of(const struct rp_family *family, uint32_t group)
{
    uint32_t parent = wio_trace_process(family->trace, family->groups[group].head)->parent;
    bool is_started = !family->groups[group].is_root && parent < family->image_count;
    return is_started ? family->images[parent].group : RP_NONE;
}

uint32_t rp_home_ranks(const struct rp_family *family)
{
    uint32_t ranks = 0;
    for (uint32_t i = 0; i < family->group_count; i++) {
        int32_t rank = rank_of(family, i);
        if (rank >= 0 && (uint32_t)rank >= ranks) {
            ranks = (uint32_t)rank + 1;
        }
    }
    return ranks;
}

/* The rank of the group, or of its nearest ancestor that has one; else 0. */
static uint32_t home_of(const struct rp_family *family, uint32_t group)
{
    uint32_t steps = 0;
    while (group != RP_NONE && steps++ <= family->group_count) {
        int32_t rank = rank_of(family, group);
        if (rank >= 0) {
            return (uint32_t)rank;
        }
        group = starter_of(family, group);
    }
    return 0;
}

enum wio_status rp_home_assign(struct rp_family *family, uint32_t ranks, uint32_t *homes,
                               struct wio_error *err)
{
    uint32_t recorded = rp_home_ranks(family);
    if (recorded != ranks) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                             "the trace has %u rank%s, and the launcher has started %u: start as "
                             "many as were recorded, or replay on one machine without a launcher",
                             recorded, recorded == 1 ? "" : "s", ranks);
    }
    for (uint32_t i = 0; i < family->group_count; i++) {
        homes[i] = home_of(family, i);
    }
    for (uint32_t i = 0; i < family->group_count; i++) {
        uint32_t starter = starter_of(family, i);
        if (starter != RP_NONE && homes[starter] != homes[i]) {
            family->groups[i].is_remote = true;
        }
    }
    return WIO_OK;
}
