/* SPDX-License-Identifier: Apache-2.0 */
/* The table of descriptors: path, kind and position of each. */
#include <string.h>
#include <sys/mman.h>

#include "base/fmt.h"
#include "capture/process.h"
#include "capture/raw.h"

struct cap_fd *cap_fd_blocks[CAP_FD_BLOCKS];
int *const cap_ring_fd_place = &cap_process.ring_fd;

#define BLOCK_BYTES (CAP_FD_BLOCK * sizeof(struct cap_fd))

_Static_assert(sizeof(struct cap_fd) == 64, "one cache line per descriptor");

/* A child of vfork has descriptors of its own, but our memory: it must not change the table. */
static bool is_guest(void)
{
    return (cap_self->flags & WIO_EVENT_VFORK) != 0;
}

/* The entry, made where it is not there; NULL where there is no memory or no such descriptor. */
static struct cap_fd *entry_of(int fd)
{
    struct cap_fd *entry = cap_fd_find(fd);
    unsigned block = (unsigned)fd / CAP_FD_BLOCK;
    if (entry != NULL || block >= CAP_FD_BLOCKS) {
        return entry;
    }
    struct cap_fd *fresh =
        raw_mmap(BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fresh == NULL) {
        return NULL;
    }
    struct cap_fd *expected = NULL;
    if (!__atomic_compare_exchange_n(&cap_fd_blocks[block], &expected, fresh, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        (void)raw_munmap(fresh, BLOCK_BYTES);
    }
    return cap_fd_find(fd);
}

uint32_t cap_fd_learn(struct cap_thread *self, int fd)
{
    char name[48];
    char text[CAP_PATH_MAX];
    if (fd < 0 || cap_fd_is_ours(fd)) {
        return WIO_NO_STRING;
    }
    struct wio_fmt fmt = wio_fmt_of(name, sizeof(name));
    wio_fmt_str(&fmt, "/proc/self/fd/");
    wio_fmt_i64(&fmt, fd);
    long length = raw_readlink(name, text, sizeof(text));
    if (length <= 0) {
        return WIO_NO_STRING;
    }
    uint32_t id = cap_text(self, text, (size_t)length);
    struct cap_fd *entry = is_guest() || id == WIO_NO_STRING ? NULL : entry_of(fd);
    if (entry != NULL) {
        long flags = raw_fcntl(fd, F_GETFL, 0);
        entry->path = id;
        __atomic_store_n(&entry->flags,
                         CAP_FD_KNOWN | CAP_FD_SHARED |
                             (flags > 0 && (flags & O_APPEND) != 0 ? CAP_FD_APPEND : 0u),
                         __ATOMIC_RELEASE);
    }
    return id;
}

void cap_fd_set(int fd, uint32_t path, int open_flags)
{
    struct cap_fd *entry = fd >= 0 && !is_guest() ? entry_of(fd) : NULL;
    if (entry == NULL) {
        return;
    }
    entry->path = path;
    entry->pos = 0;
    if (path == WIO_NO_STRING) { /* dropped on a full disk: to be learned when there is space */
        __atomic_store_n(&entry->flags, 0, __ATOMIC_RELEASE);
        return;
    }
    __atomic_store_n(&entry->flags,
                     CAP_FD_KNOWN | ((open_flags & O_APPEND) != 0 ? CAP_FD_APPEND : 0u) |
                         ((open_flags & O_CLOEXEC) != 0 ? CAP_FD_CLOEXEC : 0u),
                     __ATOMIC_RELEASE);
}

void cap_fd_clear(int fd)
{
    struct cap_fd *entry = fd >= 0 ? cap_fd_find(fd) : NULL;
    if (entry != NULL && entry->flags != 0 && !is_guest()) {
        __atomic_store_n(&entry->flags, 0, __ATOMIC_RELEASE);
    }
}

void cap_fd_clear_range(unsigned first, unsigned last)
{
    for (unsigned block = first / CAP_FD_BLOCK;
         block < CAP_FD_BLOCKS && block <= last / CAP_FD_BLOCK; block++) {
        if (cap_fd_blocks[block] == NULL) {
            continue;
        }
        unsigned base = block * CAP_FD_BLOCK;
        for (unsigned i = 0; i < CAP_FD_BLOCK; i++) {
            if (base + i >= first && base + i <= last) {
                cap_fd_clear((int)(base + i));
            }
        }
    }
}

static void set_flag(struct cap_fd *entry, uint32_t flag, bool is_on)
{
    if (is_on) {
        (void)__atomic_fetch_or(&entry->flags, flag, __ATOMIC_RELAXED);
    } else {
        (void)__atomic_fetch_and(&entry->flags, ~flag, __ATOMIC_RELAXED);
    }
}

void cap_fd_dup(struct cap_thread *self, int old_fd, int new_fd, bool is_cloexec)
{
    if (old_fd == new_fd || is_guest()) {
        return;
    }
    uint32_t path = cap_fd_path(self, old_fd);
    struct cap_fd *from = cap_fd_find(old_fd);
    struct cap_fd *to = new_fd >= 0 ? entry_of(new_fd) : NULL;
    if (from == NULL || to == NULL || path == WIO_NO_STRING) {
        cap_fd_clear(new_fd);
        return;
    }
    set_flag(from, CAP_FD_SHARED, true);
    to->path = path;
    to->pos = from->pos;
    uint32_t flags = from->flags & ~(uint32_t)CAP_FD_CLOEXEC;
    __atomic_store_n(&to->flags, flags | (is_cloexec ? CAP_FD_CLOEXEC : 0u), __ATOMIC_RELEASE);
}

void cap_fd_set_cloexec(int fd, bool is_cloexec)
{
    struct cap_fd *entry = fd >= 0 ? cap_fd_find(fd) : NULL;
    if (entry != NULL && (entry->flags & CAP_FD_KNOWN) != 0 && !is_guest()) {
        set_flag(entry, CAP_FD_CLOEXEC, is_cloexec);
    }
}

static void share_block(struct cap_fd *entries, bool only_inherited)
{
    for (unsigned i = 0; i < CAP_FD_BLOCK; i++) {
        uint32_t flags = entries[i].flags;
        if ((flags & CAP_FD_KNOWN) != 0 && (flags & CAP_FD_SHARED) == 0 &&
            !(only_inherited && (flags & CAP_FD_CLOEXEC) != 0)) {
            set_flag(&entries[i], CAP_FD_SHARED, true);
        }
    }
}

void cap_fd_share_all(bool only_inherited)
{
    for (unsigned block = 0; block < CAP_FD_BLOCKS; block++) {
        if (cap_fd_blocks[block] != NULL) {
            share_block(cap_fd_blocks[block], only_inherited);
        }
    }
}

/* What kind of file is it? Asked once, by the first operation that needs a position. */
static void find_type(int fd, struct cap_fd *entry)
{
    struct stat st = {0};
    uint32_t flags = CAP_FD_TYPED;
    if (raw_fstat(fd, &st) == 0) {
        flags |= S_ISREG(st.st_mode) ? CAP_FD_REGULAR | CAP_FD_SEEKS : 0;
        flags |= S_ISBLK(st.st_mode) || S_ISDIR(st.st_mode) ? CAP_FD_SEEKS : 0;
        set_flag(entry, flags, true);
    }
}

/* Where an operation that has just moved `done` bytes began, by the kernel's own position. */
static int64_t begin_of(int fd, int64_t done)
{
    int64_t pos = raw_lseek(fd, 0, SEEK_CUR);
    return pos >= 0 && pos >= done ? pos - done : WIO_NO_OFFSET;
}

int64_t cap_fd_advance_slow(int fd, int64_t result)
{
    if (is_guest()) {
        return begin_of(fd, result > 0 ? result : 0);
    }
    struct cap_fd *entry = fd >= 0 ? cap_fd_find(fd) : NULL;
    if (entry == NULL || (entry->flags & CAP_FD_KNOWN) == 0) {
        return WIO_NO_OFFSET;
    }
    if ((entry->flags & CAP_FD_TYPED) == 0) {
        find_type(fd, entry);
    }
    if ((entry->flags & CAP_FD_SEEKS) == 0) {
        return WIO_NO_OFFSET;
    }
    int64_t done = result > 0 ? result : 0;
    if ((entry->flags & (CAP_FD_SHARED | CAP_FD_APPEND)) == 0) {
        return __atomic_fetch_add(&entry->pos, done, __ATOMIC_RELAXED);
    }
    int64_t pos = raw_lseek(fd, 0, SEEK_CUR);
    if (pos < 0) {
        return WIO_NO_OFFSET;
    }
    entry->pos = pos;
    return pos >= done ? pos - done : WIO_NO_OFFSET;
}

void cap_fd_seek(int fd, int64_t pos)
{
    struct cap_fd *entry = fd >= 0 ? cap_fd_find(fd) : NULL;
    if (entry != NULL && (entry->flags & CAP_FD_KNOWN) != 0) {
        __atomic_store_n(&entry->pos, pos, __ATOMIC_RELAXED);
    }
}

int64_t cap_fd_position(int fd)
{
    struct cap_fd *entry = fd >= 0 ? cap_fd_find(fd) : NULL;
    uint32_t flags = entry != NULL ? entry->flags : 0;
    bool is_sure = (flags & CAP_FD_SEEKS) != 0 && (flags & (CAP_FD_SHARED | CAP_FD_APPEND)) == 0;
    return is_sure ? __atomic_load_n(&entry->pos, __ATOMIC_RELAXED) : WIO_NO_OFFSET;
}

bool cap_fd_is_ours(int fd)
{
    return fd >= 0 && ((fd == cap_process.ring_fd && cap_ring_is(fd)) || cap_pages_is(fd));
}

unsigned cap_fd_ours_within(unsigned first, unsigned last, unsigned ours[CAP_OWN_FDS])
{
    unsigned low = (unsigned)cap_process.ring_fd;
    unsigned high = (unsigned)cap_pages_fd;
    unsigned count = 0;
    if (low > high) {
        unsigned other = low;
        low = high;
        high = other;
    }
    const unsigned both[CAP_OWN_FDS] = {low, high};
    for (unsigned i = 0; i < CAP_OWN_FDS; i++) {
        if (both[i] >= first && both[i] <= last && cap_fd_is_ours((int)both[i])) {
            ours[count++] = both[i];
        }
    }
    return count;
}

void cap_fd_make_room(int fd)
{
    if (!cap_fd_is_ours(fd)) {
        return;
    }
    long moved = raw_fcntl(fd, F_DUPFD_CLOEXEC, fd + 1);
    if (moved < 0) {
        moved = raw_fcntl(fd, F_DUPFD_CLOEXEC, 3);
    }
    if (moved >= 0) {
        int *place = fd == cap_pages_fd ? &cap_pages_fd : &cap_process.ring_fd;
        __atomic_store_n(place, (int)moved, __ATOMIC_RELEASE);
    }
}

void cap_fd_set_append(int fd, bool is_append)
{
    struct cap_fd *entry = fd >= 0 ? cap_fd_find(fd) : NULL;
    if (entry == NULL || (entry->flags & CAP_FD_KNOWN) == 0 || is_guest()) {
        return;
    }
    if (!is_append && (entry->flags & CAP_FD_APPEND) != 0) {
        set_flag(entry, CAP_FD_SHARED, true); /* the position is wherever the last write went */
    }
    set_flag(entry, CAP_FD_APPEND, is_append);
}

void cap_cwd_changed(void)
{
    if (is_guest()) {
        return; /* a process of its own here, too: its relative paths are its parent's until exec */
    }
    __atomic_store_n(&cap_process.cwd, WIO_NO_STRING, __ATOMIC_RELAXED);
}
