/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that meet: what they do together has no id that both could know, and makes no event. */
#include <stddef.h>

#include "mpi_case.h"

/* A message there and back; not where one job meets itself in MPICH 4.0, which mixes them up. */
static void talk(MPI_Comm other, int starts)
{
#if HAS_MPI4
    (void)starts;
    MPI(Comm_disconnect)(&other);
    return;
#endif
    int value = starts ? 17 : 0;
    if (starts) {
        BIG(Send)(&value, 1, MPI_INT, 0, 1, other);
        BIG(Recv)(&value, 1, MPI_INT, 0, 2, other, MPI_STATUS_IGNORE);
        must(value == 18, "an answer from another job");
    } else {
        BIG(Recv)(&value, 1, MPI_INT, 0, 1, other, MPI_STATUS_IGNORE);
        value++;
        BIG(Send)(&value, 1, MPI_INT, 0, 2, other);
    }
    MPI(Barrier)(other);
    MPI(Comm_disconnect)(&other);
}

void spawned(MPI_Comm parent)
{
    int child = 0;
    MPI_Comm_rank(world, &child);
    if (child == 0) {
        talk(parent, 0);
    } else {
        MPI(Barrier)(parent);
        MPI(Comm_disconnect)(&parent);
    }
}

/* Some libraries cannot, under some launchers: then they say so, and the event too. */
static void after_spawn(const char *op, int number, int error, MPI_Comm children)
{
    expect("%s comm=world 1=%d 2=-1 errno=%d", op, number, error == MPI_SUCCESS ? 0 : 121);
    if (error != MPI_SUCCESS) {
        return;
    }
    if (rank == 0) {
        talk(children, 1);
    } else {
        MPI(Barrier)(children);
        MPI(Comm_disconnect)(&children);
    }
}

static void spawn(void)
{
    char *arguments[] = {"-", "spawned", NULL};
    char **several[] = {arguments};
    char *programs[] = {program};
    const int one = 1;
    MPI_Info info = MPI_INFO_NULL;
    MPI_Comm children = MPI_COMM_NULL;
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    int error = MPI(Comm_spawn)(program, arguments, 1, MPI_INFO_NULL, 0, world, &children,
                                MPI_ERRCODES_IGNORE);
    after_spawn("MPI_Comm_spawn", 1, error, children);
    error = MPI(Comm_spawn_multiple)(1, programs, several, &one, &info, 0, world, &children,
                                     MPI_ERRCODES_IGNORE);
    after_spawn("MPI_Comm_spawn_multiple", 2, error, children);
}

/* Ranks 0 and 1 by themselves, as if they did not know each other. */
static void meet(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm other;
    if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        expect("MPI_Send comm=world 1=1 2=3");
        BIG(Send)(port, MPI_MAX_PORT_NAME, MPI_CHAR, 1, 3, world);
        expect("MPI_Comm_accept comm=self0 1=0 2=-1");
        MPI(Comm_accept)(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
        talk(other, 1);
#if !HAS_MPI4 /* MPICH 4.0 has forgotten it and crashes */
        MPI_Close_port(port);
#endif
    } else if (rank == 1) {
        expect("MPI_Recv comm=world 1=0 2=3");
        BIG(Recv)(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 3, world, MPI_STATUS_IGNORE);
        expect("MPI_Comm_connect comm=self1 1=0 2=-1");
        MPI(Comm_connect)(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
        talk(other, 0);
    }
}

void dynamic(void)
{
    spawn();
    meet();
}
