/* SPDX-License-Identifier: Apache-2.0 */
/* docs/MODEL.md#kernel: rules are cited as (rule N). */
#include "model/copy.h"

#include <math.h>

#include "model/cache.h"

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* What is the same for any number of bytes in it (rule 2). */
static double folio_s(const struct wio_model_params *params, const struct wio_copy *copy)
{
    if (copy->absent > 0) {
        return params->c_folio;
    }
    if (copy->goes_on) { /* paid for */
        return 0;
    }
    uint64_t pages = (copy->within > 0 ? copy->within : copy->size) / WIO_CACHE_PAGE + 1;
    double rest = copy->folio > pages ? (double)(copy->folio - pages) : 0;
    return rest * params->c_walk + (copy->fresh > 0 ? params->c_clean : 0);
}

double wio_copy_in_s(const struct wio_model_params *params, const struct wio_copy *copy)
{
    double rate = copy->is_writing ? params->bw_reduced : params->bw_ramdisk;
    uint64_t fresh = least(copy->fresh, copy->size);
    uint64_t clean = params->bw_clean > 0 ? fresh - least(copy->absent, fresh) : 0;
    double seconds =
        (double)(fresh - clean) / rate + (double)(copy->size - fresh) / fmax(params->bw_mem, rate);
    if (clean > 0) { /* write-back slows them as it slows new pages */
        seconds += (double)clean / params->bw_clean * (params->bw_ramdisk / rate);
    }
    return seconds + folio_s(params, copy);
}

double wio_copy_out_s(const struct wio_model_params *params, uint64_t size)
{
    return (double)size / (params->bw_hit > 0 ? params->bw_hit : params->bw_mem);
}

double wio_copy_call_s(const struct wio_model_params *params)
{
    return params->c_call > 0 ? params->c_call : params->sc_w;
}

double wio_copy_read_s(const struct wio_model_params *params)
{
    return params->sc_r > 0 ? params->sc_r : wio_copy_call_s(params);
}
