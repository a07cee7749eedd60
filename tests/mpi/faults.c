/* SPDX-License-Identifier: Apache-2.0 */
/* Errors come back as they are, and the events say so. R-MPI-9 */
#include <stdio.h>

#include "mpi_case.h"

static int class_of(int error)
{
    int class = 0;
    MPI_Error_class(error, &class);
    return class;
}

/*
 * A message of four ints with a tag, from one rank to the next; it is sent when the receive is
 * posted, since Open MPI 4.1 waits for ever for one that failed before.
 */
static void send_when_asked(int to, int tag)
{
    int values[4] = {1, 2, 3, 4};
    expect("MPI_Recv comm=world 1=%d 2=%d result=0", to, 100 + tag);
    BIG(Recv)(values, 0, MPI_INT, to, 100 + tag, world, MPI_STATUS_IGNORE);
    expect("MPI_Send comm=world 1=%d 2=%d size=16", to, tag);
    BIG(Send)(values, 4, MPI_INT, to, tag, world);
}

static void ask(int from, int tag, int *room, int count, MPI_Request *request)
{
    expect("MPI_Irecv comm=world 1=%d 2=%d key=short%d size=%d", from, tag, tag, 4 * count);
    BIG(Irecv)(room, count, MPI_INT, from, tag, world, request);
    expect("MPI_Send comm=world 1=%d 2=%d size=0", from, 100 + tag);
    BIG(Send)(room, 0, MPI_INT, from, 100 + tag, world);
}

/* Receives that are too short, in all ways to complete them. */
static void too_short(void)
{
    int room[4];
    MPI_Request request;
    MPI_Status status;
    if (rank == 0) {
        expect("MPI_Send comm=world 1=1 2=1 size=16");
        BIG(Send)((int[4]){0}, 4, MPI_INT, 1, 1, world);
        send_when_asked(1, 2);
        send_when_asked(1, 3);
        send_when_asked(1, 4);
    } else if (rank == 1) {
        expect("MPI_Recv comm=world 1=0 2=1 errno=121 result=%d", -MPI_ERR_TRUNCATE);
        must(class_of(BIG(Recv)(room, 1, MPI_INT, 0, 1, world, MPI_STATUS_IGNORE)) ==
                 MPI_ERR_TRUNCATE,
             "MPI_Recv");
        ask(0, 2, room, 1, &request);
        expect("MPI_Wait 1=1 2=0 errno=121 result=%d", -MPI_ERR_TRUNCATE);
        expect("mpi_done comm=world 1=0 2=2 key=short2");
        must(class_of(MPI(Wait)(&request, MPI_STATUS_IGNORE)) == MPI_ERR_TRUNCATE, "MPI_Wait");
        ask(0, 3, room, 1, &request);
        expect("MPI_Waitall 1=1 2=0 errno=121 result=%d", -MPI_ERR_IN_STATUS);
        expect("mpi_done comm=world 1=0 2=3 key=short3");
        must(class_of(MPI(Waitall)(1, &request, &status)) == MPI_ERR_IN_STATUS, "MPI_Waitall");
        must(class_of(status.MPI_ERROR) == MPI_ERR_TRUNCATE, "status of MPI_Waitall");
        ask(0, 4, room, 4, &request);
        expect("MPI_Wait 1=1 2=1 errno=0 result=0");
        expect("mpi_done comm=world 1=0 2=4 key=short4 result=16");
        must(MPI(Wait)(&request, &status) == MPI_SUCCESS, "after a failure");
    }
}

/* The library's own answer to a wait without statuses: printed, so that it is compared. */
static int without_statuses(void)
{
    int room;
    int error = 0;
    MPI_Request request;
    if (rank == 2) {
        send_when_asked(3, 9);
    } else if (rank == 3) {
        ask(2, 9, &room, 1, &request);
        error = MPI(Waitall)(1, &request, MPI_STATUSES_IGNORE);
        expect("MPI_Waitall 1=1 2=0 errno=121");
        expect("mpi_done comm=world 1=2 2=9 key=short9");
    }
    return class_of(error);
}

/* Both are there: what was sent, and what was taken of what came. */
static void exchange(void)
{
    int values[4] = {1, 2, 3, 4};
    int room = 0;
    int other = rank ^ 1;
    bool is_short = rank == 0;
    expect("MPI_Sendrecv 1=2 2=%d errno=%d", is_short ? 0 : 2, is_short ? 121 : 0);
    expect("mpi_send comm=world 1=%d 2=11", other);
    expect("mpi_recv comm=world 1=%d 2=11", other);
    int error = BIG(Sendrecv)(values, rank == 1 ? 4 : 1, MPI_INT, other, 11, &room, 1, MPI_INT,
                              other, 11, world, MPI_STATUS_IGNORE);
    must(class_of(error) == (is_short ? MPI_ERR_TRUNCATE : MPI_SUCCESS), "MPI_Sendrecv");
}

static void wrong_arguments(void)
{
    int value = 0;
    MPI_Comm none = MPI_COMM_NULL;
    expect("MPI_Send comm=world 1=%d 2=1 errno=121 result=%d", RANKS + 5, -MPI_ERR_RANK);
    must(class_of(BIG(Send)(&value, 1, MPI_INT, RANKS + 5, 1, world)) == MPI_ERR_RANK, "rank");
    expect("MPI_Recv comm=world 1=-1 errno=121 result=%d", -MPI_ERR_COUNT);
    must(class_of(BIG(Recv)(&value, -1, MPI_INT, 0, 1, world, MPI_STATUS_IGNORE)) == MPI_ERR_COUNT,
         "count");
    expect("MPI_Bcast comm=world 2=%d errno=121 result=%d size=none", RANKS + 1, -MPI_ERR_ROOT);
    must(class_of(BIG(Bcast)(&value, 1, MPI_INT, RANKS + 1, world)) == MPI_ERR_ROOT, "root");
    must(class_of(MPI(Barrier)(none)) == MPI_ERR_COMM, "communicator");
    expect("MPI_File_delete errno=121 path=not-there");
    must(MPI(File_delete)("not-there", MPI_INFO_NULL) != MPI_SUCCESS, "file");
}

void faults(void)
{
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    too_short();
    int class = without_statuses();
    if (rank == 3) {
        printf("a wait without statuses gave class %d\n", class);
    }
    exchange();
    wrong_arguments();
    expect("MPI_Barrier comm=world");
    MPI(Barrier)(world);
}
