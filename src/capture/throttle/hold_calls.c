/* SPDX-License-Identifier: Apache-2.0 */
/* Which calls count as I/O for holding: those that touch a file's data or a file system's names,
 * not those on pipes, sockets, terminals and devices, nor what libc serves from memory. */
#include <string.h>

#include "capture/core/raw.h"
#include "capture/throttle/hold.h"
#include "ops/storage_path.h"

enum hold_kind {
    NEVER,
    BY_TARGET, /* of the descriptor or path; yes where the call has neither */
    ALWAYS
};

static enum hold_kind kind_of_class(enum wio_class class)
{
    return (wio_class_properties(class) & WIO_DOES_HOLDABLE) != 0 ? BY_TARGET : NEVER;
}

/* Where the class does not say it. */
static enum hold_kind kind_of(unsigned call)
{
    switch ((unsigned)wio_call_op(call)) {
    case WIO_OP_fclose: /* of streams: the system calls that they cause */
    case WIO_OP_fcloseall:
    case WIO_OP_pclose:
    case WIO_OP_fdopen:
    case WIO_OP_fdopendir:
    case WIO_OP_popen:
    case WIO_OP_memfd_create:
    case WIO_OP_close_range:
    case WIO_OP_closefrom:
    case WIO_OP_readdir:
    case WIO_OP_rewinddir:
    case WIO_OP_seekdir:
    case WIO_OP_umask:
        return NEVER;
    case WIO_OP_msync:
    case WIO_OP_io_submit:
    case WIO_OP_lio_listio:
        return ALWAYS;
    default:
        return kind_of_class(wio_op_class(wio_call_op(call)));
    }
}

static bool is_file(int fd)
{
    struct stat st;
    return raw_fstat(fd, &st) == 0 &&
           (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode) || S_ISBLK(st.st_mode));
}

bool cap_hold_counts(unsigned call, int fd, const char *path)
{
    enum hold_kind kind = kind_of(call);
    if (kind != BY_TARGET) {
        return kind == ALWAYS;
    }
    if (path != NULL) {
        return !cap_is_readable(path) || !wio_path_is_special(path);
    }
    return fd < 0 || is_file(fd);
}
