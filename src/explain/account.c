/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/account.h"

#include <stddef.h>
#include <string.h>

#include "base/cleanup.h"
#include "trace/calls.h"

/* Classes not named here are metadata: that is what a new class most likely is. */
static const uint8_t kinds[WIO_CLASS_COUNT] = {
    [WIO_CLASS_UNKNOWN] = WIO_IO_NONE,      [WIO_CLASS_READ] = WIO_IO_READ,
    [WIO_CLASS_ASYNC_READ] = WIO_IO_READ,   [WIO_CLASS_STDIO_READ] = WIO_IO_READ,
    [WIO_CLASS_WRITE] = WIO_IO_WRITE,       [WIO_CLASS_ASYNC_WRITE] = WIO_IO_WRITE,
    [WIO_CLASS_STDIO_WRITE] = WIO_IO_WRITE, [WIO_CLASS_COPY] = WIO_IO_WRITE,
    [WIO_CLASS_OPEN] = WIO_IO_META,         [WIO_CLASS_CLOSE] = WIO_IO_META,
    [WIO_CLASS_DUP] = WIO_IO_META,          [WIO_CLASS_FCNTL] = WIO_IO_META,
    [WIO_CLASS_LOCK] = WIO_IO_META,         [WIO_CLASS_SEEK] = WIO_IO_META,
    [WIO_CLASS_SYNC] = WIO_IO_META,         [WIO_CLASS_SIZE] = WIO_IO_META,
    [WIO_CLASS_ADVISE] = WIO_IO_META,       [WIO_CLASS_STAT] = WIO_IO_META,
    [WIO_CLASS_ACCESS] = WIO_IO_META,       [WIO_CLASS_READLINK] = WIO_IO_META,
    [WIO_CLASS_STATFS] = WIO_IO_META,       [WIO_CLASS_XATTR] = WIO_IO_META,
    [WIO_CLASS_READDIR] = WIO_IO_META,      [WIO_CLASS_MKDIR] = WIO_IO_META,
    [WIO_CLASS_UNLINK] = WIO_IO_META,       [WIO_CLASS_RENAME] = WIO_IO_META,
    [WIO_CLASS_LINK] = WIO_IO_META,         [WIO_CLASS_SYMLINK] = WIO_IO_META,
    [WIO_CLASS_MKNOD] = WIO_IO_META,        [WIO_CLASS_ATTR] = WIO_IO_META,
    [WIO_CLASS_CWD] = WIO_IO_META,          [WIO_CLASS_MAP] = WIO_IO_META,
    [WIO_CLASS_ASYNC_SYNC] = WIO_IO_META,   [WIO_CLASS_ASYNC_META] = WIO_IO_META,
    [WIO_CLASS_STDIO_SEEK] = WIO_IO_META,   [WIO_CLASS_STDIO_FLUSH] = WIO_IO_META,
    [WIO_CLASS_ASYNC_CALL] = WIO_IO_NONE,   [WIO_CLASS_CHANNEL] = WIO_IO_NONE,
    [WIO_CLASS_PROCESS] = WIO_IO_NONE,      [WIO_CLASS_EXEC] = WIO_IO_NONE,
    [WIO_CLASS_EXIT] = WIO_IO_NONE,         [WIO_CLASS_WAIT] = WIO_IO_NONE,
    [WIO_CLASS_THREAD] = WIO_IO_NONE,
};

enum wio_io_kind wio_account_kind(unsigned op)
{
    enum wio_class cls = wio_op_class(op);
    return cls < WIO_CLASS_COUNT ? (enum wio_io_kind)kinds[cls] : WIO_IO_NONE;
}

bool wio_account_is_buffered(unsigned op)
{
    enum wio_class cls = wio_op_class(op);
    return cls == WIO_CLASS_STDIO_READ || cls == WIO_CLASS_STDIO_WRITE ||
           cls == WIO_CLASS_STDIO_SEEK || cls == WIO_CLASS_STDIO_FLUSH;
}

uint64_t wio_account_bytes(const struct wio_event *event)
{
    enum wio_io_kind kind = wio_account_kind(event->op);

    if ((kind != WIO_IO_READ && kind != WIO_IO_WRITE) || event->result <= 0 || event->error != 0) {
        return 0;
    }
    return (uint64_t)event->result;
}

bool wio_account_is_file(const char *path)
{
    static const char *const special[] = {"/proc/", "/sys/", "/dev/"};

    if (path[0] != '/') {
        return false;
    }
    if (strncmp(path, "/dev/shm/", 9) == 0) {
        return true;
    }
    for (size_t i = 0; i < WIO_ARRAY_SIZE(special); i++) {
        if (strncmp(path, special[i], strlen(special[i])) == 0) {
            return false;
        }
    }
    return true;
}

void wio_tally_add(struct wio_tally *tally, const struct wio_event *event)
{
    tally->count++;
    tally->bytes += wio_account_bytes(event);
    tally->time_ns += event->dur_ns;
    tally->errors += event->error != 0;
}

void wio_tally_merge(struct wio_tally *tally, const struct wio_tally *other)
{
    tally->count += other->count;
    tally->bytes += other->bytes;
    tally->time_ns += other->time_ns;
    tally->errors += other->errors;
}
