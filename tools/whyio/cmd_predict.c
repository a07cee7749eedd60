/* SPDX-License-Identifier: Apache-2.0 */
/* whyio predict: what operations would cost on a machine that is described. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cmd.h"
#include "handles.h"
#include "options.h"
#include "predict/predict.h"
#include "predict/program.h"
#include "predict_options.h"
#include "progress.h"
#include "render_predict.h"

/* Find the edges. Without them threads only keep their own computing. */
static enum wio_status find_edges(const struct predict_options *args, struct wio_trace *trace,
                                  struct wio_error *err)
{
    struct wio_error reason = WIO_ERROR_INIT;
    enum wio_status status = cmd_trace_join(trace, &args->common, &reason);
    if (status == WIO_ERR_FORMAT) {
        if (!args->common.quiet) {
            cmd_say("waits are not kept: %s", reason.message);
        }
        return WIO_OK;
    }
    if (status != WIO_OK) {
        *err = reason;
    }
    return status;
}

static enum wio_status make_directory(const char *dir, struct wio_error *err)
{
    if (mkdir(dir, 0777) == 0) {
        return WIO_OK;
    }
    if (errno == EEXIST) {
        if (rmdir(dir) == 0 && mkdir(dir, 0777) == 0) {
            return WIO_OK; /* it was empty, as an interrupted prediction leaves it */
        }
        return wio_error_set(err, WIO_ERR_USAGE, dir, WIO_ERROR_NO_OFFSET,
                             "exists already: expected a new or empty directory for -o");
    }
    return wio_error_sys(err, dir, "cannot make the directory");
}

static enum wio_status write_trace(const struct predict_options *args,
                                   const struct wio_trace *trace,
                                   const struct wio_predict_result *result, struct wio_error *err)
{
    char path[PATH_MAX];
    if ((size_t)snprintf(path, sizeof(path), "%s/predicted.seg", args->out) >= sizeof(path)) {
        return wio_error_set(err, WIO_ERR_USAGE, args->out, WIO_ERROR_NO_OFFSET,
                             "the path is too long");
    }
    return wio_predict_write(trace, result, path, err);
}

/* The traces of a command line, read. */
struct programs {
    struct wio_trace *traces[PREDICT_DIRS_MAX];
    struct wio_program programs[PREDICT_DIRS_MAX];
    uint32_t count;
};

static void programs_fini(struct programs *all)
{
    for (uint32_t i = 0; i < all->count; i++) {
        wio_program_fini(&all->programs[i]);
        wio_trace_close(all->traces[i]);
    }
}

static enum wio_status programs_read(const struct predict_options *args, struct programs *all,
                                     struct wio_error *err)
{
    for (size_t i = 0; i < args->dir_count; i++) {
        struct wio_trace **trace = &all->traces[i];
        WIO_TRY(cmd_trace_open(args->dirs[i], &args->common, trace, err));
        all->count++;
        WIO_TRY(find_edges(args, *trace, err));
        WIO_TRY(wio_program_init(&all->programs[i], *trace, err));
    }
    return WIO_OK;
}

/* -o: one trace. */
static enum wio_status predict_into(const struct predict_options *args, const struct programs *all,
                                    struct wio_predict_result *result_out, struct wio_error *err)
{
    WIO_TRY(make_directory(args->out, err));
    enum wio_status status =
        wio_predict_programs(all->programs, all->count, &args->params, result_out, err);
    if (status == WIO_OK) {
        status = write_trace(args, all->traces[0], result_out, err);
    }
    if (status != WIO_OK) {
        (void)rmdir(args->out); /* where nothing was written */
    }
    return status;
}

static enum wio_status predict_once(const struct predict_options *args, const struct programs *all,
                                    struct wio_predict_result *result_out, struct wio_error *err)
{
    if (args->ops != NULL) {
        return wio_predict_ops(args->ops, &args->params, result_out, err);
    }
    return args->out != NULL
               ? predict_into(args, all, result_out, err)
               : wio_predict_programs(all->programs, all->count, &args->params, result_out, err);
}

/* A misspelt key would else give another answer without a word. */
static void tell_misspelt(const struct predict_options *args,
                          const struct wio_predict_result *result)
{
    const struct wio_ops_misspelt *first = &result->misspelt;
    const struct wio_host_misspelt *host = &result->host_misspelt;
    char lines[WIO_TEXT_MAX];
    if (host->meant != NULL && !args->common.quiet) {
        cmd_say("'%s': key '%s' was skipped, did you mean '%s'?", host->file, host->key,
                host->meant);
    }
    if (first->lines > 0 && !args->common.quiet) {
        cmd_say("line %llu of the list: key '%s' was skipped, did you mean '%s'? (%s line%s)",
                (unsigned long long)first->line, first->key, first->meant,
                wio_format_count(lines, first->lines), first->lines == 1 ? "" : "s");
    }
}

/* A prediction is as good as the figures that it is made of. */
static void tell_trust(const struct predict_options *args, const struct wio_predict_result *result)
{
    const struct wio_host_trust *trust = &result->trust;
    if (trust->is == WIO_HOST_DOUBTED && !args->common.quiet) {
        cmd_say("'%s' is not to be trusted%s%s%s: measure that machine again while it is idle",
                trust->file, trust->doubt[0] != '\0' ? ": " : "", trust->doubt,
                trust->doubts > 1 ? ", and more" : "");
    }
}

/* The same with bw_dev higher and lower by its spread. A list from standard input is read once, and
 * a trace is written once. */
static enum wio_status predict_range(const struct predict_options *args, const struct programs *all,
                                     const struct wio_predict_result *result,
                                     struct render_predict_range *range, struct wio_error *err)
{
    struct predict_options other = *args;
    *range = (struct render_predict_range){result->all.total_s, result->all.total_s,
                                           result->all.io_s, result->all.io_s, 0};
    bool is_once = args->out != NULL || (args->ops != NULL && strcmp(args->ops, "-") == 0);
    if (is_once || !(result->spread > 0)) {
        return WIO_OK;
    }
    range->spread = result->spread;
    other.params.per_op = NULL;
    for (other.params.whatif.spread = -1; other.params.whatif.spread <= 1;
         other.params.whatif.spread += 2) {
        WIO_CLEANUP(wio_predict_result_fini) struct wio_predict_result off = {0};
        WIO_TRY(predict_once(&other, all, &off, err));
        range->low_s = fmin(range->low_s, off.all.total_s);
        range->high_s = fmax(range->high_s, off.all.total_s);
        range->io_low_s = fmin(range->io_low_s, off.all.io_s);
        range->io_high_s = fmax(range->io_high_s, off.all.io_s);
    }
    return WIO_OK;
}

/* One prediction, or one for each value of --set. The machine's doubts are told once. */
static enum wio_status predict_all(struct predict_options *args, struct render_predict *render,
                                   struct cmd_progress *progress, struct wio_error *err)
{
    WIO_CLEANUP(programs_fini) struct programs all = {0};
    WIO_TRY(programs_read(args, &all, err));
    for (size_t i = 0; i < args->value_count || i == 0; i++) {
        WIO_CLEANUP(wio_predict_result_fini) struct wio_predict_result result = {0};
        const char *value = args->value_count > 0 ? args->values[i] : NULL;
        if (value != NULL) {
            (void)predict_options_value(value, &args->params.whatif.value);
        }
        WIO_TRY(predict_once(args, &all, &result, err));
        WIO_TRY(predict_range(args, &all, &result, &render->range, err));
        cmd_progress_end(progress);
        if (value != NULL) {
            const struct render_predict_set set = {args->params.whatif.key, value,
                                                   args->params.whatif.value};
            render_predict_row(render, &set, &result);
        } else {
            render_predict_summary(render, &result);
        }
        if (i == 0) {
            tell_misspelt(args, &result);
            tell_trust(args, &result);
        }
    }
    return WIO_OK;
}

int cmd_predict(int argc, char **argv)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct predict_options args = {.params = wio_predict_params_default()};
    struct cmd_progress progress;
    struct render_predict render;

    int wrong = predict_options_parse(argc, argv, &args);
    if (wrong != 0) {
        return wrong;
    }
    cmd_expect_many_files();
    render_predict_init(&render, stdout, args.common.format == CMD_FORMAT_JSON);
    cmd_progress_init(&progress, "predicting", &args.common);
    args.params.progress = cmd_progress_update;
    args.params.progress_arg = &progress;
    args.params.per_op = args.per_op ? render_predict_op : NULL;
    args.params.per_op_arg = &render;
    args.params.keep_events = args.out != NULL;
    enum wio_status status = predict_all(&args, &render, &progress, &err);
    cmd_progress_end(&progress);
    return status == WIO_OK ? 0 : cmd_fail(&err);
}
