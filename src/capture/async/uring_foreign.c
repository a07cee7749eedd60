/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rings that were made, mapped and entered without any function of libc or liburing: the kernel
 * shows their descriptors, and how many requests each has taken (proc_pid_fdinfo(5), since Linux
 * 5.19). One that is closed before the next look has left nothing behind.
 */
#include <string.h>
#include <sys/stat.h>

#include "base/fmt.h"
#include "capture/async/uring.h"
#include "capture/async/uring_foreign.h"
#include "capture/core/own_fds.h"
#include "capture/core/process.h"
#include "capture/core/raw.h"

#define COUNTED_MAX 64u
#define LOW_NUMBERS 256

/* What was counted of a ring, by the number of its inode: each has its own. A child by fork has the
 * table of its parent. */
struct counted {
    uint64_t inode;
    uint32_t requests;
};
static struct counted counted[COUNTED_MAX];
static uint32_t counted_count;
static uint32_t is_busy;

struct directory_entry { /* struct linux_dirent64 */
    uint64_t inode;
    int64_t next;
    uint16_t bytes;
    uint8_t type;
    char name[];
};

/* "FIELD:\tNUMBER\n" in the text; false where it is not there. */
static bool read_field(const char *text, const char *field, uint32_t *value_out)
{
    uint64_t value = 0;
    const char *at = strstr(text, field);
    if (at == NULL) {
        return false;
    }
    at += strlen(field);
    at += strspn(at, ": \t");
    if (!wio_scan_u64(&at, &value)) {
        return false;
    }
    *value_out = (uint32_t)value;
    return true;
}

/* Requests that the ring has taken so far. An older kernel does not tell: then one at least. */
static uint32_t requests_of(int fd)
{
    char text[512];
    char name[48];
    uint32_t requests = 1;
    struct wio_fmt fmt = wio_fmt_of(name, sizeof(name));
    wio_fmt_str(&fmt, "/proc/self/fdinfo/");
    wio_fmt_i64(&fmt, fd);
    long info = raw_openat(AT_FDCWD, name, O_RDONLY | O_CLOEXEC, 0);
    long bytes = info >= 0 ? raw_read((int)info, text, sizeof(text) - 1) : 0;
    if (info >= 0) {
        (void)raw_close((int)info);
    }
    text[bytes > 0 ? bytes : 0] = '\0';
    (void)read_field(text, "SqHead", &requests);
    return requests;
}

/* The parent's, which counts it: a fork hands descriptors down. */
static bool is_inherited(int fd, uint64_t inode)
{
    char name[64];
    struct stat st = {0};
    struct wio_fmt fmt = wio_fmt_of(name, sizeof(name));
    wio_fmt_str(&fmt, "/proc/");
    wio_fmt_i64(&fmt, raw_getppid());
    wio_fmt_str(&fmt, "/fd/");
    wio_fmt_i64(&fmt, fd);
    return raw_call4(SYS_newfstatat, AT_FDCWD, (long)name, (long)&st, 0) == 0 && st.st_ino == inode;
}

static struct counted *counted_of(uint64_t inode)
{
    for (uint32_t i = 0; i < counted_count; i++) {
        if (counted[i].inode == inode) {
            return &counted[i];
        }
    }
    struct counted *fresh = &counted[counted_count % COUNTED_MAX];
    counted_count += counted_count < COUNTED_MAX;
    *fresh = (struct counted){.inode = inode};
    return fresh;
}

static void count_ring(int fd)
{
    struct stat st = {0};
    if (cap_uring_is_known(fd) || raw_fstat(fd, &st) < 0 || is_inherited(fd, st.st_ino)) {
        return;
    }
    struct counted *ring = counted_of(st.st_ino);
    uint32_t requests = requests_of(fd);
    cap_unseen_more(WIO_UNSEEN_HIDDEN_URING, requests - ring->requests);
    ring->requests = requests;
}

/* A ring is of no type that stat(2) knows, as little else: to ask for a name takes ten times as
 * long. A file system of a network is not asked. False: not open, or a kernel that is too old for
 * rings. */
static bool look_at(int fd)
{
    struct statx st = {0};
    if (raw_call6(SYS_statx, fd, (long)"", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE,
                  (long)&st, 0) < 0) {
        return false;
    }
    if ((st.stx_mode & S_IFMT) == 0 && cap_uring_is_ring(fd)) {
        count_ring(fd);
    }
    return true;
}

static void look_at_entry(const struct directory_entry *entry)
{
    const char *at = entry->name;
    uint64_t fd = 0;
    if (wio_scan_u64(&at, &fd) && fd <= INT32_MAX) {
        (void)look_at((int)fd);
    }
}

static void look_at_all(int directory)
{
    _Alignas(struct directory_entry) char entries[2048];
    long bytes;
    while ((bytes = raw_call3(SYS_getdents64, directory, (long)entries, sizeof(entries))) > 0) {
        for (long at = 0; at < bytes;) {
            const struct directory_entry *entry = (const void *)(entries + at);
            look_at_entry(entry);
            at += entry->bytes;
        }
    }
}

/* How many descriptors of the program are open: the kernel says how many there are since Linux 6.2.
 * 0: not known. */
static uint64_t count_open(void)
{
    struct stat st = {0};
    uint64_t own = 0;
    if (raw_call4(SYS_newfstatat, AT_FDCWD, (long)"/proc/self/fd", (long)&st, 0) != 0) {
        return 0;
    }
    for (unsigned i = 0; i < CAP_OWN_FDS; i++) {
        own += cap_own_is(i, cap_own_fds[i].fd) ? 1 : 0;
    }
    return st.st_size > (off_t)own ? (uint64_t)st.st_size - own : 0;
}

/* Most programs have few, with low numbers: to list them takes longer than to try each number.
 * False where there may be more. */
static bool look_at_low(void)
{
    uint64_t left = count_open();
    bool is_known = left > 0;
    for (int fd = 0; fd < LOW_NUMBERS && left > 0; fd++) {
        left -= look_at(fd) ? 1 : 0;
    }
    return is_known && left == 0;
}

static void look(void)
{
    if (look_at_low()) {
        return;
    }
    long directory = raw_openat(AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (directory >= 0) {
        look_at_all((int)directory);
        (void)raw_close((int)directory);
    }
}

void cap_uring_count_foreign(void)
{
    if (__atomic_exchange_n(&is_busy, 1, __ATOMIC_ACQUIRE) != 0) {
        return;
    }
    look();
    __atomic_store_n(&is_busy, 0, __ATOMIC_RELEASE);
}

__attribute__((destructor)) static void count_at_exit(void)
{
    if (cap_process.header != NULL) {
        cap_uring_count_foreign();
    }
}
