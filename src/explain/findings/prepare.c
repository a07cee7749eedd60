/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/findings/prepare.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "ops/calls.h"

/* A place is done in turn where others wait for this part of it: one in so many. */
#define HELD_PART 10u

void wio_prepared_fini(struct wio_prepared *prepared)
{
    free(prepared->in_turn);
    free(prepared->many_files);
    free(prepared->maps);
    free(prepared->straggling);
}

/* ---- I/O of threads one after the other ---- */

struct turns {
    double *of_stream; /* ns of I/O of others while it waited, on the critical path */
    uint64_t *held;    /* by cause: ns in stretches that others waited for .. */
    uint64_t *self;    /* .. and all */
    double all;
    double io;         /* on the critical path .. */
    double io_in_turn; /* .. and of it, at places that are done in turn */
};

static bool is_io(const struct wio_finding_input *input, const struct wio_step *step)
{
    return wio_finding_site(input, step)->kind == WIO_STEP_IO;
}

/* Equal threads do the same at a place: what one of them does in turn, all do. */
static void find_stretch(const struct wio_finding_input *input, struct turns *turns,
                         uint8_t *in_turn)
{
    for (uint32_t i = 0; i < input->steps->count; i++) {
        const struct wio_step *step = &input->steps->steps[i];
        turns->held[step->cause] += step->held_ns;
        turns->self[step->cause] += step->self_ns;
    }
    for (uint32_t i = 0; i < input->steps->count; i++) {
        const struct wio_step *step = &input->steps->steps[i];
        in_turn[i] = is_io(input, step) && turns->held[step->cause] > 0 &&
                     turns->held[step->cause] >= turns->self[step->cause] / HELD_PART;
        turns->io_in_turn += in_turn[i] != 0 ? (double)step->critical_ns : 0;
    }
}

static void sum_turns(const struct wio_finding_input *input, struct turns *turns,
                      struct wio_serial *serial)
{
    uint64_t most_ns = 0;

    for (uint32_t i = 0; i < input->steps->count; i++) {
        const struct wio_step *step = &input->steps->steps[i];
        uint8_t kind = wio_finding_site(input, step)->kind;
        turns->io += kind == WIO_STEP_IO ? (double)step->critical_ns : 0;
        if (kind != WIO_STEP_SHADOW || step->critical_ns == 0) {
            continue;
        }
        turns->all += (double)step->critical_ns;
        turns->of_stream[step->stream] += (double)step->critical_ns;
        if (step->critical_ns > most_ns) {
            most_ns = step->critical_ns;
            serial->step = i;
        }
    }
}

/* Threads that wait for others in turn, and those that are waited for: each once. */
static enum wio_status count_threads(const struct wio_finding_input *input,
                                     const struct turns *turns, const uint8_t *in_turn,
                                     struct wio_serial *serial)
{
    uint32_t streams = wio_trace_stream_count(input->trace);
    uint8_t *takes_part = calloc((size_t)streams + 1, 1);

    if (takes_part == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < input->steps->count; i++) {
        const struct wio_step *step = &input->steps->steps[i];
        bool is_held = step->held_ns > 0 && (double)step->held_ns > turns->all / 100;
        takes_part[step->stream] |= in_turn[i] != 0 && is_held;
    }
    for (uint32_t i = 0; i < streams; i++) {
        serial->threads += takes_part[i] != 0 || turns->of_stream[i] > turns->all / 100;
    }
    free(takes_part);
    return WIO_OK;
}

/* Threads that take turns wait about as long as each other: one that waits for a straggler does
 * not make turns. The number of threads is that of equal ones with the same sum of squares. */
static void judge_turns(const struct wio_finding_input *input, const struct turns *turns,
                        struct wio_serial *serial)
{
    double squares = 0;

    for (uint32_t i = 0; i < wio_trace_stream_count(input->trace); i++) {
        squares += turns->of_stream[i] * turns->of_stream[i];
    }
    if (squares > 0 && turns->io_in_turn > 0 &&
        turns->all * turns->all / squares >= input->thresholds->serial_threads &&
        turns->all >= input->thresholds->serial_share * (double)input->duration_ns &&
        turns->all >= input->thresholds->dominant * turns->io) {
        serial->part = turns->all < turns->io_in_turn ? turns->all / turns->io_in_turn : 1;
    }
}

static enum wio_status see_serial(const struct wio_finding_input *input,
                                  struct wio_prepared *prepared)
{
    size_t steps = (size_t)input->steps->count + 1;
    struct turns turns = {
        .of_stream = calloc((size_t)wio_trace_stream_count(input->trace) + 1, sizeof(double)),
        .held = calloc(steps, sizeof(uint64_t)),
        .self = calloc(steps, sizeof(uint64_t))};
    enum wio_status status = WIO_ERR_NOMEM;

    if (turns.of_stream != NULL && turns.held != NULL && turns.self != NULL) {
        find_stretch(input, &turns, prepared->in_turn);
        sum_turns(input, &turns, &prepared->serial);
        judge_turns(input, &turns, &prepared->serial);
        status = count_threads(input, &turns, prepared->in_turn, &prepared->serial);
    }
    free(turns.of_stream);
    free(turns.held);
    free(turns.self);
    return status;
}

/* ---- many files ---- */

/* Of a process. */
struct moved {
    uint64_t files; /* of which data was transferred */
    uint64_t bytes;
};

static bool is_data(const struct wio_finding_input *input, uint32_t path)
{
    return path < input->patterns->path_count && input->patterns->is_data[path] != 0;
}

/* Opens of each file that was opened at all, in the mean. */
static double opens_per_file(const struct wio_finding_input *input)
{
    uint64_t files = 0;
    uint64_t opens = 0;

    for (uint32_t i = 0; i < input->patterns->file_capacity; i++) {
        bool is_opened = is_data(input, i) && input->patterns->files[i].opens > 0;
        files += is_opened;
        opens += is_opened ? input->patterns->files[i].opens : 0;
    }
    return wio_finding_part(opens, files);
}

/* Threads of a process may share a file: it counts once. */
static enum wio_status count_files(const struct wio_finding_input *input, struct wio_map *seen,
                                   struct moved *moved)
{
    for (uint32_t i = 0; i < input->patterns->use_count; i++) {
        const struct wio_thread_file *use = &input->patterns->uses[i];
        uint32_t process = wio_trace_stream(input->trace, use->stream)->process;
        uint64_t key = (uint64_t)process << 32 | use->path;
        if (use->bytes == 0 || !is_data(input, use->path)) {
            continue;
        }
        moved[process].bytes += use->bytes;
        if (wio_map_get(seen, key) == NULL) {
            WIO_TRY(wio_map_put(seen, key, 1));
            moved[process].files++;
        }
    }
    return WIO_OK;
}

static enum wio_status see_many_files(const struct wio_finding_input *input,
                                      struct wio_prepared *prepared)
{
    uint32_t processes = wio_trace_process_count(input->trace);
    struct moved *moved = calloc((size_t)processes + 1, sizeof(*moved));
    WIO_CLEANUP(wio_map_fini) struct wio_map seen = {0};

    if (moved == NULL) {
        return WIO_ERR_NOMEM;
    }
    bool is_new_each = opens_per_file(input) < input->thresholds->many_opens;
    enum wio_status status = count_files(input, &seen, moved);
    for (uint32_t i = 0; i < processes; i++) {
        prepared->many_files[i] =
            is_new_each && (double)moved[i].files >= input->thresholds->many_files &&
            wio_finding_part(moved[i].bytes, moved[i].files) < input->thresholds->small_file;
    }
    free(moved);
    return status;
}

static void see_maps(const struct wio_finding_input *input, uint8_t *maps)
{
    for (uint32_t i = 0; i < input->steps->count; i++) {
        const struct wio_step *step = &input->steps->steps[i];
        if (wio_finding_site(input, step)->op == WIO_OP_mmap && step->path != 0) {
            maps[wio_trace_stream(input->trace, step->stream)->process] = 1;
        }
    }
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

static enum wio_status see_stragglers(const struct wio_finding_input *input, float *straggling)
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
            compare_ranks(input, &rows[i], end - i, sums, straggling);
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
        wio_finding_part(caused, most) < 0.25) {
        input->io_rank = -1;
    }
    return WIO_OK;
}

enum wio_status wio_prepare(struct wio_finding_input *input, struct wio_prepared *prepared)
{
    prepared->in_turn = calloc((size_t)input->steps->count + 1, 1);
    prepared->many_files = calloc((size_t)wio_trace_process_count(input->trace) + 1, 1);
    prepared->maps = calloc((size_t)wio_trace_process_count(input->trace) + 1, 1);
    prepared->straggling = calloc((size_t)input->steps->count + 1, sizeof(float));
    if (prepared->in_turn == NULL || prepared->many_files == NULL || prepared->maps == NULL ||
        prepared->straggling == NULL) {
        return WIO_ERR_NOMEM;
    }
    WIO_TRY(see_serial(input, prepared));
    see_maps(input, prepared->maps);
    WIO_TRY(see_many_files(input, prepared));
    WIO_TRY(see_stragglers(input, prepared->straggling));
    input->serial = &prepared->serial;
    input->in_turn = prepared->in_turn;
    input->many_files = prepared->many_files;
    input->maps = prepared->maps;
    input->straggling = prepared->straggling;
    return see_io_rank(input);
}
