/* SPDX-License-Identifier: Apache-2.0 */
/* docs/MODEL.md#kernel: rules are cited as (rule N). */
#include "model/cost/copy_cost.h"

#include <math.h>

#include "base/pick.h"
#include "model/kernel/cache.h"
#include "model/model_internal.h"

/* Pieces of `size` bytes in folios of at most `folio` bytes: a table has those that fill theirs. */
static double pieces_s(const struct wio_model_params *params, const struct wio_model_table *table,
                       uint64_t size, uint64_t folio)
{
    uint64_t length = folio > 0 ? wio_smaller(size, folio) : size;
    return wio_model_table_at(table, (double)length, params->bw_mem) *
           ((double)size / (double)length);
}

/* How many seconds a byte takes longer while the device writes back. Of two rates the second may be
 * the higher one, as measured; what a table says is the least. */
static double slower_s(const struct wio_model_params *params, const struct wio_copy *copy,
                       const struct wio_model_table *table)
{
    double seconds = copy->is_writing ? 1 / params->bw_reduced - 1 / params->bw_ramdisk : 0;
    return table->count > 0 ? fmax(seconds, 0) : seconds;
}

/* The next three: `bytes` of the piece are so. Each new folio is as large as its piece. */
static double new_s(const struct wio_model_params *params, const struct wio_copy *copy,
                    uint64_t bytes)
{
    const struct wio_model_table *table = &params->new_table;
    double part = (double)bytes / (double)copy->size;
    double seconds = table->count > 0 ? part * pieces_s(params, table, copy->size, 0)
                                      : params->c_folio + (double)bytes / params->bw_ramdisk;
    return seconds + (double)bytes * slower_s(params, copy, table);
}

static double clean_s(const struct wio_model_params *params, const struct wio_copy *copy,
                      uint64_t bytes)
{
    const struct wio_model_table *table = &params->clean_table;
    double rate = params->bw_clean > 0 ? params->bw_clean : params->bw_ramdisk;
    double part = (double)bytes / (double)copy->size;
    double folio_s = copy->absent > 0 || copy->goes_on ? 0 : params->c_clean; /* paid for */
    double seconds = table->count > 0
                         ? part * pieces_s(params, table, copy->size, copy->folio * WIO_CACHE_PAGE)
                         : folio_s + (double)bytes / rate;
    /* write-back slows them as it slows new pages */
    return seconds + (double)bytes * slower_s(params, copy, table) * params->bw_ramdisk / rate;
}

static double dirty_s(const struct wio_model_params *params, const struct wio_copy *copy,
                      uint64_t bytes)
{
    const struct wio_model_table *table = &params->dirty_table;
    double part = (double)bytes / (double)copy->size;
    if (table->count > 0) {
        return part * pieces_s(params, table, copy->size, copy->folio * WIO_CACHE_PAGE);
    }
    double rate = copy->is_writing ? params->bw_reduced : params->bw_ramdisk;
    return (double)bytes / fmax(params->bw_mem, rate);
}

/* The rest of a folio of which only a part is written (rule 2). */
static double walk_s(const struct wio_model_params *params, const struct wio_copy *copy)
{
    if (copy->absent > 0 || copy->goes_on) { /* none, or paid for */
        return 0;
    }
    uint64_t pages = (copy->within > 0 ? copy->within : copy->size) / WIO_CACHE_PAGE + 1;
    return copy->folio > pages ? (double)(copy->folio - pages) * params->c_walk : 0;
}

/* The buffer comes from memory there, or goes to it. */
static double far_s(const struct wio_model_params *params, uint64_t far)
{
    return far > 0 && params->bw_far > 0 ? (double)far / params->bw_far : 0;
}

double wio_copy_in_s(const struct wio_model_params *params, const struct wio_copy *copy)
{
    uint64_t fresh = wio_smaller(copy->fresh, copy->size);
    uint64_t absent = wio_smaller(copy->absent, fresh);
    double seconds = walk_s(params, copy) + far_s(params, copy->far);
    if (absent > 0) {
        seconds += new_s(params, copy, absent);
    }
    if (fresh > absent) {
        seconds += clean_s(params, copy, fresh - absent);
    }
    if (copy->size > fresh) {
        seconds += dirty_s(params, copy, copy->size - fresh);
    }
    return seconds;
}

/* The table's cost of the smallest folio that is read whole, without that of its bytes: reads of
 * parts of a larger folio have it once for many reads. */
static double find_s(const struct wio_model_table *table)
{
    const struct wio_model_point *points = table->points;
    size_t i = 0;
    while (i < table->count && points[i].bytes < WIO_CACHE_PAGE) {
        i++;
    }
    if (i + 1 >= table->count) {
        return 0;
    }
    double byte_s =
        (points[i + 1].seconds - points[i].seconds) / (points[i + 1].bytes - points[i].bytes);
    return fmax(points[i].seconds - points[i].bytes * byte_s, 0);
}

static double hit_s(const struct wio_model_params *params, uint64_t size, uint64_t folio)
{
    const struct wio_model_table *table = &params->hit_table;
    double seconds = pieces_s(params, table, size, folio);
    if (size >= folio) {
        return seconds;
    }
    double share = fmin((double)size / WIO_CACHE_PAGE, 1) * (1 - (double)size / (double)folio);
    return fmax(seconds - share * find_s(table), 0);
}

double wio_copy_out_s(const struct wio_model_params *params, uint64_t size, uint64_t folio,
                      uint64_t far)
{
    if (params->hit_table.count > 0 && size > 0) {
        uint64_t most = (uint64_t)fmax(params->balance_step, WIO_CACHE_PAGE);
        return hit_s(params, size, folio > 0 ? folio : most) + far_s(params, far);
    }
    return (double)size / (params->bw_hit > 0 ? params->bw_hit : params->bw_mem) +
           far_s(params, far);
}

uint64_t wio_copy_far(const struct wio_model_params *params, uint64_t size, uint64_t left)
{
    double near = params->cache_size;
    if (params->bw_far <= 0 || (double)left <= near) {
        return 0;
    }
    return (double)size < (double)left - near ? size : left - (uint64_t)near;
}

double wio_copy_call_s(const struct wio_model_params *params)
{
    return params->c_call > 0 ? params->c_call : params->sc_w;
}

double wio_copy_read_s(const struct wio_model_params *params)
{
    return params->sc_r > 0 ? params->sc_r : wio_copy_call_s(params);
}
