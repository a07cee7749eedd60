/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `stdio_signals DIR CALLS`: a loop of equal stdio calls that a timer interrupts all the time, with
 * a handler that writes to a file of its own; then the same in a child. Prints the number of the
 * handler's writes in parent and child.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static int file;
static volatile sig_atomic_t written;

static void on_timer(int number)
{
    (void)number;
    written += write(file, "!", 1) == 1;
}

static void set_timer(long microseconds)
{
    struct itimerval timer = {{0, microseconds}, {0, microseconds}};
    (void)setitimer(ITIMER_REAL, &timer, NULL);
}

static void loop(const char *directory, const char *name, long calls)
{
    char path[4096];
    (void)snprintf(path, sizeof(path), "%s/%s", directory, name);
    FILE *stream = fopen(path, "w");
    for (long i = 0; i < calls; i++) {
        (void)fputc('x', stream);
    }
    (void)fclose(stream);
}

int main(int argc, char **argv)
{
    char path[4096];
    int status;
    if (argc != 3) {
        return 2;
    }
    long calls = atol(argv[2]);
    (void)snprintf(path, sizeof(path), "%s/handler", argv[1]);
    file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = on_timer;
    action.sa_flags = SA_RESTART;
    (void)sigaction(SIGALRM, &action, NULL);
    set_timer(50);
    loop(argv[1], "parent", calls);
    set_timer(0);
    printf("parent %d\n", (int)written);
    (void)fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        written = 0;
        set_timer(50);
        loop(argv[1], "child", calls);
        set_timer(0);
        printf("child %d\n", (int)written);
        exit(0);
    }
    (void)waitpid(child, &status, 0);
    return status;
}
