/* SPDX-License-Identifier: Apache-2.0 */
#include "env_lines.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/env.h"
#include "record/library.h"

/* In single quotes, which end for each quote of the text. csh takes "!" for its history even
 * there. */
static void put_quoted(const char *text, enum env_syntax syntax, FILE *out)
{
    (void)fputc('\'', out);
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            (void)fputs("'\\''", out);
        } else if (*text == '!' && syntax == ENV_CSH) {
            (void)fputs("\\!", out);
        } else {
            (void)fputc(*text, out);
        }
    }
    (void)fputc('\'', out);
}

static void put_variable(const char *name, const char *value, enum env_syntax syntax, FILE *out)
{
    switch (syntax) {
    case ENV_SH:
        (void)fprintf(out, "export %s=", name);
        put_quoted(value, syntax, out);
        break;
    case ENV_CSH:
        (void)fprintf(out, "setenv %s ", name);
        put_quoted(value, syntax, out);
        break;
    case ENV_SLURM:
    default:
        (void)fprintf(out, "export %s=%s", name, value);
        break;
    }
    (void)fputs(syntax == ENV_SLURM ? "\n" : ";\n", out);
}

/* The one in front, once; a library of the user's own stays behind it. */
static enum wio_status put_preload(const char *library, enum env_syntax syntax, FILE *out,
                                   struct wio_error *err)
{
    const char *old = getenv("LD_PRELOAD");
    const size_t length = strlen(library);
    char *value = NULL;
    if (old == NULL || old[0] == '\0') {
        put_variable("LD_PRELOAD", library, syntax, out);
        return WIO_OK;
    }
    const bool is_there =
        strncmp(old, library, length) == 0 && (old[length] == '\0' || old[length] == ':');
    if (is_there) {
        put_variable("LD_PRELOAD", old, syntax, out);
        return WIO_OK;
    }
    if (asprintf(&value, "%s:%s", library, old) < 0) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    put_variable("LD_PRELOAD", value, syntax, out);
    free(value);
    return WIO_OK;
}

/* The programs may work in other directories. */
static enum wio_status find_absolute(const char *trace, char out[2 * PATH_MAX],
                                     struct wio_error *err)
{
    char here[PATH_MAX] = "";
    if (trace[0] != '/' && getcwd(here, sizeof(here)) == NULL) {
        return wio_error_sys(err, ".", "cannot tell the working directory");
    }
    const int length =
        snprintf(out, (size_t)2 * PATH_MAX, "%s%s%s", here, trace[0] != '/' ? "/" : "", trace);
    if (strpbrk(out, "\n") != NULL || length >= PATH_MAX - NAME_MAX) {
        return wio_error_set(err, WIO_ERR_USAGE, trace, WIO_ERROR_NO_OFFSET,
                             "expected a shorter name of one line for the trace directory");
    }
    return WIO_OK;
}

enum wio_status env_lines_print(const struct env_lines *lines, FILE *out, struct wio_error *err)
{
    char library[PATH_MAX] = "";
    char trace[2 * PATH_MAX] = "";
    char bytes[24];
    WIO_TRY(wio_library_find(wio_env_get(WIO_ENV_CAPTURE_LIB), library, err));
    WIO_TRY(find_absolute(lines->trace, trace, err));
    put_variable("WHYIO_TRACE", trace, lines->syntax, out);
    put_variable("WHYIO_CAUSAL", lines->no_causal ? "0" : "1", lines->syntax, out);
    if (lines->max_size > 0) {
        (void)snprintf(bytes, sizeof(bytes), "%" PRIu64, lines->max_size);
        put_variable("WHYIO_MAX_SIZE", bytes, lines->syntax, out);
        put_variable("WHYIO_KEEP", lines->keep_last ? "last" : "first", lines->syntax, out);
    }
    return put_preload(library, lines->syntax, out, err); /* last: what follows it is recorded */
}
