/* SPDX-License-Identifier: Apache-2.0 */
/* whyio store: files of a store. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "cmd.h"
#include "connect.h"
#include "options.h"
#include "progress.h"
#include "render_store.h"
#include "store/stage/list.h"
#include "store/stage/stage.h"

enum {
    OPTION_STABLE = CMD_OPTION_FIRST,
    OPTION_SEGMENTS,
    OPTION_STRIPE_UNIT,
    OPTION_JOBS,
    MAX_PATHS = 65536
};

struct store_args {
    struct cmd_options common;
    struct cmd_connect connect;
    struct wio_stage_params stage;
    bool has_parents;
    const char *verb;
    const char *paths[MAX_PATHS];
    size_t count;
};

static const struct argp_option options[] = {
    {"update", 'u', NULL, 0,
     "put, get: copy no file that is there with the same size and time, as after a copy that was "
     "interrupted",
     0},
    {"recursive", 'r', NULL, 0, "put, get, rm: directories, too", 0},
    {"parents", 'p', NULL, 0, "mkdir: no error where it is there; make those above, too", 0},
    {"jobs", OPTION_JOBS, "N", 0, "put, get: so many files at a time (default: 8)", 0},
    {"stable", OPTION_STABLE, NULL, 0, "put: bytes are durable when they were written", 0},
    {"segments", OPTION_SEGMENTS, "N", 0,
     "put: segments of new files (default: one for each target)", 0},
    {"stripe-unit", OPTION_STRIPE_UNIT, "SIZE", 0, "put: stripe unit of new files (default: 1M)",
     0},
    {0},
};

static error_t parse_number(const char *name, const char *text, uint64_t most, uint32_t *out,
                            struct argp_state *state)
{
    uint64_t number = 0;
    if (wio_parse_size(text, &number) != WIO_OK || number == 0 || number > most) {
        argp_error(state, "--%s: '%s' is none from 1 to %llu", name, text,
                   (unsigned long long)most);
    }
    *out = (uint32_t)number;
    return 0;
}

static error_t parse_argument(struct store_args *args, const char *text, struct argp_state *state)
{
    if (args->verb == NULL) {
        args->verb = text;
    } else if (args->count == MAX_PATHS) {
        argp_error(state, "at most %d paths", MAX_PATHS);
    } else {
        args->paths[args->count++] = text;
    }
    return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct store_args *args = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &args->common;
        state->child_inputs[1] = &args->connect;
        return 0;
    case 'r':
        args->stage.is_recursive = true;
        return 0;
    case 'u':
        args->stage.is_update = true;
        return 0;
    case 'p':
        args->has_parents = true;
        return 0;
    case OPTION_JOBS:
        return parse_number("jobs", arg, 256, &args->stage.jobs, state);
    case OPTION_STABLE:
        args->stage.is_stable = true;
        return 0;
    case OPTION_SEGMENTS:
        return parse_number("segments", arg, 4096, &args->stage.segments, state);
    case OPTION_STRIPE_UNIT:
        return parse_number("stripe-unit", arg, 1u << 30, &args->stage.stripe_unit, state);
    case ARGP_KEY_ARG:
        return parse_argument(args, arg, state);
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "put, get, ls, stat, rm, mkdir, mv, truncate or df is expected");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&cmd_options_argp, 0, NULL, 0}, {&cmd_connect_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    options,
    parse,
    "put LOCAL... PATH\nget PATH... LOCAL\nls [PATH...]\nstat PATH...\nrm PATH...\nmkdir "
    "PATH...\nmv FROM TO\ntruncate SIZE PATH...\ndf",
    "Copy files into a running store and out of it, and look at what it holds.",
    children,
    NULL,
    NULL};

/* ---- verbs --------------------------------------------------------------------------------- */

/* What a verb works on and what came of it. */
struct job {
    struct store_args *args;
    struct wio_store *store;
    struct cmd_store_result result;
};

/* One path has failed; the others go on. */
static void failed(void *context, const struct wio_error *err)
{
    struct job *job = context;
    job->result.counts.failed++;
    cmd_store_failure(&job->result, err);
    (void)cmd_fail(err);
}

typedef enum wio_status stage_call(struct wio_store *store, const char *const *paths, size_t count,
                                   const struct wio_stage_params *params,
                                   struct wio_stage_counts *counts_out, struct wio_error *err);

static enum wio_status stage(struct job *job, const char *what, stage_call *call,
                             struct wio_error *err)
{
    struct store_args *args = job->args;
    struct cmd_progress progress;
    cmd_progress_init(&progress, what, &args->common);
    args->stage.progress = cmd_progress_update;
    args->stage.progress_arg = &progress;
    enum wio_status status =
        call(job->store, args->paths, args->count, &args->stage, &job->result.counts, err);
    cmd_progress_end(&progress);
    return status;
}

static enum wio_status do_put(struct job *job, struct wio_error *err)
{
    return stage(job, "putting", wio_stage_put, err);
}

static enum wio_status do_get(struct job *job, struct wio_error *err)
{
    return stage(job, "getting", wio_stage_get, err);
}

static enum wio_status do_rm(struct job *job, struct wio_error *err)
{
    return wio_stage_remove(job->store, job->args->paths, job->args->count, &job->args->stage,
                            &job->result.counts, err);
}

static const char *remote(const char *path)
{
    return path[0] == ':' ? path + 1 : path;
}

/* The directories above, those that are there left as they are. */
static enum wio_status make_parents(struct wio_store *store, const char *path,
                                    struct wio_error *err)
{
    char part[PATH_MAX];
    for (const char *at = strchr(path + 1, '/'); at != NULL; at = strchr(at + 1, '/')) {
        struct wio_error own = WIO_ERROR_INIT;
        (void)snprintf(part, sizeof(part), "%.*s", (int)(at - path), path);
        if (wio_store_mkdir(store, part, 0777 & ~cmd_store_umask(), &own) != WIO_OK &&
            own.sys_errno != EEXIST) {
            return wio_error_pass(err, &own);
        }
    }
    return WIO_OK;
}

static enum wio_status make_dir(struct job *job, const char *path, struct wio_error *err)
{
    struct wio_error own = WIO_ERROR_INIT;
    if (job->args->has_parents && path[0] != '\0') {
        WIO_TRY(make_parents(job->store, path, err));
    }
    enum wio_status status = wio_store_mkdir(job->store, path, 0777 & ~cmd_store_umask(), &own);
    bool is_fine = status == WIO_OK || (job->args->has_parents && own.sys_errno == EEXIST);
    job->result.counts.directories += status == WIO_OK;
    return is_fine ? WIO_OK : wio_error_pass(err, &own);
}

static enum wio_status truncate_one(struct job *job, const char *path, uint64_t size,
                                    struct wio_error *err)
{
    const struct wio_store_open_params how = {
        .struct_size = sizeof(how), .flags = O_WRONLY, .view = WIO_VIEW_INDEPENDENT};
    struct wio_store_file *file = NULL;
    WIO_TRY(wio_store_file_open(job->store, path, &how, &file, err));
    enum wio_status status = wio_store_truncate(file, NULL, size, err);
    wio_store_file_close(file);
    job->result.counts.files += status == WIO_OK;
    return status;
}

static enum wio_status stat_one(struct job *job, const char *path, struct wio_error *err)
{
    struct wio_store_attr attr = {.struct_size = sizeof(attr)};
    WIO_TRY(wio_store_stat(job->store, path, WIO_STORE_NOFOLLOW, &attr, err));
    return cmd_store_entry(&job->result, path, &attr, err);
}

/* A directory's entries, with the sizes of files; another path by itself. */
static enum wio_status list_one(struct job *job, const char *path, struct wio_error *err)
{
    WIO_CLEANUP(stage_list_fini) struct stage_list list = {0};
    struct wio_store_attr attr = {.struct_size = sizeof(attr)};
    char below[PATH_MAX];
    WIO_TRY(wio_store_stat(job->store, path, 0, &attr, err));
    if (!S_ISDIR(attr.mode)) {
        return cmd_store_entry(&job->result, path, &attr, err);
    }
    WIO_TRY(stage_list_read(&list, job->store, path, err));
    bool is_under_root = path[0] == '\0' || strcmp(path, "/") == 0;
    for (uint32_t i = 0; i < list.count; i++) {
        const char *name = list.entries[i].name;
        struct wio_error own = WIO_ERROR_INIT;
        (void)snprintf(below, sizeof(below), "%s/%s", is_under_root ? "" : path, name);
        attr = list.entries[i].attr;
        attr.struct_size = sizeof(attr);
        if (S_ISREG(attr.mode) &&
            wio_store_stat(job->store, below, WIO_STORE_NOFOLLOW, &attr, &own) != WIO_OK) {
            failed(job, &own);
            continue;
        }
        WIO_TRY(cmd_store_entry(&job->result, job->args->count > 1 ? below : name, &attr, err));
    }
    return WIO_OK;
}

typedef enum wio_status path_call(struct job *job, const char *path, struct wio_error *err);

static enum wio_status each_path(struct job *job, size_t first, path_call *call)
{
    for (size_t i = first; i < job->args->count; i++) {
        struct wio_error own = WIO_ERROR_INIT;
        if (call(job, remote(job->args->paths[i]), &own) != WIO_OK) {
            failed(job, &own);
        }
    }
    return WIO_OK;
}

static enum wio_status do_mkdir(struct job *job, struct wio_error *err)
{
    (void)err;
    return each_path(job, 0, make_dir);
}

static enum wio_status do_stat(struct job *job, struct wio_error *err)
{
    (void)err;
    return each_path(job, 0, stat_one);
}

static enum wio_status do_ls(struct job *job, struct wio_error *err)
{
    return job->args->count == 0 ? list_one(job, "/", err) : each_path(job, 0, list_one);
}

static enum wio_status do_mv(struct job *job, struct wio_error *err)
{
    WIO_TRY(wio_store_rename(job->store, remote(job->args->paths[0]), remote(job->args->paths[1]),
                             err));
    job->result.counts.files++;
    return WIO_OK;
}

static enum wio_status do_truncate(struct job *job, struct wio_error *err)
{
    uint64_t size = 0;
    if (wio_parse_size(job->args->paths[0], &size) != WIO_OK) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                             "'%s' is no size: expected truncate SIZE PATH...",
                             job->args->paths[0]);
    }
    for (size_t i = 1; i < job->args->count; i++) {
        struct wio_error own = WIO_ERROR_INIT;
        if (truncate_one(job, remote(job->args->paths[i]), size, &own) != WIO_OK) {
            failed(job, &own);
        }
    }
    return WIO_OK;
}

static enum wio_status do_df(struct job *job, struct wio_error *err)
{
    job->result.space.struct_size = sizeof(job->result.space);
    return wio_store_statfs(job->store, &job->result.space, err);
}

static const struct verb {
    const char *name;
    size_t least; /* paths */
    size_t most;
    enum wio_status (*run)(struct job *job, struct wio_error *err);
    enum cmd_store_output output;
} verbs[] = {
    {"put", 2, MAX_PATHS, do_put, CMD_STORE_COUNTS},
    {"get", 2, MAX_PATHS, do_get, CMD_STORE_COUNTS},
    {"ls", 0, MAX_PATHS, do_ls, CMD_STORE_ENTRIES},
    {"stat", 1, MAX_PATHS, do_stat, CMD_STORE_STATS},
    {"rm", 1, MAX_PATHS, do_rm, CMD_STORE_COUNTS},
    {"mkdir", 1, MAX_PATHS, do_mkdir, CMD_STORE_COUNTS},
    {"mv", 2, 2, do_mv, CMD_STORE_COUNTS},
    {"truncate", 2, MAX_PATHS, do_truncate, CMD_STORE_COUNTS},
    {"df", 0, 0, do_df, CMD_STORE_SPACE},
};

static enum wio_status find_verb(const struct store_args *args, const struct verb **verb_out,
                                 struct wio_error *err)
{
    for (size_t i = 0; i < WIO_ARRAY_SIZE(verbs); i++) {
        if (strcmp(args->verb, verbs[i].name) != 0) {
            continue;
        }
        *verb_out = &verbs[i];
        return args->count >= verbs[i].least && args->count <= verbs[i].most
                   ? WIO_OK
                   : wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                                   "store %s: %zu paths are too %s", args->verb, args->count,
                                   args->count < verbs[i].least ? "few" : "many");
    }
    return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                         "store '%s': expected put, get, ls, stat, rm, mkdir, mv, truncate or df",
                         args->verb);
}

static enum wio_status run(struct job *job, const struct verb *verb, struct wio_error *err)
{
    WIO_CLEANUP(cmd_disconnect_cleanup) struct wio_store *store = NULL;
    job->args->connect.is_quiet = job->args->common.quiet;
    WIO_TRY(cmd_connect(&job->args->connect, &store, err));
    job->store = store;
    job->args->stage.failed = failed;
    job->args->stage.context = job;
    uint64_t begin_ns = wio_clock_mono_ns();
    enum wio_status status = verb->run(job, err);
    job->result.time_s = (double)(wio_clock_mono_ns() - begin_ns) / 1e9;
    return status;
}

int cmd_store(int argc, char **argv)
{
    static struct store_args args;
    struct wio_error err = WIO_ERROR_INIT;
    struct job job = {.args = &args};
    const struct verb *verb = NULL;
    int wrong = cmd_parse(&argp, argc, argv, 0, &args);
    if (wrong != 0) {
        return wrong;
    }
    if (find_verb(&args, &verb, &err) != WIO_OK || run(&job, verb, &err) != WIO_OK) {
        cmd_store_result_fini(&job.result);
        return cmd_fail(&err);
    }
    cmd_store_render(&job.result, verb->name, verb->output, args.common.format == CMD_FORMAT_JSON,
                     args.common.quiet);
    int status = job.result.counts.failed > 0 ? 1 : 0;
    cmd_store_result_fini(&job.result);
    return status;
}
