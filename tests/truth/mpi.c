/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks that act by a plan and say the truth about it: truth-mpi KIND PATTERN ROUNDS SEED.
 * KIND: how messages are sent and received, or with the pattern `all` which collective (`mixed`:
 * one after the other).
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actor.h"
#include "plan.h"

static struct plan plan;
static const char *kind;
static int rank, size;
static MPI_Comm half; /* the even ranks, the odd ones */
static struct note notes[MAX_STEPS];
static MPI_Request requests[MAX_STEPS];
static int pending;

/* How many steps the actor of this one has before it: the mark in front of it. */
static int mark_before(const struct step *step)
{
    int count = 0;
    for (const struct step *other = plan.steps; other < step; other++) {
        count += other->actor == step->actor;
    }
    return count;
}

/* The step that receives what this one sends. */
static const struct step *receiver(const struct step *step)
{
    int number = 0;
    for (const struct step *other = plan.steps; other < step; other++) {
        number +=
            other->kind == STEP_SEND && other->actor == step->actor && other->peer == step->peer;
    }
    for (const struct step *other = plan.steps; other < plan.steps + plan.count; other++) {
        if (other->kind == STEP_RECV && other->actor == step->peer && other->peer == step->actor &&
            number-- == 0) {
            return other;
        }
    }
    abort();
}

static void send(struct actor *actor, const struct step *step)
{
    struct note *note = &notes[step - plan.steps];
    *note = actor_note(actor);
    if (strcmp(kind, "isend") == 0) {
        MPI_Isend(note, sizeof(*note), MPI_BYTE, step->peer, 0, MPI_COMM_WORLD,
                  &requests[pending++]);
    } else if (strcmp(kind, "persistent") == 0) {
        MPI_Request request;
        MPI_Send_init(note, sizeof(*note), MPI_BYTE, step->peer, 0, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
    } else if (strcmp(kind, "ssend") == 0) {
        const struct step *other = receiver(step);
        MPI_Ssend(note, sizeof(*note), MPI_BYTE, step->peer, 0, MPI_COMM_WORLD);
        actor_heard(actor, kind, (struct note){.actor = other->actor, .mark = mark_before(other)});
    } else {
        MPI_Send(note, sizeof(*note), MPI_BYTE, step->peer, 0, MPI_COMM_WORLD);
    }
}

static void receive(struct actor *actor, const struct step *step)
{
    struct note note;
    MPI_Request request;
    int source = strcmp(kind, "any") == 0 ? MPI_ANY_SOURCE : step->peer;
    if (strcmp(kind, "isend") == 0) {
        MPI_Irecv(&note, sizeof(note), MPI_BYTE, source, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (strcmp(kind, "persistent") == 0) {
        MPI_Recv_init(&note, sizeof(note), MPI_BYTE, source, 0, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
    } else {
        MPI_Recv(&note, sizeof(note), MPI_BYTE, source, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    actor_heard(actor, kind, note);
}

static void barrier(struct actor *actor, const struct step *step)
{
    MPI_Barrier(MPI_COMM_WORLD);
    actor_met(actor, "barrier", step->round, true, true);
}

static void bcast(struct actor *actor, const struct step *step)
{
    int value = 0;
    MPI_Bcast(&value, 1, MPI_INT, step->peer, MPI_COMM_WORLD);
    actor_met(actor, "bcast", step->round, rank == step->peer, true);
}

static void gather(struct actor *actor, const struct step *step)
{
    int all[MAX_ACTORS];
    MPI_Gather(&rank, 1, MPI_INT, all, 1, MPI_INT, step->peer, MPI_COMM_WORLD);
    actor_met(actor, "gather", step->round, true, rank == step->peer);
}

static void scatter(struct actor *actor, const struct step *step)
{
    int all[MAX_ACTORS] = {0};
    int value;
    MPI_Scatter(all, 1, MPI_INT, &value, 1, MPI_INT, step->peer, MPI_COMM_WORLD);
    actor_met(actor, "scatter", step->round, rank == step->peer, true);
}

static void reduce(struct actor *actor, const struct step *step)
{
    int sum;
    MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, step->peer, MPI_COMM_WORLD);
    actor_met(actor, "reduce", step->round, true, rank == step->peer);
}

static void allreduce(struct actor *actor, const struct step *step)
{
    int sum;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    actor_met(actor, "allreduce", step->round, true, true);
}

static void alltoall(struct actor *actor, const struct step *step)
{
    int sent[MAX_ACTORS] = {0};
    int received[MAX_ACTORS];
    MPI_Alltoall(sent, 1, MPI_INT, received, 1, MPI_INT, MPI_COMM_WORLD);
    actor_met(actor, "alltoall", step->round, true, true);
}

/* Each waits for those of lower rank; all have made as many marks. */
static void scan(struct actor *actor, const struct step *step)
{
    int sum;
    (void)step;
    MPI_Scan(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int other = 0; other < rank; other++) {
        actor_heard(actor, "scan", (struct note){.actor = other, .mark = actor->marks - 1});
    }
}

static void ibarrier(struct actor *actor, const struct step *step)
{
    MPI_Request request;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    actor_met(actor, "ibarrier", step->round, true, true);
}

static void meet_half(struct actor *actor, const struct step *step)
{
    MPI_Barrier(half);
    actor_met(actor, "half", 2 * step->round + rank % 2, true, true);
}

static void sendrecv(struct actor *actor, const struct step *step)
{
    struct note mine = actor_note(actor);
    struct note note;
    (void)step;
    MPI_Sendrecv(&mine, sizeof(mine), MPI_BYTE, (rank + 1) % size, 1, &note, sizeof(note), MPI_BYTE,
                 (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    actor_heard(actor, "sendrecv", note);
}

/* From both neighbours, in the order of arrival. */
static void waitany(struct actor *actor, const struct step *step)
{
    struct note mine = actor_note(actor);
    struct note from[2];
    MPI_Request both[2];
    MPI_Irecv(&from[0], sizeof(from[0]), MPI_BYTE, (rank + 1) % size, 2, MPI_COMM_WORLD, &both[0]);
    MPI_Irecv(&from[1], sizeof(from[1]), MPI_BYTE, (rank + size - 1) % size, 3, MPI_COMM_WORLD,
              &both[1]);
    MPI_Send(&mine, sizeof(mine), MPI_BYTE, (rank + size - 1) % size, 2, MPI_COMM_WORLD);
    MPI_Send(&mine, sizeof(mine), MPI_BYTE, (rank + 1) % size, 3, MPI_COMM_WORLD);
    (void)step;
    for (int i = 0; i < 2; i++) {
        int index;
        MPI_Waitany(2, both, &index, MPI_STATUS_IGNORE);
        actor_heard(actor, "waitany", from[index]);
    }
}

static const struct {
    const char *name;
    void (*run)(struct actor *actor, const struct step *step);
} collectives[] = {
    {"barrier", barrier},   {"bcast", bcast},         {"gather", gather},     {"scatter", scatter},
    {"reduce", reduce},     {"allreduce", allreduce}, {"alltoall", alltoall}, {"scan", scan},
    {"ibarrier", ibarrier}, {"half", meet_half},      {"sendrecv", sendrecv}, {"waitany", waitany},
};
enum { COLLECTIVES = sizeof(collectives) / sizeof(collectives[0]) };

static void meet(struct actor *actor, const struct step *step)
{
    for (int i = 0; i < COLLECTIVES; i++) {
        bool is_turn = strcmp(kind, "mixed") == 0 && step->round % COLLECTIVES == i;
        if (is_turn || strcmp(collectives[i].name, kind) == 0) {
            collectives[i].run(actor, step);
            return;
        }
    }
    check(false, "unknown collective");
}

static void act(struct actor *actor, const struct step *step)
{
    actor_mark(actor);
    if (step->kind == STEP_SEND) {
        send(actor, step);
    } else if (step->kind == STEP_RECV) {
        receive(actor, step);
    } else {
        meet(actor, step);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 5 || plan_make(&plan, argv[2], size, atoi(argv[3]), (unsigned)atoi(argv[4])) != 0) {
        (void)fputs("usage: truth-mpi KIND PATTERN ROUNDS SEED\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    kind = argv[1];
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    struct actor actor = {.number = rank};
    for (int i = 0; i < plan.count; i++) {
        if (plan.steps[i].actor == rank) {
            act(&actor, &plan.steps[i]);
        }
    }
    MPI_Waitall(pending, requests, MPI_STATUSES_IGNORE);
    actor_mark(&actor);
    actor_end(&actor);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
