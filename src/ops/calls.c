/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/calls.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <whyio/event.h>

#include "ops/unseen.h"

/* Names lie in the tables: pointers would be relocated at the start of each recorded process. */
#define NAME_BYTES 52

static const struct {
    char name[NAME_BYTES];
    enum wio_class cls;
} ops[] = {
    {"unknown", WIO_CLASS_UNKNOWN},
#define WIO_OP(name, cls) {#name, WIO_CLASS_##cls},
#include <whyio/ops.def>
#undef WIO_OP
};

static const struct {
    char name[NAME_BYTES];
    enum wio_op op;
} calls[] = {{"", WIO_OP_unknown},
#define CALL_ROW(symbol, op) {#symbol, WIO_OP_##op},
             WIO_CALL_LIST(CALL_ROW)
#undef CALL_ROW
};

static const struct {
    char name[NAME_BYTES];
    unsigned properties;
} classes[] = {
    {"unknown", 0},
#define WIO_CLASS(NAME, name, properties) {#name, properties},
#include <whyio/classes.def>
#undef WIO_CLASS
};

#define WIO_OP(name, cls) _Static_assert(sizeof(#name) <= NAME_BYTES, "room for the name");
#include <whyio/ops.def>
#undef WIO_OP
#define CALL_ROW(symbol, op) _Static_assert(sizeof(#symbol) <= NAME_BYTES, "room for the name");
WIO_CALL_LIST(CALL_ROW)
#undef CALL_ROW

_Static_assert(sizeof(ops) / sizeof(ops[0]) == WIO_OP_COUNT, "one row per operation");
_Static_assert(sizeof(calls) / sizeof(calls[0]) == WIO_CALL_COUNT, "one row per call");

static const struct {
    const char *key;
    const char *text;
    const char *remedy;
} unseen[] = {
#define UNSEEN_ROW(name, key, text, remedy) {key, text, remedy},
    WIO_UNSEEN_LIST(UNSEEN_ROW)
#undef UNSEEN_ROW
};

const char *wio_op_name(unsigned op)
{
    return ops[op < WIO_OP_COUNT ? op : WIO_OP_unknown].name;
}

enum wio_class wio_op_class(unsigned op)
{
    return ops[op < WIO_OP_COUNT ? op : WIO_OP_unknown].cls;
}

const char *wio_class_name(enum wio_class cls)
{
    return classes[(unsigned)cls < WIO_CLASS_COUNT ? cls : WIO_CLASS_UNKNOWN].name;
}

unsigned wio_class_properties(enum wio_class cls)
{
    return classes[(unsigned)cls < WIO_CLASS_COUNT ? cls : WIO_CLASS_UNKNOWN].properties;
}

unsigned wio_op_properties(unsigned op)
{
    return wio_class_properties(wio_op_class(op));
}

const char *wio_call_name(unsigned call)
{
    return calls[call < WIO_CALL_COUNT ? call : WIO_CALL_none].name;
}

enum wio_op wio_call_op(unsigned call)
{
    return calls[call < WIO_CALL_COUNT ? call : WIO_CALL_none].op;
}

const char *wio_unseen_key(unsigned kind)
{
    return kind < WIO_UNSEEN_COUNT ? unseen[kind].key : "unknown";
}

const char *wio_unseen_text(unsigned kind)
{
    return kind < WIO_UNSEEN_COUNT ? unseen[kind].text
                                   : "something that this version does not know";
}

const char *wio_unseen_remedy(unsigned kind)
{
    return kind < WIO_UNSEEN_COUNT ? unseen[kind].remedy : "read the trace with a newer whyio";
}

/* The tables are in the order of their subjects, not of their names, and a few hundred rows long:
 * a name is looked up once per dictionary entry of a segment, never per event. */
enum wio_op wio_op_find(const char *name)
{
    for (unsigned i = 1; i < WIO_OP_COUNT; i++) {
        if (strcmp(ops[i].name, name) == 0) {
            return (enum wio_op)i;
        }
    }
    return WIO_OP_unknown;
}

unsigned wio_call_find(const char *name)
{
    for (unsigned i = 1; i < WIO_CALL_COUNT; i++) {
        if (strcmp(calls[i].name, name) == 0) {
            return i;
        }
    }
    return WIO_CALL_none;
}

/* FNV-1a over "symbol=operation;" of each row. */
uint32_t wio_calls_hash(void)
{
    uint32_t hash = 2166136261u;
    for (unsigned i = 1; i < WIO_CALL_COUNT; i++) {
        const char *parts[] = {calls[i].name, "=", ops[calls[i].op].name, ";"};
        for (unsigned k = 0; k < 4; k++) {
            for (const char *c = parts[k]; *c != '\0'; c++) {
                hash = (hash ^ (uint8_t)*c) * 16777619u;
            }
        }
    }
    return hash;
}
