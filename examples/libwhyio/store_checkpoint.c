/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A checkpoint of an MPI program into the store of its job: each rank writes its part of an array,
 * and the first rank makes all of it valid by one stable transaction, so that a reader finds either
 * the checkpoint before or this one.
 *
 *     mpirun -n 4 ./store_checkpoint 3          with WHYIO_SERVER set, to the store's file or
 * address
 *
 *     mpicc store_checkpoint.c $(pkg-config --cflags --libs whyio) -o store_checkpoint
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

#include <whyio/store.h>

enum { DOUBLES = 1 << 15 };

/* Which of the two copies of the array is valid, and the step that it is of. */
struct header {
    int64_t step;
    int64_t copy;
};

static _Noreturn void fail(const struct wio_error *err)
{
    char text[2048];
    wio_error_format(err, text, sizeof(text));
    fprintf(stderr, "%s\n", text);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static struct wio_store_file *open_file(struct wio_store *store, const char *path,
                                        uint32_t stripe_unit)
{
    const struct wio_store_open_params how = {.struct_size = sizeof(how),
                                              .flags = O_RDWR | O_CREAT,
                                              .mode = 0644,
                                              .view = WIO_VIEW_INDEPENDENT,
                                              .stripe_unit = stripe_unit,
                                              .is_stable = true,
                                              .source = "store_checkpoint"};
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_store_file *file = NULL;
    if (wio_store_file_open(store, path, &how, &file, &err) != WIO_OK) {
        fail(&err);
    }
    return file;
}

static void save(struct wio_store_file *array, struct wio_store_file *valid, const double *part,
                 int64_t step)
{
    const struct header header = {step, step % 2};
    struct wio_error err = WIO_ERROR_INIT;
    int rank;
    int ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    uint64_t bytes = DOUBLES * sizeof(double);
    uint64_t offset = ((uint64_t)header.copy * (uint64_t)ranks + (uint64_t)rank) * bytes;
    if (wio_store_pwrite(array, NULL, part, bytes, offset, &err) != WIO_OK) {
        fail(&err);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0 && wio_store_pwrite(valid, NULL, &header, sizeof(header), 0, &err) != WIO_OK) {
        fail(&err);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The step of the valid checkpoint, of which each rank has read another one's part. */
static int64_t check(struct wio_store_file *array, struct wio_store_file *valid)
{
    static double part[DOUBLES];
    struct header header = {-1, 0};
    struct wio_error err = WIO_ERROR_INIT;
    size_t got = 0;
    int rank;
    int ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int other = (rank + 1) % ranks;
    if (wio_store_pread(valid, NULL, &header, sizeof(header), 0, &got, &err) != WIO_OK) {
        fail(&err);
    }
    uint64_t offset = ((uint64_t)header.copy * (uint64_t)ranks + (uint64_t)other) * sizeof(part);
    if (wio_store_pread(array, NULL, part, sizeof(part), offset, &got, &err) != WIO_OK) {
        fail(&err);
    }
    for (int i = 0; i < DOUBLES; i++) {
        if (got != sizeof(part) || part[i] != (double)(header.step * 1000 + other)) {
            fprintf(stderr, "rank %d: part of rank %d is wrong at %d\n", rank, other, i);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    return header.step;
}

int main(int argc, char **argv)
{
    static double part[DOUBLES];
    const struct wio_store_params params = {.struct_size = sizeof(params)};
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_store *store = NULL;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (wio_store_connect(&params, &store, &err) != WIO_OK) {
        fail(&err);
    }
    struct wio_store_file *array = open_file(store, "/checkpoint", sizeof(part));
    struct wio_store_file *valid = open_file(store, "/checkpoint.valid", 0);
    int64_t steps = argc > 1 ? atoi(argv[1]) : 3;
    for (int64_t step = 1; step <= steps; step++) {
        for (int i = 0; i < DOUBLES; i++) {
            part[i] = (double)(step * 1000 + rank);
        }
        save(array, valid, part, step);
    }
    int64_t last = check(array, valid);
    if (rank == 0) {
        printf("checkpoint of step %lld\n", (long long)last);
    }
    wio_store_file_close(array);
    wio_store_file_close(valid);
    wio_store_disconnect(store);
    MPI_Finalize();
    return 0;
}
