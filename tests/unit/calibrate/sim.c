/* SPDX-License-Identifier: Apache-2.0 */
#include "sim.h"

#include <math.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "support/unit.h"

#define MIB 1048576.0
#define PAGE 4096
#define WRITER 0
#define FLUSHER 1
/* Others write so often: no multiple nor part of how many writes are counted together, else they
 * are never among those that count, or always. */
#define DISTURBED 7
/* Files with such numbers were never written: what is read of them is not in memory. */
#define UNCACHED 1000000

struct sim sim_default(void)
{
    struct sim sim = {.params = wio_model_params_default(), .meta_s = 1e-5, .seed = 1};
    sim.params.bw_mem = 8e9;
    sim.params.bw_ramdisk = 4e9;
    sim.params.bw_reduced = 3e9;
    sim.params.bw_dev = 100 * MIB;
    sim.params.bw_rdev = 120 * MIB;
    sim.params.sc_w = 3e-6; /* c_call + c_folio */
    sim.params.c_call = 1e-6;
    sim.params.sc_sw = 2e-4;
    sim.params.c_flush = 9e-5;
    sim.params.c_sk = 0;
    sim.params.bs = 4096;
    sim.params.bf = 4096;
    sim.params.limit_bg = 512 * MIB;
    sim.params.limit_hard = 1024 * MIB;
    sim.params.dirty_expire = 30;
    sim.params.c_lib = 5e-8;
    sim.params.c_stream = 4e-6;
    sim.params.c_new = 3e-6;
    sim.params.c_folio = 2e-6;
    sim.params.c_clean = 1e-6;
    sim.params.c_walk = 1e-8;
    sim.params.bw_clean = 7e9;
    sim.params.sc_r = 5e-7;
    sim.params.bw_hit = 9e9;
    return sim;
}

static double uniform(struct sim *sim)
{
    return (double)(wio_test_random(&sim->seed) >> 11) * 0x1p-53;
}

/* As a clock would tell it. */
static double told(struct sim *sim, double seconds)
{
    double normal = -6;
    for (int i = 0; i < 12; i++) {
        normal += uniform(sim);
    }
    seconds *= fmax(1 + sim->noise * normal, 0.1);
    if (sim->refills > 0 && uniform(sim) < sim->refills) {
        seconds *= 3;
    }
    return uniform(sim) < sim->outliers ? 30 * seconds : seconds;
}

static double now_s(void *context)
{
    struct sim *sim = context;
    return wio_model_time(sim->model) + sim->extra_s;
}

static void rest(void *context, double seconds)
{
    struct sim *sim = context;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_model_done done;
    double end_s = wio_model_time(sim->model) + seconds;
    assert_status(wio_model_run(sim->model, end_s, &done, &err), WIO_END, &err);
}

static enum wio_status renew_memory(void *context, uint64_t bytes, struct wio_error *err)
{
    struct sim *sim = context;
    (void)bytes;
    (void)err;
    sim->allocations++;
    return WIO_OK;
}

static uint64_t id_of(const struct sim *sim, enum wio_rig_file file)
{
    return (uint64_t)file + WIO_RIG_FILE_COUNT * sim->generation[file];
}

/* Until the writer's operation has ended; the flusher's may end before. */
static double perform(struct sim *sim, const struct wio_model_op *op)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_model_done done;
    assert_ok(wio_model_begin(sim->model, WRITER, op, &err), &err);
    do {
        assert_ok(wio_model_run(sim->model, INFINITY, &done, &err), &err);
        sim->is_flushing = sim->is_flushing && done.task != FLUSHER;
    } while (done.task != WRITER);
    return done.result.cost_s;
}

/* How much faster a direct write is for the buffer in front of the device. */
static double saved_by_buffer(struct sim *sim, double bytes)
{
    double now = now_s(sim);
    sim->filled = fmax(sim->filled - (now - sim->filled_at_s) * sim->params.bw_dev, 0);
    sim->filled_at_s = now;
    double net = 1 - sim->params.bw_dev / sim->buffer_rate; /* of a byte stays in it */
    double fast = fmin(bytes, fmax(sim->buffer_bytes - sim->filled, 0) / net);
    sim->filled += bytes; /* what leaves meanwhile is taken off by the time */
    return fast / sim->params.bw_dev - fast / sim->buffer_rate;
}

/* A limit that lets requests pass in bunches: what this write is told too little; negative where it
 * pays for those before. */
static double saved_by_credit(struct sim *sim, double bytes)
{
    double device_s = bytes / sim->params.bw_dev;
    sim->owed_s += device_s;
    if (sim->owed_s * sim->params.bw_dev < sim->credit_bytes) {
        return device_s;
    }
    double paid_s = sim->owed_s - device_s;
    sim->owed_s = 0;
    return -paid_s;
}

/* As the block layer of Linux limits a rate: what this write is told too little, less than 0. */
static double saved_by_slices(struct sim *sim, double bytes)
{
    double now = now_s(sim);
    if (now > sim->slice_end_s) {
        sim->slice_begun_s = now;
        sim->slice_bytes = 0;
    }
    double whole = floor((now - sim->slice_begun_s) / sim->slice_s);
    sim->slice_begun_s += whole * sim->slice_s; /* what was not used is lost */
    sim->slice_bytes = fmax(sim->slice_bytes - whole * sim->slice_s * sim->slice_rate, 0);
    sim->slice_bytes += bytes;
    double wait_s = 0;
    if (sim->slice_bytes > sim->slice_rate * sim->slice_s) {
        wait_s = fmax(sim->slice_begun_s + sim->slice_bytes / sim->slice_rate - now, 0);
    }
    sim->slice_end_s = now + wait_s + sim->slice_s;
    return -wait_s;
}

/* Blocks that the device never had: what this write is told too little. */
static double saved_by_blocks(const struct sim *sim, const struct wio_rig_io *io)
{
    bool is_new = io->file == WIO_RIG_APPEND && sim->generation[io->file] % 2 == 0;
    return is_new ? (1 - sim->thin_times) * (double)io->size / sim->params.bw_dev : 0;
}

/* Beside the data the journal of files that grow, zeros behind an end within a block where a file
 * goes on further behind, and now and then what others write. */
static void count(struct sim *sim, const struct wio_rig_io *io)
{
    bool grows = io->file == WIO_RIG_APPEND && io->way == WIO_RIG_SYNC;
    bool is_apart = grows && io->offset > sim->append_end && sim->append_end % PAGE != 0;
    sim->device_bytes += (double)io->size + (grows ? sim->params.commit_bytes : 0) +
                         (is_apart ? PAGE : 0) + (sim->writes % DISTURBED == 0 ? MIB : 0);
    sim->append_end = grows ? io->offset + io->size : sim->append_end;
}

/* What the model does not know: negative where that takes longer. */
static double saved_here(struct sim *sim, const struct wio_rig_io *io)
{
    bool is_direct = io->way == WIO_RIG_DIRECT || io->way == WIO_RIG_DIRECT_NOSYNC;
    bool is_whole = sim->is_whole_at_first && sim->allocations < 2;
    double pages = is_direct && !io->from_huge && !is_whole ? (double)io->size / PAGE : 0;
    bool is_cold = io->way != WIO_RIG_CACHED && io->size != sim->last_size;
    sim->last_size = io->size;
    return -pages * sim->scattered_s - (is_cold ? sim->cold_s : 0);
}

static enum wio_status write_op(void *context, const struct wio_rig_io *io, double *seconds_out,
                                struct wio_error *err)
{
    struct sim *sim = context;
    static const enum wio_model_method methods[] = {
        [WIO_RIG_CACHED] = WIO_MODEL_WRITE,
        [WIO_RIG_SYNC] = WIO_MODEL_SYNC,
        [WIO_RIG_DIRECT] = WIO_MODEL_DIRECT,
        [WIO_RIG_DIRECT_NOSYNC] = WIO_MODEL_DIRECT_NOSYNC,
    };
    if (io->way == WIO_RIG_DIRECT && sim->refuses_direct) {
        return wio_error_set(err, WIO_ERR_UNSUPPORTED, NULL, WIO_ERROR_NO_OFFSET, "no O_DIRECT");
    }
    if (++sim->writes == sim->fail_write) {
        return wio_error_set(err, WIO_ERR_IO, "base", io->offset, "no space left");
    }
    const struct wio_model_op op = {.file = id_of(sim, io->file),
                                    .offset = io->offset,
                                    .size = io->size,
                                    .method = methods[io->way]};
    double saved = saved_here(sim, io);
    if (io->way != WIO_RIG_CACHED && sim->buffer_rate > 0) {
        saved += saved_by_buffer(sim, (double)io->size);
    }
    if (io->way != WIO_RIG_CACHED && sim->credit_bytes > 0) {
        saved += saved_by_credit(sim, (double)io->size);
    }
    if (io->way != WIO_RIG_CACHED && sim->slice_s > 0) {
        saved += saved_by_slices(sim, (double)io->size);
    }
    if (sim->thin_times > 1) {
        saved += saved_by_blocks(sim, io);
    }
    double seconds = perform(sim, &op) - saved;
    sim->extra_s -= saved;
    sim->written_bytes += io->size;
    sim->cached_bytes[io->file] += io->way <= WIO_RIG_SYNC ? (double)io->size : 0;
    count(sim, io);
    if (io->file == WIO_RIG_BASE && io->offset + io->size > sim->base_bytes) {
        sim->base_bytes = io->offset + io->size;
    }
    *seconds_out = told(sim, seconds);
    return WIO_OK;
}

static enum wio_status read_op(void *context, const struct wio_rig_io *io, double *seconds_out,
                               struct wio_error *err)
{
    struct sim *sim = context;
    (void)err;
    bool is_cached = sim->dropped == 0 || io->file >= WIO_RIG_COPIES;
    const struct wio_model_op op = {
        .file = is_cached ? id_of(sim, io->file) : UNCACHED + sim->dropped,
        .offset = io->offset,
        .size = io->size,
        .method = WIO_MODEL_READ,
        .at_end = io->file >= WIO_RIG_COPIES || io->offset + io->size >= sim->base_bytes};
    *seconds_out = told(sim, perform(sim, &op));
    return WIO_OK;
}

static enum wio_status fsync_op(void *context, enum wio_rig_file file, double *seconds_out,
                                struct wio_error *err)
{
    struct sim *sim = context;
    (void)err;
    const struct wio_model_op op = {.file = id_of(sim, file), .method = WIO_MODEL_FSYNC};
    sim->fsyncs++;
    *seconds_out = told(sim, perform(sim, &op));
    return WIO_OK;
}

static enum wio_status remove_op(void *context, enum wio_rig_file file, struct wio_error *err)
{
    struct sim *sim = context;
    (void)err;
    const struct wio_model_op op = {.file = id_of(sim, file), .method = WIO_MODEL_TRUNCATE};
    (void)perform(sim, &op);
    sim->generation[file]++;
    return WIO_OK;
}

static enum wio_status drop_op(void *context, enum wio_rig_file file, double *seconds_out,
                               struct wio_error *err)
{
    struct sim *sim = context;
    (void)err;
    *seconds_out = told(sim, sim->cached_bytes[file] / PAGE * sim->params.c_forget);
    sim->cached_bytes[file] = 0;
    const struct wio_model_op op = {.file = id_of(sim, file), .method = WIO_MODEL_FORGET};
    (void)perform(sim, &op);
    sim->dropped++;
    return WIO_OK;
}

static enum wio_status flush_begin(void *context, enum wio_rig_file file, struct wio_error *err)
{
    struct sim *sim = context;
    struct wio_model_done done;
    const struct wio_model_op op = {.file = id_of(sim, file), .method = WIO_MODEL_FSYNC};
    WIO_TRY(wio_model_begin(sim->model, FLUSHER, &op, err));
    /* The call of fsync comes before the writing. */
    double begun_s = wio_model_time(sim->model) + 2 * sim->params.sc_sw;
    sim->is_flushing = wio_model_run(sim->model, begun_s, &done, err) == WIO_END;
    return WIO_OK;
}

static bool is_flushing(void *context)
{
    const struct sim *sim = context;
    return sim->is_flushing;
}

static enum wio_status flush_end(void *context, enum wio_rig_file file, struct wio_error *err)
{
    struct sim *sim = context;
    struct wio_model_done done;
    (void)file;
    while (sim->is_flushing) {
        WIO_TRY(wio_model_run(sim->model, INFINITY, &done, err));
        sim->is_flushing = done.task != FLUSHER;
    }
    return WIO_OK;
}

static double device_bytes(void *context)
{
    const struct sim *sim = context;
    return sim->counts_bytes ? sim->device_bytes : (double)NAN;
}

static double copy_op(void *context, uint64_t bytes)
{
    struct sim *sim = context;
    double seconds = (double)bytes / sim->params.bw_mem;
    sim->extra_s += seconds;
    return told(sim, seconds);
}

static enum wio_status fwrite_op(void *context, unsigned calls, double *seconds_out,
                                 struct wio_error *err)
{
    struct sim *sim = context;
    (void)err;
    double seconds = calls * sim->params.c_lib;
    sim->extra_s += seconds;
    *seconds_out = told(sim, seconds);
    return WIO_OK;
}

static enum wio_status streams_op(void *context, size_t count, double *seconds_out,
                                  struct wio_error *err)
{
    struct sim *sim = context;
    (void)err;
    for (size_t i = 0; i < count; i++) {
        seconds_out[i] = told(sim, sim->params.c_lib + sim->params.c_stream);
        sim->extra_s += seconds_out[i];
    }
    return WIO_OK;
}

static enum wio_status many_op(void *context, const struct wio_rig_many *many, double *seconds_out,
                               struct wio_error *err)
{
    struct sim *sim = context;
    for (size_t i = 0; i < many->files * many->writes; i++) {
        uint64_t at = i % many->writes;
        const struct wio_rig_io io = {.file = WIO_RIG_FRESH, .offset = at * PAGE, .size = PAGE};
        if (at == 0 && i > 0) {
            WIO_TRY(remove_op(context, WIO_RIG_FRESH, err));
        }
        WIO_TRY(write_op(sim, &io, &seconds_out[i], err));
    }
    return remove_op(context, WIO_RIG_FRESH, err);
}

static enum wio_status meta_op(void *context, double seconds_out[WIO_RIG_META_COUNT],
                               struct wio_error *err)
{
    struct sim *sim = context;
    (void)err;
    for (size_t i = 0; i < WIO_RIG_META_COUNT; i++) {
        seconds_out[i] = told(sim, sim->meta_s * (double)(i + 1));
        sim->extra_s += seconds_out[i];
    }
    seconds_out[WIO_RIG_META_link] = (double)NAN;
    return WIO_OK;
}

struct wio_rig sim_rig(struct sim *sim)
{
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(wio_model_create(WIO_MODEL_KERNEL, &sim->params, &heap, &sim->model, &err), &err);
    return (struct wio_rig){.context = sim,
                            .now_s = now_s,
                            .rest = rest,
                            .renew_memory = renew_memory,
                            .write = write_op,
                            .read = read_op,
                            .fsync = fsync_op,
                            .remove = remove_op,
                            .drop = drop_op,
                            .flush_begin = flush_begin,
                            .is_flushing = is_flushing,
                            .flush_end = flush_end,
                            .device_bytes = device_bytes,
                            .copy = copy_op,
                            .fwrite = fwrite_op,
                            .streams = streams_op,
                            .many = many_op,
                            .meta = meta_op};
}

void sim_fini(struct sim *sim)
{
    wio_model_destroy(sim->model);
    sim->model = NULL;
}
