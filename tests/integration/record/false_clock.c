/* SPDX-License-Identifier: Apache-2.0 */
/* A library that changes the time when it is preloaded, as libfaketime does. */
#include <stddef.h>
#include <sys/time.h>
#include <time.h>

enum { LONG_AGO = 473385600 }; /* 1985 */

int clock_gettime(clockid_t clock, struct timespec *now)
{
    (void)clock;
    *now = (struct timespec){.tv_sec = LONG_AGO};
    return 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    (void)zone;
    *now = (struct timeval){.tv_sec = LONG_AGO};
    return 0;
}

time_t time(time_t *now)
{
    if (now != NULL) {
        *now = LONG_AGO;
    }
    return LONG_AGO;
}
