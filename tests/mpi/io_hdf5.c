/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parallel HDF5: rows that ranks have by turns, written and read alone and together. A file that is
 * left open is flushed and closed inside MPI_Finalize.
 *
 * io_hdf5 DIRECTORY closed|left-open    runs in DIRECTORY
 */
#include <hdf5.h>
#include <mpi.h>
#include <stdbool.h>
#include <string.h>

#define ROWS 64
#define COLUMNS 1000

static int rank;
static int ranks;
static double data[ROWS][COLUMNS];

static void must(bool is_right, int line)
{
    if (!is_right) {
        MPI_Abort(MPI_COMM_WORLD, line);
    }
}

static void fill(void)
{
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++) {
            data[i][j] = rank + i * COLUMNS + j;
        }
    }
}

static void write_and_read(hid_t file, const char *name, H5FD_mpio_xfer_t how)
{
    const hsize_t all[2] = {ROWS, COLUMNS};
    const hsize_t first[2] = {(hsize_t)rank, 0};
    const hsize_t step[2] = {(hsize_t)ranks, 1};
    const hsize_t count[2] = {(hsize_t)(ROWS / ranks), COLUMNS};
    hid_t space = H5Screate_simple(2, all, NULL);
    hid_t memory = H5Screate_simple(2, count, NULL);
    hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
    hid_t set =
        H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    fill();
    H5Sselect_hyperslab(space, H5S_SELECT_SET, first, step, count, NULL);
    H5Pset_dxpl_mpio(transfer, how);
    must(H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, transfer, data) >= 0, __LINE__);
    H5Fflush(file, H5F_SCOPE_GLOBAL);
    MPI_Barrier(MPI_COMM_WORLD);
    memset(data, 0, sizeof(data));
    must(H5Dread(set, H5T_NATIVE_DOUBLE, memory, space, transfer, data) >= 0, __LINE__);
    must(data[1][1] == rank + COLUMNS + 1, __LINE__);
    H5Dclose(set);
    H5Pclose(transfer);
    H5Sclose(memory);
    H5Sclose(space);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    hid_t file = H5Fcreate("data.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    must(file >= 0, __LINE__);
    write_and_read(file, "alone", H5FD_MPIO_INDEPENDENT);
    write_and_read(file, "together", H5FD_MPIO_COLLECTIVE);
    H5Pclose(access);
    if (argc > 2 && strcmp(argv[2], "closed") == 0) {
        H5Fclose(file);
    }
    MPI_Finalize();
    return 0;
}
