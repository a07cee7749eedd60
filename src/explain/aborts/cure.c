/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/aborts/cure.h"

enum wio_conflict wio_cure_conflict(const struct wio_exact_pair *pair)
{
    enum wio_conflict most = WIO_CONFLICT_DATA;
    for (unsigned kind = 0; kind < WIO_CONFLICTS; kind++) {
        if (pair->by_conflict[kind] > pair->by_conflict[most]) {
            most = (enum wio_conflict)kind;
        }
    }
    return most;
}

enum wio_cure wio_cure_of(const struct wio_exact_pair *pair)
{
    enum wio_conflict conflict = wio_cure_conflict(pair);
    return conflict == WIO_CONFLICT_PREPARED || conflict == WIO_CONFLICT_QUEUED
               ? WIO_CURE_LAYOUT
               : WIO_CURE_GRANULARITY;
}

const char *wio_cure_name(enum wio_cure cure)
{
    return cure == WIO_CURE_LAYOUT ? "layout" : "granularity";
}

const char *wio_cure_text(const struct wio_exact_pair *pair)
{
    if (pair->deadlocks * 2 > pair->aborts) {
        return "take the locks in one order in all transactions";
    }
    switch (wio_cure_conflict(pair)) {
    case WIO_CONFLICT_FALSE:
        return "lock only the bytes that are read or written";
    case WIO_CONFLICT_SIZE:
        return "give each writer a file or a segment of its own, or set the size once";
    case WIO_CONFLICT_QUEUED:
    case WIO_CONFLICT_PREPARED:
        return "spread the file over more segments or servers";
    case WIO_CONFLICT_DEAD:
        return "end transactions before their client ends";
    case WIO_CONFLICT_DATA:
    case WIO_CONFLICTS:
        break;
    }
    bool is_thinking = pair->think_s * 2 > pair->wait_s && pair->wait_s > 0;
    return is_thinking ? "commit before computing: the locks are held while nothing is asked for"
                       : "access fewer bytes a transaction, or others";
}
