/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `turns queue|random ITEMS`: two children take items from a file under a lock and write the result
 * of each to its place; or, of `random`, to some place.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

static void must(int is_good, const char *what)
{
    if (!is_good) {
        perror(what);
        _exit(9);
    }
}

static uint64_t take(int queue)
{
    uint64_t item = 0;
    must(lockf(queue, F_LOCK, 0) == 0, "lock");
    must(pread(queue, &item, sizeof(item), 0) == (ssize_t)sizeof(item), "pread");
    uint64_t next = item + 1;
    must(pwrite(queue, &next, sizeof(next), 0) == (ssize_t)sizeof(next), "pwrite");
    must(lockf(queue, F_ULOCK, 0) == 0, "unlock");
    return item;
}

static void work(int is_random, uint64_t items)
{
    int queue = open("queue", O_RDWR | O_CLOEXEC);
    int output = open("output", O_WRONLY | O_CLOEXEC);
    must(queue >= 0 && output >= 0, "open");
    for (uint64_t item; (item = take(queue)) < items;) {
        uint32_t place = (uint32_t)item;
        must(!is_random || getrandom(&place, sizeof(place), 0) == (ssize_t)sizeof(place), "random");
        must(pwrite(output, &item, sizeof(item), (off_t)place * 8) == (ssize_t)sizeof(item),
             "pwrite");
    }
    _exit(0);
}

int main(int argc, char **argv)
{
    const uint64_t first = 0;
    if (argc != 3) {
        return 2;
    }
    int queue = open("queue", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    int output = open("output", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    must(queue >= 0 && output >= 0, "open");
    must(pwrite(queue, &first, sizeof(first), 0) == (ssize_t)sizeof(first), "pwrite");
    for (int child = 0; child < 2; child++) {
        pid_t pid = fork();
        must(pid >= 0, "fork");
        if (pid == 0) {
            work(strcmp(argv[1], "random") == 0, strtoull(argv[2], NULL, 10));
        }
    }
    while (wait(NULL) > 0) {
    }
    return 0;
}
