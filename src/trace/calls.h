/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operations and the wrapped calls, as tables. Pure data: safe inside a traced process.
 */
#ifndef WIO_TRACE_CALLS_H
#define WIO_TRACE_CALLS_H

#include <stdbool.h>
#include <stdint.h>

enum wio_op {
    WIO_OP_unknown = 0,
#define WIO_OP(name, cls) WIO_OP_##name,
#include "trace/ops.def"
#undef WIO_OP
    WIO_OP_COUNT
};

/* What an operation does; decides the meaning of its fields (FORMAT.md#fields). */
enum wio_class {
    WIO_CLASS_UNKNOWN = 0,
    WIO_CLASS_OPEN,
    WIO_CLASS_CLOSE,
    WIO_CLASS_DUP,
    WIO_CLASS_FCNTL,
    WIO_CLASS_LOCK,
    WIO_CLASS_READ,
    WIO_CLASS_WRITE,
    WIO_CLASS_COPY,
    WIO_CLASS_SEEK,
    WIO_CLASS_SYNC,
    WIO_CLASS_SIZE,
    WIO_CLASS_ADVISE,
    WIO_CLASS_STAT,
    WIO_CLASS_ACCESS,
    WIO_CLASS_READLINK,
    WIO_CLASS_STATFS,
    WIO_CLASS_XATTR,
    WIO_CLASS_READDIR,
    WIO_CLASS_MKDIR,
    WIO_CLASS_UNLINK,
    WIO_CLASS_RENAME,
    WIO_CLASS_LINK,
    WIO_CLASS_SYMLINK,
    WIO_CLASS_MKNOD,
    WIO_CLASS_ATTR,
    WIO_CLASS_CWD,
    WIO_CLASS_MAP,
    WIO_CLASS_ASYNC_READ,
    WIO_CLASS_ASYNC_WRITE,
    WIO_CLASS_ASYNC_SYNC,
    WIO_CLASS_ASYNC_META,
    WIO_CLASS_ASYNC_CALL,
    WIO_CLASS_STDIO_READ,
    WIO_CLASS_STDIO_WRITE,
    WIO_CLASS_STDIO_SEEK,
    WIO_CLASS_STDIO_FLUSH,
    WIO_CLASS_CHANNEL,
    WIO_CLASS_PROCESS,
    WIO_CLASS_EXEC,
    WIO_CLASS_EXIT,
    WIO_CLASS_WAIT,
    WIO_CLASS_THREAD,
    WIO_CLASS_MPI_COMM,
    WIO_CLASS_MPI_SEND,
    WIO_CLASS_MPI_RECV,
    WIO_CLASS_MPI_DONE,
    WIO_CLASS_MPI_WAIT,
    WIO_CLASS_MPI_ALL,
    WIO_CLASS_MPI_LOOSE,
    WIO_CLASS_MPI_FROM_ROOT,
    WIO_CLASS_MPI_TO_ROOT,
    WIO_CLASS_MPI_SCAN,
    WIO_CLASS_MPI_LOCK,
    WIO_CLASS_MPI_UNLOCK,
    WIO_CLASS_MPI_FILE,
    WIO_CLASS_MUTEX,
    WIO_CLASS_UNLOCK,
    WIO_CLASS_COND_WAIT,
    WIO_CLASS_COND_SIGNAL,
    WIO_CLASS_BARRIER,
    WIO_CLASS_SEM_WAIT,
    WIO_CLASS_SEM_POST,
    WIO_CLASS_SEM_INIT,
    WIO_CLASS_SYNC_INIT,
    WIO_CLASS_FUTEX_WAIT,
    WIO_CLASS_FUTEX_WAKE,
    WIO_CLASS_POLL,
    WIO_CLASS_SLEEP,
    WIO_CLASS_KILL,
    WIO_CLASS_SIGWAIT,
    WIO_CLASS_HOLD,
    WIO_CLASS_COUNT
};

/* enum wio_call, one per wrapped symbol: WIO_CALL_pwrite64 ... Generated from calls.def. */
#include "trace/calls_gen.h"

/* All return borrowed static text or plain values, accept any number, never fail. */
const char *wio_op_name(unsigned op);
enum wio_class wio_op_class(unsigned op);
const char *wio_class_name(enum wio_class cls);
const char *wio_call_name(unsigned call);
enum wio_op wio_call_op(unsigned call);

/* WIO_OP_unknown or WIO_CALL_none where the name is not in the table. Linear in the table. */
enum wio_op wio_op_find(const char *name);
unsigned wio_call_find(const char *name);

/* Hash over the table of calls: goes into each ring header (struct wio_ring_header.calls_hash). */
uint32_t wio_calls_hash(void);

#endif
