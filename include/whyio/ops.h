/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operations that an event can be, and their classes, as numbers and by name.
 *
 * The numbers belong to one version of the library (WIO_VERSION_MINOR): a trace carries its own
 * dictionary (FORMAT.md#calls), and the reader translates. Names stay. docs/FORMAT.md#fields says
 * what the fields of an event mean in each class.
 *
 * All functions are pure, accept any number and may be called from any thread.
 */
#ifndef WHYIO_OPS_H
#define WHYIO_OPS_H

#include <whyio/event.h>

WIO_BEGIN_DECLS

/* WIO_OP_pwrite ..: ops.def. */
enum wio_op {
    WIO_OP_unknown = 0,
#define WIO_OP(name, cls) WIO_OP_##name,
#include <whyio/ops.def>
#undef WIO_OP
    WIO_OP_COUNT
};

/* What an operation does; decides the meaning of its fields. WIO_CLASS_WRITE ..: classes.def. */
enum wio_class {
    WIO_CLASS_UNKNOWN = 0,
#define WIO_CLASS(NAME, name, properties) WIO_CLASS_##NAME,
#include <whyio/classes.def>
#undef WIO_CLASS
    WIO_CLASS_COUNT
};

/* Properties of classes: classes.def says what each means. */
enum wio_class_property {
    WIO_DOES_READS = 1 << 0,
    WIO_DOES_WRITES = 1 << 1,
    WIO_DOES_META = 1 << 2,
    WIO_DOES_STREAM = 1 << 3,
    WIO_DOES_BY_NAME = 1 << 4,
    WIO_DOES_HOLDABLE = 1 << 5,
    WIO_DOES_SYNC = 1 << 6,
    WIO_DOES_MPI = 1 << 7,
    WIO_DOES_INLINE_ARGS = 1 << 8,
};

/* The other way: wio_op_name. WIO_OP_unknown where there is no operation of that name. Linear in
 * the table. */
enum wio_op wio_op_find(const char *name);
/* The class of an operation (enum wio_op); WIO_CLASS_UNKNOWN for other numbers. */
enum wio_class wio_op_class(unsigned op);
/* "write"; static. "unknown" for other numbers. */
const char *wio_class_name(enum wio_class cls);
/* Mask of enum wio_class_property, of a class and of an operation's class; 0 for other numbers. */
unsigned wio_class_properties(enum wio_class cls);
unsigned wio_op_properties(unsigned op);

WIO_END_DECLS
#endif
