/* SPDX-License-Identifier: Apache-2.0 */
/* The families of waits and tests (R-MPI-3, R-MPI-4), and requests that end otherwise. */
#include <string.h>

#include "mpi_case.h"

#define MANY 70 /* more than capture keeps on the stack */

static int values[MANY];
static MPI_Request requests[MANY];
static MPI_Status statuses[MANY];
static int indices[MANY];

/* Rank 0 sends `count` messages to rank 1, tags 0 .. */
static void send_all(int count)
{
    for (int i = 0; i < count; i++) {
        expect("MPI_Send comm=world 1=1 2=%d size=4", i);
        BIG(Send)(&i, 1, MPI_INT, 1, i, world);
    }
}

static void receive_all(int count, const char *keys)
{
    memset(values, 0, sizeof(values));
    for (int i = 0; i < count; i++) {
        expect("MPI_Irecv comm=world 1=%d 2=%d key=%s%d size=4", i % 2 == 0 ? 0 : -1, i, keys, i);
        BIG(Irecv)(&values[i], 1, MPI_INT, i % 2 == 0 ? 0 : MPI_ANY_SOURCE, i, world, &requests[i]);
    }
}

static void synchronize(void)
{
    expect("MPI_Barrier comm=world");
    MPI(Barrier)(world);
}

static void expect_done(const char *keys, int i)
{
    expect("mpi_done comm=world 1=0 2=%d key=%s%d result=4", i, keys, i);
    must(i == 0 || values[i] == i, "what a completed receive brought");
}

/* All messages have come long before: which one is first does not matter, but each comes once. */
static void one_by_one(bool tests, bool ignores)
{
    const int count = 3;
    for (int left = count; left > 0; left--) {
        int index = -1;
        int flag = !tests;
        MPI_Status status;
        while (tests && !flag) {
            MPI(Testany)(count, requests, &index, &flag, ignores ? MPI_STATUS_IGNORE : &status);
        }
        if (!tests) {
            MPI(Waitany)(count, requests, &index, ignores ? MPI_STATUS_IGNORE : &status);
        }
        must(index >= 0 && index < count, "index");
        must(ignores || status.MPI_TAG == index, "status of one");
        expect("%s 1=%d 2=1", tests ? "MPI_Testany" : "MPI_Waitany", count);
        expect_done(tests ? "ta" : "wa", index);
    }
    int index = 0;
    int flag = 0;
    expect("%s 1=%d 2=0", tests ? "MPI_Testany" : "MPI_Waitany", count);
    if (tests) {
        MPI(Testany)(count, requests, &index, &flag, MPI_STATUS_IGNORE);
    } else {
        MPI(Waitany)(count, requests, &index, MPI_STATUS_IGNORE);
    }
    must(index == MPI_UNDEFINED, "index where no request is left");
}

static void some(bool tests, int count, const char *keys)
{
    int left = count;
    while (left > 0) {
        int done = 0;
        if (tests) {
            MPI(Testsome)(count, requests, &done, indices, statuses);
        } else {
            MPI(Waitsome)(count, requests, &done, indices, MPI_STATUSES_IGNORE);
        }
        if (done == 0) {
            continue;
        }
        expect("%s 1=%d 2=%d", tests ? "MPI_Testsome" : "MPI_Waitsome", count, done);
        for (int i = 0; i < done; i++) {
            expect_done(keys, indices[i]);
            must(!tests || statuses[i].MPI_TAG == indices[i], "status of some");
        }
        left -= done;
    }
}

static void receive(void)
{
    int flag = 0;
    receive_all(3, "wa");
    synchronize();
    one_by_one(false, true);
    receive_all(3, "ta");
    synchronize();
    one_by_one(true, false);
    receive_all(MANY, "ws");
    synchronize();
    some(false, MANY, "ws");
    receive_all(5, "ts");
    synchronize();
    some(true, 5, "ts");
    receive_all(MANY, "wl");
    synchronize();
    expect("MPI_Waitall 1=%d 2=%d", MANY, MANY);
    MPI(Waitall)(MANY, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MANY; i++) {
        expect_done("wl", i);
    }
    receive_all(4, "tl");
    synchronize();
    while (!flag) {
        MPI(Testall)(4, requests, &flag, statuses);
    }
    expect("MPI_Testall 1=4 2=4");
    for (int i = 0; i < 4; i++) {
        expect_done("tl", i);
        must(statuses[i].MPI_SOURCE == 0, "status of all");
    }
}

/* One that is looked at twice: its end is told once. */
static void looked_at(void)
{
    int flag = 0;
    MPI_Status status;
    receive_all(2, "gs");
    synchronize();
    while (!flag) {
        MPI(Request_get_status)(requests[0], &flag, MPI_STATUS_IGNORE);
    }
    expect("MPI_Request_get_status 1=1 2=1");
    expect_done("gs", 0);
    for (flag = 0; !flag;) {
        MPI(Test)(&requests[0], &flag, &status);
    }
    must(requests[0] == MPI_REQUEST_NULL && status.MPI_SOURCE == 0, "status of MPI_Test");
    expect("MPI_Test 1=1 2=1");
    for (flag = 0; !flag;) {
        MPI(Test)(&requests[1], &flag, MPI_STATUS_IGNORE);
    }
    expect("MPI_Test 1=1 2=1");
    expect_done("gs", 1);
}

static void cancelled(void)
{
    int cancelled = 0;
    MPI_Status status;
    MPI_Request request;
    expect("MPI_Irecv comm=world 1=-1 2=99 key=never size=4");
    BIG(Irecv)(values, 1, MPI_INT, MPI_ANY_SOURCE, 99, world, &request);
    expect("MPI_Cancel 1=1 2=0");
    MPI(Cancel)(&request);
    expect("MPI_Wait 1=1 2=1");
    MPI(Wait)(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    must(cancelled, "MPI_Cancel");
    expect("MPI_Irecv comm=world 1=-1 2=98 key=never-either size=4");
    BIG(Irecv)(values, 1, MPI_INT, MPI_ANY_SOURCE, 98, world, &request);
    expect("MPI_Cancel 1=1 2=0");
    MPI(Cancel)(&request);
    expect("MPI_Request_free 1=1 2=0");
    MPI(Request_free)(&request);
}

static void empty(void)
{
    int flag = 0;
    MPI_Request none = MPI_REQUEST_NULL;
    expect("MPI_Wait 1=1 2=1");
    MPI(Wait)(&none, MPI_STATUS_IGNORE);
    expect("MPI_Test 1=1 2=1");
    MPI(Test)(&none, &flag, MPI_STATUS_IGNORE);
    expect("MPI_Waitall 1=0 2=0");
    MPI(Waitall)(0, NULL, MPI_STATUSES_IGNORE);
}

/* Looks that find nothing are told by the one that does. */
static void looks(void)
{
    MPI_Request request;
    int flag = 0;
    expect("MPI_Irecv comm=world 1=0 2=50 key=late size=4");
    BIG(Irecv)(values, 1, MPI_INT, 0, 50, world, &request);
    for (int i = 0; i < 5; i++) {
        MPI(Test)(&request, &flag, MPI_STATUS_IGNORE);
        must(!flag, "nothing was sent yet");
    }
    expect("MPI_Send comm=world 1=0 2=51 size=4");
    BIG(Send)(values, 1, MPI_INT, 0, 51, world);
    int in_vain = -1;
    while (!flag) {
        MPI(Test)(&request, &flag, MPI_STATUS_IGNORE);
        in_vain++;
    }
    expect("MPI_Test 1=1 2=1 3=%d", in_vain);
    expect("mpi_done comm=world 1=0 2=50 key=late result=4");
}

void completion(void)
{
    static const int counts[] = {3, 3, MANY, 5, MANY, 4, 2};
    if (rank == 1) {
        receive();
        looked_at();
        cancelled();
        looks();
    } else {
        for (unsigned i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
            if (rank == 0) {
                send_all(counts[i]);
            }
            synchronize();
        }
    }
    if (rank == 0) {
        int value = 0;
        expect("MPI_Recv comm=world 1=1 2=51 result=4");
        BIG(Recv)(&value, 1, MPI_INT, 1, 51, world, MPI_STATUS_IGNORE);
        expect("MPI_Send comm=world 1=1 2=50 size=4");
        BIG(Send)(&value, 1, MPI_INT, 1, 50, world);
    }
    empty();
}
