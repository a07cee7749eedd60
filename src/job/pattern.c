/* SPDX-License-Identifier: Apache-2.0 */
#include "job/pattern.h"

#include <string.h>

#include "base/cleanup.h"
#include "job/names.h"

#define ANY '\001'

static enum wio_status wrong(struct wio_error *err, const char *text, const char *what)
{
    return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                         "'%s' is no pattern of a job id: %s", text, what);
}

/* The part of a pattern up to %j or its end; gives what follows, NULL where it is wrong. */
static const char *parse_part(const char *at, char *part_out)
{
    size_t used = 0;
    while (*at != '\0' && !(at[0] == '%' && at[1] == 'j')) {
        if (used == WIO_JOB_PATTERN_BYTES - 1 || *at == ANY || (at[0] == '%' && at[1] != '%')) {
            return NULL;
        }
        part_out[used++] = *at == '*' ? ANY : *at;
        at += at[0] == '%' ? 2 : 1;
    }
    part_out[used] = '\0';
    return at;
}

enum wio_status wio_job_pattern_parse(const char *text, struct wio_job_pattern *pattern_out,
                                      struct wio_error *err)
{
    struct wio_job_pattern pattern = {.variable = ""};
    const char *colon = strchr(text, ':');
    if (colon == NULL || colon == text) {
        return wrong(err, text, "expected 'cgroup:' or the name of a variable in front");
    }
    const size_t bytes = (size_t)(colon - text);
    if (bytes >= WIO_JOB_PATTERN_BYTES || memchr(text, '=', bytes) != NULL) {
        return wrong(err, text, "this is no name of a variable");
    }
    if (bytes != 6 || memcmp(text, "cgroup", 6) != 0) {
        memcpy(pattern.variable, text, bytes);
    }
    const char *at = parse_part(colon + 1, pattern.before);
    if (at == NULL || *at == '\0') {
        return wrong(err, text, "expected one %j in it, %% for a percent sign, 127 bytes at most");
    }
    at = parse_part(at + 2, pattern.behind);
    if (at == NULL || *at != '\0') {
        return wrong(err, text, "expected one %j in it, %% for a percent sign, 127 bytes at most");
    }
    *pattern_out = pattern;
    return WIO_OK;
}

/* is_end[i]: the first i bytes of the text match the part. One row of the table of all pairs of
 * beginnings, changed in place for each byte of the part. */
static void match_beginnings(const char *part, const char *text, size_t bytes, bool *is_end)
{
    memset(is_end, 0, bytes + 1);
    is_end[0] = true;
    for (; *part != '\0'; part++) {
        bool diagonal = is_end[0];
        is_end[0] = is_end[0] && *part == ANY;
        for (size_t i = 1; i <= bytes; i++) {
            const bool above = is_end[i];
            is_end[i] = *part == ANY ? above || is_end[i - 1] : diagonal && text[i - 1] == *part;
            diagonal = above;
        }
    }
}

/* is_begin[i]: what follows the first i bytes matches the part. */
static void match_ends(const char *part, const char *text, size_t bytes, bool *is_begin)
{
    memset(is_begin, 0, bytes + 1);
    is_begin[bytes] = true;
    for (size_t at = strlen(part); at-- > 0;) {
        bool diagonal = is_begin[bytes];
        is_begin[bytes] = is_begin[bytes] && part[at] == ANY;
        for (size_t i = bytes; i-- > 0;) {
            const bool above = is_begin[i];
            is_begin[i] =
                part[at] == ANY ? above || is_begin[i + 1] : diagonal && text[i] == part[at];
            diagonal = above;
        }
    }
}

/* The longest id that begins at `from`; 0 where there is none. */
static size_t longest(const bool *is_begin, const char *text, size_t bytes, size_t from)
{
    size_t found = 0;
    for (size_t end = from + 1; end <= bytes && text[end - 1] != '/'; end++) {
        found = is_begin[end] ? end - from : found;
    }
    return found;
}

const char *wio_job_pattern_find(const struct wio_job_pattern *pattern, const char *text,
                                 size_t bytes, size_t *bytes_out)
{
    bool is_end[WIO_JOB_BYTES + 1];
    bool is_begin[WIO_JOB_BYTES + 1];
    if (bytes > WIO_JOB_BYTES) {
        return NULL;
    }
    match_beginnings(pattern->before, text, bytes, is_end);
    match_ends(pattern->behind, text, bytes, is_begin);
    for (size_t from = 0; from < bytes; from++) {
        const size_t found = is_end[from] ? longest(is_begin, text, bytes, from) : 0;
        if (found > 0) {
            *bytes_out = found;
            return text + from;
        }
    }
    return NULL;
}
