/* SPDX-License-Identifier: Apache-2.0 */
#include "job/resolve.h"

#include <string.h>

#include "base/cleanup.h"
#include "job/job.h"

/* A part of a text that is the id; text NULL = none. */
struct found_job {
    const char *text;
    size_t bytes;
};

const char *wio_job_variable(const struct wio_job_text *environ, const char *name,
                             size_t *bytes_out)
{
    const size_t length = strlen(name);
    size_t at = 0;
    while (environ->text != NULL && at < environ->bytes) {
        const char *entry = environ->text + at;
        const size_t left = environ->bytes - at;
        const char *end = memchr(entry, '\0', left);
        const size_t bytes = end != NULL ? (size_t)(end - entry) : left;
        if (bytes > length && memcmp(entry, name, length) == 0 && entry[length] == '=') {
            *bytes_out = bytes - length - 1;
            return end == NULL && environ->is_cut ? NULL : entry + length + 1;
        }
        at += bytes + 1;
    }
    return NULL;
}

static struct found_job in_variable(const struct wio_job_text *environ, const char *name)
{
    struct found_job found = {NULL, 0};
    found.text = wio_job_variable(environ, name, &found.bytes);
    return found.bytes > 0 ? found : (struct found_job){NULL, 0};
}

static struct found_job in_batch_variables(const struct wio_job_text *environ)
{
    static const char *const names[] = {"SLURM_JOB_ID", "PBS_JOBID", "FLUX_JOB_ID",
                                        "LSB_JOBID",    "JOB_ID",    "PMIX_NAMESPACE"};
    for (size_t i = 0; i < WIO_ARRAY_SIZE(names); i++) {
        const struct found_job found = in_variable(environ, names[i]);
        if (found.text != NULL) {
            return found;
        }
    }
    return (struct found_job){NULL, 0};
}

/* The id in the path of each line ("0::/a/b", "4:memory:/a/b"), by a pattern or the known rules. A
 * last line that may be half says nothing. */
static struct found_job in_cgroup(const struct wio_job_text *cgroup,
                                  const struct wio_job_pattern *pattern)
{
    const char *at = cgroup->text;
    const char *end = at != NULL ? at + cgroup->bytes : NULL;
    while (at != NULL && at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (stop == NULL && cgroup->is_cut) {
            break;
        }
        const char *line_end = stop != NULL ? stop : end;
        const char *path = memchr(at, '/', (size_t)(line_end - at));
        struct found_job found = {NULL, 0};
        if (path != NULL) {
            const size_t bytes = (size_t)(line_end - path);
            found.text = pattern != NULL ? wio_job_pattern_find(pattern, path, bytes, &found.bytes)
                                         : wio_job_in_cgroup(path, bytes, &found.bytes);
        }
        if (found.text != NULL) {
            return found;
        }
        at = line_end + 1;
    }
    return (struct found_job){NULL, 0};
}

static struct found_job by_pattern(const struct wio_job_pattern *pattern,
                                   const struct wio_job_texts *texts)
{
    if (pattern->variable[0] == '\0') {
        return in_cgroup(&texts->cgroup, pattern);
    }
    struct found_job value = in_variable(&texts->environ, pattern->variable);
    struct found_job found = {NULL, 0};
    if (value.text != NULL) {
        found.text = wio_job_pattern_find(pattern, value.text, value.bytes, &found.bytes);
    }
    return found;
}

static struct found_job find_batch(const struct wio_job_settings *settings,
                                   const struct wio_job_texts *texts)
{
    struct found_job found = {NULL, 0};
    if (settings->has_pattern) {
        found = by_pattern(&settings->pattern, texts);
    }
    if (found.text == NULL) {
        found = in_cgroup(&texts->cgroup, NULL);
    }
    return found.text != NULL ? found : in_batch_variables(&texts->environ);
}

static struct found_job find_job(const struct wio_job_settings *settings,
                                 const struct wio_job_texts *texts)
{
    switch (settings->mode) {
    case WIO_JOB_MODE_BATCH:
    case WIO_JOB_MODE_NODE_LOCAL: /* for %j in its format */
    case WIO_JOB_MODE_PROCNAME_UID:
        return find_batch(settings, texts);
    case WIO_JOB_MODE_VARIABLE:
        return in_variable(&texts->environ, settings->variable);
    case WIO_JOB_MODE_SESSION:
        return texts->session.bytes > 0
                   ? (struct found_job){texts->session.text, texts->session.bytes}
                   : (struct found_job){NULL, 0};
    case WIO_JOB_MODE_DISABLE:
    default:
        return (struct found_job){NULL, 0};
    }
}

static bool needs_job(const struct wio_job_settings *settings)
{
    const char *format = wio_job_settings_names(settings);
    if (format != NULL) {
        return wio_job_format_has(format, 'j');
    }
    return settings->mode != WIO_JOB_MODE_NODE_LOCAL && settings->mode != WIO_JOB_MODE_DISABLE;
}

static unsigned needs_of_job(const struct wio_job_settings *settings)
{
    if (settings->mode == WIO_JOB_MODE_SESSION) {
        return WIO_JOB_NEED_SESSION;
    }
    return settings->mode == WIO_JOB_MODE_VARIABLE ? WIO_JOB_NEED_ENVIRON
                                                   : WIO_JOB_NEED_ENVIRON | WIO_JOB_NEED_CGROUP;
}

unsigned wio_job_resolve_needs(const struct wio_job_settings *settings)
{
    const char *format = wio_job_settings_names(settings);
    unsigned needs = needs_job(settings) ? needs_of_job(settings) : 0;
    if (format != NULL && wio_job_format_has(format, 'e')) {
        needs |= WIO_JOB_NEED_PROGRAM;
    }
    if (format != NULL && (wio_job_format_has(format, 'u') || wio_job_format_has(format, 'g'))) {
        needs |= WIO_JOB_NEED_OWNER;
    }
    return needs;
}

bool wio_job_resolve_is_in_cgroup(const struct wio_job_settings *settings,
                                  const struct wio_job_text *cgroup)
{
    const struct wio_job_texts texts = {.cgroup = *cgroup};
    if (settings->has_pattern && settings->pattern.variable[0] != '\0') {
        return false;
    }
    return (needs_of_job(settings) & WIO_JOB_NEED_CGROUP) != 0 &&
           find_batch(settings, &texts).text != NULL;
}

/* Nothing was found: was that because something is missing? An environment without a byte is that
 * of a process that is being replaced by exec, or that has none. */
static bool is_missing(const struct wio_job_settings *settings, const struct wio_job_texts *texts)
{
    const unsigned needs = wio_job_resolve_needs(settings);
    return ((needs & WIO_JOB_NEED_ENVIRON) != 0 && texts->environ.bytes == 0) ||
           ((needs & WIO_JOB_NEED_CGROUP) != 0 && texts->cgroup.text == NULL) ||
           ((needs & WIO_JOB_NEED_PROGRAM) != 0 && texts->facts.program_bytes == 0);
}

static bool keep(struct wio_job_resolved *resolved, const struct found_job *found)
{
    resolved->is_refused = found->bytes > WIO_JOB_BYTES;
    if (found->text == NULL || resolved->is_refused) {
        return false;
    }
    memcpy(resolved->name, found->text, found->bytes);
    resolved->name[found->bytes] = '\0';
    resolved->bytes = found->bytes;
    return true;
}

void wio_job_resolve_texts(const struct wio_job_settings *settings,
                           const struct wio_job_texts *texts, struct wio_job_resolved *resolved_out)
{
    const char *format = wio_job_settings_names(settings);
    const struct found_job found =
        needs_job(settings) ? find_job(settings, texts) : (struct found_job){NULL, 0};
    bool is_named;
    resolved_out->bytes = 0;
    resolved_out->name[0] = '\0';
    resolved_out->is_refused = false;
    if (format == NULL) {
        is_named = keep(resolved_out, &found);
    } else {
        struct wio_job_facts facts = texts->facts;
        facts.job = found.text != NULL ? found.text : "";
        facts.job_bytes = found.bytes;
        is_named = wio_job_format_name(format, &facts, resolved_out->name,
                                       sizeof(resolved_out->name), &resolved_out->bytes);
        resolved_out->bytes = is_named ? resolved_out->bytes : 0;
    }
    resolved_out->is_failed = (!is_named || (needs_job(settings) && found.text == NULL)) &&
                              !resolved_out->is_refused && is_missing(settings, texts);
}
