/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One process id for one job after the other, as fast as processes can be made: no look may answer
 * with the job of an earlier process. In a pid namespace of its own, whose last id the test sets.
 *
 * usage: recycle_test COUNT      skips (77) where it may not have such a namespace
 *
 * The same with Lustre's rules has to find wrong answers: else this would prove nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/probe.h"

#define VARIABLE "WHYIO_TEST_JOB"
#define NAME_BYTES 16 /* "job.0000000000" and what ends it */
#define ID 1000
#define LAST "999"               /* the id before it */
#define UNNAMED "job.----------" /* a dash: the process has not written all of its name */
#define WRONG_SHOWN 2
#define LUSTRE_COUNT 200
#define LOOKERS 2

/* Without LeakSanitizer, which cannot look at the first process of a pid namespace: probe_test
 * does. */
static _Noreturn void leave(int status)
{
    (void)fflush(NULL);
    (void)syscall(SYS_exit_group, status);
    abort();
}

static _Noreturn void end(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static _Noreturn void end(int status, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    (void)vfprintf(stderr, fmt, args);
    va_end(args);
    (void)fprintf(stderr, "\n");
    leave(status);
}

static void require(bool is_so, const char *what)
{
    if (!is_so) {
        end(1, "failed: %s: %s", what, strerror(errno));
    }
}

static bool put(const char *path, const char *text)
{
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    const bool is_put = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0) {
        (void)close(fd);
    }
    return is_put;
}

struct run {
    struct wio_probe *probe;
    char expected[NAME_BYTES];
    unsigned long looks;
    unsigned long known;
    unsigned long early; /* another thread had asked before the process had written its name */
    unsigned long wrong;
    unsigned long other_ids;
};

static void look(struct run *run)
{
    static _Thread_local struct wio_probe_last last;
    const struct wio_job_hit hit = wio_probe_job_again(run->probe, &last, ID);
    run->looks++;
    if (hit.answer != WIO_JOB_UNKNOWN && hit.job != WIO_JOB_NONE) {
        const char *name = wio_probe_text(run->probe, hit.job, NULL);
        const bool is_early = strchr(name, '-') != NULL;
        const bool is_wrong = !is_early && strcmp(name, run->expected) != 0;
        run->known++;
        run->early += is_early;
        run->wrong += is_wrong;
        if (is_wrong && run->wrong <= WRONG_SHOWN) {
            printf("%s answered for %s\n", name, run->expected);
        }
    }
}

/* The child writes its job where its environment lies, says so, and lives until it may end. */
static _Noreturn void live(const char *name, const int *up, const int *down)
{
    char byte = 0;
    memcpy(getenv(VARIABLE), name, NAME_BYTES - 1);
    (void)close(up[0]);
    (void)close(down[1]);
    (void)!write(up[1], &byte, 1);
    (void)!read(down[0], &byte, 1);
    _exit(0);
}

static pid_t start(const char *name, int *from, int *to)
{
    int up[2];
    int down[2];
    char byte;
    require(put("/proc/sys/kernel/ns_last_pid", LAST), "set the last id");
    require(pipe2(up, O_CLOEXEC) == 0 && pipe2(down, O_CLOEXEC) == 0, "pipe");
    const pid_t pid = fork();
    require(pid >= 0, "fork");
    if (pid == 0) {
        live(name, up, down);
    }
    (void)close(up[1]);
    (void)close(down[0]);
    require(read(up[0], &byte, 1) == 1, "the child says so");
    *from = up[0];
    *to = down[1];
    return pid;
}

/* One process: a look at once, most often one when it is resolved, and some that race with that. */
static void one_life(struct run *run, unsigned long i)
{
    int from;
    int to;
    (void)snprintf(run->expected, sizeof(run->expected), "job.%010lu", i);
    const pid_t pid = start(run->expected, &from, &to);
    if (pid == ID) {
        look(run);
        if (i % 4 != 0) {
            wio_probe_settle(run->probe);
        }
        look(run);
        look(run);
    } else {
        run->other_ids++;
    }
    (void)close(to);
    (void)close(from);
    require(waitpid(pid, NULL, 0) == pid, "reap");
}

/* Other threads that drain and look all the time, so that ends are taken by them, too. */
struct looker {
    pthread_t thread;
    struct wio_probe *probe;
    atomic_bool *has_ended;
};

static void *look_on(void *argument)
{
    const struct looker *looker = argument;
    while (!atomic_load(looker->has_ended)) {
        wio_probe_drain(looker->probe);
        (void)wio_probe_job(looker->probe, ID, wio_probe_now_ms());
        (void)usleep(50);
    }
    return NULL;
}

static void run_lives(struct run *run, unsigned long count, unsigned lookers)
{
    struct looker others[LOOKERS];
    atomic_bool has_ended = false;
    for (unsigned i = 0; i < lookers; i++) {
        others[i] = (struct looker){.probe = run->probe, .has_ended = &has_ended};
        require(pthread_create(&others[i].thread, NULL, look_on, &others[i]) == 0, "a thread");
    }
    for (unsigned long i = 1; i <= count; i++) {
        one_life(run, i);
    }
    atomic_store(&has_ended, true);
    for (unsigned i = 0; i < lookers; i++) {
        (void)pthread_join(others[i].thread, NULL);
    }
}

static struct run run_with(struct wio_job_policy policy, bool is_old_kernel, unsigned long count,
                           unsigned lookers)
{
    struct wio_probe_params params = {.policy = policy, .is_old_kernel = is_old_kernel};
    struct wio_error err = WIO_ERROR_INIT;
    struct run run = {.looks = 0};
    require(wio_job_settings_mode(&params.settings, VARIABLE, &err) == WIO_OK, "mode");
    require(wio_probe_create(&params, &run.probe, &err) == WIO_OK, err.message);
    run_lives(&run, count, lookers);
    wio_probe_destroy(run.probe);
    return run;
}

static void show(const char *what, const struct run *run, unsigned long count)
{
    printf("%s: %lu processes, %lu looks, %lu answered, %lu of them early, %lu wrong\n", what,
           count, run->looks, run->known, run->early, run->wrong);
    (void)fflush(stdout);
}

static int run_all(unsigned long count)
{
    const struct run exits = run_with(wio_job_policy_exit(), false, count, 0);
    show("exit", &exits, count);
    const struct run raced = run_with(wio_job_policy_exit(), false, count / 4, LOOKERS);
    show("exit, other threads take the ends", &raced, count / 4);
    const struct run old = run_with(wio_job_policy_exit(), true, count / 4, 0);
    show("exit, nothing newer than Linux 6.8", &old, count / 4);
    const struct run lustre = run_with(wio_job_policy_lustre(), false, LUSTRE_COUNT, 0);
    show("lustre", &lustre, LUSTRE_COUNT);
    const bool is_right = exits.wrong + raced.wrong + old.wrong == 0;
    const bool proves = lustre.wrong > LUSTRE_COUNT && exits.known >= count &&
                        old.known >= count / 4 && raced.known > 0 && exits.other_ids < count / 10;
    return is_right && proves ? 0 : 1;
}

/* The first process of the namespace. */
static int in_namespace(unsigned long count)
{
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0) {
        end(77, "no /proc of an own pid namespace here: %s", strerror(errno));
    }
    if (!put("/proc/sys/kernel/ns_last_pid", "100")) {
        end(77, "ns_last_pid may not be set here: %s", strerror(errno));
    }
    return run_all(count);
}

int main(int argc, char **argv)
{
    const unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
    int status = 0;
    if (getenv(VARIABLE) == NULL) { /* exec puts it where /proc/PID/environ looks */
        (void)setenv(VARIABLE, UNNAMED, 1);
        (void)execv("/proc/self/exe", argv);
        end(1, "cannot execute itself: %s", strerror(errno));
    }
    if (unshare((geteuid() != 0 ? CLONE_NEWUSER : 0) | CLONE_NEWPID | CLONE_NEWNS) != 0) {
        end(77, "no pid namespace of its own here: %s", strerror(errno));
    }
    const pid_t first = fork();
    if (first == 0) {
        leave(in_namespace(count));
    }
    if (first < 0 || waitpid(first, &status, 0) != first || !WIFEXITED(status)) {
        end(1, "the first process of the namespace did not end by itself");
    }
    leave(WEXITSTATUS(status));
}
