/* SPDX-License-Identifier: Apache-2.0 */
#include "job/job.h"

#include <string.h>

const char *wio_job_value(const char *const *environ, const char *name)
{
    size_t length = strlen(name);
    for (; environ != NULL && *environ != NULL; environ++) {
        if (strncmp(*environ, name, length) == 0 && (*environ)[length] == '=') {
            return *environ + length + 1;
        }
    }
    return NULL;
}

static bool accept(const char *text, size_t bytes, char *job_out, size_t size)
{
    if (text == NULL || bytes == 0 || bytes >= size) {
        return false;
    }
    memcpy(job_out, text, bytes);
    job_out[bytes] = '\0';
    return true;
}

static bool accept_text(const char *text, char *job_out, size_t size)
{
    return text != NULL && accept(text, strlen(text), job_out, size);
}

/* A component of a path: "job_42" between two slashes. */
static const char *next_component(const char *at, const char *end, size_t *bytes_out)
{
    while (at < end && *at == '/') {
        at++;
    }
    const char *stop = memchr(at, '/', (size_t)(end - at));
    *bytes_out = (size_t)((stop != NULL ? stop : end) - at);
    return at;
}

static bool has_prefix(const char *text, size_t bytes, const char *prefix)
{
    size_t length = strlen(prefix);
    return bytes > length && memcmp(text, prefix, length) == 0;
}

static bool contains(const char *text, size_t bytes, const char *word)
{
    size_t length = strlen(word);
    for (size_t i = 0; i + length <= bytes; i++) {
        if (memcmp(text + i, word, length) == 0) {
            return true;
        }
    }
    return false;
}

/* "pbspro-1234.server.slice" -> "1234.server" */
static const char *in_pbs_slice(const char *text, size_t bytes, size_t *bytes_out)
{
    static const char prefix[] = "pbspro-";
    static const char suffix[] = ".slice";
    const size_t around = sizeof(prefix) - 1 + sizeof(suffix) - 1;
    if (bytes <= around || !has_prefix(text, bytes, prefix) ||
        memcmp(text + bytes - (sizeof(suffix) - 1), suffix, sizeof(suffix) - 1) != 0) {
        return NULL;
    }
    *bytes_out = bytes - around;
    return text + sizeof(prefix) - 1;
}

/* Below it users make groups of any name themselves (delegation of systemd). */
static bool is_user_slice(const char *text, size_t bytes)
{
    return bytes == 10 && memcmp(text, "user.slice", 10) == 0;
}

const char *wio_job_in_cgroup(const char *path, size_t path_bytes, size_t *bytes_out)
{
    const char *end = path + path_bytes;
    bool is_slurm = false;
    bool is_pbs = false;
    size_t bytes;
    for (const char *at = next_component(path, end, &bytes); bytes > 0;
         at = next_component(at + bytes, end, &bytes)) {
        if (is_slurm && has_prefix(at, bytes, "job_")) {
            *bytes_out = bytes - 4;
            return at + 4;
        }
        if (is_pbs) {
            *bytes_out = bytes;
            return at;
        }
        if (is_user_slice(at, bytes)) {
            break;
        }
        const char *slice = in_pbs_slice(at, bytes, bytes_out);
        if (slice != NULL) {
            return slice;
        }
        is_slurm = is_slurm || contains(at, bytes, "slurm");
        is_pbs = bytes == 5 && memcmp(at, "jobid", 5) == 0;
    }
    return NULL;
}

/* Lines are "4:memory:/slurm/uid_0/job_42" or "0::/system.slice/...". */
static bool resolve_cgroup(const char *text, char *job_out, size_t size)
{
    while (text != NULL && *text != '\0') {
        size_t line = strcspn(text, "\n");
        const char *path = memchr(text, '/', line);
        size_t bytes = 0;
        const char *id =
            path != NULL ? wio_job_in_cgroup(path, line - (size_t)(path - text), &bytes) : NULL;
        if (id != NULL && accept(id, bytes, job_out, size)) {
            return true;
        }
        text += line + (text[line] == '\n' ? 1 : 0);
    }
    return false;
}

static bool resolve_environment(const char *const *environ, char *job_out, size_t size)
{
    static const char *const names[] = {"SLURM_JOB_ID", "PBS_JOBID", "FLUX_JOB_ID",
                                        "LSB_JOBID",    "JOB_ID",    "PMIX_NAMESPACE"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (accept_text(wio_job_value(environ, names[i]), job_out, size)) {
            return true;
        }
    }
    return false;
}

bool wio_job_resolve(const struct wio_job_source *source, char *job_out, size_t size)
{
    job_out[0] = '\0';
    if (accept_text(source->fixed, job_out, size)) {
        return true;
    }
    if (source->variable != NULL && source->variable[0] != '\0' &&
        accept_text(wio_job_value(source->environ, source->variable), job_out, size)) {
        return true;
    }
    return resolve_cgroup(source->cgroup, job_out, size) ||
           resolve_environment(source->environ, job_out, size);
}
