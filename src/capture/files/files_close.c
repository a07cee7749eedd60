/* SPDX-License-Identifier: Apache-2.0 */
/* close and dup: calls that change which descriptor is what. Our own descriptor must look
 * closed to the program, and stay open. */
#include "capture/core/process.h"
#include "capture/files/files_numbers.h"
#include "capture/files/hooks.h"

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
    ev.begin = cap_begin(self);
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

/* close_range, in pieces around our descriptors where they lie within and are to be closed. */
static int close_around(unsigned first, unsigned last, int flags)
{
    int (*real)(unsigned, unsigned, int) = CAP_REAL(close_range);
    unsigned ours[CAP_OWN_FDS];
    unsigned count = first > last || (flags & (int)CLOSE_RANGE_CLOEXEC) != 0
                         ? 0
                         : cap_fd_ours_within(first, last, ours);
    if (count == 0) {
        return real(first, last, flags);
    }
    int result = 0;
    unsigned from = first;
    for (unsigned i = 0; i < count && result == 0; from = ours[i++] + 1) {
        if (ours[i] > from) {
            result = real(from, ours[i] - 1, flags);
        }
    }
    return result == 0 && from <= last ? real(from, last, flags) : result;
}

static void forget_range(unsigned first, unsigned last, int flags)
{
    if (first <= last && (flags & (int)CLOSE_RANGE_CLOEXEC) == 0) {
        cap_fd_clear_range(first, last);
    }
}

static int close_range_as(unsigned first, unsigned last, int flags, uintptr_t source)
{
    struct cap_thread *self = cap_enter(source, WIO_CALL_close_range);
    forget_range(first, last, flags);
    if (CAP_UNLIKELY(self == NULL)) {
        return close_around(first, last, flags);
    }
    struct cap_event ev = CAP_EVENT(close_range, source);
    struct cap_ext ext = CAP_EXT;
    ev.begin = cap_begin(self);
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

CAP_EXPORT int close_range(unsigned int first, unsigned int last, int flags)
{
    return close_range_as(first, last, flags, CAP_CALLER());
}

long cap_number_close_range(unsigned first, unsigned last, int flags)
{
    return close_range_as(first, last, flags, CAP_CALLER());
}

static void close_from(int first)
{
    unsigned low = first > 0 ? (unsigned)first : 0;
    unsigned ours[CAP_OWN_FDS];
    unsigned count = cap_fd_ours_within(low, ~0u, ours);
    if (count == 0) {
        CAP_REAL(closefrom)(first);
    } else if (close_around(low, ~0u, 0) < 0) { /* Linux before 5.9 */
        for (unsigned i = 0; i < count; low = ours[i++] + 1) {
            for (unsigned fd = low; fd < ours[i]; fd++) {
                (void)CAP_REAL(close)((int)fd);
            }
        }
        CAP_REAL(closefrom)((int)low);
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
    ev.begin = cap_begin(self);
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
    struct cap_thread *self = cap_enter_fd(source, WIO_CALL_dup, fd);
    if (CAP_UNLIKELY(self == NULL)) {
        return CAP_REAL(dup)(fd);
    }
    struct cap_event ev = CAP_EVENT(dup, source);
    ev.begin = cap_begin(self);
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
    cap_fd_make_room(fd, fd2);
    struct cap_thread *self = cap_enter_fd(source, call, fd);
    if (CAP_UNLIKELY(self == NULL)) {
        if (fd != fd2) {
            cap_fd_clear(fd2);
        }
        return real(fd, fd2);
    }
    struct cap_event ev = CAP_EVENT_OF(call, source);
    ev.begin = cap_begin(self);
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
    if ((flags & ~O_CLOEXEC) == 0) { /* others are EINVAL */
        cap_fd_make_room(fd, fd2);
    }
    struct cap_thread *self = cap_enter_fd(source, WIO_CALL_dup3, fd);
    if (CAP_UNLIKELY(self == NULL)) {
        if (fd != fd2) {
            cap_fd_clear(fd2);
        }
        return CAP_REAL(dup3)(fd, fd2, flags);
    }
    struct cap_event ev = CAP_EVENT(dup3, source);
    ev.begin = cap_begin(self);
    int result = CAP_REAL(dup3)(fd, fd2, flags);
    emit_dup(self, &ev, fd, result, fd2, flags);
    return result;
}
