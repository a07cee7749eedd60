/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/findings/prepare_transfers.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "ops/calls.h"

/* Fewer transfers with as many others under way tell nothing. */
#define LEVEL_LEAST 8u

void wio_prepared_transfers_fini(struct wio_prepared_transfers *prepared)
{
    free(prepared->overlaps);
    free(prepared->concurrent);
    free(prepared->best_part);
    free(prepared->amplified);
    free(prepared->aggregators);
}

static enum wio_status add_to(struct wio_map *sums, uint64_t key, uint64_t more)
{
    uint64_t *sum = wio_map_get(sums, key);

    if (sum != NULL) {
        *sum += more;
        return WIO_OK;
    }
    return wio_map_put(sums, key, more);
}

static uint64_t sum_of(const struct wio_map *sums, uint64_t key)
{
    const uint64_t *sum = wio_map_get(sums, key);

    return sum != NULL ? *sum : 0;
}

/* ---- transfers that could go on beside computing ---- */

struct overlaps {
    struct wio_map count;
    struct wio_map ns;
    struct wio_map all_ns;
    struct wio_map critical_ns;
};

static void overlaps_fini(struct overlaps *overlaps)
{
    wio_map_fini(&overlaps->count);
    wio_map_fini(&overlaps->ns);
    wio_map_fini(&overlaps->all_ns);
    wio_map_fini(&overlaps->critical_ns);
}

static uint64_t site_and_stream(const struct wio_step *step)
{
    return (uint64_t)step->site << 32 | step->stream;
}

/* Of the critical path: the rest says how loaded the machine was. */
static uint64_t time_with_a_processor(const struct wio_finding_input *input)
{
    uint64_t ns = 0;

    for (uint32_t i = 0; i < input->steps->count; i++) {
        const struct wio_step *step = &input->steps->steps[i];
        ns += wio_finding_site(input, step)->kind == WIO_STEP_CPU_WAIT ? step->critical_ns : 0;
    }
    return input->duration_ns > ns ? input->duration_ns - ns : 0;
}

/* By site and thread, over all files. */
static enum wio_status see_overlaps(const struct wio_finding_input *input, uint8_t *is_there)
{
    WIO_CLEANUP(overlaps_fini) struct overlaps sums = {0};
    const struct wio_thresholds *limits = input->thresholds;
    uint64_t run_ns = time_with_a_processor(input);

    for (uint32_t i = 0; i < input->steps->count; i++) {
        const struct wio_step *step = &input->steps->steps[i];
        uint64_t key = site_and_stream(step);
        if (step->pattern != NULL) {
            WIO_TRY(add_to(&sums.count, key, step->pattern->overlaps));
            WIO_TRY(add_to(&sums.ns, key, step->pattern->overlap_ns));
            WIO_TRY(add_to(&sums.all_ns, key, step->time_ns));
            WIO_TRY(add_to(&sums.critical_ns, key, step->critical_ns));
        }
    }
    for (uint32_t i = 0; i < input->steps->count; i++) {
        const struct wio_step *step = &input->steps->steps[i];
        uint64_t key = site_and_stream(step);
        is_there[i] =
            step->pattern != NULL && (double)sum_of(&sums.count, key) >= limits->many_overlaps &&
            wio_finding_part(sum_of(&sums.ns, key), sum_of(&sums.all_ns, key)) >=
                limits->dominant &&
            wio_finding_part(sum_of(&sums.critical_ns, key), run_ns) >= limits->overlap_share;
    }
    return WIO_OK;
}

/* ---- too many at a time ---- */

struct levels {
    struct wio_level of[WIO_LEVELS];
};

/* Bytes per ns of all together, if `count` are under way. */
static double rate_of(const struct levels *site, uint32_t level, uint32_t count)
{
    return count * wio_finding_part(site->of[level].bytes, site->of[level].ns);
}

/* Bits of the levels in which all together move far less than fewer did. */
static uint32_t find_slow_levels(const struct wio_finding_input *input, const struct levels *site,
                                 float *best_part)
{
    double best = 0;
    uint32_t bits = 0;

    for (uint32_t i = 0; i < WIO_LEVELS; i++) {
        uint32_t most = 1u << i;
        uint32_t least = i < 2 ? most : most / 2 + 1;
        if (site->of[i].count < LEVEL_LEAST) {
            continue;
        }
        if (best > 0 && rate_of(site, i, most) * input->thresholds->concurrency <= best) {
            bits |= 1u << i;
            *best_part = (float)(rate_of(site, i, most) / best);
        }
        double rate = rate_of(site, i, least);
        best = rate > best ? rate : best;
    }
    return bits;
}

static void sum_levels(const struct wio_finding_input *input, struct levels *sites)
{
    for (uint32_t i = 0; i < input->steps->count; i++) {
        const struct wio_step *step = &input->steps->steps[i];
        struct levels *site = &sites[step->site];
        for (uint32_t k = 0; step->pattern != NULL && k < WIO_LEVELS; k++) {
            site->of[k].count += step->pattern->levels[k].count;
            site->of[k].bytes += step->pattern->levels[k].bytes;
            site->of[k].ns += step->pattern->levels[k].ns;
        }
    }
}

static enum wio_status see_levels(const struct wio_finding_input *input,
                                  struct wio_prepared_transfers *prepared)
{
    struct levels *sites = calloc((size_t)input->steps->site_count + 1, sizeof(*sites));

    if (sites == NULL) {
        return WIO_ERR_NOMEM;
    }
    sum_levels(input, sites);
    for (uint32_t i = 0; i < input->steps->count; i++) {
        const struct wio_step *step = &input->steps->steps[i];
        uint32_t bits = step->pattern != NULL
                            ? find_slow_levels(input, &sites[step->site], &prepared->best_part[i])
                            : 0;
        uint64_t ns = 0;
        for (uint32_t k = 0; bits != 0 && k < WIO_LEVELS; k++) {
            ns += (bits & 1u << k) != 0 ? step->pattern->levels[k].ns : 0;
        }
        prepared->concurrent[i] = (float)wio_finding_part(ns, step->time_ns);
    }
    free(sites);
    return WIO_OK;
}

/* ---- more bytes than the caller has asked for ---- */

static bool is_stdio(unsigned op)
{
    return (wio_op_properties(op) & WIO_DOES_STREAM) != 0;
}

/* Of a call by whose buffers or chunks others are caused: those of a file's stream belong together
 * (fseek reads what fread gives), those of MPI-IO by call. 0: it is none. */
static uint64_t caller_key(const struct wio_finding_input *input, const struct wio_step *step,
                           unsigned op)
{
    if (is_stdio(op)) {
        return (uint64_t)step->stream << 32 | step->path | UINT64_C(1) << 63;
    }
    return wio_op_class(op) == WIO_CLASS_MPI_FILE
               ? (uint64_t)wio_finding_site(input, step)->place << 16 | op
               : 0;
}

static bool asks_for_bytes(uint32_t op)
{
    enum wio_class cls = op < WIO_OP_COMPUTE ? wio_op_class(op) : WIO_CLASS_UNKNOWN;

    return cls == WIO_CLASS_STDIO_READ || cls == WIO_CLASS_STDIO_WRITE || cls == WIO_CLASS_MPI_FILE;
}

static enum wio_status sum_calls(const struct wio_finding_input *input, struct wio_map *asked,
                                 struct wio_map *moved)
{
    for (uint32_t i = 0; i < input->steps->count; i++) {
        const struct wio_step *step = &input->steps->steps[i];
        const struct wio_site *site = wio_finding_site(input, step);
        uint64_t outer =
            step->pattern != NULL && site->outer != 0 && site->outer < WIO_OUTER_CHANNEL
                ? caller_key(input, step, site->outer)
                : 0;
        uint64_t own = asks_for_bytes(site->op) ? caller_key(input, step, site->op) : 0;
        if (outer != 0) {
            WIO_TRY(add_to(moved, outer, step->bytes));
        } else if (own != 0) {
            WIO_TRY(add_to(asked, own, step->asked));
        }
    }
    return WIO_OK;
}

static enum wio_status see_amplified(const struct wio_finding_input *input, float *amplified)
{
    WIO_CLEANUP(wio_map_fini) struct wio_map asked = {0};
    WIO_CLEANUP(wio_map_fini) struct wio_map moved = {0};

    WIO_TRY(sum_calls(input, &asked, &moved));
    for (uint32_t i = 0; i < input->steps->count; i++) {
        const struct wio_step *step = &input->steps->steps[i];
        unsigned outer = wio_finding_site(input, step)->outer;
        if (step->pattern == NULL || outer == 0 || outer >= WIO_OUTER_CHANNEL) {
            continue;
        }
        uint64_t key = caller_key(input, step, outer);
        uint64_t bytes = key != 0 ? sum_of(&moved, key) : 0;
        if ((double)bytes >= input->thresholds->stdio_bytes && sum_of(&asked, key) > 0) {
            amplified[i] = (float)wio_finding_part(bytes, sum_of(&asked, key));
        }
    }
    return WIO_OK;
}

/* ---- ranks that transfer in a collective call of MPI-IO ---- */

bool wio_finding_is_collective_io(unsigned op)
{
    return strncmp(wio_op_name(op), "MPI_File_", 9) == 0 && wio_op_class(op) != WIO_CLASS_MPI_FILE;
}

/* Ranks that transfer at a site, each once, and their hosts. */
static enum wio_status see_aggregators(const struct wio_finding_input *input, uint8_t *is_there)
{
    WIO_CLEANUP(wio_map_fini) struct wio_map seen = {0};
    WIO_CLEANUP(wio_map_fini) struct wio_map ranks = {0};

    for (uint32_t i = 0; i < input->steps->count; i++) {
        const struct wio_step *step = &input->steps->steps[i];
        const struct wio_site *site = wio_finding_site(input, step);
        int32_t rank = wio_finding_rank(input, step);
        uint64_t key = (uint64_t)step->site << 32 | (uint32_t)rank;
        if (step->pattern != NULL && rank >= 0 && site->outer < WIO_OUTER_CHANNEL &&
            wio_finding_is_collective_io(site->outer) && wio_map_get(&seen, key) == NULL) {
            WIO_TRY(wio_map_put(&seen, key, 1));
            WIO_TRY(add_to(&ranks, step->site, 1));
        }
    }
    for (uint32_t i = 0; i < input->steps->count; i++) {
        uint64_t count = sum_of(&ranks, input->steps->steps[i].site);
        is_there[i] = input->steps->steps[i].pattern != NULL && count > input->hosts;
    }
    return WIO_OK;
}

static enum wio_status count_hosts(const struct wio_trace *trace, uint32_t *hosts_out)
{
    WIO_CLEANUP(wio_strtab_fini) struct wio_strtab names = {0};
    uint32_t id;

    for (uint32_t i = 0; i < wio_trace_process_count(trace); i++) {
        const char *host = wio_trace_process(trace, i)->host;
        WIO_TRY(wio_strtab_add(&names, host, strlen(host), &id));
    }
    *hosts_out = names.count;
    return WIO_OK;
}

enum wio_status wio_prepare_transfers(struct wio_finding_input *input,
                                      struct wio_prepared_transfers *prepared)
{
    size_t room = (size_t)input->steps->count + 1;

    prepared->overlaps = calloc(room, 1);
    prepared->concurrent = calloc(room, sizeof(float));
    prepared->best_part = calloc(room, sizeof(float));
    prepared->amplified = calloc(room, sizeof(float));
    prepared->aggregators = calloc(room, 1);
    if (prepared->overlaps == NULL || prepared->concurrent == NULL || prepared->best_part == NULL ||
        prepared->amplified == NULL || prepared->aggregators == NULL) {
        return WIO_ERR_NOMEM;
    }
    WIO_TRY(count_hosts(input->trace, &input->hosts));
    WIO_TRY(see_overlaps(input, prepared->overlaps));
    WIO_TRY(see_levels(input, prepared));
    WIO_TRY(see_amplified(input, prepared->amplified));
    WIO_TRY(see_aggregators(input, prepared->aggregators));
    input->overlaps = prepared->overlaps;
    input->concurrent = prepared->concurrent;
    input->best_part = prepared->best_part;
    input->amplified = prepared->amplified;
    input->aggregators = prepared->aggregators;
    return WIO_OK;
}
