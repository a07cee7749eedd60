/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workers at one queue: a free rank takes the next item, so that no two runs share out the work
 * alike, and any order is right.
 *
 *     queue   a file with one number, the next item; taken under a lock (fcntl)
 *     input   item i lies at i * block
 *     output  its result goes to i * block of another file, the same from any rank
 *
 * Some items take longer than others, which is what a queue is for. A replay must keep the lock,
 * but not the order in which the ranks got it.
 *
 *     mpirun -n 4 ./workers -d /scratch -b 16K -n 128
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "example.h"

static void lock_queue(const struct example *ex, int queue, short type)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_len = sizeof(uint64_t)};
    if (fcntl(queue, F_SETLKW, &lock) != 0) {
        example_fail(ex, "lock", "queue");
    }
}

/* The next item, or one behind the last. */
static uint64_t take_item(const struct example *ex, int queue)
{
    uint64_t item;
    lock_queue(ex, queue, F_WRLCK);
    example_pread(ex, queue, &item, sizeof(item), 0);
    uint64_t next = item + 1;
    example_pwrite(ex, queue, &next, sizeof(next), 0);
    lock_queue(ex, queue, F_UNLCK);
    return item;
}

/* The result of an item: its bytes turned over. */
static void work(const struct example *ex, unsigned char *block, uint64_t item)
{
    example_compute(ex->compute_ms * (double)(item % 4 + 1) / 2);
    for (size_t i = 0; i < ex->block; i++) {
        block[i] ^= 0xff;
    }
}

static void make_input(const struct example *ex, void *block)
{
    int input = example_open(ex, "input", O_WRONLY | O_CREAT | O_TRUNC);
    for (int i = 0; i < ex->rounds; i++) {
        example_fill(block, ex->block, (uint64_t)i);
        example_pwrite(ex, input, block, ex->block, i * (off_t)ex->block);
    }
    int queue = example_open(ex, "queue", O_WRONLY | O_CREAT | O_TRUNC);
    int output = example_open(ex, "output", O_WRONLY | O_CREAT | O_TRUNC);
    uint64_t first = 0;
    example_pwrite(ex, queue, &first, sizeof(first), 0);
    close(input);
    close(output);
    close(queue);
}

int main(int argc, char **argv)
{
    struct example ex = {.name = "workers", .block = 16 << 10, .rounds = 128, .compute_ms = 1};
    example_init(&ex, &argc, &argv);
    void *block = example_alloc(&ex, ex.block);

    if (ex.rank == 0) {
        make_input(&ex, block);
    }
    MPI_Barrier(MPI_COMM_WORLD);

    int queue = example_open(&ex, "queue", O_RDWR);
    int input = example_open(&ex, "input", O_RDONLY);
    int output = example_open(&ex, "output", O_WRONLY);
    int done = 0;
    for (uint64_t item; (item = take_item(&ex, queue)) < (uint64_t)ex.rounds; done++) {
        off_t place = (off_t)item * (off_t)ex.block;
        example_pread(&ex, input, block, ex.block, place);
        work(&ex, block, item);
        example_pwrite(&ex, output, block, ex.block, place);
    }
    close(queue);
    close(input);
    close(output);

    int all = 0;
    MPI_Reduce(&done, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    free(block);
    return example_finish(&ex, "%d items of %zu bytes, each by a worker that was free", all,
                          ex.block);
}
