/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What small programs whose waits are known are made of: `PROGRAM SCENE`. They leave marks for
 * graph.py. Where one side is to wait, the other sleeps first; on a machine so busy that it need
 * not wait the order of the marks is the same. Where a scene would be another one then, the side
 * that must not come too early awaits a word that no trace shows.
 */
#ifndef WIO_TESTS_SCENE_H
#define WIO_TESTS_SCENE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static inline void check(bool is_ok, const char *what)
{
    if (!is_ok) {
        perror(what);
        exit(1);
    }
}

static inline void mark(const char *name)
{
    char path[64];
    (void)snprintf(path, sizeof(path), "/mark/%s", name);
    (void)!chmod(path, 0);
}

static inline void nap(void)
{
    (void)usleep(30000);
}

/* In memory that all processes and threads share: a wait for it cannot be observed. */
static atomic_uint *secret_words;

/* So many times in all. */
static inline void tell_secret(void)
{
    atomic_fetch_add(secret_words, 1);
}

/* For a millisecond, and 20 s in all: the awaited process may have failed, and then no other
 * would ever end, nor would the recorder. */
static inline void await_a_while(unsigned *rounds)
{
    if (++*rounds > 20000) {
        (void)fprintf(stderr, "%d: nobody came\n", (int)getpid());
        _exit(1);
    }
    (void)usleep(1000);
}

static inline void await_secret(unsigned words)
{
    unsigned rounds = 0;
    while (atomic_load(secret_words) < words) {
        await_a_while(&rounds);
    }
}

/* The parent has told a word, right before a call that it waits in: until it does. */
static inline void await_parent(void)
{
    char path[32];
    char state = 0;
    unsigned rounds = 0;
    (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)getppid());
    await_secret(1);
    while (state != 'S') {
        FILE *file = fopen(path, "r");
        check(file != NULL && fscanf(file, "%*d (%*[^)]) %c", &state) == 1, path);
        (void)fclose(file);
        await_a_while(&rounds);
    }
}

static inline pid_t child(void (*what)(int fd), int fd)
{
    pid_t pid = fork();
    check(pid >= 0, "fork");
    if (pid == 0) {
        what(fd);
        _exit(0);
    }
    return pid;
}

static inline void wait_for(pid_t pid)
{
    check(waitpid(pid, NULL, 0) == pid, "waitpid");
}

static inline void put(int fd, size_t bytes)
{
    char data[256 * 1024] = {0};
    check(write(fd, data, bytes) == (ssize_t)bytes, "write");
}

static inline void get(int fd, size_t bytes)
{
    char data[4096];
    while (bytes > 0) {
        ssize_t got = read(fd, data, bytes < sizeof(data) ? bytes : sizeof(data));
        check(got > 0, "read");
        bytes -= (size_t)got;
    }
}

struct scene {
    const char *name;
    void (*run)(void);
};

static inline int run_scene(const struct scene *scenes, size_t count, int argc, char **argv)
{
    secret_words = mmap(NULL, sizeof(*secret_words), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    check(secret_words != MAP_FAILED, "mmap");
    for (size_t i = 0; argc == 2 && i < count; i++) {
        if (strcmp(scenes[i].name, argv[1]) == 0) {
            scenes[i].run();
            return 0;
        }
    }
    fprintf(stderr, "usage: %s SCENE\n", argv[0]);
    return 2;
}

#endif
