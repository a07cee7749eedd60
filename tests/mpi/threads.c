/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MPI_THREAD_MULTIPLE: threads that send, wait and make communicators at the same time, each on a
 * communicator of its own. Which thread comes first differs: no sequence is expected, but all must
 * fit together.
 */
#include <pthread.h>

#include "mpi_case.h"

#define THREADS 3
#define ROUNDS 100

struct worker {
    pthread_t thread;
    MPI_Comm comm;
};

static void exchange(MPI_Comm comm, int round)
{
    int next = (rank + 1) % RANKS;
    int before = (rank + RANKS - 1) % RANKS;
    int out[2] = {round, rank};
    int in[2] = {-1, -1};
    MPI_Request requests[4];
    for (int i = 0; i < 2; i++) {
        BIG(Irecv)(&in[i], 1, MPI_INT, before, i, comm, &requests[i]);
        BIG(Isend)(&out[i], 1, MPI_INT, next, i, comm, &requests[2 + i]);
    }
    if (round % 2 == 0) {
        MPI(Waitall)(4, requests, MPI_STATUSES_IGNORE);
    } else {
        for (int i = 0; i < 4; i++) {
            MPI(Wait)(&requests[i], MPI_STATUS_IGNORE);
        }
    }
    must(in[0] == round && in[1] == before, "what another thread's twin has sent");
}

static void *work(void *argument)
{
    const struct worker *self = argument;
    for (int round = 0; round < ROUNDS; round++) {
        exchange(self->comm, round);
        if (round % 25 == 0) {
            MPI_Comm other;
            MPI(Comm_dup)(self->comm, &other);
            exchange(other, round);
            MPI(Barrier)(other);
            MPI(Comm_free)(&other);
        }
    }
    return NULL;
}

void many_threads(void)
{
    static struct worker workers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        MPI(Comm_dup)(world, &workers[i].comm);
    }
    for (int i = 0; i < THREADS; i++) {
        must(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0, "pthread_create");
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        MPI(Comm_free)(&workers[i].comm);
    }
    expect("in-any-order");
}
