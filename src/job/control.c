/* SPDX-License-Identifier: Apache-2.0 */
#include "job/control.h"

#include <string.h>

#include "base/cleanup.h"
#include "job/quote.h"

static enum wio_status fail(struct wio_error *err, enum wio_status status, const char *what)
{
    return wio_error_set(err, status, NULL, WIO_ERROR_NO_OFFSET, "job ids: %s", what);
}

/* The name that all processes of the node have; none where no name was set yet. */
static enum wio_status name_node(const struct wio_job_control *control, uint32_t *node_out,
                                 struct wio_error *err)
{
    char name[WIO_JOB_BYTES + 1];
    size_t bytes = 0;
    const struct wio_job_facts facts = {.host = control->host, .host_bytes = strlen(control->host)};
    *node_out = WIO_JOB_NONE;
    if (control->settings->mode == WIO_JOB_MODE_DISABLE || control->settings->format[0] == '\0' ||
        !wio_job_format_name(control->settings->format, &facts, name, sizeof(name), &bytes)) {
        return WIO_OK;
    }
    const enum wio_status status = wio_job_names_add(control->names, name, bytes, node_out);
    return status == WIO_OK ? WIO_OK : fail(err, status, "no room for the name of the node");
}

enum wio_status wio_job_control_apply(const struct wio_job_control *control, uint32_t *node_out,
                                      struct wio_error *err)
{
    *node_out = WIO_JOB_PER_PROCESS;
    if (wio_job_settings_is_whole(control->settings)) {
        WIO_TRY(name_node(control, node_out, err));
    }
    wio_job_table_whole(control->table, *node_out);
    wio_job_table_clear(control->table);
    return WIO_OK;
}

static enum wio_status set_node(const struct wio_job_control *control, const char *name,
                                struct wio_job_control_result *result, struct wio_error *err)
{
    struct wio_job_settings before = *control->settings;
    WIO_TRY(wio_job_settings_format(control->settings, name, err));
    const enum wio_status status = wio_job_control_apply(control, &result->node, err);
    if (status != WIO_OK) {
        *control->settings = before;
    }
    return status;
}

enum wio_status wio_job_control_write(const struct wio_job_control *control, const char *line,
                                      size_t bytes, uint64_t now_ns,
                                      struct wio_job_control_result *result_out,
                                      struct wio_error *err)
{
    char name[WIO_JOB_BYTES + 1];
    size_t used = 0;
    *result_out = (struct wio_job_control_result){.node = WIO_JOB_PER_PROCESS};
    if (!wio_job_unquote(line, bytes, name, WIO_JOB_BYTES, &used)) {
        return fail(err, WIO_ERR_USAGE,
                    "expected a name of 1 to 4,096 bytes, \"quoted\" with \\xHH where needed");
    }
    name[used] = '\0';
    if (control->settings->mode == WIO_JOB_MODE_NODE_LOCAL) {
        return set_node(control, name, result_out, err);
    }
    result_out->purged =
        wio_job_table_purge(control->table, wio_job_names_find(control->names, name, used), now_ns);
    return WIO_OK;
}
