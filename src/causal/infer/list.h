/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of things that happened and may be looked at later: all nodes in one array. */
#ifndef WIO_CAUSAL_INFER_LIST_H
#define WIO_CAUSAL_INFER_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/memory.h"

#define WIO_INFER_NONE WIO_NO_INDEX

struct wio_infer_node {
    uint64_t op;
    uint64_t begin_ns;
    uint64_t a; /* what it means is the list's business */
    uint64_t b;
    uint32_t thread;
    uint32_t image;
    uint32_t next;
    bool is_shared;
};

struct wio_infer_list {
    uint32_t first; /* WIO_INFER_NONE where it is empty */
    uint32_t last;
    uint32_t count;
};

struct wio_infer_lists {
    struct wio_infer_node *nodes;
    size_t node_room;
    uint32_t node_count;
    uint32_t node_free;
    struct wio_infer_list *items; /* those that are found by a map */
    size_t room;
    uint32_t count;
};

#endif
