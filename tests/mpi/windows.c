/* SPDX-License-Identifier: Apache-2.0 */
/* Windows: fences, epochs of groups, locks. R-MPI-7 */
#include "mpi_case.h"

static int memory[RANKS];

static void fences(MPI_Win win, const char *name)
{
    int next = (rank + 1) % RANKS;
    expect("MPI_Win_fence comm=%s 1=0 2=-1", name);
    MPI(Win_fence)(0, win);
    MPI_Put(&rank, 1, MPI_INT, next, 0, 1, MPI_INT, win);
    expect("MPI_Win_fence comm=%s 1=1 2=-1", name);
    MPI(Win_fence)(0, win);
}

/* Ranks 0 and 1 put into 2 and 3. */
static void groups(MPI_Win win, bool tests)
{
    static const int origins[] = {0, 1};
    static const int targets[] = {3, 2}; /* of a group in another order */
    MPI_Group all;
    MPI_Group peers;
    MPI_Win_get_group(win, &all);
    MPI_Group_incl(all, 2, rank < 2 ? targets : origins, &peers);
    if (rank < 2) {
        expect("MPI_Win_start comm=win 1=0 2=0");
        MPI(Win_start)(peers, 0, win);
        MPI_Group_free(&peers);
        MPI_Put(&rank, 1, MPI_INT, 2, rank, 1, MPI_INT, win);
        MPI_Put(&rank, 1, MPI_INT, 3, rank, 1, MPI_INT, win);
        expect("MPI_Win_complete comm=win 1=0 2=0");
        expect("mpi_recv comm=win 1=3 2=-10 3=0");
        expect("mpi_recv comm=win 1=2 2=-10 3=0");
        expect("mpi_send comm=win 1=3 2=-11 3=0");
        expect("mpi_send comm=win 1=2 2=-11 3=0");
        MPI(Win_complete)(win);
    } else {
        int flag = 0;
        memory[0] = memory[1] = -1;
        expect("MPI_Win_post comm=win 1=0 2=0");
        expect("mpi_send comm=win 1=0 2=-10 3=0");
        expect("mpi_send comm=win 1=1 2=-10 3=0");
        MPI(Win_post)(peers, 0, win);
        MPI_Group_free(&peers);
        while (tests && !flag) {
            MPI(Win_test)(win, &flag);
        }
        if (!tests) {
            MPI(Win_wait)(win);
        }
        expect("%s comm=win 1=0 2=1", tests ? "MPI_Win_test" : "MPI_Win_wait");
        expect("mpi_recv comm=win 1=0 2=-11 3=0");
        expect("mpi_recv comm=win 1=1 2=-11 3=0");
        must(memory[0] == 0 && memory[1] == 1, "what was put");
    }
    MPI_Group_free(&all);
}

static void locks(MPI_Win win)
{
    expect("MPI_Win_lock comm=lock0 1=0");
    MPI(Win_lock)(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Put(&rank, 1, MPI_INT, 0, 2, 1, MPI_INT, win);
    expect("MPI_Win_unlock comm=lock0");
    MPI(Win_unlock)(0, win);
    expect("MPI_Win_lock comm=lock1 1=1");
    MPI(Win_lock)(MPI_LOCK_SHARED, 1, 0, win);
    expect("MPI_Win_unlock comm=lock1");
    MPI(Win_unlock)(1, win);
    expect("MPI_Win_lock_all comm=locks 1=1");
    MPI(Win_lock_all)(0, win);
    MPI_Win_flush_all(win);
    expect("MPI_Win_unlock_all comm=locks 1=1");
    MPI(Win_unlock_all)(win);
}

void windows(void)
{
    void *base;
    MPI_Win win;
    expect("MPI_Win_create comm=world 1=1 2=-1");
    BIG(Win_create)(memory, sizeof(memory), sizeof(int), MPI_INFO_NULL, world, &win);
    groups(win, false);
    groups(win, true);
    locks(win);
    expect("MPI_Win_free comm=win 1=0");
    MPI(Win_free)(&win);
    must(win == MPI_WIN_NULL, "a freed window stays");
    expect("MPI_Win_allocate comm=world 1=2 2=-1");
    BIG(Win_allocate)(sizeof(memory), sizeof(int), MPI_INFO_NULL, world, &base, &win);
    fences(win, "allocated");
    expect("MPI_Win_free comm=allocated 1=2");
    MPI(Win_free)(&win);
    expect("MPI_Win_allocate_shared comm=world 1=3 2=-1");
    BIG(Win_allocate_shared)(sizeof(memory), sizeof(int), MPI_INFO_NULL, world, &base, &win);
    fences(win, "shared");
    expect("MPI_Win_free comm=shared 1=2");
    MPI(Win_free)(&win);
    expect("MPI_Win_create_dynamic comm=world 1=4 2=-1");
    MPI(Win_create_dynamic)(MPI_INFO_NULL, world, &win);
    expect("MPI_Win_free comm=dynamic 1=0");
    MPI(Win_free)(&win);
}
