/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives among neighbours: on a ring, on a line, on both kinds of graphs. R-MPI-6 */
#include <string.h>

#include "mpi_case.h"

#define MOST 8

static int out[MOST * MOST];
static int in[MOST * MOST];
static count_type counts[MOST];
static displ_type displs[MOST];
static MPI_Aint byte_displs[MOST];
static MPI_Datatype types[MOST];

/* A topology: the ranks that this one sends to and receives from, in the order of the library. */
struct place {
    MPI_Comm comm;
    const char *name;
    int out_count;
    int out[MOST];
    int in_count;
    int in[MOST];
};

static int tag;      /* of the next operation on a topology */
static int requests; /* made so far: a name each */

static void expect_messages(const struct place *at, int size, const char *form)
{
    for (int i = 0; i < at->out_count; i++) {
        if (at->out[i] >= 0) {
            expect("mpi_send comm=%s 1=%d 2=%d 3=0 size=%s", at->name, at->out[i], tag,
                   size > 0 ? "4" : "none");
        }
    }
    for (int i = 0; i < at->in_count; i++) {
        if (at->in[i] >= 0 && form == NULL) {
            expect("mpi_recv comm=%s 1=%d 2=%d 3=0", at->name, at->in[i], tag);
        } else if (at->in[i] >= 0) {
            expect("mpi_recv comm=%s 1=%d 2=%d key=%s%d-%d", at->name, at->in[i], tag, form,
                   requests, i);
        }
    }
}

static void expect_ends(const struct place *at, const char *form)
{
    for (int i = 0; i < at->in_count; i++) {
        if (at->in[i] >= 0) {
            expect("mpi_done comm=%s 1=-1 2=%d key=%s%d-%d", at->name, tag, form, requests, i);
        }
    }
}

static void start_twice(const struct place *at, int size, MPI_Request *request)
{
    for (int i = 0; i < 2; i++) {
        requests++;
        expect("MPI_Start 1=1 2=0");
        expect_messages(at, size, "p");
        MPI(Start)(request);
        expect("MPI_Wait 1=1 2=1");
        expect_ends(at, "p");
        MPI(Wait)(request, MPI_STATUS_IGNORE);
    }
    expect("MPI_Request_free 1=1 2=0");
    MPI(Request_free)(request);
    tag--;
}

#define THREE(at, title, low, size, ...)                                                           \
    do {                                                                                           \
        MPI_Request request;                                                                       \
        expect("MPI_" #title " comm=%s 1=0 2=1", (at)->name);                                      \
        expect_messages(at, size, NULL);                                                           \
        tag--;                                                                                     \
        must(BIG(title)(__VA_ARGS__, (at)->comm) == MPI_SUCCESS, #title);                          \
        requests++;                                                                                \
        expect("MPI_" #low " comm=%s 1=1 2=0", (at)->name);                                        \
        expect_messages(at, size, "i");                                                            \
        must(BIG(low)(__VA_ARGS__, (at)->comm, &request) == MPI_SUCCESS, #low);                    \
        expect("MPI_Wait 1=1 2=1");                                                                \
        expect_ends(at, "i");                                                                      \
        MPI(Wait)(&request, MPI_STATUS_IGNORE);                                                    \
        tag--;                                                                                     \
        must(PERSISTENT(title##_init)(__VA_ARGS__, (at)->comm, MPI_INFO_NULL, &request) ==         \
                 MPI_SUCCESS,                                                                      \
             #title "_init");                                                                      \
        start_twice(at, size, &request);                                                           \
    } while (0)

static void all_of(const struct place *at)
{
    tag = -100;
    THREE(at, Neighbor_allgather, Ineighbor_allgather, 4, out, 1, MPI_INT, in, 1, MPI_INT);
    THREE(at, Neighbor_allgatherv, Ineighbor_allgatherv, 4, out, 1, MPI_INT, in, counts, displs,
          MPI_INT);
    THREE(at, Neighbor_alltoall, Ineighbor_alltoall, 4, out, 1, MPI_INT, in, 1, MPI_INT);
    THREE(at, Neighbor_alltoallv, Ineighbor_alltoallv, 0, out, counts, displs, MPI_INT, in, counts,
          displs, MPI_INT);
    THREE(at, Neighbor_alltoallw, Ineighbor_alltoallw, 0, out, counts, byte_displs, types, in,
          counts, byte_displs, types);
    for (int i = 0; i < at->in_count; i++) {
        must(at->in[i] < 0 || in[i] == at->in[i], "what a neighbour sent");
    }
}

static void forget(struct place *at, int collectives)
{
    expect("MPI_Comm_free comm=%s 1=%d", at->name, collectives);
    MPI(Comm_free)(&at->comm);
}

static void on_a_line(int periodic, const char *name)
{
    const int size = RANKS;
    struct place at = {.name = name, .out_count = 2, .in_count = 2};
    int lower = periodic ? (rank + RANKS - 1) % RANKS : rank - 1;
    int upper = periodic ? (rank + 1) % RANKS : rank + 1;
    at.out[0] = at.in[0] = lower;
    at.out[1] = at.in[1] = upper < RANKS ? upper : -1;
    expect("MPI_Cart_create comm=world 2=-1");
    MPI(Cart_create)(world, 1, &size, &periodic, 0, &at.comm);
    all_of(&at);
    forget(&at, 0);
}

/* A star: rank 0 and all others. */
static void on_a_graph(void)
{
    static const int index[RANKS] = {3, 4, 5, 6};
    static const int edges[] = {1, 2, 3, 0, 0, 0};
    struct place at = {.name = "star", .out_count = rank == 0 ? 3 : 1};
    at.in_count = at.out_count;
    for (int i = 0; i < at.out_count; i++) {
        at.out[i] = at.in[i] = rank == 0 ? i + 1 : 0;
    }
    expect("MPI_Graph_create comm=world 2=-1");
    MPI(Graph_create)(world, RANKS, index, edges, 0, &at.comm);
    all_of(&at);
    forget(&at, 0);
}

/* One way round: from each to the next and the one after. */
static void on_distributed_graphs(void)
{
    struct place at = {.name = "onward", .out_count = 2, .in_count = 2};
    const int degree = 2;
    for (int i = 0; i < 2; i++) {
        at.out[i] = (rank + 1 + i) % RANKS;
        at.in[i] = (rank + RANKS - 1 - i) % RANKS;
    }
    expect("MPI_Dist_graph_create_adjacent comm=world 2=-1");
    MPI(Dist_graph_create_adjacent)
    (world, 2, at.in, MPI_UNWEIGHTED, 2, at.out, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &at.comm);
    all_of(&at);
    forget(&at, 0);
    expect("MPI_Dist_graph_create comm=world 2=-1");
    MPI(Dist_graph_create)(world, 1, &rank, &degree, at.out, at.out, MPI_INFO_NULL, 0, &at.comm);
    at.name = "weighted";
    int weights[4 * MOST];
    MPI_Dist_graph_neighbors(at.comm, 2, at.in, weights, 2, at.out, weights + MOST);
    all_of(&at);
    forget(&at, 0);
}

void neighbors(void)
{
    for (int i = 0; i < MOST; i++) {
        counts[i] = 1;
        displs[i] = i;
        byte_displs[i] = i * (MPI_Aint)sizeof(int);
        types[i] = MPI_INT;
    }
    for (int i = 0; i < MOST * MOST; i++) {
        out[i] = rank;
    }
    on_a_line(1, "ring");
    on_a_line(0, "line");
    on_a_graph();
    on_distributed_graphs();
}
