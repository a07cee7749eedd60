/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A flag in shared memory: the ranks append to one log in turn, and a word that all of them have
 * mapped holds the turn. A waiting rank spins on that word.
 *
 *     rank 0   write ->  write            ->
 *     rank 1           ->  write
 *     rank 2                   -> write
 *
 * No message is sent and no lock is taken between two writes: nothing that could be observed says
 * that a rank waits for its left neighbour. Only holding a write shows which ranks then stop.
 *
 * All ranks have to be on one node.
 *
 *     mpirun -n 4 ./spin -d /scratch -n 8
 */
#include <fcntl.h>
#include <mpi.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "example.h"

/* Polls of the flag before the processor is yielded. */
#define LOOKS 1000

struct shared {
    MPI_Win window;
    _Atomic int *turn; /* counts all turns: turn % ranks may write */
};

/* The word lives in rank 0's part of the window. */
static struct shared make_shared(const struct example *ex)
{
    struct shared shared;
    MPI_Aint bytes = ex->rank == 0 ? (MPI_Aint)sizeof(*shared.turn) : 0;
    MPI_Comm node;
    void *own;
    void *first;
    int unit;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    int together;
    MPI_Comm_size(node, &together);
    if (together != ex->ranks) {
        example_fail(ex, "share memory", "ranks on one node are needed");
    }
    MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, node, &own, &shared.window);
    MPI_Win_shared_query(shared.window, 0, &bytes, &unit, &first);
    shared.turn = first;
    if (ex->rank == 0) {
        atomic_store(shared.turn, 0);
    }
    MPI_Barrier(node);
    MPI_Comm_free(&node);
    return shared;
}

static void wait_for_turn(const struct example *ex, const struct shared *shared, int round)
{
    while (atomic_load(shared->turn) != round * ex->ranks + ex->rank) {
        for (volatile int i = 0; i < LOOKS; i++) {
        }
        sched_yield();
    }
}

int main(int argc, char **argv)
{
    struct example ex = {.name = "spin", .block = 4 << 10, .rounds = 8};
    example_init(&ex, &argc, &argv);
    void *block = example_alloc(&ex, ex.block);
    struct shared shared = make_shared(&ex);

    int fd = example_open(&ex, "log", O_WRONLY | O_CREAT);
    for (int round = 0; round < ex.rounds; round++) {
        long place = (long)round * ex.ranks + ex.rank;
        example_fill(block, ex.block, (uint64_t)place);
        wait_for_turn(&ex, &shared, round);
        example_pwrite(&ex, fd, block, ex.block, place * (off_t)ex.block);
        atomic_fetch_add(shared.turn, 1);
        example_compute(ex.compute_ms);
    }

    close(fd);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&shared.window);
    free(block);
    return example_finish(&ex, "%d turns of one block of %zu bytes each", ex.rounds, ex.block);
}
