/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operations and the wrapped calls, as tables. Pure data: safe inside a traced process.
 */
#ifndef WIO_OPS_CALLS_H
#define WIO_OPS_CALLS_H

#include <stdbool.h>
#include <stdint.h>

enum wio_op {
    WIO_OP_unknown = 0,
#define WIO_OP(name, cls) WIO_OP_##name,
#include "ops/ops.def"
#undef WIO_OP
    WIO_OP_COUNT
};

/* What an operation does; decides the meaning of its fields (FORMAT.md#fields). */
enum wio_class {
    WIO_CLASS_UNKNOWN = 0,
#define WIO_CLASS(NAME, name, properties) WIO_CLASS_##NAME,
#include "ops/classes.def"
#undef WIO_CLASS
    WIO_CLASS_COUNT
};

/* Properties of classes: classes.def. */
enum wio_class_property {
    WIO_DOES_READS = 1 << 0,
    WIO_DOES_WRITES = 1 << 1,
    WIO_DOES_META = 1 << 2,
    WIO_DOES_STREAM = 1 << 3,
    WIO_DOES_BY_NAME = 1 << 4,
    WIO_DOES_HOLDABLE = 1 << 5,
    WIO_DOES_SYNC = 1 << 6,
    WIO_DOES_MPI = 1 << 7,
};

/* enum wio_call, one per wrapped symbol: WIO_CALL_pwrite64 ... Generated from calls.def. */
#include "ops/calls_gen.h"

/* All return borrowed static text or plain values, accept any number, never fail. */
const char *wio_op_name(unsigned op);
enum wio_class wio_op_class(unsigned op);
const char *wio_class_name(enum wio_class cls);
/* Mask of enum wio_class_property, of a class and of an operation's class. */
unsigned wio_class_properties(enum wio_class cls);
unsigned wio_op_properties(unsigned op);
const char *wio_call_name(unsigned call);
enum wio_op wio_call_op(unsigned call);

/* WIO_OP_unknown or WIO_CALL_none where the name is not in the table. Linear in the table. */
enum wio_op wio_op_find(const char *name);
unsigned wio_call_find(const char *name);

/* Hash over the table of calls: goes into each ring header (struct wio_ring_header.calls_hash). */
uint32_t wio_calls_hash(void);

/* Is it a class of calls of MPI? Pure. */
static inline bool wio_class_is_mpi(enum wio_class cls)
{
    return cls >= WIO_CLASS_MPI_COMM && cls <= WIO_CLASS_MPI_FILE;
}

#endif
