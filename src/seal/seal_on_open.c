/* SPDX-License-Identifier: Apache-2.0 */
#include "seal/seal_on_open.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "seal/anonymize.h"
#include "seal/seal_internal.h"
#include "trace/format/fresh.h"

/* Commands on several hosts may seal one directory: sealed.<host>.<pid>.<ns>. */
static void name_segment(char *name, size_t size)
{
    char host[65] = "";
    (void)gethostname(host, sizeof(host) - 1);
    for (char *slash = host; (slash = strchr(slash, '/')) != NULL;) {
        *slash = '_';
    }
    (void)snprintf(name, size, "sealed.%s.%d.%llu", host, (int)getpid(),
                   (unsigned long long)wio_clock_mono_ns());
}

/* What dead sealings left, where that is certain: rings that are all sealed, files half written,
 * the key of recorders that were not sure to be the last. */
static void clear(struct wio_seal *seal, const struct wio_seal_survey *survey)
{
    if (!survey->is_writable || survey->is_going_on) {
        return;
    }
    if (seal->raw.is_locked) {
        if (survey->sealed > 0 || seal->refused_count > 0) {
            (void)wio_seal_remove(seal, false);
        }
        wio_hide_forget_locked(&seal->raw);
    }
    wio_fresh_clear(seal->raw.dir);
}

/* WIO_END: not into the directory, memory will do. */
static enum wio_status into_directory(struct wio_seal *seal, const char *dir,
                                      const struct wio_seal_survey *survey, struct wio_error *err)
{
    struct wio_error fault = WIO_ERROR_INIT;
    char name[128];
    if (!survey->is_writable || survey->live > 0 || !seal->raw.is_locked) {
        return WIO_END;
    }
    name_segment(name, sizeof(name));
    enum wio_status status = wio_seal_into(seal, dir, name, &fault);
    if (status == WIO_ERR_NOMEM) {
        return wio_error_pass(err, &fault);
    }
    if (status != WIO_OK) {
        return WIO_END; /* a full disk, a file system that is read-only after all */
    }
    wio_hide_forget_locked(&seal->raw);
    wio_fresh_clear(seal->raw.dir);
    return WIO_OK;
}

/* `params` say that the rings stay. */
static enum wio_status into_memory(int at, const char *dir, const struct wio_seal_params *params,
                                   struct wio_pending *pending, struct wio_error *err)
{
    WIO_CLEANUP(wio_seal_fini) struct wio_seal seal;
    WIO_TRY(wio_seal_begin_at(&seal, at, dir, NULL, false, params, err));
    WIO_TRY(wio_seal_into_memory(&seal, dir, &pending->fd, err));
    pending->has_rings = seal.totals.rings > 0;
    return WIO_OK;
}

enum wio_status wio_pending_seal(int at, const char *dir, wio_progress_fn *progress,
                                 void *progress_arg, struct wio_pending *pending_out,
                                 struct wio_error *err)
{
    WIO_CLEANUP(wio_seal_fini) struct wio_seal seal;
    struct wio_seal_survey survey;
    struct wio_seal_params params = {
        .struct_size = sizeof(params),
        .look_at_files = true,
        .rings_only = true,
        .progress = progress,
        .progress_arg = progress_arg,
    };
    *pending_out = (struct wio_pending){.fd = -1};
    WIO_TRY(wio_seal_begin_at(&seal, at, dir, NULL, true, &params, err));
    wio_seal_count(&seal, &survey);
    pending_out->is_live = survey.is_going_on;
    if (survey.rings == 0) {
        bool is_sound = seal.faults.lines.size == 0;
        clear(&seal, &survey);
        if (is_sound) {
            return WIO_OK;
        }
    } else {
        enum wio_status status = into_directory(&seal, dir, &survey, err);
        if (status != WIO_END) {
            return status;
        }
    }
    wio_seal_fini(&seal);
    seal = (struct wio_seal){.raw = WIO_RAW_INIT, .bound = {.file = WIO_BOUND_INIT}};
    params.keep_rings = true;
    return into_memory(at, dir, &params, pending_out, err);
}
