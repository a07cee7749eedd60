/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoint in step: a barrier after every write, so that the slowest write of each round delays
 * all ranks.
 *
 *     rank 0   write |      barrier | write |      barrier | ...
 *     rank 1   write......| barrier | write   |    barrier | ...
 *     rank 2   write   |    barrier | write.......|barrier | ...
 *
 * A replay that knows only when each rank wrote, but not that it waited, gets this one badly
 * wrong on faster or slower storage. -c adds computing before each write; the same program under
 * the name checkpoint-sync-compute computes 2 ms by default.
 *
 *     mpirun -n 4 ./checkpoint-sync -d /scratch -b 64K -n 32
 */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

#include "example.h"

/* The build gives checkpoint-sync-compute other values. */
#ifndef NAME
#define NAME "checkpoint-sync"
#define COMPUTE_MS 0
#endif

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

/* One block each, on disk for all before any rank goes on. */
static void write_in_step(const struct example *ex, int fd, void *block)
{
    for (int round = 0; round < ex->rounds; round++) {
        example_compute(ex->compute_ms);
        example_fill(block, ex->block, key(round, ex->rank));
        example_pwrite(ex, fd, block, ex->block, place(ex, round, ex->rank));
        if (fdatasync(fd) != 0) {
            example_fail(ex, "sync", ex->name);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* The same way back: each round is read by the rank on the left. */
static void read_in_step(const struct example *ex, int fd, void *block)
{
    int neighbour = (ex->rank + 1) % ex->ranks;
    for (int round = 0; round < ex->rounds; round++) {
        example_pread(ex, fd, block, ex->block, place(ex, round, neighbour));
        example_verify(ex, block, ex->block, key(round, neighbour));
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    struct example ex = {.name = NAME, .block = 64 << 10, .rounds = 32, .compute_ms = COMPUTE_MS};
    example_init(&ex, &argc, &argv);
    void *block = example_alloc(&ex, ex.block);
    int fd = example_open_together(&ex, "data");

    write_in_step(&ex, fd, block);
    read_in_step(&ex, fd, block);

    close(fd);
    free(block);
    return example_finish(&ex, "%d rounds of %zu bytes each, in step", ex.rounds, ex.block);
}
