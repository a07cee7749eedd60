/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that all have one id, one after the other, each of a job of its own, which write to one
 * file of a mount. In a pid namespace in which the last id may be set.
 *
 * usage: mount_recycle FILE COUNT     with WHYIO_TEST_JOB=job.---------- in the environment
 *
 * Process i writes size_of(i) bytes four times, so that what a job is said to have written tells
 * whether it was that job. 77: there is no such namespace.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define VARIABLE "WHYIO_TEST_JOB"
#define DIGITS 10
#define LAST "999"
#define ID 1000

static size_t size_of(unsigned long i)
{
    return 1 + i % 4093;
}

/* In place: /proc/PID/environ is this memory. The digits first, so that a name that is read before
 * it is whole has a dash. */
static void take_name(char *value, unsigned long i)
{
    char digits[DIGITS + 1];
    (void)snprintf(digits, sizeof(digits), "%010lu", i % 10000000000UL);
    for (unsigned at = DIGITS; at > 0; at--) {
        ((volatile char *)value)[4 + at - 1] = digits[at - 1];
    }
}

static _Noreturn void be(char *value, const char *name, unsigned long i)
{
    static char data[4096];
    take_name(value, i);
    const int file = open(name, O_WRONLY);
    for (unsigned turn = 0; turn < 4; turn++) {
        if (pwrite(file, data, size_of(i), 0) != (ssize_t)size_of(i)) {
            perror("pwrite");
            _exit(1);
        }
    }
    _exit(0);
}

static int set_last(int file)
{
    return pwrite(file, LAST, sizeof(LAST) - 1, 0) > 0 ? 0 : -1;
}

int main(int argc, char **argv)
{
    const int last = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
    char *value = getenv(VARIABLE);
    if (argc != 3 || value == NULL || strlen(value) != 4 + DIGITS) {
        return 2;
    }
    if (last < 0) {
        return 77;
    }
    const unsigned long count = strtoul(argv[2], NULL, 10);
    for (unsigned long i = 0; i < count; i++) {
        if (set_last(last) != 0) {
            return 77;
        }
        const pid_t child = fork();
        if (child == 0) {
            be(value, argv[1], i);
        }
        int status = 0;
        if (child != ID || waitpid(child, &status, 0) != child || status != 0) {
            (void)fprintf(stderr, "process %lu: id %d, status %d\n", i, (int)child, status);
            return 1;
        }
    }
    return 0;
}
