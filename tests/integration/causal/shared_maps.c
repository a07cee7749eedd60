/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Semaphores in memory that processes share, however it was mapped: `PROGRAM SCENE [MAPS
 * [ROUNDS]]`. A child posts, its parent waits: PAIRS times, each time another semaphore.
 */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <time.h>

#include "scene.h"

#define PAIRS 22
#define PAGE 4096u

static sem_t *semaphores[PAIRS];

static void *map_shared(int fd, size_t bytes, off_t offset)
{
    int flags = fd < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED;
    void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, offset);
    check(map != MAP_FAILED, "mmap");
    return map;
}

/* Maps that do not grow together into one. */
static void map_others(unsigned maps)
{
    for (unsigned i = 0; i < maps; i++) {
        (void)map_shared(-1, PAGE, 0);
    }
}

static int make_file(size_t bytes)
{
    int fd = open("shared", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    check(fd >= 0 && ftruncate(fd, (off_t)bytes) == 0, "shared");
    return fd;
}

static void init_all(void)
{
    for (unsigned i = 0; i < PAIRS; i++) {
        check(sem_init(semaphores[i], 1, 0) == 0, "sem_init");
    }
}

/* An edge is from what comes before a post. */
static void post_all(void)
{
    mark("posting");
    for (unsigned i = 0; i < PAIRS; i++) {
        check(sem_post(semaphores[i]) == 0, "sem_post");
    }
}

static void wait_all(void)
{
    for (unsigned i = 0; i < PAIRS; i++) {
        check(sem_wait(semaphores[i]) == 0, "sem_wait");
    }
}

static void post_in_child(void (*prepare)(void))
{
    pid_t child = fork();
    check(child >= 0, "fork");
    if (child == 0) {
        if (prepare != NULL) {
            prepare();
        }
        post_all();
        _exit(0);
    }
    wait_all();
    check(waitpid(child, NULL, 0) == child, "waitpid");
}

static unsigned others;

static void *make_anonymous(void *unused)
{
    for (unsigned i = 0; i < PAIRS; i++) {
        semaphores[i] = map_shared(-1, PAGE, 0);
        map_others(others / PAIRS);
    }
    return unused;
}

static void anonymous(void)
{
    (void)make_anonymous(NULL);
    init_all();
    post_in_child(NULL);
}

static void by_thread(void)
{
    pthread_t thread;
    check(pthread_create(&thread, NULL, make_anonymous, NULL) == 0, "pthread_create");
    check(pthread_join(thread, NULL) == 0, "pthread_join");
    init_all();
    post_in_child(NULL);
}

static int file;

/* Each process at addresses of its own. */
static void map_file(void)
{
    map_others(others + (unsigned)getpid() % 5);
    for (unsigned i = 0; i < PAIRS; i++) {
        semaphores[i] = map_shared(file, PAGE, (off_t)(i * PAGE));
    }
}

static void of_a_file(void)
{
    file = make_file(PAIRS * PAGE);
    map_file();
    init_all();
    post_in_child(map_file);
}

/* Grown, moved away, and cut by a hole: the child as it was, the parent otherwise. */
static void moved(void)
{
    char *map;
    file = make_file((PAIRS + 2) * PAGE);
    map = map_shared(file, PAIRS * PAGE, 0);
    for (unsigned i = 0; i < PAIRS; i++) {
        semaphores[i] = (sem_t *)(void *)(map + i * PAGE);
    }
    init_all();
    pid_t child = fork();
    check(child >= 0, "fork");
    if (child == 0) {
        post_all();
        _exit(0);
    }
    map = mremap(map, PAIRS * PAGE, (PAIRS + 2) * PAGE, MREMAP_MAYMOVE);
    check(map != MAP_FAILED, "mremap");
    char *place = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check(place != MAP_FAILED, "mmap");
    check(mremap(map + 3 * PAGE, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, place) == place,
          "mremap");
    char *copy = mremap(map + 5 * PAGE, 0, PAGE, MREMAP_MAYMOVE);
    check(copy != MAP_FAILED, "mremap");
    for (unsigned i = 0; i < PAIRS; i++) {
        semaphores[i] = (sem_t *)(void *)(i == 3 ? place : i == 5 ? copy : map + i * PAGE);
    }
    wait_all();
    check(waitpid(child, NULL, 0) == child, "waitpid");
}

/* Pages of the file in another order over what was mapped there. */
static void fixed(void)
{
    char *map;
    file = make_file(PAIRS * PAGE);
    map = map_shared(-1, PAIRS * PAGE, 0);
    for (unsigned i = 0; i < PAIRS; i++) {
        unsigned at = PAIRS - 1 - i;
        void *wanted = map + at * PAGE;
        check(mmap(wanted, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
                   (off_t)(i * PAGE)) == wanted,
              "mmap");
        semaphores[i] = wanted;
    }
    init_all();
    post_in_child(map_file);
}

static int segment;

static void attach(void)
{
    char *map = shmat(segment, NULL, 0);
    check(map != (char *)-1, "shmat");
    for (unsigned i = 0; i < PAIRS; i++) {
        semaphores[i] = (sem_t *)(void *)(map + i * PAGE);
    }
}

static void system_v(void)
{
    segment = shmget(IPC_PRIVATE, PAIRS * PAGE, IPC_CREAT | 0600);
    check(segment >= 0, "shmget");
    attach();
    init_all();
    post_in_child(attach);
    check(shmctl(segment, IPC_RMID, NULL) == 0, "shmctl");
}

static void open_all(void)
{
    for (unsigned i = 0; i < PAIRS; i++) {
        char name[64];
        (void)snprintf(name, sizeof(name), "/whyio-test-%d-%u",
                       (int)(getpid() == getpgrp() ? getpid() : getpgrp()), i);
        semaphores[i] = sem_open(name, O_CREAT, 0600, 0);
        check(semaphores[i] != SEM_FAILED, "sem_open");
    }
}

static void named(void)
{
    (void)setpgid(0, 0);
    open_all();
    post_in_child(open_all);
    for (unsigned i = 0; i < PAIRS; i++) {
        char name[64];
        (void)snprintf(name, sizeof(name), "/whyio-test-%d-%u", (int)getpgrp(), i);
        (void)sem_close(semaphores[i]);
        (void)sem_unlink(name);
    }
}

/* Mapped by an instruction of the program's own, which no wrapper sees. */
static void unseen(void)
{
#if defined(__x86_64__)
    long map = SYS_mmap;
    register long flags __asm__("r10") = MAP_SHARED | MAP_ANONYMOUS;
    register long fd __asm__("r8") = -1;
    register long offset __asm__("r9") = 0;
    __asm__ volatile("syscall"
                     : "+a"(map)
                     : "D"(0), "S"(PAIRS * PAGE), "d"(PROT_READ | PROT_WRITE), "r"(flags), "r"(fd),
                       "r"(offset)
                     : "rcx", "r11", "memory");
    check(map > 0, "mmap");
    for (unsigned i = 0; i < PAIRS; i++) {
        semaphores[i] = (sem_t *)(uintptr_t)(map + i * PAGE);
    }
#else
    (void)make_anonymous(NULL);
#endif
    init_all();
    post_in_child(NULL);
}

/* Where shared memory was, there is private memory now: parent and child have nothing in common. */
static void replaced(void)
{
    char *map = map_shared(-1, PAIRS * PAGE, 0);
    for (unsigned i = 0; i < PAIRS; i++) {
        semaphores[i] = (sem_t *)(void *)(map + i * PAGE);
    }
    init_all();
    post_all();
    wait_all();
    check(munmap(map, PAIRS * PAGE) == 0, "munmap");
    check(mmap(map, PAIRS * PAGE, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == map,
          "mmap");
    init_all();
    pid_t child = fork();
    check(child >= 0, "fork");
    post_all();
    if (child == 0) {
        _exit(0);
    }
    check(waitpid(child, NULL, 0) == child, "waitpid");
    wait_all();
}

/* What a data loader does: memory comes, is used and goes, beside much that stays. Says what a
 * round took, in us. */
static void rounds(unsigned count)
{
    file = make_file(PAGE);
    map_others(others);
    struct timespec begin;
    struct timespec end;
    (void)clock_gettime(CLOCK_MONOTONIC, &begin);
    for (unsigned i = 0; i < count; i++) {
        sem_t *semaphore = map_shared(file, PAGE, 0);
        check(sem_init(semaphore, 1, 1) == 0, "sem_init");
        check(sem_wait(semaphore) == 0 && sem_post(semaphore) == 0, "semaphore");
        check(munmap(semaphore, PAGE) == 0, "munmap");
    }
    (void)clock_gettime(CLOCK_MONOTONIC, &end);
    double us =
        (double)(end.tv_sec - begin.tv_sec) * 1e6 + (double)(end.tv_nsec - begin.tv_nsec) / 1e3;
    (void)printf("%.3f\n", us / count);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*play)(void);
    } scenes[] = {{"anonymous", anonymous}, {"by-thread", by_thread}, {"of-a-file", of_a_file},
                  {"moved", moved},         {"fixed", fixed},         {"system-v", system_v},
                  {"named", named},         {"unseen", unseen},       {"replaced", replaced}};
    others = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
    for (size_t i = 0; argc > 1 && i < sizeof(scenes) / sizeof(scenes[0]); i++) {
        if (strcmp(argv[1], scenes[i].name) == 0) {
            scenes[i].play();
            return 0;
        }
    }
    if (argc > 3 && strcmp(argv[1], "rounds") == 0) {
        rounds((unsigned)atoi(argv[3]));
        return 0;
    }
    return 2;
}
