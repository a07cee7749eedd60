/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes its own account of what it did: `writer FILE COUNT HOW` makes COUNT pwrites of eight bytes
 * one behind the other, so that the size of FILE tells how many were done, and then ends by HOW:
 * exit, _exit, a signal's name (TERM SEGV ABRT KILL), or on (goes on writing until it is killed).
 */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int end_by(const char *how)
{
    static const struct {
        const char *name;
        int number;
    } signals[] = {{"TERM", SIGTERM}, {"SEGV", SIGSEGV}, {"ABRT", SIGABRT}, {"KILL", SIGKILL}};
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        if (strcmp(signals[i].name, how) == 0) {
            raise(signals[i].number);
        }
    }
    if (strcmp(how, "_exit") == 0) {
        _exit(7);
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        return 2;
    }
    int fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    uint64_t count = strtoull(argv[2], NULL, 10);
    int is_endless = strcmp(argv[3], "on") == 0;
    for (uint64_t i = 0; fd >= 0 && (i < count || is_endless); i++) {
        if (pwrite(fd, &i, sizeof(i), (off_t)(i * sizeof(i))) != (ssize_t)sizeof(i)) {
            return 3;
        }
    }
    return fd < 0 ? 4 : end_by(argv[3]);
}
