/* SPDX-License-Identifier: Apache-2.0 */
/* The edges of a trace that is made by hand: lines of a script (script.h), and their file. */
#ifndef WIO_TESTS_SUPPORT_SCRIPT_EDGES_H
#define WIO_TESTS_SUPPORT_SCRIPT_EDGES_H

#include <stdbool.h>

#include <whyio/edges.h>
#include <whyio/status.h>

#define SCRIPT_EDGES_MAX 4096u

struct script_edges {
    struct wio_edge_row edges[SCRIPT_EDGES_MAX];
    struct wio_member_row members[SCRIPT_EDGES_MAX];
    struct wio_wait_row polls[SCRIPT_EDGES_MAX];
    uint32_t poll_count;
    uint32_t edge_count;
    uint32_t member_count;
    uint32_t collective_count;
    uint32_t object_count;
    bool is_wanted; /* there was a line of edges, or the line "edges" */
};

/* True if `word` begins such a line; reads the rest of it from `save` (strtok_r). */
bool script_edges_line(struct script_edges *edges, const char *word, char **save);

/* Write the file of edges of the trace in `dir`; exits with a message where that fails. */
void script_edges_write(struct script_edges *edges, const char *dir);

#endif
