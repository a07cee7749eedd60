/* SPDX-License-Identifier: Apache-2.0 */
/* Calls on descriptors and maps that no rule tells: fcntl, ioctl, close_range, mmap and its like.
 */
#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <whyio/event.h>

#include "ops/calls.h"
#include "ops/file_control.h"
#include "tracer/events.h"
#include "tracer/memory.h"
#include "tracer/specials.h"

#define PAGE 4096u

static void after_fcntl(struct tracer_session *session, struct tracer_thread *thread)
{
    const uint64_t *arg = thread->call.arg;
    const int fd = (int)arg[1];
    const int command = (int)arg[2];
    struct flock lock = {0};
    struct wio_ring_event event = tracer_event_of_fd(thread, WIO_CALL_fcntl, fd);
    (void)session;
    if (event.result >= 0 && (command == F_DUPFD || command == F_DUPFD_CLOEXEC)) {
        tracer_fd_dup(thread, fd, (int)event.result);
    } else if (event.result >= 0 && command == F_SETFL) {
        tracer_fd_set_append(thread, fd, (arg[3] & O_APPEND) != 0);
    }
    if (wio_fcntl_is_lock(command) &&
        tracer_memory_read(thread->tid, arg[3], &lock, sizeof(lock))) {
        event.offset = lock.l_start;
        event.size = (uint64_t)lock.l_len;
        event.ext.arg[0] = command;
        event.ext.arg[2] = lock.l_type;
        event.ext.arg[3] = lock.l_whence;
        event.has_ext = true;
    } else {
        event.offset = command;
        event.size = arg[3];
    }
    wio_ring_put_event(&thread->stream, &event);
}

static void after_ioctl(struct tracer_session *session, struct tracer_thread *thread)
{
    const uint64_t *arg = thread->call.arg;
    struct file_clone_range range = {0};
    (void)session;
    if (!wio_ioctl_is_of_file(arg[2])) {
        return;
    }
    struct wio_ring_event event = tracer_event_of_fd(thread, WIO_CALL_ioctl, (int)arg[1]);
    event.has_ext = true;
    event.ext.arg[0] = (int64_t)arg[2];
    if (arg[2] == FICLONE) {
        event.ext.fd2 = (int)arg[3];
    } else if (arg[2] == FICLONERANGE &&
               tracer_memory_read(thread->tid, arg[3], &range, sizeof(range))) {
        event.ext.fd2 = (int)range.src_fd;
        event.offset = (int64_t)range.dest_offset;
        event.size = range.src_length;
        event.ext.offset2 = (int64_t)range.src_offset;
    }
    if (event.ext.fd2 != WIO_NO_FD) {
        event.ext.path2 = tracer_fd_path(thread, event.ext.fd2);
    }
    wio_ring_put_event(&thread->stream, &event);
}

static void after_close_range(struct tracer_session *session, struct tracer_thread *thread)
{
    const uint64_t *arg = thread->call.arg;
    struct wio_ring_event event = tracer_event_of(thread, WIO_CALL_close_range);
    const bool closes = event.result == 0 && (arg[3] & CLOSE_RANGE_CLOEXEC) == 0;
    (void)session;
    if (closes) {
        tracer_fd_clear_range(thread, (uint32_t)arg[1], (uint32_t)arg[2]);
    }
    event.has_ext = true;
    event.ext.arg[0] = (int64_t)(uint32_t)arg[1];
    event.ext.arg[1] = (int64_t)(uint32_t)arg[2];
    event.ext.arg[2] = (int64_t)(uint32_t)arg[3];
    wio_ring_put_event(&thread->stream, &event);
}

static uint64_t whole_pages(uint64_t size)
{
    return size > UINT64_MAX - PAGE ? size : (size + PAGE - 1) / PAGE * PAGE;
}

/* Anonymous memory is not I/O. */
static void after_mmap(struct tracer_session *session, struct tracer_thread *thread)
{
    const uint64_t *arg = thread->call.arg;
    (void)session;
    if ((arg[4] & MAP_ANONYMOUS) != 0) {
        if (thread->call.error == 0 && thread->process->maps.count > 0) {
            tracer_maps_remove(&thread->process->maps, (uint64_t)thread->call.result,
                               whole_pages(arg[2]));
        }
        return;
    }
    struct wio_ring_event event = tracer_event_of_fd(thread, WIO_CALL_mmap, (int)arg[5]);
    event.has_ext = true;
    event.offset = (int64_t)arg[6];
    event.size = arg[2];
    event.ext.arg[0] = (int64_t)arg[3];
    event.ext.arg[1] = (int64_t)arg[4];
    wio_ring_put_event(&thread->stream, &event);
    if (event.error == 0) {
        const struct tracer_map map = {.address = (uint64_t)event.result,
                                       .size = whole_pages(arg[2]),
                                       .origin = (uint64_t)event.result,
                                       .offset = event.offset,
                                       .path = event.path};
        tracer_maps_add(&thread->process->maps, &map);
    }
}

/* arg2 = address; path and offset of the first file that is mapped in the range; arg3 = where that
 * map began. */
static bool range_event(struct tracer_thread *thread, unsigned call, struct wio_ring_event *out)
{
    const uint64_t *arg = thread->call.arg;
    const struct tracer_map *map =
        tracer_maps_first(&thread->process->maps, arg[1], arg[2] + (arg[2] == 0));
    if (map == NULL) {
        return false;
    }
    *out = tracer_event_of(thread, call);
    out->path = map->path;
    out->offset = map->offset + (int64_t)(arg[1] > map->address ? arg[1] - map->address : 0);
    out->size = arg[2];
    out->has_ext = true;
    out->ext.arg[2] = (int64_t)arg[1];
    out->ext.arg[3] = (int64_t)map->origin;
    return true;
}

static void after_munmap(struct tracer_session *session, struct tracer_thread *thread)
{
    struct wio_ring_event event;
    (void)session;
    if (range_event(thread, WIO_CALL_munmap, &event)) {
        wio_ring_put_event(&thread->stream, &event);
        if (event.error == 0) {
            tracer_maps_remove(&thread->process->maps, thread->call.arg[1],
                               whole_pages(thread->call.arg[2]));
        }
    }
}

static void after_msync(struct tracer_session *session, struct tracer_thread *thread)
{
    struct wio_ring_event event;
    (void)session;
    if (range_event(thread, WIO_CALL_msync, &event)) {
        event.ext.arg[0] = (int64_t)thread->call.arg[3];
        wio_ring_put_event(&thread->stream, &event);
    }
}

static void after_madvise(struct tracer_session *session, struct tracer_thread *thread)
{
    struct wio_ring_event event;
    (void)session;
    if (range_event(thread, WIO_CALL_madvise, &event)) {
        event.ext.arg[0] = (int64_t)thread->call.arg[3];
        wio_ring_put_event(&thread->stream, &event);
    }
}

/* The map moves, or has another size from here on. */
static void after_mremap(struct tracer_session *session, struct tracer_thread *thread)
{
    const uint64_t *arg = thread->call.arg;
    struct wio_ring_event event;
    (void)session;
    if (!range_event(thread, WIO_CALL_mremap, &event)) {
        return;
    }
    event.size = arg[3];
    event.ext.arg[1] = (int64_t)arg[4];
    event.ext.arg[3] = (int64_t)arg[2];
    wio_ring_put_event(&thread->stream, &event);
    if (event.error == 0) {
        const struct tracer_map map = {.address = (uint64_t)event.result,
                                       .size = whole_pages(arg[3]),
                                       .origin = (uint64_t)event.result,
                                       .offset = event.offset,
                                       .path = event.path};
        tracer_maps_remove(&thread->process->maps, arg[1], whole_pages(arg[2]));
        tracer_maps_add(&thread->process->maps, &map);
    }
}

/* Requests in memory that the program and the kernel share. */
static void after_io_uring_enter(struct tracer_session *session, struct tracer_thread *thread)
{
    (void)session;
    const int64_t asked = (uint32_t)thread->call.arg[2];
    const int64_t taken = thread->call.result < asked ? thread->call.result : asked;
    if (taken > 0) {
        wio_ring_writer_unseen(&thread->process->ring, WIO_UNSEEN_HIDDEN_URING, (uint64_t)taken);
    }
}

static void after_io_submit(struct tracer_session *session, struct tracer_thread *thread)
{
    (void)session;
    const int64_t taken = thread->call.result;
    if (taken > 0) {
        wio_ring_writer_unseen(&thread->process->ring, WIO_UNSEEN_RAW_CALL, (uint64_t)taken);
    }
}

const struct tracer_special tracer_file_specials[] = {
    {.number = SYS_mmap, .after = after_mmap},
    {.number = SYS_munmap, .after = after_munmap},
    {.number = SYS_fcntl, .after = after_fcntl},
    {.number = SYS_ioctl, .after = after_ioctl},
    {.number = SYS_close_range, .after = after_close_range},
    {.number = SYS_msync, .after = after_msync},
    {.number = SYS_madvise, .after = after_madvise},
    {.number = SYS_mremap, .after = after_mremap},
    {.number = SYS_io_uring_enter, .after = after_io_uring_enter},
    {.number = SYS_io_submit, .after = after_io_submit},
    {.number = UINT16_MAX},
};
