/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoint: all ranks write one file, interleaved, and read it back.
 *
 *     file   | r0 | r1 | r2 | r3 | r0 | r1 | r2 | r3 | ...
 *              round 0             round 1
 *
 * Each rank writes its block of each round, syncs, and waits for the others at a barrier. Then it
 * reads the blocks of its right neighbour, which must not happen before they are written, and
 * compares them. Before each round it computes, if asked to (-c).
 *
 *     mpirun -n 4 ./checkpoint -d /scratch -b 64K -n 32
 */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

#include "example.h"

/* Where the block of a round lies in the file. */
static off_t place(const struct example *ex, int round, int rank)
{
    return ((off_t)round * ex->ranks + rank) * (off_t)ex->block;
}

/* What is in it: no two blocks are alike. */
static uint64_t key(int round, int rank)
{
    return (uint64_t)round << 32 | (uint64_t)rank;
}

static void write_rounds(const struct example *ex, int fd, void *block)
{
    for (int round = 0; round < ex->rounds; round++) {
        example_compute(ex->compute_ms);
        example_fill(block, ex->block, key(round, ex->rank));
        example_pwrite(ex, fd, block, ex->block, place(ex, round, ex->rank));
    }
    if (fsync(fd) != 0) {
        example_fail(ex, "sync", ex->name);
    }
}

static void read_back(const struct example *ex, int fd, void *block)
{
    int neighbour = (ex->rank + 1) % ex->ranks;
    for (int round = 0; round < ex->rounds; round++) {
        example_compute(ex->compute_ms);
        example_pread(ex, fd, block, ex->block, place(ex, round, neighbour));
        example_verify(ex, block, ex->block, key(round, neighbour));
    }
}

int main(int argc, char **argv)
{
    struct example ex = {.name = "checkpoint", .block = 64 << 10, .rounds = 32};
    example_init(&ex, &argc, &argv);
    void *block = example_alloc(&ex, ex.block);
    int fd = example_open_together(&ex, "data");

    write_rounds(&ex, fd, block);
    MPI_Barrier(MPI_COMM_WORLD);
    read_back(&ex, fd, block);

    close(fd);
    free(block);
    return example_finish(&ex, "%d rounds of %zu bytes each, written and read back", ex.rounds,
                          ex.block);
}
