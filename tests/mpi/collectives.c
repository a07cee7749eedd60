/* SPDX-License-Identifier: Apache-2.0 */
/* Each collective three ways: it waits, it gives a request, it is persistent. */
#include <stdlib.h>
#include <string.h>

#include "mpi_case.h"

#define ROOT 1

static int seq;  /* of collectives of the world: Init was the first */
static int data; /* of persistent ones made so far: a name each */

/* Arguments of all forms; four ints to or from each rank, but rank + 1 in the vector forms. */
static int out[RANKS * RANKS];
static int in[RANKS * RANKS];
static count_type counts[RANKS];
static count_type own_counts[RANKS];
static displ_type displs[RANKS];
static displ_type byte_displs[RANKS]; /* MPI_Alltoallw's */
static MPI_Datatype types[RANKS];

static void prepare(void)
{
    for (int i = 0; i < RANKS; i++) {
        counts[i] = i + 1;
        own_counts[i] = rank + 1;
        displs[i] = i * RANKS;
        byte_displs[i] = i * RANKS * (displ_type)sizeof(int);
        types[i] = MPI_INT;
    }
    for (int i = 0; i < RANKS * RANKS; i++) {
        out[i] = rank + 1;
    }
}

static void expect_one(const char *op, int root, int size)
{
    expect("%s comm=world 1=%d 2=%d 3=0 size=%d", op, seq++, root, size);
}

/* The same as a request, waited for at once. */
static void expect_request(const char *op, int root, int size)
{
    expect("%s comm=world 1=%d 2=%d key=%s size=%d", op, seq++, root, op, size);
    expect("MPI_Wait 1=1 2=1");
    expect("mpi_done comm=world 1=-1 2=-1 key=%s", op);
}

static void wait_for(MPI_Request *request)
{
    MPI(Wait)(request, MPI_STATUS_IGNORE);
    must(*request == MPI_REQUEST_NULL, "the request of a collective stays");
}

static void expect_made(const char *op)
{
    expect("%s_init comm=world 1=%d 2=-1 3=0", op, seq++);
}

/* MPICH 4.0 fails at the second start of some. */
#define STARTS (HAS_MPI4 ? 1 : 2)

/* `caused`: how the event of a start is called. */
static void start(MPI_Request *request, const char *caused, int root, int size)
{
    for (int i = 0; i < STARTS; i++) {
        expect("MPI_Start 1=1 2=0");
        expect("%s comm=persistent%d 1=%d 2=%d key=p%d-%d size=%d", caused, data, i, root, data, i,
               size);
        MPI(Start)(request);
        expect("MPI_Wait 1=1 2=1");
        expect("mpi_done comm=persistent%d key=p%d-%d", data, data, i);
        MPI(Wait)(request, MPI_STATUS_IGNORE);
    }
    expect("MPI_Request_free 1=1 2=0");
    MPI(Request_free)(request);
    data++;
}

/* The bytes of one value to each rank, and of what a vector form moves. */
#define ONE ((int)sizeof(int))
#define ALL (RANKS * (int)sizeof(int))
#define OWN ((rank + 1) * (int)sizeof(int))
#define SUM (RANKS * (RANKS + 1) / 2 * (int)sizeof(int))

/* `low`: the form with a request; `caused`: the event of a start. */
#define THREE(name, low, caused, root, size, ...)                                                  \
    do {                                                                                           \
        MPI_Request request;                                                                       \
        expect_one("MPI_" #name, root, size);                                                      \
        must(BIG(name)(__VA_ARGS__) == MPI_SUCCESS, #name);                                        \
        expect_request("MPI_" #low, root, size);                                                   \
        must(BIG(low)(__VA_ARGS__, &request) == MPI_SUCCESS, #low);                                \
        wait_for(&request);                                                                        \
        expect_made("MPI_" #name);                                                                 \
        must(PERSISTENT(name##_init)(__VA_ARGS__, MPI_INFO_NULL, &request) == MPI_SUCCESS,         \
             #name "_init");                                                                       \
        start(&request, caused, root, size);                                                       \
    } while (0)

static void barriers(void)
{
    MPI_Request request;
    expect("MPI_Barrier comm=world 1=%d 2=-1 3=0 size=none", seq++);
    MPI(Barrier)(world);
    expect("MPI_Ibarrier comm=world 1=%d 2=-1 key=ib size=none", seq++);
    MPI(Ibarrier)(world, &request);
    expect("MPI_Wait 1=1 2=1");
    expect("mpi_done comm=world 1=-1 2=-1 key=ib");
    wait_for(&request);
    expect_made("MPI_Barrier");
#ifdef OPEN_MPI
    MPIX(Barrier_init)(world, MPI_INFO_NULL, &request);
#else
    MPI(Barrier_init)(world, MPI_INFO_NULL, &request);
#endif
    for (int i = 0; i < STARTS; i++) {
        expect("MPI_Start 1=1 2=0");
        expect("mpi_all comm=persistent%d 1=%d 2=-1 key=pb%d size=none", data, i, i);
        MPI(Start)(&request);
        expect("MPI_Wait 1=1 2=1");
        expect("mpi_done comm=persistent%d key=pb%d", data, i);
        MPI(Wait)(&request, MPI_STATUS_IGNORE);
    }
    expect("MPI_Request_free 1=1 2=0");
    MPI(Request_free)(&request);
    data++;
}

static void rooted(void)
{
    int at_root = rank == ROOT;
    THREE(Bcast, Ibcast, "mpi_from_root", ROOT, ONE, out, 1, MPI_INT, ROOT, world);
    must(out[0] == ROOT + 1, "MPI_Bcast");
    prepare();
    THREE(Gather, Igather, "mpi_to_root", ROOT, ONE, out, 1, MPI_INT, in, 1,
          at_root ? MPI_INT : MPI_DATATYPE_NULL, ROOT, world);
    must(!at_root || in[RANKS - 1] == RANKS, "MPI_Gather");
    THREE(Gatherv, Igatherv, "mpi_to_root", ROOT, OWN, out, rank + 1, MPI_INT, in,
          at_root ? counts : NULL, at_root ? displs : NULL, at_root ? MPI_INT : MPI_DATATYPE_NULL,
          ROOT, world);
    THREE(Scatter, Iscatter, "mpi_from_root", ROOT, at_root ? ALL : ONE, out, 1,
          at_root ? MPI_INT : MPI_DATATYPE_NULL, in, 1, MPI_INT, ROOT, world);
    must(in[0] == ROOT + 1, "MPI_Scatter");
    THREE(Scatterv, Iscatterv, "mpi_from_root", ROOT, at_root ? SUM : OWN, out,
          at_root ? counts : NULL, at_root ? displs : NULL, at_root ? MPI_INT : MPI_DATATYPE_NULL,
          in, rank + 1, MPI_INT, ROOT, world);
    THREE(Reduce, Ireduce, "mpi_to_root", ROOT, 2 * ONE, out, in, 2, MPI_INT, MPI_SUM, ROOT, world);
    must(!at_root || in[1] == RANKS * (RANKS + 1) / 2, "MPI_Reduce");
}

static void of_all(void)
{
    THREE(Allgather, Iallgather, "mpi_all", -1, ONE, out, 1, MPI_INT, in, 1, MPI_INT, world);
    must(in[RANKS - 1] == RANKS, "MPI_Allgather");
    THREE(Allgatherv, Iallgatherv, "mpi_loose", -1, OWN, out, rank + 1, MPI_INT, in, counts, displs,
          MPI_INT, world);
    THREE(Alltoall, Ialltoall, "mpi_all", -1, ALL, out, 1, MPI_INT, in, 1, MPI_INT, world);
    THREE(Alltoallv, Ialltoallv, "mpi_loose", -1, SUM, out, counts, displs, MPI_INT, in, own_counts,
          displs, MPI_INT, world);
    THREE(Alltoallw, Ialltoallw, "mpi_loose", -1, SUM, out, counts, byte_displs, types, in,
          own_counts, byte_displs, types, world);
    THREE(Allreduce, Iallreduce, "mpi_all", -1, 3 * ONE, out, in, 3, MPI_INT, MPI_MAX, world);
    must(in[2] == RANKS, "MPI_Allreduce");
    THREE(Reduce_scatter, Ireduce_scatter, "mpi_loose", -1, SUM, out, in, counts, MPI_INT, MPI_SUM,
          world);
    THREE(Reduce_scatter_block, Ireduce_scatter_block, "mpi_all", -1, 2 * ALL, out, in, 2, MPI_INT,
          MPI_SUM, world);
    THREE(Scan, Iscan, "mpi_scan", -1, ONE, out, in, 1, MPI_INT, MPI_SUM, world);
    must(in[0] == (rank + 1) * (rank + 2) / 2, "MPI_Scan");
    THREE(Exscan, Iexscan, "mpi_scan", -1, ONE, out, in, 1, MPI_INT, MPI_SUM, world);
}

/* Types and counts of what is not looked at may be anything. */
static void in_place(void)
{
    int at_root = rank == ROOT;
    memset(in, 0, sizeof(in));
    in[rank] = rank;
    expect_one("MPI_Gather", ROOT, ONE);
    BIG(Gather)
    (at_root ? MPI_IN_PLACE : &in[rank], at_root ? -1 : 1, at_root ? MPI_DATATYPE_NULL : MPI_INT,
     in, 1, at_root ? MPI_INT : MPI_DATATYPE_NULL, ROOT, world);
    must(!at_root || in[RANKS - 1] == RANKS - 1, "MPI_Gather in place");
    expect_one("MPI_Scatter", ROOT, at_root ? ALL : ONE);
    BIG(Scatter)
    (in, 1, at_root ? MPI_INT : MPI_DATATYPE_NULL, at_root ? MPI_IN_PLACE : &in[rank],
     at_root ? 0 : 1, at_root ? MPI_DATATYPE_NULL : MPI_INT, ROOT, world);
    expect_one("MPI_Allgather", -1, ONE);
    BIG(Allgather)(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 1, MPI_INT, world);
    must(in[RANKS - 1] == RANKS - 1, "MPI_Allgather in place");
    expect_one("MPI_Allgatherv", -1, OWN);
    BIG(Allgatherv)(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, counts, displs, MPI_INT, world);
    expect_one("MPI_Alltoall", -1, ALL);
    BIG(Alltoall)(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 1, MPI_INT, world);
    expect_one("MPI_Allreduce", -1, ONE);
    BIG(Allreduce)(MPI_IN_PLACE, in, 1, MPI_INT, MPI_SUM, world);
    expect_one("MPI_Bcast", ROOT, 0);
    BIG(Bcast)(in, 0, MPI_INT, ROOT, world);
}

/* A duplicate's collectives are counted for themselves. */
static void of_another(void)
{
    MPI_Comm other;
    expect("MPI_Comm_dup comm=world 1=%d", seq++);
    MPI(Comm_dup)(world, &other);
    expect("MPI_Barrier comm=other 1=0");
    MPI(Barrier)(other);
    expect("MPI_Barrier comm=world 1=%d", seq++);
    MPI(Barrier)(world);
    expect("MPI_Barrier comm=other 1=1");
    MPI(Barrier)(other);
    expect("MPI_Comm_free comm=other 1=2");
    MPI(Comm_free)(&other);
}

void collectives(void)
{
    seq = 1;
    prepare();
    barriers();
    rooted();
    of_all();
    in_place();
    of_another();
}
