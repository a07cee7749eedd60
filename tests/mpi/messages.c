/* SPDX-License-Identifier: Apache-2.0 */
/* Messages between two ranks: round the ring of four, and to MPI_PROC_NULL. */
#include <stdlib.h>
#include <string.h>

#include "mpi_case.h"

#define COUNT 3
#define BYTES (COUNT * (int)sizeof(int))

typedef int send_fn(const void *buf, count_type count, MPI_Datatype type, int dest, int tag,
                    MPI_Comm comm);
typedef int isend_fn(const void *buf, count_type count, MPI_Datatype type, int dest, int tag,
                     MPI_Comm comm, MPI_Request *request);

static int block[COUNT];
static int found[COUNT];

static void check_found(int from)
{
    must(found[0] == from && found[COUNT - 1] == from * 10, "a message is not what was sent");
    memset(found, 0, sizeof(found));
}

/* Even ranks send to the next one, odd ones receive and send on. */
static void blocking(send_fn *send, const char *name, int tag)
{
    int next = (rank + 1) % RANKS;
    int before = (rank + RANKS - 1) % RANKS;
    MPI_Status status;
    for (int turn = 0; turn < 2; turn++) {
        if (rank % 2 == turn) {
            expect("%s comm=world 1=%d 2=%d 3=0 size=%d result=0", name, next, tag, BYTES);
            send(block, COUNT, MPI_INT, next, tag, world);
        } else {
            expect("MPI_Recv comm=world 1=%d 2=%d 3=0 size=%d result=%d", before, tag, BYTES * 2,
                   BYTES);
            if (turn == 0) { /* any source; which one it was does not matter */
                int big[COUNT * 2];
                BIG(Recv)
                (big, COUNT * 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, MPI_STATUS_IGNORE);
                memcpy(found, big, BYTES);
            } else {
                int big[COUNT * 2];
                BIG(Recv)(big, COUNT * 2, MPI_INT, before, tag, world, &status);
                memcpy(found, big, BYTES);
                must(status.MPI_SOURCE == before && status.MPI_TAG == tag, "status of MPI_Recv");
            }
            check_found(before);
        }
    }
}

/* MPI_Rsend: the receive must be there. */
static void ready(void)
{
    int next = (rank + 1) % RANKS;
    int before = (rank + RANKS - 1) % RANKS;
    MPI_Request request;
    expect("MPI_Irecv comm=world 1=-1 2=20 key=r size=%d", BYTES);
    BIG(Irecv)(found, COUNT, MPI_INT, MPI_ANY_SOURCE, 20, world, &request);
    expect("MPI_Barrier comm=world");
    MPI(Barrier)(world);
    expect("MPI_Rsend comm=world 1=%d 2=20 3=0 size=%d", next, BYTES);
    BIG(Rsend)(block, COUNT, MPI_INT, next, 20, world);
    expect("MPI_Wait 1=1 2=1");
    expect("mpi_done comm=world 1=%d 2=20 key=r result=%d", before, BYTES);
    MPI(Wait)(&request, MPI_STATUS_IGNORE);
    check_found(before);
}

static void nonblocking(isend_fn *isend, const char *name, int tag, bool tells_end)
{
    int next = (rank + 1) % RANKS;
    int before = (rank + RANKS - 1) % RANKS;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    expect("MPI_Irecv comm=world 1=%d 2=-1 key=%s-in size=%d", before, name, BYTES);
    BIG(Irecv)(found, COUNT, MPI_INT, before, MPI_ANY_TAG, world, &requests[0]);
    expect("MPI_Barrier comm=world");
    MPI(Barrier)(world);
    expect("%s comm=world 1=%d 2=%d key=%s size=%d", name, next, tag, name, BYTES);
    isend(block, COUNT, MPI_INT, next, tag, world, &requests[1]);
    expect("MPI_Waitall 1=2 2=2");
    expect("mpi_done comm=world 1=%d 2=%d key=%s-in result=%d", before, tag, name, BYTES);
    if (tells_end) {
        expect("mpi_done comm=world 1=-1 2=-1 key=%s", name);
    }
    MPI(Waitall)(2, requests, tag % 2 == 0 ? statuses : MPI_STATUSES_IGNORE);
    must(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL, "requests stay");
    must(tag % 2 != 0 || (statuses[0].MPI_SOURCE == before && statuses[0].MPI_TAG == tag),
         "status of MPI_Waitall");
    check_found(before);
}

static void to_no_rank(void)
{
    MPI_Request requests[2];
    MPI_Status status;
    BIG(Send)(block, COUNT, MPI_INT, MPI_PROC_NULL, 1, world);
    BIG(Recv)(found, COUNT, MPI_INT, MPI_PROC_NULL, 1, world, &status);
    must(status.MPI_SOURCE == MPI_PROC_NULL, "status of a receive from nobody");
    BIG(Isend)(block, COUNT, MPI_INT, MPI_PROC_NULL, 1, world, &requests[0]);
    BIG(Irecv)(found, COUNT, MPI_INT, MPI_PROC_NULL, 1, world, &requests[1]);
    expect("MPI_Waitall 1=2 2=2");
    MPI(Waitall)(2, requests, MPI_STATUSES_IGNORE);
    expect("MPI_Sendrecv 1=2 2=2");
    BIG(Sendrecv)
    (block, COUNT, MPI_INT, MPI_PROC_NULL, 1, found, COUNT, MPI_INT, MPI_PROC_NULL, 1, world,
     MPI_STATUS_IGNORE);
}

static void both_ways(void)
{
    int next = (rank + 1) % RANKS;
    int before = (rank + RANKS - 1) % RANKS;
    MPI_Status status;
    expect("MPI_Sendrecv comm=world 1=2 2=2");
    expect("mpi_send comm=world 1=%d 2=30 3=0 size=%d", next, BYTES);
    expect("mpi_recv comm=world 1=%d 2=30 3=0 result=%d", before, BYTES);
    BIG(Sendrecv)
    (block, COUNT, MPI_INT, next, 30, found, COUNT, MPI_INT, MPI_ANY_SOURCE, 30, world,
     MPI_STATUS_IGNORE);
    check_found(before);
    memcpy(found, block, sizeof(found));
    expect("MPI_Sendrecv_replace comm=world 1=2 2=2");
    expect("mpi_send comm=world 1=%d 2=31 3=0 size=%d", next, BYTES);
    expect("mpi_recv comm=world 1=%d 2=31 3=0 result=%d", before, BYTES);
    BIG(Sendrecv_replace)(found, COUNT, MPI_INT, next, 31, before, MPI_ANY_TAG, world, &status);
    must(status.MPI_TAG == 31, "status of MPI_Sendrecv_replace");
    check_found(before);
#if HAS_MPI4
    MPI_Request request;
    expect("MPI_Isendrecv comm=world 1=2 2=0");
    expect("mpi_send comm=world 1=%d 2=32 size=%d", next, BYTES);
    expect("mpi_recv comm=world 1=%d 2=32 key=both", before);
    BIG(Isendrecv)
    (block, COUNT, MPI_INT, next, 32, found, COUNT, MPI_INT, before, 32, world, &request);
    expect("MPI_Wait 1=1 2=1");
    expect("mpi_done comm=world 2=32 key=both");
    MPI(Wait)(&request, MPI_STATUS_IGNORE);
    check_found(before);
    memcpy(found, block, sizeof(found));
    expect("MPI_Isendrecv_replace comm=world 1=2 2=0");
    expect("mpi_send comm=world 1=%d 2=33 size=%d", next, BYTES);
    expect("mpi_recv comm=world 1=%d 2=33 key=same", before);
    BIG(Isendrecv_replace)(found, COUNT, MPI_INT, next, 33, before, 33, world, &request);
    expect("MPI_Wait 1=1 2=1");
    expect("mpi_done comm=world 2=33 key=same");
    MPI(Wait)(&request, MPI_STATUS_IGNORE);
    check_found(before);
#endif
}

/* Rank 0 sends, rank 1 looks before it takes. */
static void probes(void)
{
    MPI_Status status;
    MPI_Message message;
    MPI_Request request;
    int flag = 0;
    if (rank == 0) {
        for (int i = 0; i < 4; i++) {
            expect("MPI_Send comm=world 1=1 2=%d 3=0 size=%d", 40 + i, BYTES);
            BIG(Send)(block, COUNT, MPI_INT, 1, 40 + i, world);
        }
    } else if (rank == 1) {
        expect("MPI_Probe comm=world 1=0 2=1");
        MPI(Probe)(MPI_ANY_SOURCE, 40, world, &status);
        must(status.MPI_SOURCE == 0 && status.MPI_TAG == 40, "status of MPI_Probe");
        expect("MPI_Recv comm=world 1=0 2=40 result=%d", BYTES);
        BIG(Recv)(found, COUNT, MPI_INT, 0, 40, world, MPI_STATUS_IGNORE);
        expect("MPI_Iprobe comm=world 1=0 2=1");
        while (!flag) {
            MPI(Iprobe)(0, 41, world, &flag, MPI_STATUS_IGNORE);
        }
        expect("MPI_Recv comm=world 1=0 2=41 result=%d", BYTES);
        BIG(Recv)(found, COUNT, MPI_INT, 0, 41, world, &status);
        expect("MPI_Mprobe comm=world 1=0 2=1");
        expect("mpi_recv comm=world 1=0 2=42 3=0 result=%d", BYTES);
        MPI(Mprobe)(MPI_ANY_SOURCE, 42, world, &message, MPI_STATUS_IGNORE);
        expect("MPI_Mrecv 1=1 2=1");
        BIG(Mrecv)(found, COUNT, MPI_INT, &message, MPI_STATUS_IGNORE);
        check_found(0);
        expect("MPI_Improbe comm=world 1=0 2=1");
        expect("mpi_recv comm=world 1=0 2=43 3=0 result=%d", BYTES);
        for (flag = 0; !flag;) {
            MPI(Improbe)(0, MPI_ANY_TAG, world, &flag, &message, &status);
        }
        must(status.MPI_TAG == 43, "status of MPI_Improbe");
        expect("MPI_Imrecv 1=1 2=0");
        BIG(Imrecv)(found, COUNT, MPI_INT, &message, &request);
        expect("MPI_Wait 1=1 2=1");
        MPI(Wait)(&request, &status);
        check_found(0);
    }
}

void messages(void)
{
    static char attached[4096 + 16 * MPI_BSEND_OVERHEAD];
    void *detached;
    int size;
    block[0] = rank;
    block[COUNT - 1] = rank * 10;
    MPI_Buffer_attach(attached, sizeof(attached));
    blocking(BIG(Send), "MPI_Send", 10);
    blocking(BIG(Ssend), "MPI_Ssend", 11);
    blocking(BIG(Bsend), "MPI_Bsend", 12);
    ready();
    nonblocking(BIG(Isend), "MPI_Isend", 14, false);
    nonblocking(BIG(Issend), "MPI_Issend", 15, true);
    nonblocking(BIG(Ibsend), "MPI_Ibsend", 16, false);
    nonblocking(BIG(Irsend), "MPI_Irsend", 17, false);
    to_no_rank();
    both_ways();
    probes();
    MPI_Buffer_detach(&detached, &size);
}
