/* SPDX-License-Identifier: Apache-2.0 */
/* Which child a call of libc has made that does not tell: by the kernel's list. */
#include <string.h>
#include <time.h>

#include "base/fmt.h"
#include "capture/core/environment.h"
#include "capture/core/raw.h"
#include "capture/process/exec.h"

/* The latest child that this thread made and that has not been waited for, by the kernel's list; 0
 * where there is none or the kernel keeps no list. */
static int32_t latest_child(void)
{
    char text[256];
    uint64_t pid = 0;
    uint64_t latest = 0;
    long fd = raw_openat(AT_FDCWD, "/proc/thread-self/children", O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0) {
        return 0;
    }
    for (long got; (got = raw_read((int)fd, text, sizeof(text))) > 0;) {
        for (long i = 0; i < got; i++) { /* "12 345 ": each number has a blank behind it */
            bool is_digit = text[i] >= '0' && text[i] <= '9';
            latest = is_digit ? latest : pid;
            pid = is_digit ? pid * 10 + (uint64_t)(text[i] - '0') : 0;
        }
    }
    (void)raw_close((int)fd);
    return (int32_t)latest;
}

/* In hundredths of a second since the machine began; 0: there is no such process. */
static uint64_t start_of(int32_t pid)
{
    char path[48];
    struct wio_fmt fmt = wio_fmt_of(path, sizeof(path));
    wio_fmt_str(&fmt, "/proc/");
    wio_fmt_i64(&fmt, pid);
    wio_fmt_str(&fmt, "/stat");
    return cap_start_of(path);
}

struct cap_child_mark cap_child_mark(void)
{
    struct timespec now = {0};
    (void)raw_call3(SYS_clock_gettime, CLOCK_BOOTTIME, (long)&now, 0);
    return (struct cap_child_mark){.ticks = (uint64_t)now.tv_sec * 100u +
                                            (uint64_t)now.tv_nsec / 10000000u,
                                   .latest = latest_child()};
}

int32_t cap_child_since(const struct cap_child_mark *mark)
{
    int32_t child = latest_child();
    /* where another thread has waited for both, the latest one is older */
    bool is_new = false;
    if (child > 0 && child != mark->latest) {
        const uint64_t start = start_of(child);
        is_new = start > 0 && start >= mark->ticks;
    }
    return is_new ? child : 0;
}
