/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of /proc, names in quotes, patterns and formats of a user: any bytes, an answer that lies
 * within them, and what is written is read back. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/proc_text.h"
#include "job/quote.h"
#include "job/resolve.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition) {
        abort();
    }
}

static void try_resolve(const char *text, size_t bytes, const struct wio_job_settings *settings)
{
    static struct wio_job_resolved resolved;
    for (int is_cut = 0; is_cut < 2; is_cut++) {
        const struct wio_job_texts texts = {
            .environ = {text, bytes, is_cut != 0},
            .cgroup = {text, bytes, is_cut != 0},
            .facts = {.program = text, .program_bytes = bytes, .host = text, .host_bytes = bytes}};
        wio_job_resolve_texts(settings, &texts, &resolved);
        require(resolved.bytes <= WIO_JOB_BYTES);
        require(memchr(resolved.name, '\0', sizeof(resolved.name)) != NULL);
    }
}

static void try_quotes(const char *text, size_t bytes)
{
    char name[256];
    char quoted[WIO_JOB_QUOTED_BYTES(sizeof(name))];
    char back[sizeof(name)];
    size_t used;
    size_t got;
    if (wio_job_unquote(text, bytes, name, sizeof(name), &used)) {
        require(used > 0 && used <= sizeof(name) && memchr(name, '\0', used) == NULL);
        const size_t length = wio_job_quote(name, used, quoted);
        require(wio_job_unquote(quoted, length, back, sizeof(back), &got));
        require(got == used && memcmp(back, name, used) == 0);
    }
}

/* The first line is what a user says, the rest what a process says. */
static void try_user(const char *said, const char *text, size_t bytes)
{
    struct wio_job_settings settings = {.mode = WIO_JOB_MODE_BATCH};
    struct wio_error err = WIO_ERROR_INIT;
    size_t found;
    if (wio_job_pattern_parse(said, &settings.pattern, &err) == WIO_OK) {
        const char *id = wio_job_pattern_find(&settings.pattern, text, bytes, &found);
        require(id == NULL || (id >= text && found > 0 && id + found <= text + bytes));
        settings.has_pattern = true;
    } else {
        require(err.message[0] != '\0');
    }
    try_resolve(text, bytes, &settings);
    if (wio_job_settings_format(&settings, said, &err) == WIO_OK) {
        try_resolve(text, bytes, &settings);
    }
    if (wio_job_settings_mode(&settings, said, &err) == WIO_OK) {
        try_resolve(text, bytes, &settings);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    uint64_t number;
    require(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    (void)wio_proc_stat_start(text, size, &number);
    (void)wio_proc_status_number(text, size, "Tgid:", &number);
    try_quotes(text, size);
    char *line_end = memchr(text, '\n', size);
    if (line_end != NULL) {
        *line_end = '\0';
        try_user(text, line_end + 1, size - (size_t)(line_end + 1 - text));
    }
    free(text);
    return 0;
}
