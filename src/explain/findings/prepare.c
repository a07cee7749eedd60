/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/findings/prepare.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "explain/findings/prepare_lines.h"
#include "explain/findings/prepare_polls.h"
#include "ops/calls.h"

/* A place is done in turn where others wait for this part of it: one in so many. */
#define HELD_PART 10u

void wio_prepared_fini(struct wio_prepared *prepared)
{
    free(prepared->in_turn);
    free(prepared->many_files);
    free(prepared->maps);
    free(prepared->calls);
    free(prepared->lines);
    free(prepared->polls);
    wio_prepared_ranks_fini(&prepared->ranks);
    wio_prepared_transfers_fini(&prepared->transfers);
}

/* ---- I/O of threads one after the other ---- */

struct turns {
    double *waits;         /* by stream: ns of I/O of others while it waited .. */
    double *is_waited_for; /* .. and of its I/O while others waited */
    uint64_t *held;        /* by cause: ns in stretches that others waited for .. */
    uint64_t *self;        /* .. and all */
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
        turns->is_waited_for[step->stream] += in_turn[i] != 0 ? (double)step->held_ns : 0;
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
        if (kind != WIO_STEP_SHADOW) {
            continue;
        }
        turns->all += (double)step->critical_ns;
        turns->waits[step->stream] += (double)step->held_ns;
        if (step->critical_ns > most_ns) {
            most_ns = step->critical_ns;
            serial->step = i;
        }
    }
}

/* Threads that do I/O in turn, and wait or are waited for meanwhile: each once. */
static enum wio_status count_threads(const struct wio_finding_input *input,
                                     const struct turns *turns, const uint8_t *in_turn,
                                     struct wio_serial *serial)
{
    uint32_t streams = wio_trace_stream_count(input->trace);
    uint8_t *has_io = calloc((size_t)streams + 1, 1);
    double least = turns->all / 100;

    if (has_io == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < input->steps->count; i++) {
        const struct wio_step *step = &input->steps->steps[i];
        has_io[step->stream] |= in_turn[i] != 0 && (double)step->self_ns > least;
    }
    for (uint32_t i = 0; i < streams; i++) {
        serial->threads +=
            has_io[i] != 0 && (turns->is_waited_for[i] > least || turns->waits[i] > least);
    }
    free(has_io);
    return WIO_OK;
}

/* The number of equal threads with the same sum of squares. */
static double count_equal(const double *ns, uint32_t streams)
{
    double sum = 0;
    double squares = 0;

    for (uint32_t i = 0; i < streams; i++) {
        sum += ns[i];
        squares += ns[i] * ns[i];
    }
    return squares > 0 ? sum * sum / squares : 0;
}

/* Threads that take turns wait about as long as each other, and are waited for about as long: for a
 * straggler many wait, and one is waited for; a thread that starts others waits alone. The last
 * turn of the critical path is waited for only where the path ends with a thread that waits: which
 * thread ends last decides nothing. */
static void judge_turns(const struct wio_finding_input *input, const struct turns *turns,
                        struct wio_serial *serial)
{
    const struct wio_thresholds *limits = input->thresholds;
    uint32_t streams = wio_trace_stream_count(input->trace);
    double waited = serial->threads > 1 ? 1 - 1.0 / serial->threads : 1;

    serial->is_there = turns->io_in_turn > 0 &&
                       count_equal(turns->waits, streams) >= limits->serial_threads &&
                       count_equal(turns->is_waited_for, streams) >= limits->serial_threads &&
                       turns->all >= limits->serial_share * waited * (double)input->duration_ns &&
                       turns->all >= limits->dominant * waited * turns->io;
}

static enum wio_status see_serial(const struct wio_finding_input *input,
                                  struct wio_prepared *prepared)
{
    size_t steps = (size_t)input->steps->count + 1;
    size_t streams = (size_t)wio_trace_stream_count(input->trace) + 1;
    struct turns turns = {.waits = calloc(streams, sizeof(double)),
                          .is_waited_for = calloc(streams, sizeof(double)),
                          .held = calloc(steps, sizeof(uint64_t)),
                          .self = calloc(steps, sizeof(uint64_t))};
    enum wio_status status = WIO_ERR_NOMEM;

    if (turns.waits != NULL && turns.is_waited_for != NULL && turns.held != NULL &&
        turns.self != NULL) {
        find_stretch(input, &turns, prepared->in_turn);
        sum_turns(input, &turns, &prepared->serial);
        status = count_threads(input, &turns, prepared->in_turn, &prepared->serial);
        judge_turns(input, &turns, &prepared->serial);
    }
    free(turns.waits);
    free(turns.is_waited_for);
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

/* Rings of io_uring and devices have no pages to be read. */
static bool is_mapped_file(const struct wio_finding_input *input, uint32_t path)
{
    return path == WIO_SEVERAL_FILES || (path != 0 && is_data(input, path));
}

static void see_maps(const struct wio_finding_input *input, uint8_t *maps)
{
    for (uint32_t i = 0; i < input->steps->count; i++) {
        const struct wio_step *step = &input->steps->steps[i];
        if (wio_finding_site(input, step)->op == WIO_OP_mmap && is_mapped_file(input, step->path)) {
            maps[wio_trace_stream(input->trace, step->stream)->process] = 1;
        }
    }
}

/* ---- calls of a thread at a site, of whatever files ---- */

static enum wio_status count_calls(const struct wio_finding_input *input, struct wio_map *sums,
                                   uint64_t *calls)
{
    for (uint32_t i = 0; i < input->steps->count; i++) {
        const struct wio_step *step = &input->steps->steps[i];
        uint64_t key = (uint64_t)step->site << 32 | step->stream;
        uint64_t *sum = wio_map_get(sums, key);
        if (sum != NULL) {
            *sum += step->count;
        } else {
            WIO_TRY(wio_map_put(sums, key, step->count));
        }
    }
    for (uint32_t i = 0; i < input->steps->count; i++) {
        const struct wio_step *step = &input->steps->steps[i];
        calls[i] = *wio_map_get(sums, (uint64_t)step->site << 32 | step->stream);
    }
    return WIO_OK;
}

static enum wio_status see_calls(const struct wio_finding_input *input, uint64_t *calls)
{
    struct wio_map sums = {0};
    enum wio_status status = count_calls(input, &sums, calls);

    wio_map_fini(&sums);
    return status;
}

enum wio_status wio_prepare(struct wio_finding_input *input, struct wio_prepared *prepared)
{
    prepared->in_turn = calloc((size_t)input->steps->count + 1, 1);
    prepared->many_files = calloc((size_t)wio_trace_process_count(input->trace) + 1, 1);
    prepared->maps = calloc((size_t)wio_trace_process_count(input->trace) + 1, 1);
    prepared->calls = calloc((size_t)input->steps->count + 1, sizeof(uint64_t));
    if (prepared->in_turn == NULL || prepared->many_files == NULL || prepared->maps == NULL ||
        prepared->calls == NULL) {
        return WIO_ERR_NOMEM;
    }
    WIO_TRY(see_serial(input, prepared));
    see_maps(input, prepared->maps);
    WIO_TRY(see_many_files(input, prepared));
    WIO_TRY(see_calls(input, prepared->calls));
    input->serial = &prepared->serial;
    input->in_turn = prepared->in_turn;
    input->many_files = prepared->many_files;
    input->maps = prepared->maps;
    input->calls = prepared->calls;
    WIO_TRY(wio_prepare_lines(input, &prepared->lines));
    input->lines = prepared->lines;
    WIO_TRY(wio_prepare_polls(input, &prepared->polls));
    input->polls = prepared->polls;
    WIO_TRY(wio_prepare_transfers(input, &prepared->transfers));
    return wio_prepare_ranks(input, &prepared->ranks);
}
