/* SPDX-License-Identifier: Apache-2.0 */
#include "record/record.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "edges/edges.h"
#include "ops/unseen.h"
#include "record/children.h"
#include "record/describe.h"
#include "record/directory.h"
#include "record/environment.h"
#include "record/library.h"
#include "record/old_trace.h"
#include "record/supervise.h"
#include "record/target.h"
#include "seal/anonymize.h"
#include "tracer/tracer.h"

/* What is known before the command runs. */
struct plan {
    const struct wio_record_params *params;
    char program[PATH_MAX];
    char library[PATH_MAX];
    struct wio_description description;
    struct wio_directory dir;
    struct sigaction file_size_action; /* before we changed it */
};

/* With a limit on the size of files, writing the trace may fail, but shall not kill the recorder.
 */
static void ignore_file_size_signal(struct plan *plan)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    (void)sigaction(SIGXFSZ, &ignore, &plan->file_size_action);
}

/* The tracer is a child that is told apart from those of the command. */
static enum wio_status check_tracing(struct wio_error *err)
{
    WIO_CLEANUP(wio_children_fini) struct wio_children children = {0};
    if (!wio_children_read(&children)) {
        return wio_error_set(err, WIO_ERR_UNSUPPORTED, NULL, WIO_ERROR_NO_OFFSET,
                             "cannot trace programs here: the kernel does not list the children of "
                             "a process (CONFIG_PROC_CHILDREN)");
    }
    return wio_ptracer_probe(err);
}

/* Everything that can be refused without leaving a mark. */
static enum wio_status check_command(struct plan *plan, struct wio_error *err)
{
    const struct wio_record_params *params = plan->params;
    WIO_TRY(wio_target_find(params->command[0], getenv("PATH"), plan->program, err));
    if (params->director != NULL) {
        return WIO_OK;
    }
    WIO_TRY(wio_target_check(plan->program, params->trace_static, err));
    if (params->trace_static) {
        WIO_TRY(check_tracing(err));
    }
    return wio_library_find(params->capture_lib, plan->library, err);
}

static void describe(struct plan *plan)
{
    const struct wio_record_params *params = plan->params;
    struct wio_description *description = &plan->description;
    wio_description_init(description, params->anonymize);
    wio_launch_identify(description->launch);
    description->command = params->command;
    description->environment = environ;
    snprintf(description->options, sizeof(description->options), "%s%s%s%s%s%s%s",
             params->stacks ? "stacks " : "", params->no_stacks ? "no-stacks " : "",
             params->mpi_internals ? "mpi-internals " : "", params->mmap_pages ? "mmap-pages " : "",
             params->anonymize ? "anonymize " : "", params->causal ? "causal " : "",
             params->trace_static ? "static-trace " : "");
}

static enum wio_status claim_directory(struct plan *plan, struct wio_error *err)
{
    char fallback[WIO_DIRECTORY_NAME_BYTES];
    const struct wio_record_params *params = plan->params;
    const char *path = params->dir;
    if (params->is_part) {
        return wio_directory_join(&plan->dir, path, plan->description.host,
                                  plan->description.launch, err);
    }
    if (path == NULL) {
        wio_directory_default_name(params->command[0], fallback);
        path = fallback;
    }
    return wio_directory_claim(&plan->dir, path, params->force, plan->description.host,
                               plan->description.launch, err);
}

static enum wio_status prepare_directory(struct plan *plan, struct wio_error *err)
{
    WIO_TRY(claim_directory(plan, err));
    enum wio_status status =
        wio_description_begin(&plan->description, plan->dir.path, plan->dir.name, err);
    wio_directory_settle(&plan->dir);
    if (status == WIO_OK) {
        status = wio_directory_make_rings(&plan->dir, plan->params->ring_dir, err);
    }
    if (status == WIO_OK && plan->params->anonymize) {
        status = wio_hide_begin(plan->dir.path, err);
    }
    if (status != WIO_OK) {
        wio_directory_undo(&plan->dir);
    }
    return status;
}

static enum wio_status run_command(struct plan *plan, const char *tracer,
                                   struct wio_supervision *supervision, struct wio_error *err)
{
    const struct wio_record_params *params = plan->params;
    char filters[WIO_FILTERS_BYTES];
    wio_environment_filters(filters);
    const struct wio_environment_params settings = {
        .capture_lib = params->director == NULL ? plan->library : NULL,
        .rings = plan->dir.rings,
        .stacks = params->stacks,
        .no_stacks = params->no_stacks,
        .mpi_internals = params->mpi_internals,
        .mmap_pages = params->mmap_pages,
        .causal = params->causal,
        .max_size = params->max_size,
        .keep_last = params->keep_last,
        .board = params->board,
        .director = params->director,
        .filters = filters,
        .tracer = tracer,
    };
    WIO_CLEANUP(wio_environment_destroy) char **environment = NULL;
    if (wio_environment_create(environ, &settings, &environment) != WIO_OK) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    const struct wio_command command = {
        .path = plan->program,
        .argv = params->command,
        .environment = environment,
        .file_size_action = plan->file_size_action,
        .lingering = params->lingering,
        .lingering_arg = params->lingering_arg,
        .tracer = tracer,
        .keeps_signals = params->ended != NULL,
    };
    return wio_supervise(&command, supervision, err);
}

static enum wio_status run(struct plan *plan, struct wio_supervision *supervision,
                           struct wio_ptracer_end *tracer_end, struct wio_error *err)
{
    WIO_CLEANUP(wio_ptracer_cleanup) struct wio_ptracer tracer = {0};
    const struct wio_ptracer_params params = {
        .rings = plan->dir.rings, .capture_lib = plan->library, .causal = plan->params->causal};
    if (!plan->params->trace_static) {
        return run_command(plan, NULL, supervision, err);
    }
    WIO_TRY(wio_ptracer_start(&params, &tracer, err));
    WIO_TRY(run_command(plan, tracer.address, supervision, err));
    wio_ptracer_stop(&tracer, tracer_end);
    return WIO_OK;
}

/* The key that hides names serves all recorders of the launch, also one that starts after another
 * has ended: the last removes it. Where it is not known which is the last, it stays, and the next
 * command that opens the trace removes it. */
static void forget_key(const struct plan *plan)
{
    const char *launch = plan->description.launch;
    unsigned recorders = wio_launch_recorders(launch);
    if (recorders == 1 ||
        (recorders > 1 && wio_old_trace_finished(plan->dir.path, launch) >= recorders)) {
        wio_hide_forget(plan->dir.path);
    }
}

static enum wio_status seal(struct plan *plan, struct wio_supervision *supervision,
                            const struct wio_ptracer_end *tracer_end,
                            struct wio_seal_totals *totals, struct wio_error *err)
{
    struct wio_description *description = &plan->description;
    description->is_ended = true;
    description->is_done = !supervision->is_cut && !tracer_end->is_killed;
    description->exit_status = supervision->exit_status;
    const struct wio_seal_params params = {
        .struct_size = sizeof(params),
        .look_at_files = true,
        .anonymize = plan->params->anonymize,
        .progress = plan->params->progress,
        .progress_arg = plan->params->progress_arg,
        .decorate = wio_description_write,
        .decorate_arg = description,
        .ended = wio_ends_find,
        .ended_arg = &supervision->ends,
        .totals = totals,
        .holds_lock = true,
    };
    WIO_TRY(wio_seal(plan->dir.path, plan->dir.rings, plan->dir.name, &params, err));
    totals->unseen[WIO_UNSEEN_NO_RING] += tracer_end->no_ring;
    /* The final segment tells all that the begin segment does. */
    char begin[2 * PATH_MAX];
    snprintf(begin, sizeof(begin), "%s/%s.begin.seg", plan->dir.path, plan->dir.name);
    (void)unlink(begin);
    wio_directory_remove_rings(&plan->dir);
    forget_key(plan);
    return WIO_OK;
}

/* Infer edges, where that does not wait for a command that needs them: once per trace, by its last
 * recorder; throttled runs are inferred together. */
static enum wio_status join(const struct plan *plan, const struct wio_record_result *result,
                            struct wio_error *err)
{
    const struct wio_record_params *params = plan->params;
    const struct wio_join_params join_params = {
        .struct_size = sizeof(join_params),
        .progress = params->progress,
        .progress_arg = params->progress_arg,
        .clocks_only = !params->edges_now,
    };
    if (!params->causal || params->board != NULL || result->seal_error.status != WIO_OK) {
        return WIO_OK;
    }
    return wio_join_directory(plan->dir.path, &join_params, err);
}

enum wio_status wio_record(const struct wio_record_params *params,
                           struct wio_record_result *result_out, struct wio_error *err)
{
    struct plan plan = {.params = params};
    *result_out =
        (struct wio_record_result){.seal_error = WIO_ERROR_INIT, .join_error = WIO_ERROR_INIT};
    WIO_TRY(check_command(&plan, err));
    describe(&plan);
    ignore_file_size_signal(&plan);
    WIO_TRY(prepare_directory(&plan, err));
    struct wio_supervision supervision = {0};
    struct wio_ptracer_end tracer_end = {0};
    enum wio_status status = run(&plan, &supervision, &tracer_end, err);
    if (status != WIO_OK) {
        wio_directory_undo(&plan.dir);
        wio_ends_fini(&supervision.ends);
        return status;
    }
    snprintf(result_out->dir, sizeof(result_out->dir), "%s", plan.dir.path);
    result_out->exit_status = supervision.exit_status;
    result_out->is_cut = supervision.is_cut;
    result_out->is_tracer_killed = tracer_end.is_killed;
    if (params->ended != NULL) {
        params->ended(params->ended_arg);
    }
    result_out->seal_error.status =
        seal(&plan, &supervision, &tracer_end, &result_out->totals, &result_out->seal_error);
    wio_ends_fini(&supervision.ends);
    result_out->join_error.status = join(&plan, result_out, &result_out->join_error);
    return WIO_OK;
}
