/* SPDX-License-Identifier: Apache-2.0 */
/* LD_PRELOAD: a device whose flushes take SLOW_SYNC_MS milliseconds longer. With SLOW_SYNC_NAME
 * those of files with that in their path alone. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static bool is_slow(int fd)
{
    const char *name = getenv("SLOW_SYNC_NAME");
    char link[64];
    char path[4096];
    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t bytes = readlink(link, path, sizeof(path) - 1);
    path[bytes > 0 ? bytes : 0] = 0;
    return name == NULL || strstr(path, name) != NULL;
}

static void wait_ms(void)
{
    const char *text = getenv("SLOW_SYNC_MS");
    long ms = text == NULL ? 0 : strtol(text, NULL, 10);
    const struct timespec delay = {ms / 1000, ms % 1000 * 1000000};
    (void)nanosleep(&delay, NULL);
}

int fdatasync(int fd) __attribute__((visibility("default")));

int fdatasync(int fd)
{
    static int (*real)(int);
    if (real == NULL) {
        *(void **)&real = dlsym(RTLD_NEXT, "fdatasync");
    }
    if (is_slow(fd)) {
        wait_ms();
    }
    return real(fd);
}
