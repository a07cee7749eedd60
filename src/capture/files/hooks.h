/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What generated wrappers need besides capture.h: fields that are more than a parameter, and what a
 * successful call changes in our tables (cap_after_*). The hooks run after the real call; errno may
 * only be read. `ext` is NULL where the event has none.
 */
#ifndef WIO_CAPTURE_FILES_HOOKS_H
#define WIO_CAPTURE_FILES_HOOKS_H

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

#include "capture/core/capture.h"
#include "capture/core/features.h"
#include "capture/files/channels.h"
#include "capture/files/paths.h"

#define CAP_TEMP_FLAGS (O_RDWR | O_CREAT | O_EXCL)

/* open's third argument is there only if the flags create something. */
#define CAP_OPEN_MODE(mode, flags)                                                                 \
    do {                                                                                           \
        (mode) = 0;                                                                                \
        if (((flags)&O_CREAT) != 0 || ((flags)&__O_TMPFILE) == __O_TMPFILE) {                      \
            va_list cap_arguments_;                                                                \
            va_start(cap_arguments_, flags);                                                       \
            (mode) = va_arg(cap_arguments_, mode_t);                                               \
            va_end(cap_arguments_);                                                                \
        }                                                                                          \
    } while (0)

/* May we read what `at` points to, after the call? A failure can come before the kernel has looked
 * at it. */
static inline bool cap_may_read(const void *at, int error)
{
    return at != NULL && error != EFAULT && (CAP_LIKELY(error == 0) || cap_is_readable(at));
}

/* The kernel's mask is the first word of libc's. */
static inline int64_t cap_mask_of(const sigset_t *mask, int error)
{
    return cap_may_read(mask, error) ? *(const int64_t *)(const void *)mask : 0;
}

/* Failures that come after the kernel has read the call's vector: we may read it too. */
static inline bool cap_vector_was_read(int error)
{
    return error == 0 || error == EAGAIN || error == EINTR || error == ENOSPC || error == EPIPE ||
           error == EIO || error == EFBIG || error == EDQUOT;
}

/* The sum of a vector's lengths; not where it may be unreadable. */
static inline uint64_t cap_iov_bytes(const struct iovec *iov, size_t count, int error)
{
    uint64_t bytes = 0;
    if (!cap_vector_was_read(error)) {
        return WIO_NO_SIZE;
    }
    for (size_t i = 0; i < count; i++) {
        bytes += iov[i].iov_len;
    }
    return bytes;
}

static inline uint64_t cap_message_bytes(const struct msghdr *message, int error)
{
    return cap_vector_was_read(error) ? cap_iov_bytes(message->msg_iov, message->msg_iovlen, error)
                                      : WIO_NO_SIZE;
}

/* Of all messages that were to be transferred, and of those that were. */
static inline uint64_t cap_messages_bytes(const struct mmsghdr *messages, unsigned count, int error)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < count && cap_vector_was_read(error); i++) {
        bytes += cap_iov_bytes(messages[i].msg_hdr.msg_iov, messages[i].msg_hdr.msg_iovlen, 0);
    }
    return cap_vector_was_read(error) ? bytes : WIO_NO_SIZE;
}

static inline int64_t cap_messages_done(const struct mmsghdr *messages, int result)
{
    int64_t bytes = 0;
    for (int i = 0; i < result; i++) {
        bytes += messages[i].msg_len;
    }
    return result < 0 ? -1 : bytes;
}

/* preadv2 and pwritev2: -1 is the descriptor's position. */
static inline int64_t cap_offset_or_position(int fd, int64_t offset, int64_t result)
{
    return offset == -1 ? cap_fd_advance(fd, result) : offset;
}

enum cap_copy_side { CAP_COPY_IN, CAP_COPY_OUT };

/* sendfile and its like: *offset has been moved by the call; NULL is the descriptor's position. */
static inline int64_t cap_copy_offset(int fd, const int64_t *offset, int64_t result,
                                      enum cap_copy_side side)
{
    (void)side;
    if (offset == NULL) {
        return cap_fd_advance(fd, result);
    }
    if (!cap_may_read(offset, result < 0 ? errno : 0)) {
        return WIO_NO_OFFSET;
    }
    return *offset - (result > 0 ? result : 0);
}

static inline uint32_t cap_string_of(struct cap_thread *self, int error, const char *text)
{
    return cap_may_read(text, error) ? cap_text(self, text, strlen(text)) : WIO_NO_STRING;
}

static inline uint32_t cap_text_of(struct cap_thread *self, int error, const char *text,
                                   ssize_t bytes)
{
    return error == 0 && bytes > 0 ? cap_text(self, text, (size_t)bytes) : WIO_NO_STRING;
}

static inline void cap_after_open(struct cap_thread *self, const struct cap_event *ev,
                                  const struct cap_ext *ext, int flags)
{
    (void)ext;
    if (ev->result >= 0) {
        cap_fd_set((int)ev->result, ev->path, flags);
        cap_on_opened(self, ev->source, (int)ev->result);
    }
}

static inline void cap_after_memfd(struct cap_thread *self, struct cap_event *ev,
                                   const struct cap_ext *ext, unsigned flags)
{
    (void)ext;
    if (ev->result >= 0) {
        cap_fd_clear((int)ev->result);
        ev->path = cap_fd_learn(self, (int)ev->result);
        cap_fd_set((int)ev->result, ev->path, (flags & MFD_CLOEXEC) != 0 ? O_CLOEXEC : 0);
    }
}

static inline void cap_after_channel(struct cap_thread *self, struct cap_event *ev,
                                     struct cap_ext *ext, const int *ends)
{
    cap_channel_pair(self, ev, ext, ends);
}

static inline void cap_after_eventfd(struct cap_thread *self, struct cap_event *ev,
                                     const struct cap_ext *ext)
{
    (void)ext;
    cap_channel_made(self, ev);
}

static inline int64_t cap_timer_ns(const struct itimerspec *time, int error)
{
    int64_t ns;
    if (!cap_may_read(time, error)) {
        return 0;
    }
    bool is_never = __builtin_mul_overflow(time->it_value.tv_sec, 1000000000, &ns) ||
                    __builtin_add_overflow(ns, time->it_value.tv_nsec, &ns);
    return is_never ? INT64_MAX : ns;
}

/* A process that has ended: no call behind this one need tell of it. */
static inline void cap_after_poll(struct cap_thread *self, struct cap_event *ev,
                                  const struct cap_ext *ext, const struct pollfd *fds, nfds_t count)
{
    (void)ext;
    for (nfds_t i = 0; ev->result > 0 && i < count; i++) {
        if ((fds[i].revents & POLLIN) != 0 && cap_fd_process(fds[i].fd) != 0) {
            ev->fd = fds[i].fd;
            ev->path = cap_fd_path(self, fds[i].fd);
            return;
        }
    }
}

static inline void cap_after_accept(struct cap_thread *self, struct cap_event *ev,
                                    struct cap_ext *ext)
{
    cap_channel_accepted(self, ev, ext);
}

static inline void cap_after_connect(struct cap_thread *self, const struct cap_event *ev,
                                     struct cap_ext *ext, const struct sockaddr *address,
                                     socklen_t length)
{
    cap_channel_connected(self, ev, ext, address, length);
}

static inline void cap_after_socket(struct cap_thread *self, struct cap_event *ev,
                                    const struct cap_ext *ext)
{
    (void)ext;
    cap_channel_made(self, ev);
}

static inline void cap_after_sent_to(struct cap_thread *self, const struct cap_event *ev,
                                     const struct cap_ext *ext, const struct sockaddr *address)
{
    (void)ext;
    if (ev->result >= 0 && address != NULL) {
        cap_channel_sent_to(self, ev);
    }
}

static inline void cap_after_sent(struct cap_thread *self, const struct cap_event *ev,
                                  const struct cap_ext *ext, const struct msghdr *message)
{
    (void)ext;
    if (ev->result >= 0 && message->msg_controllen > 0) {
        cap_fd_share_sent(message);
    }
    if (ev->result >= 0 && message->msg_name != NULL) {
        cap_channel_sent_to(self, ev);
    }
}

static inline void cap_after_seek(struct cap_thread *self, const struct cap_event *ev,
                                  const struct cap_ext *ext, int fd)
{
    (void)self;
    (void)ext;
    if (ev->result >= 0) {
        cap_fd_seek(fd, ev->result);
    }
}

#define CAP_STAT_ARGS(ext, buf)                                                                    \
    do {                                                                                           \
        (ext)->arg[1] = (int64_t)(buf)->st_mode;                                                   \
        (ext)->arg[2] = (int64_t)(buf)->st_size;                                                   \
        (ext)->arg[3] = (int64_t)(buf)->st_nlink;                                                  \
    } while (0)

#define cap_after_stat(self, ev, ext, buf)                                                         \
    do {                                                                                           \
        if ((ev)->result == 0) {                                                                   \
            CAP_STAT_ARGS(ext, buf);                                                               \
        }                                                                                          \
    } while (0)

static inline void cap_after_statx(struct cap_thread *self, const struct cap_event *ev,
                                   struct cap_ext *ext, const struct statx *buf)
{
    (void)self;
    if (ev->result == 0) {
        ext->arg[1] = buf->stx_mode;
        ext->arg[2] = (int64_t)buf->stx_size;
        ext->arg[3] = buf->stx_nlink;
    }
}

static inline void cap_after_utimbuf(struct cap_thread *self, const struct cap_event *ev,
                                     struct cap_ext *ext, const struct utimbuf *times)
{
    (void)self;
    if (cap_may_read(times, ev->error)) {
        ext->arg[0] = times->actime;
        ext->arg[2] = times->modtime;
    } else {
        ext->arg[1] = UTIME_NOW;
        ext->arg[3] = UTIME_NOW;
    }
}

static inline void cap_after_timevals(struct cap_thread *self, const struct cap_event *ev,
                                      struct cap_ext *ext, const struct timeval *times)
{
    (void)self;
    if (cap_may_read(times, ev->error)) {
        ext->arg[0] = times[0].tv_sec;
        ext->arg[1] = times[0].tv_usec * 1000;
        ext->arg[2] = times[1].tv_sec;
        ext->arg[3] = times[1].tv_usec * 1000;
    } else {
        ext->arg[1] = UTIME_NOW;
        ext->arg[3] = UTIME_NOW;
    }
}

static inline void cap_after_timespecs(struct cap_thread *self, const struct cap_event *ev,
                                       struct cap_ext *ext, const struct timespec *times)
{
    (void)self;
    if (cap_may_read(times, ev->error)) {
        ext->arg[0] = times[0].tv_sec;
        ext->arg[1] = times[0].tv_nsec;
        ext->arg[2] = times[1].tv_sec;
        ext->arg[3] = times[1].tv_nsec;
    } else {
        ext->arg[1] = UTIME_NOW;
        ext->arg[3] = UTIME_NOW;
    }
}

static inline void cap_before_chdir(struct cap_thread *self)
{
    cap_cwd_leave(self);
}

static inline void cap_after_chdir(struct cap_thread *self, const struct cap_event *ev,
                                   const struct cap_ext *ext)
{
    (void)ext;
    self->files.left_cwd = WIO_NO_STRING;
    if (ev->result == 0) {
        cap_cwd_changed();
    }
}

#endif
