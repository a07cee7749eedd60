/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that treats its descriptors, memory and children badly: behave MODE. Each mode prints
 * what the program finds; the test compares that with a run without capture, and looks at the
 * rings.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static char block[512];

static void fail(const char *what)
{
    perror(what);
    _exit(90);
}

static int open_file(const char *name)
{
    int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0) {
        fail(name);
    }
    return fd;
}

static void write_many(int fd, int count)
{
    for (int i = 0; i < count; i++) {
        if (pwrite(fd, block, sizeof(block), (off_t)(i % 64) * 512) != (ssize_t)sizeof(block)) {
            fail("pwrite");
        }
    }
}

static void work(const char *name, int count)
{
    int fd = open_file(name);
    write_many(fd, count);
    close(fd);
}

/* ---- descriptors ---- */

static void close_all(void)
{
    int good = 0;
    for (int fd = 3; fd < 5000; fd++) {
        struct stat st;
        int flags = fcntl(fd, F_GETFD);
        int looked = fstat(fd, &st);
        int copied = dup(fd);
        int closed = close(fd);
        good += flags >= 0 || looked == 0 || copied >= 0 || closed == 0;
    }
    printf("closed %d\n", good);
    work("close_all.dat", 3000);
}

static void close_ranges(void)
{
    int fd = open_file("range.dat");
    printf("close_range %d\n", close_range(3, ~0u, 0));
    printf("then %d\n", (int)write(fd, block, 1));
    closefrom(3);
    printf("next %d\n", open_file("range.dat"));
    work("close_ranges.dat", 3000);
}

static void dup_over(void)
{
    int fd = open_file("dup.dat");
    int good = 0;
    for (int to = 900; to < 1024; to++) {
        good += dup2(fd, to) == to;
        good += pwrite(to, block, 1, to) == 1;
    }
    for (int to = 900; to < 1024; to++) {
        good += close(to) == 0;
    }
    good += dup3(fd, 1000, O_CLOEXEC) == 1000;
    good += fcntl(fd, F_DUPFD, 1000) > 1000;
    printf("good %d size %ld\n", good, (long)lseek(fd, 0, SEEK_END));
    work("dup_over.dat", 3000);
}

/* Behind our back, as a program with inline system calls does it. */
static void raw_close_all(void)
{
    for (int fd = 3; fd < 1200; fd++) {
        long result;
        __asm__ volatile("syscall"
                         : "=a"(result)
                         : "a"(SYS_close), "D"(fd)
                         : "rcx", "r11", "memory");
    }
    for (int i = 3; i < 1010; i++) {
        if (open("/dev/null", O_RDONLY) < 0) {
            break;
        }
    }
    int fd = open_file("raw.dat");
    write_many(fd, 5000);
    printf("size %ld\n", (long)lseek(fd, 0, SEEK_END));
}

static void few_descriptors(void)
{
    struct rlimit limit = {12, 12};
    setrlimit(RLIMIT_NOFILE, &limit);
    int count = 0;
    while (open("/dev/null", O_RDONLY) >= 0) {
        count++;
    }
    printf("opened %d\n", count);
}

static void no_standard(void)
{
    int out = dup(1);
    for (int fd = 0; fd < 3; fd++) {
        close(fd);
    }
    int fd = open_file("std.dat");
    char text[32];
    int size = snprintf(text, sizeof(text), "got %d\n", fd);
    write_many(fd, 2000);
    (void)!write(out, text, (size_t)size);
}

static void file_size_limit(void)
{
    struct rlimit limit = {100 * 1024, 100 * 1024};
    setrlimit(RLIMIT_FSIZE, &limit);
    work("limit.dat", 5000);
    printf("done\n");
}

/* ---- places ---- */

static void directories(void)
{
    mkdir("d1", 0700);
    mkdir("d1/d2", 0700);
    if (chdir("d1/d2") != 0) {
        fail("chdir");
    }
    work("deep.dat", 10);
    work("../up.dat", 10);
    if (chdir("../..") != 0) {
        fail("chdir");
    }
    work("top.dat", 2000);
    printf("done\n");
}

static void new_root(void)
{
    if (chroot(".") != 0 || chdir("/") != 0) {
        printf("no chroot\n");
        return;
    }
    work("/root.dat", 3000);
    printf("done\n");
    fflush(stdout);
    if (fork() == 0) {
        work("/child.dat", 10);
        _exit(4);
    }
    int status;
    wait(&status);
    printf("child %d\n", WEXITSTATUS(status));
}

/* ---- processes ---- */

static void fork_storm(void)
{
    int good = 0;
    for (int i = 0; i < 60; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            char name[32];
            (void)snprintf(name, sizeof(name), "storm.%d", i);
            work(name, 5);
            _exit(i);
        }
        int status;
        waitpid(pid, &status, 0);
        good += WEXITSTATUS(status) == i;
    }
    printf("good %d\n", good);
}

static void *writer(void *name)
{
    work(name, 1500);
    return NULL;
}

static void fork_in_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, writer, (void *)(uintptr_t) "thread.dat");
    for (int i = 0; i < 20; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            pthread_t inner;
            pthread_create(&inner, NULL, writer, (void *)(uintptr_t) "inner.dat");
            pthread_join(inner, NULL);
            _exit(0);
        }
        int status = 1;
        waitpid(pid, &status, 0);
        if (status != 0) {
            printf("status %d\n", status);
        }
    }
    pthread_join(thread, NULL);
    printf("done\n");
}

static void vforks(void)
{
    char *arguments[] = {(char *)"/bin/echo", (char *)"from vfork", NULL};
    work("before.dat", 5);
    int kept = open_file("kept.dat");
    for (int i = 0; i < 3; i++) {
        volatile int in_child = 0;
        pid_t pid = vfork();
        if (pid == 0) {
            in_child = 1;
            close(kept);
            int fd = open("vfork.dat", O_WRONLY | O_CREAT, 0600);
            (void)!write(fd, block, 7);
            close(fd);
            execv(i == 1 ? "/no/such" : arguments[0], arguments);
            _exit(9);
        }
        int status;
        waitpid(pid, &status, 0);
        printf("child ran %d status %d\n", in_child, WEXITSTATUS(status));
        fflush(stdout);
        write_many(kept, 5);
        work("between.dat", 5);
    }
}

static int clone_child(void *unused)
{
    (void)unused;
    for (int i = 0; i < 3000; i++) {
        int fd = open("clone.dat", O_WRONLY | O_CREAT, 0600);
        (void)!pwrite(fd, block, 9, 0);
        close(fd);
    }
    return 5;
}

/* A process that shares memory and thread-local storage, and runs at the same time. */
static void shared_clone(void)
{
    static char stack[256 * 1024] __attribute__((aligned(16)));
    pid_t pid = clone(clone_child, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);
    work("parent.dat", 3000);
    int status;
    waitpid(pid, &status, 0);
    printf("status %d\n", WEXITSTATUS(status));
}

static void exec_static(const char *program)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        execl(program, program, "static says hello", NULL);
        _exit(127);
    }
    int status;
    waitpid(pid, &status, 0);
    printf("status %d\n", WEXITSTATUS(status));
}

static void exec_script(void)
{
    int fd = open_file("script");
    (void)!write(fd, "#!/bin/sh\necho \"$1\" $#; exit 6\n", 31);
    fchmod(fd, 0700);
    close(fd);
    printf("status %d\n", WEXITSTATUS(system("./script a b")));
    char *arguments[] = {(char *)"script", (char *)"x y", NULL};
    char *nothing[] = {NULL};
    pid_t pid;
    fflush(stdout);
    printf("spawn %d\n", posix_spawn(&pid, "./script", NULL, NULL, arguments, nothing));
    int status;
    waitpid(pid, &status, 0);
    printf("status %d\n", WEXITSTATUS(status));
}

/* An environment of its own: the children must still be recorded, and get what was given. */
static void own_environment(const char *self)
{
    char *arguments[] = {(char *)(uintptr_t)self, (char *)"leaf", NULL};
    char *empty[] = {NULL};
    char *other[] = {(char *)"LD_PRELOAD=libm.so.6", (char *)"MARK=kept", NULL};
    for (int i = 0; i < 3; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            if (i == 2) {
                clearenv();
                execvp(self, arguments);
            }
            execve(self, arguments, i == 0 ? empty : other);
            _exit(127);
        }
        int status;
        waitpid(pid, &status, 0);
        printf("status %d\n", WEXITSTATUS(status));
    }
}

static int leaf(void)
{
    const char *mark = getenv("MARK");
    work("leaf.dat", 3);
    return mark != NULL && strcmp(mark, "kept") == 0 ? 8 : 7;
}

/* ---- threads ---- */

#define THREADS 1000

static pthread_barrier_t barrier;

static void *numbered(void *number)
{
    char name[32];
    (void)snprintf(name, sizeof(name), "t.%d", (int)(intptr_t)number % 10);
    pthread_barrier_wait(&barrier);
    int fd = open(name, O_WRONLY | O_CREAT, 0600);
    for (int i = 0; i < 20; i++) {
        (void)!pwrite(fd, block, 16, (off_t)(intptr_t)number);
    }
    close(fd);
    return NULL;
}

static void thousand_threads(void)
{
    static pthread_t threads[THREADS];
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 * 1024);
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (intptr_t i = 0; i < THREADS; i++) {
        int error = pthread_create(&threads[i], &attributes, numbered, (void *)i);
        if (error != 0) {
            errno = error;
            fail("pthread_create");
        }
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    printf("done\n");
}

static void *short_thread(void *unused)
{
    (void)unused;
    (void)!access("x", F_OK);
    return NULL;
}

static void many_short_threads(void)
{
    for (int i = 0; i < 3000; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, short_thread, NULL);
        pthread_join(thread, NULL);
    }
    printf("done\n");
}

static void *reader(void *pipe_end)
{
    char byte;
    (void)!read((int)(intptr_t)pipe_end, &byte, 1);
    return NULL;
}

static void cancelled(void)
{
    int ends[2];
    (void)!pipe(ends);
    for (int i = 0; i < 50; i++) {
        pthread_t thread;
        void *value;
        pthread_create(&thread, NULL, reader, (void *)(intptr_t)ends[0]);
        pthread_cancel(thread);
        pthread_join(thread, &value);
        if (value != PTHREAD_CANCELED) {
            printf("not cancelled\n");
        }
    }
    work("cancel.dat", 1500);
    printf("done\n");
}

/* ---- signals ---- */

static volatile int alarm_fd;
static volatile long alarms;

static void on_alarm(int number)
{
    int before = errno;
    (void)number;
    if (pwrite(alarm_fd, block, 3, alarms) == 3) {
        alarms++;
    }
    errno = before;
}

static void handler_does_io(void)
{
    struct itimerval timer = {{0, 100}, {0, 100}};
    alarm_fd = open_file("alarm.dat");
    int fd = open_file("main.dat");
    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &timer, NULL);
    for (long i = 0; i < 150000; i++) {
        if (pwrite(fd, block, 5, i % 1000) != 5) {
            fail("pwrite");
        }
    }
    timer = (struct itimerval){{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &timer, NULL);
    int count = open_file("alarm.count");
    char text[32];
    int size = snprintf(text, sizeof(text), "%ld", alarms);
    (void)!pwrite(count, text, (size_t)size, 0);
    printf("done\n");
}

/* ---- death: counts what was done in memory that outlives it ---- */

static _Atomic long *counters;

static void *endless(void *number)
{
    char name[32];
    (void)snprintf(name, sizeof(name), "death.%d", (int)(intptr_t)number);
    int fd = open_file(name);
    for (;;) {
        (void)!pwrite(fd, block, 64, 0);
        counters[8 * (intptr_t)number]++;
    }
    return NULL;
}

static void death(const char *signal_text)
{
    int number = atoi(signal_text);
    counters = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t pid = fork();
    if (pid == 0) {
        pthread_t thread;
        for (intptr_t i = 1; i < 4; i++) {
            pthread_create(&thread, NULL, endless, (void *)i);
        }
        endless(NULL);
    }
    usleep(30000 + (useconds_t)(getpid() % 50) * 1000);
    kill(pid, number);
    int status;
    waitpid(pid, &status, 0);
    long sum = counters[0] + counters[8] + counters[16] + counters[24];
    FILE *out = fopen("death.count", "w");
    (void)fprintf(out, "%ld %d", sum, pid);
    (void)fclose(out);
    printf("signal %d\n", WTERMSIG(status));
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } modes[] = {
        {"close_all", close_all},
        {"close_ranges", close_ranges},
        {"dup_over", dup_over},
        {"raw_close_all", raw_close_all},
        {"few_descriptors", few_descriptors},
        {"no_standard", no_standard},
        {"file_size_limit", file_size_limit},
        {"directories", directories},
        {"new_root", new_root},
        {"fork_storm", fork_storm},
        {"fork_in_thread", fork_in_thread},
        {"vforks", vforks},
        {"shared_clone", shared_clone},
        {"exec_script", exec_script},
        {"thousand_threads", thousand_threads},
        {"many_short_threads", many_short_threads},
        {"cancelled", cancelled},
        {"handler_does_io", handler_does_io},
    };
    const char *mode = argc > 1 ? argv[1] : "";
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        if (strcmp(mode, modes[i].name) == 0) {
            modes[i].run();
            return 0;
        }
    }
    if (strcmp(mode, "leaf") == 0) {
        return leaf();
    }
    if (strcmp(mode, "own_environment") == 0) {
        own_environment(argv[0]);
        return 0;
    }
    if (strcmp(mode, "death") == 0 && argc > 2) {
        death(argv[2]);
        return 0;
    }
    if (strcmp(mode, "exec_static") == 0 && argc > 2) {
        exec_static(argv[2]);
        return 0;
    }
    return 2;
}
