/* SPDX-License-Identifier: Apache-2.0 */
#include "job/settings.h"

#include <string.h>

#include "base/cleanup.h"
#include "job/name_format.h"

static const struct {
    const char *name;
    enum wio_job_mode mode;
} modes[] = {{"batch", WIO_JOB_MODE_BATCH},
             {"disable", WIO_JOB_MODE_DISABLE},
             {"disabled", WIO_JOB_MODE_DISABLE},
             {"nodelocal", WIO_JOB_MODE_NODE_LOCAL},
             {"procname_uid", WIO_JOB_MODE_PROCNAME_UID},
             {"session", WIO_JOB_MODE_SESSION}};

/* What POSIX allows in the names of variables of its programs, and lower case. */
static bool is_variable(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        const bool is_digit = text[i] >= '0' && text[i] <= '9';
        const bool is_letter =
            (text[i] >= 'a' && text[i] <= 'z') || (text[i] >= 'A' && text[i] <= 'Z');
        if (!is_letter && text[i] != '_' && (!is_digit || i == 0)) {
            return false;
        }
    }
    return bytes > 0;
}

enum wio_status wio_job_settings_mode(struct wio_job_settings *settings, const char *text,
                                      struct wio_error *err)
{
    const size_t bytes = strlen(text);
    for (size_t i = 0; i < WIO_ARRAY_SIZE(modes); i++) {
        if (strcmp(text, modes[i].name) == 0) {
            settings->mode = modes[i].mode;
            return WIO_OK;
        }
    }
    if (bytes >= sizeof(settings->variable) || !is_variable(text, bytes)) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                             "'%s' is neither a mode of job ids (batch, disable, nodelocal, "
                             "procname_uid, session) nor the name of a variable",
                             text);
    }
    memcpy(settings->variable, text, bytes + 1);
    settings->mode = WIO_JOB_MODE_VARIABLE;
    return WIO_OK;
}

const char *wio_job_settings_mode_text(const struct wio_job_settings *settings)
{
    for (size_t i = 0; i < WIO_ARRAY_SIZE(modes); i++) {
        if (modes[i].mode == settings->mode) {
            return modes[i].name;
        }
    }
    return settings->variable;
}

enum wio_status wio_job_settings_format(struct wio_job_settings *settings, const char *text,
                                        struct wio_error *err)
{
    const size_t bytes = strlen(text);
    if (bytes >= sizeof(settings->format)) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                             "a format of job names has at most %zu bytes",
                             sizeof(settings->format) - 1);
    }
    WIO_TRY(wio_job_format_check(text, err));
    memcpy(settings->format, text, bytes + 1);
    return WIO_OK;
}

bool wio_job_settings_is_whole(const struct wio_job_settings *settings)
{
    return settings->mode == WIO_JOB_MODE_DISABLE ||
           (settings->mode == WIO_JOB_MODE_NODE_LOCAL &&
            !wio_job_format_is_per_process(settings->format));
}

const char *wio_job_settings_names(const struct wio_job_settings *settings)
{
    if (settings->format[0] != '\0') {
        return settings->format;
    }
    return settings->mode == WIO_JOB_MODE_PROCNAME_UID ? "%e.%u" : NULL;
}
