/* SPDX-License-Identifier: Apache-2.0 */
#include <whyio/status.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *wio_status_text(enum wio_status status)
{
    switch (status) {
#define STATUS_TEXT(name, value, text, exit_status)                                                \
    case name:                                                                                     \
        return text;
        WIO_STATUS_LIST(STATUS_TEXT)
#undef STATUS_TEXT
    }
    return "unknown status";
}

int wio_status_exit(enum wio_status status)
{
    switch (status) {
#define STATUS_EXIT(name, value, text, exit_status)                                                \
    case name:                                                                                     \
        return exit_status;
        WIO_STATUS_LIST(STATUS_EXIT)
#undef STATUS_EXIT
    }
    return 4;
}

/* Append to a text of fixed size; what does not fit is cut. */
static void append_v(char *text, size_t size, const char *fmt, va_list args) WIO_PRINTF(3, 0);

static void append_v(char *text, size_t size, const char *fmt, va_list args)
{
    size_t used = strnlen(text, size - 1);
    (void)vsnprintf(text + used, size - used, fmt, args);
}

static void append(char *text, size_t size, const char *fmt, ...) WIO_PRINTF(3, 4);

static void append(char *text, size_t size, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    append_v(text, size, fmt, args);
    va_end(args);
}

/* The begin of the character of UTF-8 that `at` lies in; `at` itself where there is none: no
 * character has more than three bytes behind its first. */
static size_t character_at(const char *text, size_t at)
{
    size_t begin = at;
    while (begin > 0 && at - begin < 3 && ((unsigned char)text[begin] & 0xc0) == 0x80) {
        begin--;
    }
    return ((unsigned char)text[begin] & 0xc0) == 0xc0 ? begin : at;
}

/* Leave room for what is to come: the cause of a failure tells more than the end of a long path. */
static void cut(char *text, size_t length)
{
    static const char mark[] = "...";
    if (strlen(text) > length) {
        memcpy(text + character_at(text, length - strlen(mark)), mark, sizeof(mark));
    }
}

static void fill(struct wio_error *err, enum wio_status status, int sys_errno, const char *file,
                 uint64_t offset)
{
    err->status = status;
    err->sys_errno = sys_errno;
    err->offset = offset;
    err->file[0] = '\0';
    err->message[0] = '\0';
    if (file != NULL) {
        append(err->file, sizeof(err->file), "%s", file);
    }
}

enum wio_status wio_error_set(struct wio_error *err, enum wio_status status, const char *file,
                              uint64_t offset, const char *fmt, ...)
{
    if (err == NULL) {
        return status;
    }
    fill(err, status, 0, file, offset);
    va_list args;
    va_start(args, fmt);
    append_v(err->message, sizeof(err->message), fmt, args);
    va_end(args);
    return status;
}

enum wio_status wio_error_sys(struct wio_error *err, const char *file, const char *fmt, ...)
{
    int sys_errno = errno;
    enum wio_status status = sys_errno == ENOMEM ? WIO_ERR_NOMEM : WIO_ERR_IO;
    if (err == NULL) {
        return status;
    }
    fill(err, status, sys_errno, file, WIO_ERROR_NO_OFFSET);
    va_list args;
    va_start(args, fmt);
    append_v(err->message, sizeof(err->message), fmt, args);
    va_end(args);
    char buffer[128];
    const char *cause = strerror_r(sys_errno, buffer, sizeof(buffer));
    cut(err->message, sizeof(err->message) - sizeof(": ") - strlen(cause));
    append(err->message, sizeof(err->message), ": %s", cause);
    errno = sys_errno;
    return status;
}

enum wio_status wio_error_pass(struct wio_error *err, const struct wio_error *cause)
{
    if (err != NULL) {
        *err = *cause;
    }
    return cause->status;
}

void wio_error_add(struct wio_error *err, const char *fmt, ...)
{
    if (err == NULL) {
        return;
    }
    append(err->message, sizeof(err->message), "%s", err->message[0] != '\0' ? "; " : "");
    va_list args;
    va_start(args, fmt);
    append_v(err->message, sizeof(err->message), fmt, args);
    va_end(args);
}

void wio_error_format(const struct wio_error *err, char *text, unsigned long size)
{
    if (size == 0) {
        return;
    }
    text[0] = '\0';
    if (err->file[0] != '\0') {
        append(text, size, "'%s'", err->file);
        if (err->offset != WIO_ERROR_NO_OFFSET) {
            append(text, size, " at byte %llu", (unsigned long long)err->offset);
        }
        append(text, size, ": ");
    }
    append(text, size, "%s", err->message[0] != '\0' ? err->message : wio_status_text(err->status));
}
