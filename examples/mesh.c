/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A mesh program in three phases, each with an I/O of its own kind:
 *
 *   1 build   every rank puts its points into a quadtree on disk (mesh.tree.RANK): small reads
 *             down the tree, one small write at its leaf. No rank waits.
 *   2 gather  the ranks send their leaves to rank 0, which writes mesh.data, one part after the
 *             other: one writes, all wait.
 *   3 solve   time steps of computing; after every fourth all ranks write their part of
 *             mesh.out, then a barrier.
 *
 *     mpirun -n 4 ./mesh -d /scratch -n 400 -c 1       (-n points per rank)
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "example.h"

#define STEPS 16
#define STEPS_PER_OUTPUT 4
#define NO_CHILD UINT32_MAX

/* One node of the tree, as it lies on disk: number n at n * sizeof(struct node). */
struct node {
    uint32_t x, y;
    uint32_t child[4];
    uint32_t number;
    uint32_t level;
};

static off_t place(uint32_t number)
{
    return (off_t)number * (off_t)sizeof(struct node);
}

/* Walk down from the root to the place where the point belongs, and hang it in there. */
static void insert(const struct example *ex, int tree, struct node *point)
{
    struct node at;
    unsigned side;
    uint32_t next = 0;
    do {
        example_pread(ex, tree, &at, sizeof(at), place(next));
        side = (point->x >= at.x ? 1u : 0u) + (point->y >= at.y ? 2u : 0u);
        next = at.child[side];
    } while (next != NO_CHILD);
    point->level = at.level + 1;
    at.child[side] = point->number;
    example_pwrite(ex, tree, point, sizeof(*point), place(point->number));
    example_pwrite(ex, tree, &at, sizeof(at), place(at.number));
}

static void build(const struct example *ex, int tree)
{
    uint64_t state = (uint64_t)ex->rank;
    for (uint32_t i = 0; i < (uint32_t)ex->rounds; i++) {
        struct node point = {.number = i};
        memset(point.child, 0xff, sizeof(point.child));
        uint64_t random = example_random(&state);
        point.x = (uint32_t)random;
        point.y = (uint32_t)(random >> 32);
        if (i == 0) {
            example_pwrite(ex, tree, &point, sizeof(point), 0);
        } else {
            insert(ex, tree, &point);
        }
    }
}

/* Each rank reads its tree in one piece; rank 0 writes them all, in the order of the ranks. */
static void gather(const struct example *ex, int tree, int data)
{
    int bytes = (int)place((uint32_t)ex->rounds);
    char *part = example_alloc(ex, (size_t)bytes);
    example_pread(ex, tree, part, (size_t)bytes, 0);
    if (ex->rank != 0) {
        MPI_Send(part, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
    for (int rank = 0; ex->rank == 0 && rank < ex->ranks; rank++) {
        if (rank > 0) {
            MPI_Recv(part, bytes, MPI_BYTE, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        example_pwrite(ex, data, part, (size_t)bytes, (off_t)rank * bytes);
    }
    free(part);
}

static void solve(const struct example *ex, int out)
{
    void *field = example_alloc(ex, ex->block);
    for (int step = 0; step < STEPS; step++) {
        example_compute(ex->compute_ms);
        if ((step + 1) % STEPS_PER_OUTPUT == 0) {
            int output = step / STEPS_PER_OUTPUT;
            off_t number = (off_t)output * ex->ranks + ex->rank;
            example_fill(field, ex->block, (uint64_t)number);
            example_pwrite(ex, out, field, ex->block, number * (off_t)ex->block);
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
    free(field);
}

int main(int argc, char **argv)
{
    struct example ex = {.name = "mesh", .block = 256 << 10, .rounds = 400, .compute_ms = 1};
    example_init(&ex, &argc, &argv);

    char name[32];
    snprintf(name, sizeof(name), "tree.%d", ex.rank);
    int tree = example_open(&ex, name, O_RDWR | O_CREAT | O_TRUNC);
    build(&ex, tree);

    int data = ex.rank == 0 ? example_open(&ex, "data", O_WRONLY | O_CREAT | O_TRUNC) : -1;
    gather(&ex, tree, data);
    close(tree);
    if (ex.rank == 0) {
        close(data);
    }

    int out = example_open_together(&ex, "out");
    solve(&ex, out);
    close(out);
    return example_finish(&ex, "%d points each, %d steps", ex.rounds, STEPS);
}
