/* SPDX-License-Identifier: Apache-2.0 */
/* Persistent requests: started twice each, one after the other and all at once. */
#include "mpi_case.h"

#define COUNT 2
#define BYTES (COUNT * (int)sizeof(double))

typedef int init_fn(const void *buf, count_type count, MPI_Datatype type, int dest, int tag,
                    MPI_Comm comm, MPI_Request *request);

static double out[COUNT] = {1.5, 2.5};
static double in[COUNT];

static void pair(init_fn *init, int tag, bool tells_end)
{
    int next = (rank + 1) % RANKS;
    int before = (rank + RANKS - 1) % RANKS;
    MPI_Request requests[2];
    int flag = 0;
    BIG(Recv_init)(in, COUNT, MPI_DOUBLE, MPI_ANY_SOURCE, tag, world, &requests[0]);
    init(out, COUNT, MPI_DOUBLE, next, tag, world, &requests[1]);
    for (int round = 0; round < 2; round++) {
        expect("MPI_Request_get_status 1=1 2=1"); /* nor is there anything to tell */
        MPI(Request_get_status)(requests[0], &flag, MPI_STATUS_IGNORE);
        must(flag, "the status of a request that is not started");
        expect("MPI_Start 1=1 2=0");
        expect("mpi_recv comm=world 1=-1 2=%d key=in%d-%d size=%d", tag, tag, round, BYTES);
        MPI(Start)(&requests[0]);
        expect("MPI_Barrier comm=world");
        MPI(Barrier)(world);
        expect("MPI_Startall 1=1 2=0");
        expect("%s comm=world 1=%d 2=%d key=out%d-%d size=%d", tells_end ? "mpi_ssend" : "mpi_send",
               next, tag, tag, round, BYTES);
        MPI(Startall)(1, &requests[1]);
        expect("MPI_Waitall 1=2 2=2");
        expect("mpi_done comm=world 1=%d 2=%d key=in%d-%d result=%d", before, tag, tag, round,
               BYTES);
        if (tells_end) {
            expect("mpi_done comm=world 1=-1 key=out%d-%d", tag, round);
        }
        MPI(Waitall)(2, requests, MPI_STATUSES_IGNORE);
        must(in[0] == 1.5 && in[1] == 2.5, "what a persistent request brought");
        in[0] = 0;
    }
    expect("MPI_Wait 1=1 2=1"); /* not started: nothing to wait for */
    MPI(Wait)(&requests[0], MPI_STATUS_IGNORE);
    expect_times(2, "MPI_Request_free 1=1 2=0");
    MPI(Request_free)(&requests[0]);
    MPI(Request_free)(&requests[1]);
    must(requests[0] == MPI_REQUEST_NULL, "a freed request stays");
}

#if HAS_MPI4
static void partitioned(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank == 0) {
        MPI(Psend_init)(out, 2, 1, MPI_DOUBLE, 1, 5, world, MPI_INFO_NULL, &request);
        expect("MPI_Start 1=1 2=0");
        expect("mpi_send comm=world 1=1 2=%d key=parts size=%d", -(1 << 30) - 5, BYTES);
        MPI(Start)(&request);
        MPI_Pready(0, request);
        MPI_Pready(1, request);
        expect("MPI_Wait 1=1 2=1");
        expect("mpi_done comm=world key=parts");
    } else if (rank == 1) {
        MPI(Precv_init)(in, 2, 1, MPI_DOUBLE, 0, 5, world, MPI_INFO_NULL, &request);
        expect("MPI_Start 1=1 2=0");
        expect("mpi_recv comm=world 1=0 2=%d key=parts size=%d", -(1 << 30) - 5, BYTES);
        MPI(Start)(&request);
        expect("MPI_Wait 1=1 2=1");
        expect("mpi_done comm=world 1=0 2=%d key=parts", -(1 << 30) - 5);
    } else {
        return;
    }
    MPI(Wait)(&request, MPI_STATUS_IGNORE);
    expect("MPI_Request_free 1=1 2=0");
    MPI(Request_free)(&request);
}
#endif

void persistent(void)
{
    static char attached[4096 + 16 * MPI_BSEND_OVERHEAD];
    void *detached;
    int size;
    MPI_Buffer_attach(attached, sizeof(attached));
    pair(BIG(Send_init), 1, false);
    pair(BIG(Ssend_init), 2, true);
    pair(BIG(Bsend_init), 3, false);
    pair(BIG(Rsend_init), 4, false);
#if HAS_MPI4
    partitioned();
#endif
    MPI_Buffer_detach(&detached, &size);
}
