/* SPDX-License-Identifier: Apache-2.0 */
/* whyio record: run a command and record its I/O. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/env.h"
#include "base/io.h"
#include "cmd.h"
#include "handles.h"
#include "progress.h"
#include "record_options.h"
#include "render_record.h"
#include "replay/replay.h"
#include "throttle/hosts/worker.h"

enum { EXIT_ANSWER_NO = 1 };

static void tell_lingering(void *arg, const struct wio_lingering *running)
{
    const struct cmd_options *common = arg;
    if (!common->quiet) {
        cmd_say("the command has ended, but %zu of its processes run%s on (%s, pid %d): waiting "
                "for %s; interrupt (Ctrl-C) to end the recording now",
                running->count, running->count == 1 ? "s" : "",
                running->name[0] != '\0' ? running->name : "?", running->pid,
                running->count == 1 ? "it" : "them");
    }
}

static void tell_news(void *arg, const struct wio_throttle_news *news)
{
    const struct cmd_options *common = arg;
    if (!common->quiet) {
        render_throttle_news(news);
    }
}

/* A directory for a replay: beside the trace, or a new one in that of the target. */
static enum wio_status make_root(const char *dir, const char *target, char root[PATH_MAX],
                                 struct wio_error *err)
{
    if (target == NULL) {
        snprintf(root, PATH_MAX, "%.*s.replay", PATH_MAX - 16, dir);
        return WIO_OK;
    }
    snprintf(root, PATH_MAX, "%.*s/whyio-replay-XXXXXX", PATH_MAX - 32, target);
    return mkdtemp(root) != NULL
               ? WIO_OK
               : wio_error_sys(err, target, "cannot make a directory for a replay");
}

/* How long a replay takes. */
static enum wio_status replay_trace(void *arg, const char *dir, const char *target,
                                    double *time_s_out, struct wio_error *err)
{
    char root[PATH_MAX];
    WIO_CLEANUP(cmd_trace_cleanup) struct wio_trace *trace = NULL;
    struct wio_replay_result *result = NULL;
    (void)arg;
    WIO_TRY(make_root(dir, target, root, err));
    const struct wio_replay_params params = {
        .struct_size = sizeof(params), .root = root, .mode = WIO_REPLAY_CAUSAL};
    enum wio_status status = wio_trace_open(dir, &trace, err);
    status = status == WIO_OK ? wio_replay(trace, &params, &result, err) : status;
    if (status == WIO_OK) {
        const struct wio_replay_account *total = &result->total;
        *time_s_out =
            total->end_ns > total->begin_ns ? (double)(total->end_ns - total->begin_ns) / 1e9 : 0;
    }
    wio_replay_result_destroy(result);
    enum wio_status removed = wio_io_remove_tree(root, NULL);
    (void)removed; /* it is only in the way */
    return status;
}

static void close_record(const struct record_options *options,
                         const struct wio_record_result *result,
                         const struct wio_throttle_result *throttle)
{
    render_record_trouble(result);
    if (throttle != NULL) {
        render_throttle_trouble(throttle);
    }
    if (options->common.format == CMD_FORMAT_JSON) {
        render_record_json(result, throttle);
    } else if (!options->common.quiet && result->seal_error.status == WIO_OK) {
        if (throttle == NULL || throttle->end != WIO_THROTTLE_MERGED) {
            render_record_text(result);
        }
        if (throttle != NULL) {
            render_throttle_text(throttle);
        }
    }
}

static int record_once(const struct record_options *options)
{
    struct wio_record_result result;
    struct wio_error err = WIO_ERROR_INIT;
    enum wio_status status = wio_record(&options->record, &result, &err);
    cmd_progress_end(options->record.progress_arg);
    if (status != WIO_OK) {
        return cmd_fail(&err);
    }
    close_record(options, &result, NULL);
    return result.exit_status;
}

/* Behind a launcher, as part of what another recorder directs: that one says how it went. */
static int record_directed(const struct record_options *options, const char *director)
{
    struct wio_record_result result;
    struct wio_error err = WIO_ERROR_INIT;
    enum wio_status status = wio_agent_record(&options->record, director, &result, &err);
    cmd_progress_end(options->record.progress_arg);
    if (status != WIO_OK) {
        return cmd_fail(&err);
    }
    render_record_trouble(&result);
    return result.exit_status;
}

static int record_throttled(const struct record_options *options)
{
    struct wio_throttle_result result;
    struct wio_error err = WIO_ERROR_INIT;
    enum wio_status status =
        wio_record_throttled(&options->record, &options->throttle, &result, &err);
    cmd_progress_end(options->record.progress_arg);
    if (status != WIO_OK) {
        return cmd_fail(&err);
    }
    close_record(options, &result.record, &result);
    if (result.end == WIO_THROTTLE_REFUSED) {
        return wio_status_exit(result.error.status);
    }
    return result.end == WIO_THROTTLE_DIFFERS ? EXIT_ANSWER_NO : result.exit_status;
}

int cmd_record(int argc, char **argv)
{
    struct record_options options;
    int wrong = record_options_parse(argc, argv, &options);
    if (wrong != 0) {
        return wrong;
    }
    struct cmd_progress progress;
    cmd_progress_init(&progress, "sealing", &options.common);
    options.record.capture_lib = wio_env_get(WIO_ENV_CAPTURE_LIB);
    options.record.ring_dir = wio_env_get(WIO_ENV_RING_DIR);
    options.record.progress = cmd_progress_update;
    options.record.progress_arg = &progress;
    options.record.lingering = tell_lingering;
    options.record.lingering_arg = &options.common;
    options.throttle.replay = replay_trace;
    options.throttle.news = tell_news;
    options.throttle.news_arg = &options.common;
    const char *director = wio_env_get(WIO_ENV_DIRECTOR);
    if (options.is_throttle) {
        return record_throttled(&options);
    }
    return director != NULL ? record_directed(&options, director) : record_once(&options);
}
