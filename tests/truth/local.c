/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes or threads of one machine that act by a plan and say the truth about it:
 *
 *   truth-local processes|threads MEDIUM PATTERN ACTORS ROUNDS SEED
 *
 * The process that makes the others is one more actor, with the highest number.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "actor.h"
#include "medium.h"
#include "plan.h"

static const struct medium *const media[] = {
    &media_pipe,      &media_socketpair, &media_tcp,   &media_eventfd,
    &media_semaphore, &media_condition,  &media_file,  &media_shared,
    &media_barrier,   &media_mutex,      &media_flock, &media_fcntl,
};
static const struct medium *medium;
static struct plan plan;
static int *tickets;
static int last_marks[MAX_ACTORS];

static void in_section(struct actor *actor)
{
    medium->lock();
    actor_entered(actor, medium->name, (*tickets)++);
    actor_mark(actor);
    (void)usleep(500);
    medium->unlock();
}

static void act(struct actor *actor, const struct step *step)
{
    switch (step->kind) {
    case STEP_SEND:
        if (medium->has_naps) {
            (void)usleep(2000);
        }
        medium->send(actor->number, step->peer, actor_note(actor));
        break;
    case STEP_RECV:
        actor_heard(actor, medium->name, medium->recv(step->peer, actor->number));
        break;
    case STEP_ALL:
        actor_met(actor, medium->name, step->round, true, true);
        medium->meet();
        break;
    case STEP_LOCK:
        in_section(actor);
        break;
    case STEP_PUT:
        medium->put(actor_note(actor));
        break;
    case STEP_TAKE:
        actor_heard(actor, "queue", medium->take());
        break;
    }
}

/* The first mark comes after the one of the process that made it. */
static int act_all(int number)
{
    struct actor actor = {.number = number};
    actor_heard(&actor, "begin", (struct note){.actor = plan.actors});
    for (int i = 0; i < plan.count; i++) {
        if (plan.steps[i].actor == number) {
            actor_mark(&actor);
            act(&actor, &plan.steps[i]);
        }
    }
    actor_mark(&actor);
    int last = actor.marks - 1;
    actor_end(&actor);
    return last;
}

static void *run_thread(void *arg)
{
    int number = (int)((int *)arg - last_marks);
    last_marks[number] = act_all(number);
    return NULL;
}

static void run_threads(void)
{
    pthread_t threads[MAX_ACTORS];
    for (int i = 0; i < plan.actors; i++) {
        check(pthread_create(&threads[i], NULL, run_thread, &last_marks[i]) == 0, "pthread_create");
    }
    for (int i = 0; i < plan.actors; i++) {
        check(pthread_join(threads[i], NULL) == 0, "pthread_join");
    }
}

static void run_processes(void)
{
    pid_t pids[MAX_ACTORS];
    int *lasts = shared_memory(sizeof(last_marks));
    for (int i = 0; i < plan.actors; i++) {
        pids[i] = fork();
        check(pids[i] >= 0, "fork");
        if (pids[i] == 0) {
            lasts[i] = act_all(i);
            _exit(0);
        }
    }
    for (int i = 0; i < plan.actors; i++) {
        int status;
        check(waitpid(pids[i], &status, 0) == pids[i] && status == 0, "waitpid");
        last_marks[i] = lasts[i];
    }
}

static bool can(const struct step *step)
{
    switch (step->kind) {
    case STEP_SEND:
    case STEP_RECV:
        return medium->send != NULL;
    case STEP_ALL:
        return medium->meet != NULL;
    case STEP_LOCK:
        return medium->lock != NULL;
    case STEP_PUT:
    case STEP_TAKE:
        return medium->put != NULL;
    }
    return false;
}

static void prepare(void)
{
    static bool is_connected[MAX_ACTORS][MAX_ACTORS];
    tickets = shared_memory(sizeof(*tickets));
    if (medium->prepare != NULL) {
        medium->prepare(plan.actors);
    }
    for (int i = 0; i < plan.count; i++) {
        const struct step *step = &plan.steps[i];
        if (step->kind == STEP_SEND && !is_connected[step->actor][step->peer]) {
            is_connected[step->actor][step->peer] = true;
            medium->connect(step->actor, step->peer);
        }
    }
}

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 7 && i < sizeof(media) / sizeof(media[0]); i++) {
        medium = strcmp(media[i]->name, argv[2]) == 0 ? media[i] : medium;
    }
    if (medium == NULL ||
        plan_make(&plan, argv[3], atoi(argv[4]), atoi(argv[5]), (unsigned)atoi(argv[6])) != 0 ||
        plan.count == 0 || !can(&plan.steps[0])) {
        (void)fputs("usage: truth-local processes|threads MEDIUM PATTERN ACTORS ROUNDS SEED\n",
                    stderr);
        return 2;
    }
    prepare();
    struct actor maker = {.number = plan.actors};
    actor_mark(&maker);
    if (strcmp(argv[1], "threads") == 0) {
        run_threads();
    } else {
        run_processes();
    }
    for (int i = 0; i < plan.actors; i++) {
        actor_heard(&maker, "end", (struct note){.actor = i, .mark = last_marks[i]});
    }
    actor_mark(&maker);
    actor_end(&maker);
    return 0;
}
