/* SPDX-License-Identifier: Apache-2.0 */
#include "model/kernel/group.h"

#include <math.h>

/* The kernel's parts of dirtyable memory, where the machine's memory is not known. */
#define RATIO_BACKGROUND 0.1
#define RATIO_HARD 0.2
/* Two pages: the background limit is below it. */
#define HARD_LEAST 8192.0

static bool is_limited(const struct wio_model_params *params)
{
    return params->group_limit < WIO_MODEL_UNLIMITED;
}

/* What the group may have of files' pages. */
static double group_room(const struct wio_model_params *params)
{
    return fmax(params->group_limit - params->group_used, WIO_GROUP_LEAST);
}

double wio_group_room(const struct wio_model_params *params)
{
    return is_limited(params) ? fmin(params->mem_bytes, group_room(params)) : params->mem_bytes;
}

double wio_group_dirty_room(const struct wio_model_params *params)
{
    return is_limited(params) && params->group_version < 2 ? group_room(params)
                                                           : WIO_MODEL_UNLIMITED;
}

/* Which part of its memory the machine lets be dirty. */
static double ratio(const struct wio_model_params *params, double limit, double fallback)
{
    bool is_known = params->mem_bytes > 0 && params->mem_bytes < WIO_MODEL_UNLIMITED;
    return is_known ? fmin(limit / params->mem_bytes, 1) : fallback;
}

struct wio_group_limits wio_group_limits(const struct wio_model_params *params)
{
    struct wio_group_limits limits = {params->limit_bg, params->limit_hard};
    if (!is_limited(params) || params->group_version < 2) {
        return limits;
    }
    double room = group_room(params);
    double hard = room * ratio(params, params->limit_hard, RATIO_HARD);
    double background = room * ratio(params, params->limit_bg, RATIO_BACKGROUND);
    limits.hard = fmin(limits.hard, fmax(hard, HARD_LEAST));
    limits.background = fmin(limits.background, background);
    if (limits.background >= limits.hard) {
        limits.background = limits.hard / 2; /* as the kernel does */
    }
    return limits;
}
