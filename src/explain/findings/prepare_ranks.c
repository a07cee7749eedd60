/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/findings/prepare_ranks.h"

#include <stdlib.h>

#include "base/cleanup.h"

void wio_prepared_ranks_fini(struct wio_prepared_ranks *prepared)
{
    free(prepared->straggling);
    free(prepared->alone);
}

/* ---- ranks that need longer than the others ---- */

struct at_site {
    uint32_t site;
    int32_t rank;
    uint64_t ns;
    uint32_t step;
};

static int by_site_and_rank(const void *a, const void *b)
{
    const struct at_site *x = a;
    const struct at_site *y = b;

    if (x->site != y->site) {
        return x->site < y->site ? -1 : 1;
    }
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static int by_ns(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* The rows of one site, by rank: ranks above the median. `sums` has room for all. */
static void compare_ranks(const struct wio_finding_input *input, const struct at_site *rows,
                          uint32_t count, uint64_t *sums, float *straggling)
{
    uint32_t ranks = 0;
    uint64_t median;

    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || rows[i].rank != rows[i - 1].rank) {
            sums[ranks++] = 0;
        }
        sums[ranks - 1] += rows[i].ns;
    }
    if (ranks < 2 || ranks * 2 <= input->ranks) {
        return;
    }
    qsort(sums, ranks, sizeof(*sums), by_ns);
    median = sums[(ranks - 1) / 2];
    for (uint32_t i = 0; i < count;) {
        uint32_t end = i;
        uint64_t own = 0;
        for (; end < count && rows[end].rank == rows[i].rank; end++) {
            own += rows[end].ns;
        }
        bool is_far = (double)own > input->thresholds->straggler * (double)median &&
                      wio_finding_part(own - median, input->duration_ns) > 0.01;
        for (; i < end; i++) {
            straggling[rows[i].step] = is_far ? (float)(1 - wio_finding_part(median, own)) : 0;
        }
    }
}

/* ---- a rank that does what others wait for at a site ---- */

/* Of the rows of one site, by rank. Others wait for it at least this part of its time. */
#define WAITED_PART 0.25

static void find_alone(const struct wio_finding_input *input, const struct at_site *rows,
                       uint32_t count, uint8_t *alone)
{
    uint64_t all = 0;
    uint64_t most = 0;
    uint64_t caused = 0;
    int32_t rank = -1;
    uint64_t own = 0;

    for (uint32_t i = 0; i < count; i++) {
        own = i > 0 && rows[i].rank == rows[i - 1].rank ? own + rows[i].ns : rows[i].ns;
        all += rows[i].ns;
        caused += rows[i].step < input->waiting->caused_capacity
                      ? input->waiting->caused_ns[rows[i].step]
                      : 0;
        if (own > most) {
            most = own;
            rank = rows[i].rank;
        }
    }
    bool is_alone = input->ranks > 1 &&
                    wio_finding_part(most, all) >= input->thresholds->one_rank &&
                    wio_finding_part(caused, most) >= WAITED_PART;
    for (uint32_t i = 0; i < count; i++) {
        alone[rows[i].step] = is_alone && rows[i].rank == rank;
    }
}

static enum wio_status see_sites(const struct wio_finding_input *input,
                                 const struct wio_prepared_ranks *prepared)
{
    size_t room = (size_t)input->steps->count + 1;
    struct at_site *rows = calloc(room, sizeof(*rows));
    uint64_t *sums = calloc(room, sizeof(*sums));
    uint32_t count = 0;

    for (uint32_t i = 0; rows != NULL && i < input->steps->count; i++) {
        const struct wio_step *step = &input->steps->steps[i];
        int32_t rank = wio_finding_rank(input, step);
        if (rank >= 0 && step->pattern != NULL) { /* that transfers data */
            rows[count++] = (struct at_site){step->site, rank, step->self_ns, i};
        }
    }
    if (rows != NULL && sums != NULL) {
        qsort(rows, count, sizeof(*rows), by_site_and_rank);
        for (uint32_t i = 0, end; i < count; i = end) {
            for (end = i; end < count && rows[end].site == rows[i].site; end++) {
            }
            compare_ranks(input, &rows[i], end - i, sums, prepared->straggling);
            find_alone(input, &rows[i], end - i, prepared->alone);
        }
    }
    bool is_short = rows == NULL || sums == NULL;
    free(rows);
    free(sums);
    return is_short ? WIO_ERR_NOMEM : WIO_OK;
}

/* ---- one rank that does the I/O of all ---- */

static enum wio_status see_io_rank(struct wio_finding_input *input)
{
    uint64_t *sums = calloc((size_t)input->steps->count + 1, sizeof(*sums));
    uint64_t all = 0;
    uint64_t most = 0;
    uint64_t caused = 0;

    input->io_rank = -1;
    if (sums == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < input->steps->count; i++) {
        const struct wio_step *step = &input->steps->steps[i];
        int32_t rank = wio_finding_rank(input, step);
        if (rank < 0 || (uint32_t)rank >= input->steps->count || !wio_finding_is_io(input, step)) {
            continue;
        }
        if (step->pattern == NULL) {
            continue; /* names alone */
        }
        sums[rank] += step->self_ns;
        all += step->self_ns;
        caused += i < input->waiting->caused_capacity ? input->waiting->caused_ns[i] : 0;
        if (sums[rank] > most) {
            most = sums[rank];
            input->io_rank = rank;
        }
    }
    free(sums);
    input->io_rank_part = wio_finding_part(most, all);
    if (input->ranks < 2 || input->io_rank_part < input->thresholds->one_rank ||
        wio_finding_part(caused, most) < WAITED_PART) {
        input->io_rank = -1;
    }
    return WIO_OK;
}

enum wio_status wio_prepare_ranks(struct wio_finding_input *input,
                                  struct wio_prepared_ranks *prepared)
{
    prepared->straggling = calloc((size_t)input->steps->count + 1, sizeof(float));
    prepared->alone = calloc((size_t)input->steps->count + 1, 1);
    if (prepared->straggling == NULL || prepared->alone == NULL) {
        return WIO_ERR_NOMEM;
    }
    WIO_TRY(see_sites(input, prepared));
    input->straggling = prepared->straggling;
    input->alone = prepared->alone;
    return see_io_rank(input);
}
