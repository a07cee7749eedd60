/* SPDX-License-Identifier: Apache-2.0 */
/* What the operations of a program took where it was recorded, as observations of a fit. */
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "ops/calls.h"
#include "predict/convert.h"
#include "predict/fit.h"
#include "predict/mapped.h"
#include "predict/program.h"

#define NS 1e9

struct fitting {
    struct wio_fit *fit;
    const struct wio_program *program;
    struct wio_converter converter;
    uint8_t *callers;                    /* of each stream: the class of its last call */
    struct wio_used_files_reader *files; /* of each stream */
    struct wio_map dirty;                /* file -> bytes since its last flush */
};

static void fitting_fini(struct fitting *fitting)
{
    free(fitting->callers);
    free(fitting->files);
    wio_map_fini(&fitting->dirty);
}

static enum wio_status see_operation(struct fitting *fitting, const struct wio_event *event,
                                     const struct wio_model_op *op)
{
    uint32_t fs = wio_fit_fs(fitting->fit, event->path);
    double seconds = (double)event->dur_ns / NS;
    uint64_t *dirty = wio_map_get(&fitting->dirty, op->file);
    uint64_t before = dirty != NULL ? *dirty : 0;

    if (wio_fit_is_flush(op->method)) {
        WIO_TRY(wio_fit_add(fitting->fit, fs, op->method, before, seconds));
        return wio_map_put(&fitting->dirty, op->file, 0);
    }
    if (wio_fit_leaves_data(op->method)) {
        WIO_TRY(wio_map_put(&fitting->dirty, op->file, before + op->size));
    }
    return wio_fit_add(fitting->fit, fs, op->method, op->size, seconds);
}

static enum wio_status see(struct fitting *fitting, const struct wio_event *event)
{
    uint8_t *caller = &fitting->callers[event->stream];

    if ((event->flags & WIO_EVENT_CAUSED) == 0) {
        *caller = (uint8_t)wio_op_class(event->op);
    }
    if (event->result == WIO_RESULT_PENDING) {
        return WIO_OK;
    }
    struct wio_converted as;
    wio_convert(&fitting->converter, event,
                wio_used_files_at(&fitting->files[event->stream], event->seq),
                (enum wio_class) * caller, &as);
    return as.kind == WIO_CONVERT_OP && !as.is_everywhere ? see_operation(fitting, event, &as.op)
                                                          : WIO_OK;
}

static enum wio_status see_files(struct wio_fit *fit, const struct wio_trace *trace)
{
    for (uint32_t i = 0; i < wio_trace_file_count(trace); i++) {
        const struct wio_file_info *file = wio_trace_file(trace, i);
        if (file->fs != WIO_NO_STRING) {
            WIO_TRY(wio_map_put(&fit->fs, file->path, file->fs));
        }
    }
    return WIO_OK;
}

static void cursor_cleanup(struct wio_cursor **cursor)
{
    wio_cursor_destroy(*cursor);
}

static enum wio_status read_events(struct fitting *fitting, struct wio_error *err)
{
    static const enum wio_class classes[] = {WIO_CLASS_READ,        WIO_CLASS_WRITE,
                                             WIO_CLASS_SYNC,        WIO_CLASS_STDIO_READ,
                                             WIO_CLASS_STDIO_WRITE, WIO_CLASS_STDIO_FLUSH};
    uint16_t ops[WIO_OP_COUNT];
    struct wio_filter filter = {.struct_size = sizeof(filter),
                                .order = WIO_ORDER_TIME,
                                .ops = ops,
                                .columns = ~(uint64_t)WIO_COLUMN_SOURCE};
    WIO_CLEANUP(cursor_cleanup) struct wio_cursor *cursor = NULL;
    const struct wio_event *event;
    enum wio_status status;

    for (unsigned op = 0; op < WIO_OP_COUNT; op++) {
        bool is_one = wio_class_is_mpi(wio_op_class(op));
        for (size_t i = 0; i < WIO_ARRAY_SIZE(classes); i++) {
            is_one = is_one || wio_op_class(op) == classes[i];
        }
        if (is_one) {
            ops[filter.op_count++] = (uint16_t)op;
        }
    }
    WIO_TRY(wio_cursor_create(fitting->program->trace, &filter, &cursor, err));
    while ((status = wio_cursor_next(cursor, &event, err)) == WIO_OK) {
        WIO_TRY(see(fitting, event));
    }
    return status == WIO_END ? WIO_OK : status;
}

enum wio_status wio_fit_program(struct wio_fit *fit, const struct wio_program *program,
                                struct wio_error *err)
{
    const struct wio_predict_params as_it_was = wio_predict_params_default();
    WIO_CLEANUP(fitting_fini)
    struct fitting fitting = {
        .fit = fit, .program = program, .converter = {&program->files, &as_it_was.whatif}};

    fitting.callers = calloc((size_t)wio_trace_stream_count(program->trace) + 1, 1);
    if (fitting.callers == NULL) {
        return WIO_ERR_NOMEM;
    }
    WIO_TRY(wio_used_files_readers(&program->files, &fitting.files));
    WIO_TRY(see_files(fit, program->trace));
    return read_events(&fitting, err);
}

/* ---- page faults ---- */

#define PAGE 4096u

struct faults {
    uint64_t pages;
    uint64_t slept_ns;
    uint32_t path; /* of the file that was mapped first; its file system stands for all */
};

static enum wio_status see_map(void *arg, const struct wio_event *event)
{
    struct faults *faults = arg;
    faults->path = faults->pages == 0 ? event->path : faults->path;
    faults->pages += (event->size + PAGE - 1) / PAGE;
    return WIO_OK;
}

static enum wio_status see_sleep(void *arg, const struct wio_event *event, uint64_t ns)
{
    struct faults *faults = arg;
    (void)event;
    faults->slept_ns += ns;
    return WIO_OK;
}

enum wio_status wio_fit_faults(struct wio_fit *fit, const struct wio_program *program,
                               struct wio_error *err)
{
    static const struct wio_mapped_ops ops = {see_map, see_sleep};
    struct faults faults = {0};
    WIO_TRY(wio_mapped_read(program, &ops, &faults, err));
    uint32_t fs = wio_fit_fs(fit, faults.path);
    bool has_reads =
        faults.pages == 0 || !isnan(wio_fit_cost(fit, fs, WIO_MODEL_READ, PAGE, WIO_FIT_LOW));
    return has_reads || faults.slept_ns == 0
               ? WIO_OK
               : wio_fit_add(fit, fs, WIO_MODEL_READ, PAGE,
                             (double)faults.slept_ns / (double)faults.pages / NS);
}
