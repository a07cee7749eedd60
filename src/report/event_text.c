/* SPDX-License-Identifier: Apache-2.0 */
#include "report/event_text.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "explain/account.h"
#include "ops/calls.h"
#include "report/wait_text.h"

/* The comma between arguments. */
struct arguments {
    struct wio_line *line;
    bool has_any;
};

static struct wio_line *next_argument(struct arguments *args)
{
    if (args->has_any) {
        WIO_LINE_LITERAL(args->line, ", ");
    }
    args->has_any = true;
    return args->line;
}

static void put_octal(struct wio_line *line, uint64_t value)
{
    char text[24];
    char *begin = text + sizeof(text);

    do {
        *--begin = (char)('0' + (value & 7));
        value >>= 3;
    } while (value != 0);
    *--begin = '0';
    wio_line_bytes(line, begin, (size_t)(text + sizeof(text) - begin));
}

static void put_open_flags(struct wio_line *line, int64_t flags)
{
    /* O_TMPFILE and O_SYNC before the bits that they contain */
    static const struct {
        int64_t bits;
        const char *name;
    } names[] = {
        {O_CREAT, "O_CREAT"},         {O_EXCL, "O_EXCL"},           {O_NOCTTY, "O_NOCTTY"},
        {O_TRUNC, "O_TRUNC"},         {O_APPEND, "O_APPEND"},       {O_NONBLOCK, "O_NONBLOCK"},
        {O_SYNC, "O_SYNC"},           {O_DSYNC, "O_DSYNC"},         {O_ASYNC, "O_ASYNC"},
        {O_DIRECT, "O_DIRECT"},       {O_LARGEFILE, "O_LARGEFILE"}, {O_TMPFILE, "O_TMPFILE"},
        {O_DIRECTORY, "O_DIRECTORY"}, {O_NOFOLLOW, "O_NOFOLLOW"},   {O_NOATIME, "O_NOATIME"},
        {O_CLOEXEC, "O_CLOEXEC"},     {O_PATH, "O_PATH"},
    };
    static const char *const access[] = {"O_RDONLY", "O_WRONLY", "O_RDWR", "O_ACCMODE"};

    wio_line_text(line, access[flags & O_ACCMODE]);
    flags &= ~(int64_t)O_ACCMODE;
    for (size_t i = 0; i < WIO_ARRAY_SIZE(names); i++) {
        if (names[i].bits != 0 && (flags & names[i].bits) == names[i].bits) {
            wio_line_byte(line, '|');
            wio_line_text(line, names[i].name);
            flags &= ~names[i].bits;
        }
    }
    if (flags != 0) {
        WIO_LINE_LITERAL(line, "|0x");
        wio_line_hex(line, (uint64_t)flags);
    }
}

/* fd 3 "/d/a" */
static void put_place(struct arguments *args, const struct wio_trace *trace, int32_t fd,
                      uint32_t path)
{
    size_t bytes;
    const char *text = wio_trace_string(trace, path, &bytes);
    struct wio_line *line;

    if (fd == WIO_NO_FD && path == WIO_NO_STRING) {
        return;
    }
    line = next_argument(args);
    if (fd != WIO_NO_FD) {
        WIO_LINE_LITERAL(line, "fd ");
        wio_line_i64(line, fd);
    }
    if (path != WIO_NO_STRING) {
        if (fd != WIO_NO_FD) {
            wio_line_byte(line, ' ');
        }
        wio_line_quoted(line, text, bytes);
    }
}

static void put_class_arguments(struct arguments *args, const struct wio_event *event,
                                enum wio_class cls)
{
    if (cls == WIO_CLASS_OPEN) {
        put_open_flags(next_argument(args), event->arg[0]);
        if ((event->arg[0] & O_CREAT) != 0) {
            put_octal(next_argument(args), (uint64_t)event->arg[1] & 07777);
        }
        return;
    }
    if (cls == WIO_CLASS_MKDIR || cls == WIO_CLASS_MKNOD) {
        put_octal(next_argument(args), (uint64_t)event->arg[0] & 07777);
        return;
    }
    if (cls == WIO_CLASS_EXIT) {
        wio_line_text(next_argument(args), event->op == WIO_OP_killed ? "signal " : "status ");
        wio_line_i64(args->line, event->arg[0]);
        return;
    }
    if (cls == WIO_CLASS_SEEK || cls == WIO_CLASS_STDIO_SEEK) {
        static const char *const whence[] = {"SEEK_SET", "SEEK_CUR", "SEEK_END", "SEEK_DATA",
                                             "SEEK_HOLE"};
        if (event->arg[0] >= 0 && event->arg[0] < (int64_t)WIO_ARRAY_SIZE(whence)) {
            wio_line_text(next_argument(args), whence[event->arg[0]]);
        }
    }
}

static void put_arguments(struct wio_line *line, const struct wio_trace *trace,
                          const struct wio_event *event, enum wio_class cls)
{
    struct arguments args = {line, false};

    put_place(&args, trace, event->fd, event->path);
    put_place(&args, trace, event->fd2, event->path2);
    if (wio_wait_text(line, event, args.has_any)) {
        return;
    }
    if (event->size != WIO_NO_SIZE && cls != WIO_CLASS_ATTR) {
        wio_line_u64(next_argument(&args), event->size);
        WIO_LINE_LITERAL(line, " B");
    }
    if (event->offset != WIO_NO_OFFSET) {
        wio_line_text(next_argument(&args), "at ");
        wio_line_i64(line, event->offset);
        WIO_LINE_LITERAL(line, " B");
    }
    if (event->offset2 != WIO_NO_OFFSET) {
        wio_line_text(next_argument(&args), "from ");
        wio_line_i64(line, event->offset2);
        WIO_LINE_LITERAL(line, " B");
    }
    put_class_arguments(&args, event, cls);
}

static void put_success(struct wio_line *line, const struct wio_event *event, enum wio_class cls)
{
    enum wio_io_kind kind = wio_account_kind(event->op);

    if (cls == WIO_CLASS_MAP && event->result != 0) {
        WIO_LINE_LITERAL(line, "0x");
        wio_line_hex(line, (uint64_t)event->result);
        return;
    }
    if (cls == WIO_CLASS_OPEN || cls == WIO_CLASS_DUP) {
        WIO_LINE_LITERAL(line, "fd ");
    } else if (cls == WIO_CLASS_PROCESS || cls == WIO_CLASS_WAIT) {
        WIO_LINE_LITERAL(line, "pid ");
    }
    wio_line_i64(line, event->result);
    if (kind == WIO_IO_READ || kind == WIO_IO_WRITE || cls == WIO_CLASS_SEEK) {
        WIO_LINE_LITERAL(line, " B");
    }
}

static void put_result(struct wio_line *line, const struct wio_event *event, enum wio_class cls)
{
    if (event->error != 0) {
        const char *name = strerrorname_np(event->error);
        if (name != NULL) {
            wio_line_text(line, name);
            return;
        }
        WIO_LINE_LITERAL(line, "errno ");
        wio_line_u64(line, event->error);
        return;
    }
    /* these do not return */
    if (event->result == WIO_RESULT_PENDING || cls == WIO_CLASS_EXIT || cls == WIO_CLASS_EXEC) {
        WIO_LINE_LITERAL(line, "?");
        return;
    }
    put_success(line, event, cls);
}

void wio_event_text(struct wio_line *line, const struct wio_trace *trace,
                    const struct wio_event *event)
{
    enum wio_class cls = wio_op_class(event->op);

    wio_line_text(line, wio_op_name(event->op));
    wio_line_byte(line, '(');
    put_arguments(line, trace, event, cls);
    WIO_LINE_LITERAL(line, ") = ");
    put_result(line, event, cls);
}
