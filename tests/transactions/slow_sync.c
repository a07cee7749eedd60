/* SPDX-License-Identifier: Apache-2.0 */
/* LD_PRELOAD: a device whose flushes take SLOW_SYNC_MS milliseconds longer. */
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

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
    wait_ms();
    return real(fd);
}
