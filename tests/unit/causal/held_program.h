/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of many nodes, generated for trying out holding: what each node does, one after the
 * other. */
#ifndef WIO_TESTS_HELD_PROGRAM_H
#define WIO_TESTS_HELD_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NODES 32
#define ACTIONS 400

enum action { DO_IO, DO_SEND, DO_RECEIVE, DO_LOCK, DO_UNLOCK };

struct program {
    uint32_t nodes; /* set it before a shape is made, the rest is zero */
    size_t count[NODES];
    enum action action[NODES][ACTIONS];
    uint32_t peer[NODES][ACTIONS]; /* of a message */
};

/* Fills in the actions; `seed` is that of wio_test_random. */
struct held_shape {
    const char *name;
    void (*make)(struct program *p, uint64_t *seed);
    bool is_random; /* another program from each seed */
};

#define HELD_SHAPES 5
extern const struct held_shape held_shapes[HELD_SHAPES];

/* One lock for all, around I/O; its order is no dependency. */
void make_locks(struct program *p, uint64_t *seed);

#endif
