/* SPDX-License-Identifier: Apache-2.0 */
/* MPI-IO: each rank writes its part of a file and reads its neighbour's. R-MPI-8 */
#include <string.h>

#include "mpi_case.h"

#define BYTES 64

static char block[BYTES];
static char found[BYTES];
static MPI_File file;
static int seq; /* of the file's collectives */

static void check_at(int from, const char *where)
{
    must(found[0] == 'a' + from && found[BYTES - 1] == 'a' + from, where);
    memset(found, 0, sizeof(found));
}

#define check(from) check_at(from, __func__)

static void expect_file(const char *op, int offset, int bytes)
{
    if (offset >= 0) {
        expect("%s comm=file offset=%d size=%d result=%d path=mpi.data", op, offset, BYTES, bytes);
    } else {
        expect("%s comm=file offset=none size=%d result=%d path=mpi.data", op, BYTES, bytes);
    }
}

static void expect_all(const char *op, int offset, const char *request)
{
    expect("%s comm=file 1=%d 2=-1 %s size=%d path=mpi.data", op, seq++, request, BYTES);
    (void)offset;
}

static void finish(MPI_Request *request, const char *key)
{
    expect("MPI_Wait 1=1 2=1");
    expect("mpi_done comm=file 1=-1 2=-1 key=%s", key);
    MPI(Wait)(request, MPI_STATUS_IGNORE);
}

static void seek(int offset)
{
    expect("MPI_File_seek comm=file offset=%d path=mpi.data", offset);
    MPI(File_seek)(file, offset, MPI_SEEK_SET);
}

static void alone(void)
{
    int next = (rank + 1) % RANKS;
    MPI_Status status;
    MPI_Request request;
    expect_file("MPI_File_write_at", rank * BYTES, BYTES);
    BIG(File_write_at)(file, rank * BYTES, block, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    expect("MPI_File_sync comm=file 1=%d path=mpi.data", seq++);
    MPI(File_sync)(file);
    expect("MPI_Barrier comm=world");
    MPI(Barrier)(world);
    expect_file("MPI_File_read_at", next * BYTES, BYTES);
    BIG(File_read_at)(file, next * BYTES, found, BYTES, MPI_BYTE, &status);
    check(next);
    expect("MPI_File_iwrite_at comm=file key=iwa offset=%d size=%d", rank * BYTES, BYTES);
    BIG(File_iwrite_at)(file, rank * BYTES, block, BYTES, MPI_BYTE, &request);
    finish(&request, "iwa");
    expect("MPI_File_iread_at comm=file key=ira offset=%d size=%d", rank * BYTES, BYTES);
    BIG(File_iread_at)(file, rank * BYTES, found, BYTES, MPI_BYTE, &request);
    finish(&request, "ira");
    check(rank);
    seek(rank * BYTES);
    expect_file("MPI_File_write", -1, BYTES);
    BIG(File_write)(file, block, BYTES, MPI_BYTE, &status);
    seek(rank * BYTES);
    expect_file("MPI_File_read", -1, BYTES);
    BIG(File_read)(file, found, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    check(rank);
    seek(rank * BYTES);
    expect("MPI_File_iwrite comm=file key=iw size=%d", BYTES);
    BIG(File_iwrite)(file, block, BYTES, MPI_BYTE, &request);
    finish(&request, "iw");
    seek(rank * BYTES);
    expect("MPI_File_iread comm=file key=ir size=%d", BYTES);
    BIG(File_iread)(file, found, BYTES, MPI_BYTE, &request);
    finish(&request, "ir");
    check(rank);
}

static void together(void)
{
    MPI_Status status;
    MPI_Request request;
    MPI_Offset at = rank * BYTES;
    expect_all("MPI_File_write_at_all", rank * BYTES, "3=0");
    BIG(File_write_at_all)(file, at, block, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    expect_all("MPI_File_read_at_all", rank * BYTES, "3=0");
    BIG(File_read_at_all)(file, at, found, BYTES, MPI_BYTE, &status);
    check(rank);
    expect_all("MPI_File_iwrite_at_all", rank * BYTES, "key=iwaa");
    BIG(File_iwrite_at_all)(file, at, block, BYTES, MPI_BYTE, &request);
    finish(&request, "iwaa");
    expect_all("MPI_File_iread_at_all", rank * BYTES, "key=iraa");
    BIG(File_iread_at_all)(file, at, found, BYTES, MPI_BYTE, &request);
    finish(&request, "iraa");
    check(rank);
    expect("MPI_File_set_view comm=file 1=%d path=mpi.data", seq++);
    MPI(File_set_view)(file, at, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    expect_all("MPI_File_write_all", -1, "3=0");
    BIG(File_write_all)(file, block, BYTES, MPI_BYTE, &status);
    seek(0);
    expect_all("MPI_File_read_all", -1, "3=0");
    BIG(File_read_all)(file, found, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    check(rank);
    seek(0);
    expect_all("MPI_File_iwrite_all", -1, "key=iwall");
    BIG(File_iwrite_all)(file, block, BYTES, MPI_BYTE, &request);
    finish(&request, "iwall");
    seek(0);
    expect_all("MPI_File_iread_all", -1, "key=irall");
    BIG(File_iread_all)(file, found, BYTES, MPI_BYTE, &request);
    finish(&request, "irall");
    check(rank);
}

/* `_begin` and `_end` are one collective. */
static void expect_end(const char *op, const char *key)
{
    expect("%s_end comm=file 1=1 2=1 path=mpi.data", op);
    expect("mpi_done comm=file 1=-1 2=-1 key=%s", key);
}

static void in_two_steps(void)
{
    seek(0);
    expect_all("MPI_File_write_all_begin", -1, "key=wab");
    BIG(File_write_all_begin)(file, block, BYTES, MPI_BYTE);
    expect_end("MPI_File_write_all", "wab");
    MPI(File_write_all_end)(file, block, MPI_STATUS_IGNORE);
    seek(0);
    expect_all("MPI_File_read_all_begin", -1, "key=rab");
    BIG(File_read_all_begin)(file, found, BYTES, MPI_BYTE);
    expect_end("MPI_File_read_all", "rab");
    MPI(File_read_all_end)(file, found, MPI_STATUS_IGNORE);
    check(rank);
    expect_all("MPI_File_write_at_all_begin", 0, "key=waab");
    BIG(File_write_at_all_begin)(file, 0, block, BYTES, MPI_BYTE);
    expect_end("MPI_File_write_at_all", "waab");
    MPI(File_write_at_all_end)(file, block, MPI_STATUS_IGNORE);
    expect_all("MPI_File_read_at_all_begin", 0, "key=raab");
    BIG(File_read_at_all_begin)(file, 0, found, BYTES, MPI_BYTE);
    expect_end("MPI_File_read_at_all", "raab");
    MPI(File_read_at_all_end)(file, found, MPI_STATUS_IGNORE);
    check(rank);
    expect("MPI_File_set_view comm=file 1=%d path=mpi.data", seq++);
    MPI(File_set_view)(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
}

/* ROMIO sets the pointer back without asking whether the others are done with it. */
static void to_the_start(void)
{
    expect("MPI_Barrier comm=world");
    MPI(Barrier)(world);
    MPI_Offset place = 0;
    expect("MPI_File_seek_shared comm=file 1=%d", seq++);
    MPI(File_seek_shared)(file, 0, MPI_SEEK_SET);
    expect("MPI_File_get_position_shared comm=file path=mpi.data");
    MPI(File_get_position_shared)(file, &place);
    expect("MPI_Barrier comm=world");
    MPI(Barrier)(world);
}

static void by_a_shared_pointer(void)
{
    MPI_Request request;
    to_the_start();
    expect_file("MPI_File_write_shared", -1, BYTES);
    BIG(File_write_shared)(file, block, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    to_the_start();
    expect_file("MPI_File_read_shared", -1, BYTES);
    BIG(File_read_shared)(file, found, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    to_the_start();
    expect("MPI_File_iwrite_shared comm=file key=iws size=%d", BYTES);
    BIG(File_iwrite_shared)(file, block, BYTES, MPI_BYTE, &request);
    finish(&request, "iws");
    to_the_start();
    expect("MPI_File_iread_shared comm=file key=irs size=%d", BYTES);
    BIG(File_iread_shared)(file, found, BYTES, MPI_BYTE, &request);
    finish(&request, "irs");
    to_the_start();
    expect_all("MPI_File_write_ordered", -1, "3=0");
    BIG(File_write_ordered)(file, block, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    to_the_start();
    expect_all("MPI_File_read_ordered", -1, "3=0");
    BIG(File_read_ordered)(file, found, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    check(rank);
    to_the_start();
    expect_all("MPI_File_write_ordered_begin", -1, "key=wob");
    BIG(File_write_ordered_begin)(file, block, BYTES, MPI_BYTE);
    expect_end("MPI_File_write_ordered", "wob");
    MPI(File_write_ordered_end)(file, block, MPI_STATUS_IGNORE);
    to_the_start();
    expect_all("MPI_File_read_ordered_begin", -1, "key=rob");
    BIG(File_read_ordered_begin)(file, found, BYTES, MPI_BYTE);
    expect_end("MPI_File_read_ordered", "rob");
    MPI(File_read_ordered_end)(file, found, MPI_STATUS_IGNORE);
    check(rank);
}

void files(void)
{
    MPI_Info info;
    MPI_Offset size = 0;
    memset(block, 'a' + rank, sizeof(block));
    expect("MPI_File_open comm=world 1=1 2=-1 path=mpi.data");
    must(MPI(File_open)(world, "mpi.data", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) ==
             MPI_SUCCESS,
         "MPI_File_open");
    alone();
    together();
    in_two_steps();
    by_a_shared_pointer();
    expect("MPI_File_set_size comm=file 1=%d size=%d", seq++, 8 * BYTES);
    MPI(File_set_size)(file, 8 * BYTES);
    expect("MPI_File_get_size comm=file path=mpi.data");
    MPI(File_get_size)(file, &size);
    expect("MPI_File_preallocate comm=file 1=%d size=%d", seq++, 8 * BYTES);
    MPI(File_preallocate)(file, 8 * BYTES);
    expect("MPI_File_set_atomicity comm=file 1=%d", seq++);
    MPI(File_set_atomicity)(file, 0);
    MPI_File_get_info(file, &info);
    expect("MPI_File_set_info comm=file 1=%d", seq++);
    MPI(File_set_info)(file, info);
    MPI_Info_free(&info);
    expect("MPI_File_close comm=file 1=%d path=mpi.data", seq++);
    MPI(File_close)(&file);
    must(file == MPI_FILE_NULL, "a closed file stays");
    if (rank == 0) {
        expect("MPI_File_delete path=mpi.data");
        MPI(File_delete)("mpi.data", MPI_INFO_NULL);
    }
}
