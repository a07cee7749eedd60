/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turn-taking readers: one file, cut into as many parts as there are ranks, read by one rank at a
 * time. The rank with the token reads some blocks of its part and hands the token to the right.
 *
 *     rank 0   read  ->.....................->read
 *     rank 1          ->read  ->
 *     rank 2                   ->read  ->
 *     rank 3                            ->read
 *
 * The ranks share nothing but the token; without it all of them would read at once, and a storage
 * system that likes one reader at a time would look much worse than it is.
 *
 *     mpirun -n 4 ./turns -d /scratch -b 64K -n 16
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

#include "example.h"

#define BLOCKS_PER_TURN 4

static long part_blocks(const struct example *ex)
{
    return (long)ex->rounds * BLOCKS_PER_TURN;
}

/* Rank 0 makes the file that all of them read. */
static void make_file(const struct example *ex, void *block)
{
    if (ex->rank == 0) {
        int fd = example_open(ex, "data", O_WRONLY | O_CREAT | O_TRUNC);
        for (long i = 0; i < part_blocks(ex) * ex->ranks; i++) {
            example_fill(block, ex->block, (uint64_t)i);
            example_pwrite(ex, fd, block, ex->block, i * (off_t)ex->block);
        }
        close(fd);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The token comes from the left; the very first one is rank 0's own. */
static void take_token(const struct example *ex, int round)
{
    if (ex->ranks > 1 && (ex->rank > 0 || round > 0)) {
        int left = (ex->rank + ex->ranks - 1) % ex->ranks;
        MPI_Recv(NULL, 0, MPI_BYTE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* It goes to the right; the last rank keeps the very last one. */
static void pass_token(const struct example *ex, int round)
{
    if (ex->ranks > 1 && (ex->rank < ex->ranks - 1 || round < ex->rounds - 1)) {
        int right = (ex->rank + 1) % ex->ranks;
        MPI_Send(NULL, 0, MPI_BYTE, right, 0, MPI_COMM_WORLD);
    }
}

static void read_turn(const struct example *ex, int fd, void *block, int round)
{
    for (int i = 0; i < BLOCKS_PER_TURN; i++) {
        long number = ex->rank * part_blocks(ex) + (long)round * BLOCKS_PER_TURN + i;
        example_pread(ex, fd, block, ex->block, number * (off_t)ex->block);
        example_verify(ex, block, ex->block, (uint64_t)number);
    }
}

int main(int argc, char **argv)
{
    struct example ex = {.name = "turns", .block = 64 << 10, .rounds = 16};
    example_init(&ex, &argc, &argv);
    void *block = example_alloc(&ex, ex.block);

    make_file(&ex, block);
    int fd = example_open(&ex, "data", O_RDONLY);
    for (int round = 0; round < ex.rounds; round++) {
        take_token(&ex, round);
        read_turn(&ex, fd, block, round);
        pass_token(&ex, round);
        example_compute(ex.compute_ms);
    }

    close(fd);
    free(block);
    return example_finish(&ex, "%d turns of %d blocks of %zu bytes each", ex.rounds,
                          BLOCKS_PER_TURN, ex.block);
}
