/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wrapped calls, as a table beside that of the operations (<whyio/ops.h>). Pure data: safe
 * inside a traced process.
 */
#ifndef WIO_OPS_CALLS_H
#define WIO_OPS_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/ops.h>

/* enum wio_call, one per wrapped symbol: WIO_CALL_pwrite64 ... Generated from calls.def. */
#include "ops/calls_gen.h"

/* All return borrowed static text or plain values, accept any number, never fail. */
const char *wio_call_name(unsigned call);
enum wio_op wio_call_op(unsigned call);

/* WIO_CALL_none where the name is not in the table. Linear in the table. */
unsigned wio_call_find(const char *name);

/* Hash over the table of calls: goes into each ring header (struct wio_ring_header.calls_hash). */
uint32_t wio_calls_hash(void);

/* Is it a class of calls of MPI? Pure. */
static inline bool wio_class_is_mpi(enum wio_class cls)
{
    return cls >= WIO_CLASS_MPI_COMM && cls <= WIO_CLASS_MPI_FILE;
}

#endif
