/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/pending.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "trace/hide.h"
#include "trace/seal.h"

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

enum wio_status wio_pending_seal(const char *dir, wio_progress_fn *progress, void *progress_arg,
                                 int *fd_out, bool *live_out, struct wio_error *err)
{
    char name[128];
    struct wio_seal_survey survey;
    struct wio_seal_params params = {
        .struct_size = sizeof(params),
        .look_at_files = true,
        .rings_only = true,
        .progress = progress,
        .progress_arg = progress_arg,
    };
    *fd_out = -1;
    *live_out = false;
    WIO_TRY(wio_seal_survey(dir, &survey, err));
    *live_out = survey.is_going_on;
    if (survey.rings == 0) {
        if (survey.sealed > 0 && survey.is_writable && !survey.is_going_on) {
            WIO_TRY(wio_seal_clear(dir, err));
        }
        wio_hide_forget(dir); /* left by recorders that were not sure to be the last */
        return WIO_OK;
    }
    if (survey.is_writable && survey.live == 0) {
        struct wio_error ignored = WIO_ERROR_INIT;
        name_segment(name, sizeof(name));
        enum wio_status status = wio_seal(dir, NULL, name, &params, &ignored);
        if (status == WIO_OK || status == WIO_ERR_NOMEM) {
            wio_hide_forget(dir);
            return status;
        }
        /* A full disk, a file system that is read-only after all: memory will do. */
    }
    params.keep_rings = true;
    return wio_seal_to_fd(dir, NULL, fd_out, &params, err);
}
