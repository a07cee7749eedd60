/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that wait for each other in ways that cannot be observed, for throttle_test.py:
 *
 *     held spin N      N children write in turn; whose turn it is stands in shared memory
 *     held nap N       the same, but a waiting child sleeps between two polls
 *     held thread N    the same with threads
 *     held born        a thread waits as soon as it is made, while its maker writes at once
 *     held free N      N children write, and do not wait
 *     held relay N     N children compute and write in turn, by pipes
 *     held miss        looks for files that are not there, each once
 *     held look        one child makes a file, another looks until it is there and writes then
 *     held workers N    N children take items from one file, under a lock, while there are some
 *     held differ      writes blocks of any size
 *     held die         a child is killed before its second write, but not when it is run first
 */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 3, MEMBERS_MAX = 16 };

struct member {
    int number;
    int members;
    void (*wait_turn)(const struct member *self, int turn);
};

static _Atomic int *turn_now;

static void must(int is_good, const char *what)
{
    if (!is_good) {
        perror(what);
        _exit(9);
    }
}

static void spin(const struct member *self, int turn)
{
    (void)self;
    while (atomic_load(turn_now) != turn) {
        (void)sched_yield();
    }
}

static void nap(const struct member *self, int turn)
{
    (void)self;
    while (atomic_load(turn_now) != turn) {
        (void)usleep(200);
    }
}

static void nothing(const struct member *self, int turn)
{
    (void)self;
    (void)turn;
}

static void write_rounds(const struct member *self)
{
    char name[32];
    (void)snprintf(name, sizeof(name), "out.%d", self->number);
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    must(fd >= 0, name);
    for (int round = 0; round < ROUNDS; round++) {
        self->wait_turn(self, round * self->members + self->number);
        must(pwrite(fd, name, sizeof(name), round * (off_t)sizeof(name)) > 0, "pwrite");
        (void)atomic_fetch_add(turn_now, 1);
    }
    must(close(fd) == 0, "close");
}

static int collect(int members)
{
    int result = 0;
    for (int i = 0; i < members; i++) {
        int status;
        must(wait(&status) > 0, "wait");
        result = status != 0 ? 1 : result;
    }
    return result;
}

static int run_children(int members, void (*wait_turn)(const struct member *self, int turn))
{
    for (int i = 0; i < members; i++) {
        pid_t pid = fork();
        must(pid >= 0, "fork");
        if (pid == 0) {
            write_rounds(&(struct member){i, members, wait_turn});
            _exit(0);
        }
    }
    return collect(members);
}

static void *run_thread(void *argument)
{
    write_rounds(argument);
    return NULL;
}

static int run_threads(int members)
{
    pthread_t threads[MEMBERS_MAX];
    struct member self[MEMBERS_MAX];
    for (int i = 0; i < members; i++) {
        self[i] = (struct member){i, members, spin};
        must(pthread_create(&threads[i], NULL, run_thread, &self[i]) == 0, "pthread_create");
    }
    for (int i = 0; i < members; i++) {
        must(pthread_join(threads[i], NULL) == 0, "pthread_join");
    }
    return 0;
}

static void put(const char *name)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    must(fd >= 0 && write(fd, "x", 1) == 1 && close(fd) == 0, name);
}

static void *wait_and_put(void *argument)
{
    spin(NULL, 1);
    put(argument);
    return NULL;
}

static int run_born(void)
{
    pthread_t thread;
    char name[] = "second";
    must(pthread_create(&thread, NULL, wait_and_put, name) == 0, "pthread_create");
    put("first");
    (void)usleep(20000);
    atomic_store(turn_now, 1);
    return pthread_join(thread, NULL);
}

static int run_look(void)
{
    (void)unlink("there");
    if (fork() == 0) {
        struct stat st;
        while (stat("there", &st) != 0) {
            (void)usleep(1000);
        }
        put("seen");
        _exit(0);
    }
    if (fork() == 0) {
        put("before");
        put("there");
        _exit(0);
    }
    return collect(2);
}

static void compute(void)
{
    struct timespec begin;
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        (void)clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec < 20000000L);
}

/* All is observed; but a computing child could as well poll memory. */
static int run_relay(int members)
{
    int ends[MEMBERS_MAX + 1][2];
    char token = 0;
    for (int i = 0; i <= members; i++) {
        must(pipe(ends[i]) == 0, "pipe");
    }
    for (int i = 0; i < members; i++) {
        if (fork() == 0) {
            char name[32];
            (void)snprintf(name, sizeof(name), "out.%d", i);
            must(read(ends[i][0], &token, 1) == 1, "read");
            compute();
            put(name);
            must(write(ends[i + 1][1], &token, 1) == 1, "write");
            _exit(0);
        }
    }
    must(write(ends[0][1], &token, 1) == 1, "write");
    return collect(members);
}

static int miss_stat(const char *name)
{
    struct stat st;
    return stat(name, &st);
}

static int miss_chmod(const char *name)
{
    return chmod(name, 0);
}

static int miss_access(const char *name)
{
    return access(name, F_OK);
}

static int miss_opendir(const char *name)
{
    return opendir(name) == NULL ? -1 : 0;
}

/* By calls of several kinds, each for several files one after the other. */
static int run_miss(void)
{
    static int (*const looks[])(const char *name) = {miss_stat, miss_chmod, miss_access,
                                                     miss_opendir, unlink};
    if (fork() == 0) {
        usleep(20000); /* something to find out */
        put("other");
        _exit(0);
    }
    for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++) {
        must(looks[i]("missed.0") != 0 && looks[i]("missed.1") != 0, "miss");
    }
    return collect(1);
}

static void lock_file(int fd, short type)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET};
    must(fcntl(fd, F_SETLKW, &lock) == 0, "fcntl");
}

/* The first one takes all before the others wake, unless it is held. */
static void work(int number, int members)
{
    char item = 0;
    int fd = open("items", O_RDWR);
    int out = open("out", O_WRONLY);
    (void)usleep(number > 0 ? 100000 : 0);
    for (;;) {
        lock_file(fd, F_WRLCK);
        must(fd >= 0 && pread(fd, &item, 1, 0) == 1, "items");
        char next = (char)(item + 1);
        must(pwrite(fd, &next, 1, 0) == 1, "items");
        lock_file(fd, F_UNLCK);
        if (item >= 3 * members) {
            _exit(0);
        }
        must(pwrite(out, &item, 1, item) == 1, "out");
    }
}

static int run_workers(int members)
{
    char none = 0;
    int fd = open("items", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    must(fd >= 0 && write(fd, &none, 1) == 1 && close(fd) == 0, "items");
    put("out");
    for (int i = 0; i < members; i++) {
        if (fork() == 0) {
            work(i, members);
        }
    }
    return collect(members);
}

static int run_differ(void)
{
    static char block[4096];
    struct timespec now;
    int fd = open("out", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    must(fd >= 0, "out");
    if (fork() == 0) {
        usleep(20000); /* something to find out */
        put("other");
        _exit(0);
    }
    for (int i = 0; i < 3; i++) {
        (void)clock_gettime(CLOCK_MONOTONIC, &now);
        size_t size = 1 + (size_t)now.tv_nsec % sizeof(block);
        must(pwrite(fd, block, size, i * (off_t)sizeof(block)) > 0, "pwrite");
    }
    return collect(1);
}

static int run_die(int is_first)
{
    for (int i = 0; i < 3; i++) {
        if (fork() == 0) {
            char name[32];
            (void)snprintf(name, sizeof(name), "out.%d", i);
            put(name);
            usleep(20000); /* something to find out */
            if (!is_first && i == 1) {
                must(raise(SIGKILL) == 0, "raise");
            }
            put(name);
            _exit(0);
        }
    }
    return collect(3);
}

int main(int argc, char **argv)
{
    int members = argc > 2 ? atoi(argv[2]) : 0;
    turn_now =
        mmap(NULL, sizeof(*turn_now), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(turn_now != MAP_FAILED && argc > 1 && members <= MEMBERS_MAX, "held MODE [N]");
    const char *mode = argv[1];
    if (strcmp(mode, "spin") == 0) {
        return run_children(members, spin);
    }
    if (strcmp(mode, "nap") == 0) {
        return run_children(members, nap);
    }
    if (strcmp(mode, "free") == 0) {
        return run_children(members, nothing);
    }
    if (strcmp(mode, "thread") == 0) {
        return run_threads(members);
    }
    if (strcmp(mode, "born") == 0) {
        return run_born();
    }
    if (strcmp(mode, "relay") == 0) {
        return run_relay(members);
    }
    if (strcmp(mode, "workers") == 0) {
        return run_workers(members);
    }
    if (strcmp(mode, "miss") == 0) {
        return run_miss();
    }
    if (strcmp(mode, "look") == 0) {
        return run_look();
    }
    if (strcmp(mode, "differ") == 0) {
        return run_differ();
    }
    return run_die(access("out.0", F_OK) != 0);
}
