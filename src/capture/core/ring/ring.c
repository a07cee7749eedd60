/* SPDX-License-Identifier: Apache-2.0 */
/* The ring file of this image: create, describe, find again. FORMAT.md#ring */
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/fmt.h"
#include "capture/core/environment.h"
#include "capture/core/own_fds.h"
#include "capture/core/process.h"
#include "capture/core/raw.h"
#include "capture/core/ring/bound.h"

/* The program's own limit on file sizes holds for our file too: beyond it a write is a SIGXFSZ. */
uint64_t cap_ring_limit(void)
{
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    (void)raw_call4(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit);
    return limit.rlim_cur;
}

bool cap_ring_is_within_limit(uint64_t end)
{
    return end <= cap_ring_limit();
}

/*
 * Take real space, so that a store into the mapping can never meet a full disk (SIGBUS). Zeros are
 * written rather than asked for with fallocate: the file system then only reserves the blocks, and
 * a ring that is sealed and removed soon never gets any (ext4: its unlink is 40 times cheaper).
 */
bool cap_ring_allocate(int fd, uint64_t offset, uint64_t size)
{
    static const char zeros[4096];
    struct iovec pages[WIO_CHUNK_BYTES / sizeof(zeros)];
    size_t count = size / sizeof(zeros);
    if (count > sizeof(pages) / sizeof(pages[0]) || !cap_ring_is_within_limit(offset + size)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        pages[i] = (struct iovec){(void *)(uintptr_t)zeros, sizeof(zeros)};
    }
    return raw_pwritev(fd, pages, count, offset) == (long)size;
}

/* Out of the range that programs look at and dup2 into, but not so high that the kernel's table of
 * descriptors grows. */
int cap_move_high(int fd)
{
    struct rlimit limit = {1024, 1024};
    (void)raw_call4(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, (long)&limit);
    long least = limit.rlim_cur >= 1024 ? 1000 : (long)limit.rlim_cur - 1;
    long moved = -1;
    for (; least > fd && moved < 0; least--) {
        moved = raw_fcntl(fd, F_DUPFD_CLOEXEC, least);
    }
    if (moved < 0) {
        return fd;
    }
    (void)raw_close(fd);
    return (int)moved;
}

static void make_name(char *path, size_t size, uint64_t mono_ns)
{
    struct wio_fmt name = wio_fmt_of(cap_process.ring_name, sizeof(cap_process.ring_name));
    wio_fmt_str(&name, cap_process.host);
    wio_fmt_str(&name, ".");
    wio_fmt_i64(&name, raw_getpid());
    wio_fmt_str(&name, ".");
    wio_fmt_u64(&name, mono_ns);
    wio_fmt_str(&name, ".ring");
    struct wio_fmt full = wio_fmt_of(path, size);
    wio_fmt_str(&full, cap_process.directory);
    wio_fmt_str(&full, "/");
    wio_fmt_str(&full, cap_process.ring_name);
}

static void copy(char *out, size_t size, const char *text)
{
    struct wio_fmt fmt = wio_fmt_of(out, size);
    wio_fmt_str(&fmt, text);
}

static void fill_header(struct wio_ring_header *header, const struct cap_moment *now,
                        const char *parent_ring, uint32_t first_string)
{
    header->version = WIO_RING_VERSION;
    header->header_bytes = WIO_RING_HEADER_BYTES;
    header->chunk_bytes = WIO_CHUNK_BYTES;
    header->clock = cap_clock_is_tsc ? WIO_CLOCK_TSC : WIO_CLOCK_MONOTONIC_NS;
    header->start_unix_ns = wio_clock_unix_ns();
    header->start_mono_ns = now->mono_ns;
    header->start_ticks = now->ticks;
    header->pid = raw_getpid();
    header->ppid = (int32_t)raw_call3(SYS_getppid, 0, 0, 0);
    header->pid_start = cap_start_of("/proc/self/stat");
    header->rank = cap_process.rank;
    header->ranks = cap_process.ranks;
    header->first_string = first_string;
    header->next_string = first_string;
    header->calls_hash = WIO_CALLS_HASH;
    header->keep = cap_bound.keep;
    header->max_bytes = cap_bound.max_bytes;
    copy(header->parent_ring, sizeof(header->parent_ring), parent_ring);
    copy(header->host, sizeof(header->host), cap_process.host);
    copy(header->job, sizeof(header->job), cap_process.job);
    copy(header->boot_id, sizeof(header->boot_id), cap_process.boot_id);
    uint64_t magic;
    memcpy(&magic, WIO_RING_MAGIC, sizeof(magic));
    __atomic_store_n((uint64_t *)(void *)header->magic, magic, __ATOMIC_RELEASE);
}

static uint32_t current_user(void)
{
    return (uint32_t)raw_call3(SYS_geteuid, 0, 0, 0) + 1;
}

void cap_ring_note_user(void)
{
    struct wio_ring_header *header = cap_process.header;
    if (header == NULL || cap_is_confined) {
        return;
    }
    const uint32_t user = current_user();
    for (uint32_t i = 0; i < WIO_RING_USERS; i++) {
        uint32_t known = 0;
        if (__atomic_compare_exchange_n(&header->users[i], &known, user, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED) ||
            known == user) {
            return;
        }
    }
}

/* In the ring that there is: of the process that made this one, or executes a program. */
static void count_refused(long error)
{
    struct wio_ring_header *header = cap_process.header;
    cap_unseen(WIO_UNSEEN_NO_RING);
    if (header != NULL && error < 0) {
        header->refused_error = (int32_t)-error;
        __atomic_store_n(&header->refused_user, current_user(), __ATOMIC_RELEASE);
    }
}

/* What access(2) says of the real user holds for a program that is executed, which has no
 * capabilities left over; where the effective user is another one, that one's rights are asked for.
 */
void cap_ring_check_access(void)
{
    if (cap_process.header == NULL) {
        return;
    }
    const bool is_real = raw_call3(SYS_getuid, 0, 0, 0) == raw_call3(SYS_geteuid, 0, 0, 0);
    long error = raw_call4(is_real ? SYS_faccessat : SYS_faccessat2, AT_FDCWD,
                           (long)cap_process.directory, W_OK | X_OK, is_real ? 0 : AT_EACCESS);
    if (error == -EACCES || error == -EROFS || error == -ENOENT || error == -ENOTDIR) {
        count_refused(error);
    }
}

/* In a fresh child: let go of the parent's ring. */
static void leave_parent(void)
{
    if (cap_own_is(CAP_OWN_RING, cap_own_fds[CAP_OWN_RING].fd)) {
        (void)raw_close(cap_own_fds[CAP_OWN_RING].fd);
    }
    if (cap_process.header != NULL) {
        (void)raw_munmap(cap_process.header, WIO_RING_HEADER_BYTES);
    }
    cap_own_fds[CAP_OWN_RING].fd = -1;
    cap_process.header = NULL;
}

/* A fresh file of this image's name, with space for the header; -1 where it cannot be made, or
 * found no room. */
static int create_file(uint64_t mono_ns)
{
    static char path[CAP_PATH_MAX + 160]; /* one image at a time: cap_image_begin */
    make_name(path, sizeof(path), mono_ns);
    long fd = raw_openat(AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        count_refused(fd);
        return -1;
    }
    cap_ring_note_user();                     /* in the ring of the process that made this one */
    (void)raw_call3(SYS_fchmod, fd, 0600, 0); /* whatever the program's umask took away */
    if (!cap_ring_allocate((int)fd, 0, WIO_RING_HEADER_BYTES)) {
        (void)raw_close((int)fd); /* without a header it says that there was a process: R-RING-9 */
        return -1;
    }
    return cap_move_high((int)fd);
}

bool cap_ring_create(void)
{
    char parent_ring[sizeof(cap_process.ring_name)] = "";
    uint32_t first_string = 1;
    if (cap_process.header != NULL) {
        copy(parent_ring, sizeof(parent_ring), cap_process.ring_name);
        first_string = __atomic_load_n(&cap_process.header->next_string, __ATOMIC_RELAXED);
    }
    const struct cap_moment now = cap_moment_now();
    int fd = create_file(now.mono_ns);
    void *map = fd < 0 ? NULL
                       : raw_mmap(WIO_RING_HEADER_BYTES, PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_POPULATE, fd, 0);
    leave_parent();
    if (map == NULL) {
        if (fd >= 0) {
            (void)raw_close(fd);
        }
        return false;
    }
    cap_own_set(CAP_OWN_RING, fd);
    fill_header(map, &now, parent_ring, first_string);
    __atomic_store_n(&cap_process.header, map, __ATOMIC_RELEASE);
    return true;
}

/* Apart from its caller, which may run on a small stack: of a signal handler, for instance. */
__attribute__((noinline)) static int reopen(void)
{
    char path[CAP_PATH_MAX + 160];
    struct wio_fmt full = wio_fmt_of(path, sizeof(path));
    wio_fmt_str(&full, cap_process.directory);
    wio_fmt_str(&full, "/");
    wio_fmt_str(&full, cap_process.ring_name);
    long fd = raw_openat(AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
    if (fd < 0) {
        return -1;
    }
    if (!cap_own_is(CAP_OWN_RING, (int)fd)) {
        (void)raw_close((int)fd);
        return -1;
    }
    cap_own_fds[CAP_OWN_RING].fd = cap_move_high((int)fd);
    return cap_own_fds[CAP_OWN_RING].fd;
}

int cap_ring_fd(void)
{
    return CAP_LIKELY(cap_own_is(CAP_OWN_RING, cap_own_fds[CAP_OWN_RING].fd))
               ? cap_own_fds[CAP_OWN_RING].fd
               : reopen();
}
