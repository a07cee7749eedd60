/* SPDX-License-Identifier: Apache-2.0 */
/* The table of descriptors: what each is, from its open or from /proc. */
#include <string.h>
#include <sys/mman.h>
#include <sys/statfs.h>

#include "base/fmt.h"
#include "capture/core/process.h"
#include "capture/core/raw.h"
#include "capture/core/ring/bound.h"
#include "capture/files/fd_number.h"
#include "capture/files/fds.h"

/* linux/magic.h does not have it. */
#define MQUEUE_MAGIC 0x19800202
#define MQUEUE_AT "/dev/mqueue"

bool cap_fds_have_mpi;

static bool is_name(const char *name, const char *text, size_t length)
{
    return length == strlen(name) && memcmp(text, name, length) == 0;
}

/* The kernel names message queues (mq_open) as if they lay in the root directory. */
static bool is_message_queue(int fd, const char *text, size_t length)
{
    struct statfs st;
    return length > 1 && text[0] == '/' && memchr(text + 1, '/', length - 1) == NULL &&
           raw_call3(SYS_fstatfs, fd, (long)&st, 0) == 0 && st.f_type == MQUEUE_MAGIC;
}

/* All of one kind have the same name: theirs is made of what the kernel says of each. The number of
 * a process goes to *process_out. */
static size_t own_name(int fd, char *text, size_t length, size_t size, int64_t *process_out)
{
    uint64_t number;
    if (is_name("anon_inode:[eventfd]", text, length) &&
        cap_fd_number(fd, "eventfd-id:", &number)) {
        return cap_fd_numbered_name("eventfd:[", number, "]", text, size);
    }
    if (is_name("anon_inode:[pidfd]", text, length) && cap_fd_number(fd, "Pid:", &number)) {
        *process_out = (int64_t)number;
        return cap_fd_numbered_name("anon_inode:[pidfd:", number, "]", text, size);
    }
    if (length + strlen(MQUEUE_AT) < size && is_message_queue(fd, text, length)) {
        memmove(text + strlen(MQUEUE_AT), text, length);
        memcpy(text, MQUEUE_AT, sizeof(MQUEUE_AT) - 1);
        return length + strlen(MQUEUE_AT);
    }
    return length;
}

/* A name that is longer than most. */
static uint32_t long_name(struct cap_thread *self, const char *link)
{
    char *text = raw_mmap(CAP_PATH_MAX, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (text == NULL) {
        return WIO_NO_STRING;
    }
    long length = raw_readlink(link, text, CAP_PATH_MAX);
    uint32_t id = length > 0 ? cap_text(self, text, (size_t)length) : WIO_NO_STRING;
    (void)raw_munmap(text, CAP_PATH_MAX);
    return id;
}

static uint32_t name_of(struct cap_thread *self, int fd, int64_t *process_out)
{
    char link[48];
    char text[CAP_SHORT_TEXT];
    struct wio_fmt fmt = wio_fmt_of(link, sizeof(link));
    wio_fmt_str(&fmt, "/proc/self/fd/");
    wio_fmt_i64(&fmt, fd);
    long length = raw_readlink(link, text, sizeof(text));
    if (length <= 0) {
        return WIO_NO_STRING;
    }
    if (length == (long)sizeof(text)) { /* perhaps cut */
        return long_name(self, link);
    }
    return cap_text(self, text, own_name(fd, text, (size_t)length, sizeof(text), process_out));
}

uint32_t cap_fd_learn(struct cap_thread *self, int fd)
{
    if (fd < 0 || cap_fd_is_ours(fd)) {
        return WIO_NO_STRING;
    }
    int64_t process = 0;
    uint32_t id = name_of(self, fd, &process);
    struct cap_fd *entry = cap_fd_is_guest() || id == WIO_NO_STRING ? NULL : cap_fd_entry(fd);
    if (entry != NULL) {
        long flags = raw_fcntl(fd, F_GETFL, 0);
        entry->path = id;
        entry->process = process;
        __atomic_store_n(&entry->flags,
                         CAP_FD_KNOWN | CAP_FD_SHARED |
                             (entry->flags & (CAP_FD_MPI_FILE | CAP_FD_MPI_SIDE)) |
                             (flags > 0 && (flags & O_APPEND) != 0 ? CAP_FD_APPEND : 0u),
                         __ATOMIC_RELEASE);
    }
    return id;
}

int64_t cap_fd_process(int fd)
{
    const struct cap_fd *entry = fd >= 0 ? cap_fd_find(fd) : NULL;
    return entry != NULL && (entry->flags & CAP_FD_KNOWN) != 0 ? entry->process : 0;
}

static inline void set(int fd, uint32_t path, int open_flags)
{
    struct cap_fd *entry = fd >= 0 && !cap_fd_is_guest() ? cap_fd_entry(fd) : NULL;
    if (entry == NULL) {
        return;
    }
    entry->path = path;
    entry->pos = 0;
    entry->process = 0;
    if (path == WIO_NO_STRING) { /* dropped on a full disk: to be learned when there is space */
        __atomic_store_n(&entry->flags, 0, __ATOMIC_RELEASE);
        return;
    }
    __atomic_store_n(&entry->flags,
                     CAP_FD_KNOWN | ((open_flags & O_APPEND) != 0 ? CAP_FD_APPEND : 0u) |
                         ((open_flags & O_CLOEXEC) != 0 ? CAP_FD_CLOEXEC : 0u),
                     __ATOMIC_RELEASE);
}

/* The last events are kept: the open itself may be overwritten. */
static __attribute__((noinline)) void set_and_tell(int fd, uint32_t path, int open_flags)
{
    set(fd, path, open_flags);
    if (path != WIO_NO_STRING) {
        cap_bound_opened(cap_self, fd, path, open_flags);
    }
}

void cap_fd_set(int fd, uint32_t path, int open_flags)
{
    if (CAP_UNLIKELY(cap_bound_keeps_last())) {
        set_and_tell(fd, path, open_flags);
    } else {
        set(fd, path, open_flags);
    }
}

void cap_fd_set_mpi(int fd, bool is_side)
{
    struct cap_fd *entry = fd >= 0 && !cap_fd_is_guest() ? cap_fd_entry(fd) : NULL;
    if (entry != NULL) {
        cap_fd_put_flag(entry, is_side ? CAP_FD_MPI_SIDE : CAP_FD_MPI_FILE, true);
        __atomic_store_n(&cap_fds_have_mpi, true, __ATOMIC_RELAXED);
    }
}

void cap_fd_clear(int fd)
{
    struct cap_fd *entry = fd >= 0 ? cap_fd_find(fd) : NULL;
    if (entry != NULL && entry->flags != 0 && !cap_fd_is_guest()) {
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

void cap_fd_dup(struct cap_thread *self, int old_fd, int new_fd, bool is_cloexec)
{
    if (cap_fd_is_guest()) {
        cap_fd_share_with_guest(old_fd); /* the program that the child becomes has the duplicate */
        return;
    }
    if (old_fd == new_fd) {
        return;
    }
    uint32_t path = cap_fd_path(self, old_fd);
    struct cap_fd *from = cap_fd_find(old_fd);
    struct cap_fd *to = new_fd >= 0 ? cap_fd_entry(new_fd) : NULL;
    if (from == NULL || to == NULL || path == WIO_NO_STRING) {
        cap_fd_clear(new_fd);
        return;
    }
    cap_fd_put_flag(from, CAP_FD_SHARED, true);
    to->path = path;
    to->pos = from->pos;
    to->process = from->process;
    uint32_t flags = from->flags & ~(uint32_t)CAP_FD_CLOEXEC;
    __atomic_store_n(&to->flags, flags | (is_cloexec ? CAP_FD_CLOEXEC : 0u), __ATOMIC_RELEASE);
}

void cap_fd_set_cloexec(int fd, bool is_cloexec)
{
    if (cap_fd_is_guest() && !is_cloexec) {
        cap_fd_share_with_guest(fd);
    }
    struct cap_fd *entry = fd >= 0 ? cap_fd_find(fd) : NULL;
    if (entry != NULL && (entry->flags & CAP_FD_KNOWN) != 0 && !cap_fd_is_guest()) {
        cap_fd_put_flag(entry, CAP_FD_CLOEXEC, is_cloexec);
    }
}

void cap_fd_set_append(int fd, bool is_append)
{
    struct cap_fd *entry = fd >= 0 ? cap_fd_find(fd) : NULL;
    if (entry == NULL || (entry->flags & CAP_FD_KNOWN) == 0 || cap_fd_is_guest()) {
        return;
    }
    if (!is_append && (entry->flags & CAP_FD_APPEND) != 0) {
        cap_fd_put_flag(entry, CAP_FD_SHARED,
                        true); /* the position is wherever the last write went */
    }
    cap_fd_put_flag(entry, CAP_FD_APPEND, is_append);
}
