/* SPDX-License-Identifier: Apache-2.0 */
/* fcntl, with its locks, and the requests of ioctl that concern files. */
#include "capture/core/features.h"
#include "capture/core/process.h"
#include "capture/files/files_numbers.h"
#include "capture/files/hooks.h"
#include "ops/file_control.h"

static int bad_descriptor(void)
{
    errno = EBADF;
    return -1;
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
    if (!wio_fcntl_is_lock(command) || !cap_may_read((const void *)(uintptr_t)argument, error)) {
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
    struct cap_thread *self = cap_enter_fd(source, call, fd);
    if (CAP_UNLIKELY(self == NULL)) {
        return real(fd, command, argument);
    }
    struct cap_event ev = CAP_EVENT_OF(call, source);
    ev.begin = cap_begin(self);
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

long cap_number_fcntl(int fd, int command, long argument)
{
    return fcntl_as(WIO_CALL_fcntl, fd, command, argument, CAP_CALLER());
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

static int ioctl_as(int fd, unsigned long request, long argument, uintptr_t source)
{
    if (CAP_UNLIKELY(cap_fd_is_ours_maybe(fd))) {
        return bad_descriptor();
    }
    cap_on_ioctl(source, request, (const void *)argument);
    struct cap_thread *self =
        wio_ioctl_is_of_file(request) ? cap_enter_fd(source, WIO_CALL_ioctl, fd) : NULL;
    if (self == NULL) {
        return CAP_REAL(ioctl)(fd, request, argument);
    }
    struct cap_event ev = CAP_EVENT(ioctl, source);
    ev.begin = cap_begin(self);
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

CAP_EXPORT int ioctl(int fd, unsigned long request, ...)
{
    va_list arguments;
    va_start(arguments, request);
    long argument = va_arg(arguments, long);
    va_end(arguments);
    return ioctl_as(fd, request, argument, CAP_CALLER());
}

long cap_number_ioctl(int fd, unsigned long request, long argument)
{
    return ioctl_as(fd, request, argument, CAP_CALLER());
}
