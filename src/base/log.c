/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/env.h"

static const char *const names[] = {"off", "error", "warn", "info", "debug", "trace"};

/* -1 = WHYIO_LOG has not been read. Many threads may find that at once: all find the same. */
static _Atomic int current = -1;

static enum wio_log_level read_level(void)
{
    const char *text = wio_env_get(WIO_ENV_LOG);
    for (size_t i = 0; text != NULL && i < WIO_ARRAY_SIZE(names); i++) {
        if (strcmp(text, names[i]) == 0) {
            return (enum wio_log_level)i;
        }
    }
    return WIO_LOG_OFF;
}

enum wio_log_level wio_log_level(void)
{
    int level = atomic_load_explicit(&current, memory_order_relaxed);
    if (level < 0) {
        level = (int)read_level();
        atomic_store_explicit(&current, level, memory_order_relaxed);
    }
    return (enum wio_log_level)level;
}

void wio_log_write(enum wio_log_level level, const char *tag, const char *fmt, ...)
{
    char line[1024];
    int used = snprintf(line, sizeof(line), "whyio: %s: %s: ", names[level], tag);
    if (used < 0 || (size_t)used >= sizeof(line) - 1) {
        return;
    }
    va_list args;
    va_start(args, fmt);
    int more = vsnprintf(line + used, sizeof(line) - (size_t)used, fmt, args);
    va_end(args);
    if (more < 0) {
        return;
    }
    size_t bytes = (size_t)used + (size_t)more;
    if (bytes > sizeof(line) - 1) {
        bytes = sizeof(line) - 1;
    }
    line[bytes] = '\n'; /* instead of the NUL: one write, so that lines of threads do not mix */
    if (write(STDERR_FILENO, line, bytes + 1) < 0) {
        return; /* no other place to report to */
    }
}
