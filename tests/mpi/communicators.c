/* SPDX-License-Identifier: Apache-2.0 */
/* Communicators: their ids agree among members and differ from all others. */
#include <stdio.h>

#include "mpi_case.h"

static int seq;

/* What is common to all: a barrier as the `number`-th collective, a message, and the end. */
static void use(MPI_Comm *comm, const char *name, int number)
{
    int own = 0;
    int size = 0;
    int found = -1;
    MPI_Comm_rank(*comm, &own);
    MPI_Comm_size(*comm, &size);
    expect("MPI_Barrier comm=%s 1=%d", name, number);
    MPI(Barrier)(*comm);
    expect("MPI_Sendrecv comm=%s 1=2 2=2", name);
    expect("mpi_send comm=%s 1=%d 2=3", name, (own + 1) % size);
    expect("mpi_recv comm=%s 1=%d 2=3", name, (own + size - 1) % size);
    BIG(Sendrecv)
    (&own, 1, MPI_INT, (own + 1) % size, 3, &found, 1, MPI_INT, (own + size - 1) % size, 3, *comm,
     MPI_STATUS_IGNORE);
    must(found == (own + size - 1) % size, name);
    expect("MPI_Comm_free comm=%s 1=%d", name, number + 1);
    MPI(Comm_free)(comm);
    must(*comm == MPI_COMM_NULL, "a freed communicator stays");
}

static void duplicates(void)
{
    MPI_Comm comm;
    MPI_Request request;
    expect("MPI_Comm_dup comm=world 1=%d 2=-1", seq++);
    MPI(Comm_dup)(world, &comm);
    use(&comm, "dup", 0);
    expect("MPI_Comm_dup_with_info comm=world 1=%d 2=-1", seq++);
    MPI(Comm_dup_with_info)(world, MPI_INFO_NULL, &comm);
    use(&comm, "dup-info", 0);
    expect("MPI_Comm_idup comm=world 1=%d 2=-1 key=idup", seq++);
    MPI(Comm_idup)(world, &comm, &request);
    expect("MPI_Wait 1=1 2=1");
    expect("mpi_done comm=world key=idup");
    MPI(Wait)(&request, MPI_STATUS_IGNORE);
    use(&comm, "idup", 0);
#if HAS_MPI4
    expect("MPI_Comm_idup_with_info comm=world 1=%d 2=-1 key=idup-info", seq++);
    MPI(Comm_idup_with_info)(world, MPI_INFO_NULL, &comm, &request);
    expect("MPI_Wait 1=1 2=1");
    expect("mpi_done comm=world key=idup-info");
    MPI(Wait)(&request, MPI_STATUS_IGNORE);
    use(&comm, "idup-info", 0);
#endif
}

static void parts(void)
{
    static const char *const halves[] = {"even", "odd"};
    const int remain = 1;
    const int size = RANKS;
    const int periodic = 0;
    MPI_Comm comm;
    MPI_Comm grid;
    expect("MPI_Comm_split comm=world 1=%d 2=-1", seq++);
    MPI(Comm_split)(world, rank % 2, -rank, &comm);
    use(&comm, halves[rank % 2], 0);
    expect("MPI_Comm_split comm=world 1=%d 2=-1", seq++);
    MPI(Comm_split)(world, rank == 0 ? MPI_UNDEFINED : 7, 0, &comm);
    if (rank != 0) {
        use(&comm, "all-but-0", 0);
    }
    must(comm == MPI_COMM_NULL, "rank 0 has no part");
    expect("MPI_Comm_split_type comm=world 1=%d 2=-1", seq++);
    MPI(Comm_split_type)(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
    use(&comm, "shared", 0);
    expect("MPI_Cart_create comm=world 1=%d 2=-1", seq++);
    MPI(Cart_create)(world, 1, &size, &periodic, 0, &grid);
    expect("MPI_Cart_sub comm=grid 1=0 2=-1");
    MPI(Cart_sub)(grid, &remain, &comm);
    use(&comm, "sub-grid", 0);
    expect("MPI_Comm_free comm=grid 1=1");
    MPI(Comm_free)(&grid);
}

/* The same members again and again: each time another communicator. */
static void of_groups(void)
{
    static const int pair[] = {1, 3};
    char name[32];
    MPI_Group all;
    MPI_Group two;
    MPI_Comm comm;
    MPI_Comm_group(world, &all);
    MPI_Group_incl(all, 2, pair, &two);
    for (int i = 0; i < 2; i++) {
        expect("MPI_Comm_create comm=world 1=%d 2=-1", seq++);
        MPI(Comm_create)(world, two, &comm);
        if (rank % 2 == 1) {
            snprintf(name, sizeof(name), "created%d", i);
            use(&comm, name, 0);
        }
    }
    for (int i = 0; i < 3 && rank % 2 == 1; i++) {
        snprintf(name, sizeof(name), "of-group%d", i);
        expect("MPI_Comm_create_group comm=%s 1=0 2=-1", name);
        MPI(Comm_create_group)(world, two, i == 2 ? 9 : 8, &comm);
        use(&comm, name, 1);
    }
#if HAS_MPI4
    expect("MPI_Comm_create_from_group comm=from-group 1=0 2=-1");
    MPI(Comm_create_from_group)(all, "whyio", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    use(&comm, "from-group", 1);
#endif
    MPI_Group_free(&all);
    MPI_Group_free(&two);
}

/* Ranks 1, 3 and 0, 2 as two groups that talk to each other. The side with the lowest rank of the
 * world comes first: 0 and 2 are members 0 and 1, 1 and 3 are members 2 and 3. */
static void between_groups(void)
{
    int base = rank % 2 == 0 ? 0 : 2;
    int other_base = 2 - base;
    int own = rank / 2;
    int found = -1;
    MPI_Comm half;
    MPI_Comm bridge;
    MPI_Comm copy;
    MPI_Comm merged;
    expect("MPI_Comm_split comm=world 1=%d 2=-1", seq++);
    MPI(Comm_split)(world, rank % 2, rank, &half);
    expect("MPI_Intercomm_create comm=bridge 1=0 2=-1");
    MPI(Intercomm_create)(half, 0, world, 1 - rank % 2, 77, &bridge);
    expect("MPI_Sendrecv comm=bridge 1=2 2=2");
    expect("mpi_send comm=bridge 1=%d 2=1", other_base + own);
    expect("mpi_recv comm=bridge 1=%d 2=1", other_base + own);
    BIG(Sendrecv)
    (&rank, 1, MPI_INT, own, 1, &found, 1, MPI_INT, MPI_ANY_SOURCE, 1, bridge, MPI_STATUS_IGNORE);
    must(found == (rank ^ 1), "a message to the other group");
    /* from rank 2 of the world, member 1, to the other group */
    int root = rank == 2 ? MPI_ROOT : rank == 0 ? MPI_PROC_NULL : 1;
    expect("MPI_Bcast comm=bridge 1=1 2=%d", rank == 0 ? -2 : 1);
    BIG(Bcast)(&found, 1, MPI_INT, root, bridge);
    expect("MPI_Barrier comm=bridge 1=2 2=-1");
    MPI(Barrier)(bridge);
    expect("MPI_Comm_dup comm=bridge 1=3 2=-1");
    MPI(Comm_dup)(bridge, &copy);
    expect("MPI_Send comm=copy 1=%d 2=5", other_base + own);
    expect("MPI_Recv comm=copy 1=%d 2=5", other_base + own);
    BIG(Send)(&rank, 1, MPI_INT, own, 5, copy);
    BIG(Recv)(&found, 1, MPI_INT, own, MPI_ANY_TAG, copy, MPI_STATUS_IGNORE);
    expect("MPI_Intercomm_merge comm=bridge 1=4 2=-1");
    MPI(Intercomm_merge)(bridge, rank % 2, &merged);
    use(&merged, "merged", 0);
    expect("MPI_Comm_disconnect comm=copy 1=0");
    MPI(Comm_disconnect)(&copy);
    expect("MPI_Comm_free comm=bridge 1=5");
    MPI(Comm_free)(&bridge);
    expect("MPI_Comm_free comm=half%d 1=0", rank % 2);
    MPI(Comm_free)(&half);
}

static void of_self(void)
{
    int found = 0;
    char name[32];
    snprintf(name, sizeof(name), "self%d", rank);
    expect("MPI_Sendrecv comm=%s 1=2 2=2", name);
    expect("mpi_send comm=%s 1=0 2=2", name);
    expect("mpi_recv comm=%s 1=0 2=2", name);
    BIG(Sendrecv)
    (&rank, 1, MPI_INT, 0, 2, &found, 1, MPI_INT, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    expect("MPI_Barrier comm=%s 1=0", name);
    MPI(Barrier)(MPI_COMM_SELF);
}

void communicators(void)
{
    seq = 1;
    duplicates();
    parts();
    of_groups();
    between_groups();
    of_self();
}
