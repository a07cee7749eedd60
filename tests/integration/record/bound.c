/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bound COUNT PROCESSES THREADS END: each thread of each process writes COUNT bytes, byte i at
 * offset i of a file of its own, which was opened before all other work. END: exit, kill (the
 * process kills itself), exec (the program executes itself once more, with END exit).
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static long count;
static int process;

static void *work(void *argument)
{
    char name[64];
    (void)snprintf(name, sizeof(name), "p%d.t%d", process, *(int *)argument);
    int fd = open(name, O_WRONLY | O_CREAT, 0644);
    for (long i = 0; i < count; i++) {
        if (pwrite(fd, "x", 1, i) != 1) {
            abort();
        }
    }
    return NULL; /* the descriptor stays open */
}

static void work_all(int threads)
{
    pthread_t others[64];
    int numbers[64];
    for (int i = 0; i < threads; i++) {
        numbers[i] = i;
    }
    for (int i = 1; i < threads; i++) {
        if (pthread_create(&others[i], NULL, work, &numbers[i]) != 0) {
            abort();
        }
    }
    (void)work(&numbers[0]);
    for (int i = 1; i < threads; i++) {
        (void)pthread_join(others[i], NULL);
    }
}

static void end(char **argv)
{
    if (strcmp(argv[4], "kill") == 0) {
        (void)raise(SIGKILL);
    }
    if (strcmp(argv[4], "exec") == 0) {
        char *again[] = {argv[0], argv[1], (char *)"1", argv[3], (char *)"exit", NULL};
        (void)execv("/proc/self/exe", again);
        abort();
    }
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        return 2;
    }
    count = atol(argv[1]);
    const int processes = atoi(argv[2]);
    const int threads = atoi(argv[3]) < 64 ? atoi(argv[3]) : 64;
    for (process = 1; process < processes; process++) {
        if (fork() == 0) {
            work_all(threads);
            end(argv);
            _exit(0);
        }
    }
    process = 0;
    work_all(threads);
    while (wait(NULL) > 0) {
    }
    end(argv);
    return 0;
}
