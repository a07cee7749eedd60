/* SPDX-License-Identifier: Apache-2.0 */
/* close, dup and fcntl: calls that change which descriptor is what. Our own descriptor must look
 * closed to the program, and stay open. */
#include "capture/hooks.h"
#include "capture/process.h"

#include <linux/fs.h>
#include <sys/ioctl.h>

static int bad_descriptor(void)
{
    errno = EBADF;
    return -1;
}

static inline int close_as(unsigned call, int fd, uintptr_t source)
{
    int (*real)(int) = (int (*)(int))cap_real(call);
    if (CAP_UNLIKELY(cap_fd_is_ours_maybe(fd))) {
        return bad_descriptor();
    }
    struct cap_thread *self = cap_enter_fd(source, call, fd);
    if (CAP_UNLIKELY(self == NULL)) {
        cap_fd_clear(fd);
        return real(fd);
    }
    struct cap_event ev = CAP_EVENT_OF(call, source);
    ev.fd = fd;
    ev.path = cap_fd_path(self, fd);
    cap_fd_clear(fd); /* before: afterwards another thread may have got the number */
    ev.begin = cap_now();
    int result = real(fd);
    ev.end = cap_now();
    ev.result = result;
    ev.error = result < 0 ? errno : 0;
    cap_emit(self, &ev);
    return result;
}

#define DEFINE_CLOSE(symbol)                                                                       \
    CAP_EXPORT int symbol(int fd);                                                                 \
    CAP_EXPORT int symbol(int fd)                                                                  \
    {                                                                                              \
        return close_as(WIO_CALL_##symbol, fd, CAP_CALLER());                                      \
    }

DEFINE_CLOSE(close)
DEFINE_CLOSE(__close)

/* close_range, in two pieces around our descriptor where it lies within and is to be closed. */
static int close_around(unsigned first, unsigned last, int flags)
{
    int (*real)(unsigned, unsigned, int) = CAP_REAL(close_range);
    unsigned ours = (unsigned)cap_process.ring_fd;
    if (cap_process.ring_fd < 0 || ours < first || ours > last || first > last ||
        (flags & (int)CLOSE_RANGE_CLOEXEC) != 0 || !cap_fd_is_ours(cap_process.ring_fd)) {
        return real(first, last, flags);
    }
    int result = 0;
    if (ours > first) {
        result = real(first, ours - 1, flags);
    }
    if (result == 0 && ours < last) {
        result = real(ours + 1, last, flags);
    }
    return result;
}

static void forget_range(unsigned first, unsigned last, int flags)
{
    if (first <= last && (flags & (int)CLOSE_RANGE_CLOEXEC) == 0) {
        cap_fd_clear_range(first, last);
    }
}

CAP_EXPORT int close_range(unsigned int first, unsigned int last, int flags)
{
    const uintptr_t source = CAP_CALLER();
    struct cap_thread *self = cap_enter(source, WIO_CALL_close_range);
    forget_range(first, last, flags);
    if (CAP_UNLIKELY(self == NULL)) {
        return close_around(first, last, flags);
    }
    struct cap_event ev = CAP_EVENT(close_range, source);
    struct cap_ext ext = CAP_EXT;
    ev.begin = cap_now();
    int result = close_around(first, last, flags);
    ev.end = cap_now();
    ev.result = result;
    ev.error = result < 0 ? errno : 0;
    ext.arg[0] = first;
    ext.arg[1] = last;
    ext.arg[2] = flags;
    cap_emit_ext(self, &ev, &ext);
    return result;
}

static void close_from(int first)
{
    int ours = cap_process.ring_fd;
    if (ours < 0 || ours < first || !cap_fd_is_ours(ours)) {
        CAP_REAL(closefrom)(first);
        return;
    }
    unsigned low = first > 0 ? (unsigned)first : 0;
    if (CAP_REAL(close_range) == NULL || close_around(low, ~0u, 0) < 0) {
        for (int fd = (int)low; fd < ours; fd++) {
            (void)CAP_REAL(close)(fd);
        }
        CAP_REAL(closefrom)(ours + 1);
    }
}

CAP_EXPORT void closefrom(int first)
{
    const uintptr_t source = CAP_CALLER();
    struct cap_thread *self = cap_enter(source, WIO_CALL_closefrom);
    forget_range(first > 0 ? (unsigned)first : 0, ~0u, 0);
    if (CAP_UNLIKELY(self == NULL)) {
        close_from(first);
        return;
    }
    struct cap_event ev = CAP_EVENT(closefrom, source);
    struct cap_ext ext = CAP_EXT;
    ev.begin = cap_now();
    close_from(first);
    ev.end = cap_now();
    ext.arg[0] = first;
    cap_emit_ext(self, &ev, &ext);
}

static void emit_dup(struct cap_thread *self, struct cap_event *ev, int fd, int result, int asked,
                     int flags)
{
    ev->end = cap_now();
    ev->fd = fd;
    ev->path = cap_fd_path(self, fd);
    ev->result = result;
    ev->error = result < 0 ? errno : 0;
    ev->offset = asked;
    ev->size = (uint64_t)flags;
    if (result >= 0) {
        cap_fd_dup(self, fd, result, (flags & O_CLOEXEC) != 0);
    }
    cap_emit(self, ev);
}

CAP_EXPORT int dup(int fd)
{
    const uintptr_t source = CAP_CALLER();
    if (CAP_UNLIKELY(cap_fd_is_ours_maybe(fd))) {
        return bad_descriptor();
    }
    struct cap_thread *self = cap_enter(source, WIO_CALL_dup);
    if (CAP_UNLIKELY(self == NULL)) {
        return CAP_REAL(dup)(fd);
    }
    struct cap_event ev = CAP_EVENT(dup, source);
    ev.begin = cap_now();
    int result = CAP_REAL(dup)(fd);
    emit_dup(self, &ev, fd, result, -1, 0);
    return result;
}

static inline int dup2_as(unsigned call, int fd, int fd2, uintptr_t source)
{
    int (*real)(int, int) = (int (*)(int, int))cap_real(call);
    if (CAP_UNLIKELY(cap_fd_is_ours_maybe(fd))) {
        return bad_descriptor();
    }
    cap_fd_make_room(fd2);
    struct cap_thread *self = cap_enter(source, call);
    if (CAP_UNLIKELY(self == NULL)) {
        if (fd != fd2) {
            cap_fd_clear(fd2);
        }
        return real(fd, fd2);
    }
    struct cap_event ev = CAP_EVENT_OF(call, source);
    ev.begin = cap_now();
    int result = real(fd, fd2);
    emit_dup(self, &ev, fd, result, fd2, 0);
    return result;
}

CAP_EXPORT int dup2(int fd, int fd2)
{
    return dup2_as(WIO_CALL_dup2, fd, fd2, CAP_CALLER());
}

CAP_EXPORT int __dup2(int fd, int fd2);
CAP_EXPORT int __dup2(int fd, int fd2)
{
    return dup2_as(WIO_CALL___dup2, fd, fd2, CAP_CALLER());
}

CAP_EXPORT int dup3(int fd, int fd2, int flags)
{
    const uintptr_t source = CAP_CALLER();
    if (CAP_UNLIKELY(cap_fd_is_ours_maybe(fd))) {
        return bad_descriptor();
    }
    cap_fd_make_room(fd2);
    struct cap_thread *self = cap_enter(source, WIO_CALL_dup3);
    if (CAP_UNLIKELY(self == NULL)) {
        return CAP_REAL(dup3)(fd, fd2, flags);
    }
    struct cap_event ev = CAP_EVENT(dup3, source);
    ev.begin = cap_now();
    int result = CAP_REAL(dup3)(fd, fd2, flags);
    emit_dup(self, &ev, fd, result, fd2, flags);
    return result;
}

static bool is_lock_command(int command)
{
    return command == F_GETLK || command == F_SETLK || command == F_SETLKW ||
           command == F_OFD_GETLK || command == F_OFD_SETLK || command == F_OFD_SETLKW;
}

/* What a successful fcntl changes for us. */
static void after_fcntl(struct cap_thread *self, int fd, int command, long argument, int result)
{
    if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) {
        cap_fd_dup(self, fd, result, command == F_DUPFD_CLOEXEC);
    } else if (command == F_SETFD) {
        cap_fd_set_cloexec(fd, (argument & FD_CLOEXEC) != 0);
    } else if (command == F_SETFL) {
        cap_fd_set_append(fd, (argument & O_APPEND) != 0);
    }
}

static void emit_fcntl(struct cap_thread *self, struct cap_event *ev, int command, long argument,
                       int error)
{
    struct cap_ext ext = CAP_EXT;
    if (!is_lock_command(command) || error == EFAULT || error == EINVAL || argument == 0) {
        ev->offset = command;
        ev->size = (uint64_t)argument;
        cap_emit(self, ev);
        return;
    }
    const struct flock *lock = (const struct flock *)(uintptr_t)argument;
    ev->offset = lock->l_start;
    ev->size = (uint64_t)lock->l_len;
    ext.arg[0] = command;
    ext.arg[2] = lock->l_type;
    ext.arg[3] = lock->l_whence;
    cap_emit_ext(self, ev, &ext);
}

static inline int fcntl_as(unsigned call, int fd, int command, long argument, uintptr_t source)
{
    int (*real)(int, int, ...) = (int (*)(int, int, ...))cap_real(call);
    if (CAP_UNLIKELY(cap_fd_is_ours_maybe(fd))) {
        return bad_descriptor();
    }
    struct cap_thread *self = cap_enter(source, call);
    if (CAP_UNLIKELY(self == NULL)) {
        return real(fd, command, argument);
    }
    struct cap_event ev = CAP_EVENT_OF(call, source);
    ev.begin = cap_now();
    int result = real(fd, command, argument);
    ev.end = cap_now();
    ev.fd = fd;
    ev.path = cap_fd_path(self, fd);
    ev.result = result;
    ev.error = result < 0 ? errno : 0;
    if (result >= 0) {
        after_fcntl(self, fd, command, argument, result);
    }
    emit_fcntl(self, &ev, command, argument, ev.error);
    return result;
}

/* The third argument is a word whatever it means; where there is none it is not looked at. */
#define DEFINE_FCNTL(symbol)                                                                       \
    CAP_EXPORT int symbol(int fd, int command, ...);                                               \
    CAP_EXPORT int symbol(int fd, int command, ...)                                                \
    {                                                                                              \
        va_list arguments;                                                                         \
        va_start(arguments, command);                                                              \
        long argument = va_arg(arguments, long);                                                   \
        va_end(arguments);                                                                         \
        return fcntl_as(WIO_CALL_##symbol, fd, command, argument, CAP_CALLER());                   \
    }

DEFINE_FCNTL(fcntl)
DEFINE_FCNTL(fcntl64)
DEFINE_FCNTL(__fcntl)

/* Requests that copy a file or ask for its space; terminals, sockets and devices are not I/O of
 * files. */
static bool is_file_request(unsigned long request)
{
    return request == FICLONE || request == FICLONERANGE || request == FIDEDUPERANGE ||
           request == FIONREAD || request == FIOCLEX || request == FIONCLEX;
}

static int clone_source(unsigned long request, long argument)
{
    if (request == FICLONE) {
        return (int)argument;
    }
    return (int)((const struct file_clone_range *)(uintptr_t)argument)->src_fd;
}

static void emit_ioctl(struct cap_thread *self, struct cap_event *ev, unsigned long request,
                       long argument)
{
    struct cap_ext ext = CAP_EXT;
    ext.arg[0] = (int64_t)request;
    if (request == FICLONE || (request == FICLONERANGE && ev->error == 0)) {
        ext.fd2 = clone_source(request, argument);
        ext.path2 = cap_fd_path(self, ext.fd2);
    }
    if (request == FICLONERANGE && ev->error == 0) {
        const struct file_clone_range *range = (const struct file_clone_range *)(uintptr_t)argument;
        ev->offset = (int64_t)range->dest_offset;
        ev->size = range->src_length;
        ext.offset2 = (int64_t)range->src_offset;
    }
    cap_emit_ext(self, ev, &ext);
}

CAP_EXPORT int ioctl(int fd, unsigned long request, ...)
{
    const uintptr_t source = CAP_CALLER();
    va_list arguments;
    va_start(arguments, request);
    long argument = va_arg(arguments, long);
    va_end(arguments);
    if (CAP_UNLIKELY(cap_fd_is_ours_maybe(fd))) {
        return bad_descriptor();
    }
    struct cap_thread *self = is_file_request(request) ? cap_enter(source, WIO_CALL_ioctl) : NULL;
    if (self == NULL) {
        return CAP_REAL(ioctl)(fd, request, argument);
    }
    struct cap_event ev = CAP_EVENT(ioctl, source);
    ev.begin = cap_now();
    int result = CAP_REAL(ioctl)(fd, request, argument);
    ev.end = cap_now();
    ev.fd = fd;
    ev.path = cap_fd_path(self, fd);
    ev.result = result;
    ev.error = result < 0 ? errno : 0;
    if (result >= 0 && (request == FIOCLEX || request == FIONCLEX)) {
        cap_fd_set_cloexec(fd, request == FIOCLEX);
    }
    emit_ioctl(self, &ev, request, argument);
    return result;
}
