/* SPDX-License-Identifier: Apache-2.0 */
#include "record/environment.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "job/job.h"
#include "ring/trace_request.h"

enum { OWN_VARIABLES = 13, STATUS_BYTES = 1 << 16 };

static const char *const replaced[] = {
    "LD_PRELOAD",     "WHYIO_TRACE", "WHYIO_STACKS",   "WHYIO_MPI_INTERNALS", "WHYIO_MMAP_PAGES",
    "WHYIO_CAUSAL",   "WHYIO_BOARD", "WHYIO_DIRECTOR", "WHYIO_FILTERS",       "WHYIO_RINGS",
    "WHYIO_MAX_SIZE", "WHYIO_KEEP",  "WHYIO_TRACER"};

static bool is_replaced(const char *entry)
{
    for (size_t i = 0; i < WIO_ARRAY_SIZE(replaced); i++) {
        size_t size = strlen(replaced[i]);
        if (strncmp(entry, replaced[i], size) == 0 && entry[size] == '=') {
            return true;
        }
    }
    return false;
}

/* Append "<name>=<value>" to the list, and ":<more>" where there is more. */
static enum wio_status add(char **list, size_t *count, const char *name, const char *value,
                           const char *more)
{
    if (asprintf(&list[*count], "%s=%s%s%s", name, value, more[0] != '\0' ? ":" : "", more) < 0) {
        list[*count] = NULL;
        return WIO_ERR_NOMEM;
    }
    *count += 1;
    return WIO_OK;
}

/* Ours first; not twice where an outer recorder has it there already. */
static enum wio_status add_preload(char **list, size_t *count, const char *lib, const char *old)
{
    size_t size = strlen(lib);
    bool is_there = strncmp(old, lib, size) == 0 && (old[size] == '\0' || old[size] == ':');
    return is_there ? add(list, count, "LD_PRELOAD", old, "")
                    : add(list, count, "LD_PRELOAD", lib, old);
}

/* A number of /proc/self/status; `fallback` where the kernel does not tell it. */
static unsigned long status_field(const struct wio_blob *status, const char *name,
                                  unsigned long fallback)
{
    const char *line = strstr((const char *)status->data, name);
    return line != NULL ? strtoul(line + strlen(name), NULL, 10) : fallback;
}

void wio_environment_filters(char text_out[WIO_FILTERS_BYTES])
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob status = {0};
    snprintf(text_out, WIO_FILTERS_BYTES, "any");
    if (wio_io_read_file("/proc/self/status", STATUS_BYTES, &status, NULL) != WIO_OK) {
        return;
    }
    unsigned long count = status_field(&status, "\nSeccomp_filters:", 0);
    if (count > 0 || status_field(&status, "\nSeccomp:", 0) == 0) {
        snprintf(text_out, WIO_FILTERS_BYTES, "%lu", count);
    }
}

static enum wio_status add_bound(char **list, size_t count,
                                 const struct wio_environment_params *params)
{
    char bytes[24];
    snprintf(bytes, sizeof(bytes), "%" PRIu64, params->max_size);
    WIO_TRY(add(list, &count, "WHYIO_MAX_SIZE", bytes, ""));
    return add(list, &count, "WHYIO_KEEP", params->keep_last ? "last" : "first", "");
}

/* What the capture library is told. */
static enum wio_status add_capture(char **list, size_t count, char *const *base,
                                   const struct wio_environment_params *params)
{
    const char *preload = wio_job_value((const char *const *)base, "LD_PRELOAD");
    WIO_TRY(add_preload(list, &count, params->capture_lib, preload != NULL ? preload : ""));
    WIO_TRY(add(list, &count, "WHYIO_RINGS", params->rings, ""));
    if (params->filters != NULL) {
        WIO_TRY(add(list, &count, "WHYIO_FILTERS", params->filters, ""));
    }
    if (params->stacks) {
        WIO_TRY(add(list, &count, "WHYIO_STACKS", "1", ""));
    } else if (params->no_stacks) {
        WIO_TRY(add(list, &count, "WHYIO_STACKS", "2", ""));
    }
    if (params->mpi_internals) {
        WIO_TRY(add(list, &count, "WHYIO_MPI_INTERNALS", "1", ""));
    }
    if (params->mmap_pages) {
        WIO_TRY(add(list, &count, "WHYIO_MMAP_PAGES", "1", ""));
    }
    if (params->causal) {
        WIO_TRY(add(list, &count, "WHYIO_CAUSAL", "1", ""));
    }
    if (params->tracer != NULL) {
        WIO_TRY(add(list, &count, WIO_TRACER_VARIABLE, params->tracer, ""));
    }
    if (params->board != NULL) {
        WIO_TRY(add(list, &count, "WHYIO_BOARD", params->board, ""));
    }
    return params->max_size > 0 ? add_bound(list, count, params) : WIO_OK;
}

static enum wio_status fill(char **list, char *const *base,
                            const struct wio_environment_params *params)
{
    size_t count = 0;
    bool is_recorded = params->capture_lib != NULL;
    for (size_t i = 0; base[i] != NULL; i++) {
        if (is_replaced(base[i]) && (is_recorded || strncmp(base[i], "LD_PRELOAD=", 11) != 0)) {
            continue;
        }
        list[count] = strdup(base[i]);
        if (list[count] == NULL) {
            return WIO_ERR_NOMEM;
        }
        count += 1;
    }
    if (params->director != NULL) {
        WIO_TRY(add(list, &count, "WHYIO_DIRECTOR", params->director, ""));
    }
    return is_recorded ? add_capture(list, count, base, params) : WIO_OK;
}

enum wio_status wio_environment_create(char *const *base,
                                       const struct wio_environment_params *params,
                                       char ***environment_out)
{
    size_t count = 0;
    while (base[count] != NULL) {
        count += 1;
    }
    char **list = calloc(count + OWN_VARIABLES + 1, sizeof(*list));
    if (list == NULL) {
        return WIO_ERR_NOMEM;
    }
    enum wio_status status = fill(list, base, params);
    if (status != WIO_OK) {
        wio_environment_destroy(&list);
    }
    *environment_out = list;
    return status;
}

void wio_environment_destroy(char ***environment)
{
    char **list = *environment;
    for (size_t i = 0; list != NULL && list[i] != NULL; i++) {
        free(list[i]);
    }
    free(list);
    *environment = NULL;
}
