/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/account.h"

#include <stddef.h>
#include <string.h>

#include "base/cleanup.h"
#include "trace/calls.h"

/* MPI_File calls transfer by system calls, which are events of their own. */
/* clang-format off */
#define KIND_LIST(X)                                                                              \
    X(READ, READ) X(ASYNC_READ, READ) X(STDIO_READ, READ)                                         \
    X(WRITE, WRITE) X(ASYNC_WRITE, WRITE) X(STDIO_WRITE, WRITE) X(COPY, WRITE)                    \
    X(OPEN, META) X(CLOSE, META) X(DUP, META) X(FCNTL, META) X(LOCK, META) X(SEEK, META)          \
    X(SYNC, META) X(SIZE, META) X(ADVISE, META) X(STAT, META) X(ACCESS, META) X(READLINK, META)   \
    X(STATFS, META) X(XATTR, META) X(READDIR, META) X(MKDIR, META) X(UNLINK, META)                \
    X(RENAME, META) X(LINK, META) X(SYMLINK, META) X(MKNOD, META) X(ATTR, META) X(CWD, META)      \
    X(MAP, META) X(ASYNC_SYNC, META) X(ASYNC_META, META) X(STDIO_SEEK, META) X(STDIO_FLUSH, META) \
    X(UNKNOWN, NONE) X(ASYNC_CALL, NONE) X(CHANNEL, NONE) X(PROCESS, NONE) X(EXEC, NONE)          \
    X(EXIT, NONE) X(WAIT, NONE) X(THREAD, NONE) X(MPI_COMM, NONE) X(MPI_SEND, NONE)               \
    X(MPI_RECV, NONE) X(MPI_DONE, NONE) X(MPI_WAIT, NONE) X(MPI_ALL, NONE) X(MPI_LOOSE, NONE)     \
    X(MPI_FROM_ROOT, NONE) X(MPI_TO_ROOT, NONE) X(MPI_SCAN, NONE) X(MPI_LOCK, NONE)               \
    X(MPI_UNLOCK, NONE) X(MPI_FILE, NONE) X(MUTEX, NONE) X(UNLOCK, NONE) X(COND_WAIT, NONE)       \
    X(COND_SIGNAL, NONE) X(BARRIER, NONE) X(SEM_WAIT, NONE) X(SEM_POST, NONE) X(SEM_INIT, NONE)   \
    X(SYNC_INIT, NONE)                                                                             \
    X(FUTEX_WAIT, NONE) X(FUTEX_WAKE, NONE) X(POLL, NONE) X(SLEEP, NONE) X(KILL, NONE)            \
    X(SIGWAIT, NONE) X(HOLD, NONE)
/* clang-format on */

static const uint8_t kinds[WIO_CLASS_COUNT] = {
#define KIND_ROW(class, kind) [WIO_CLASS_##class] = WIO_IO_##kind,
    KIND_LIST(KIND_ROW)
#undef KIND_ROW
};

/* One that is left out would be taken for reading. */
#define COUNT_ROW(class, kind) +1
_Static_assert(0 KIND_LIST(COUNT_ROW) == WIO_CLASS_COUNT, "each class has a kind");

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
