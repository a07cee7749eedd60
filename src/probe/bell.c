/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/bell.h"

#include <sched.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RING_MAGIC 0xa10a10a1u
/* No tail is so high. */
#define NEVER UINT32_MAX

/* The next event rings; one that is there rings at once. */
static bool arm(const struct wio_bell *bell)
{
    struct iocb poll = {
        .aio_lio_opcode = IOCB_CMD_POLL, .aio_fildes = (uint32_t)bell->fd, .aio_buf = EPOLLIN};
    struct iocb *list[] = {&poll};
    return syscall(SYS_io_submit, bell->context, 1L, list) == 1;
}

void wio_bell_init(struct wio_bell *bell, int epoll)
{
    *bell = (struct wio_bell){.fd = epoll, .seen = NEVER};
    if (syscall(SYS_io_setup, 1L, &bell->context) != 0) {
        bell->context = 0;
        return;
    }
    struct wio_bell_ring *ring =
        (struct wio_bell_ring *)bell->context; /* NOLINT(performance-no-int-to-ptr) */
    if (ring->magic == RING_MAGIC && ring->incompat_features == 0) {
        bell->ring = ring;
    }
}

void wio_bell_fini(struct wio_bell *bell)
{
    if (bell->context != 0) {
        (void)syscall(SYS_io_destroy, bell->context);
    }
    bell->context = 0;
    bell->ring = NULL;
}

/* An event that comes while the kernel takes the poll may be completed by a thread of the kernel a
 * moment later, and others would then not ring: so it is looked for, and waited for. All that come
 * behind complete in the call that makes them. */
void wio_bell_answer(struct wio_bell *bell, size_t (*take_all)(void *context), void *context)
{
    (void)take_all(context);
    if (bell->ring == NULL || bell->is_broken) {
        return;
    }
    uint32_t tail = atomic_load(&bell->ring->tail);
    while (!bell->is_armed || tail != atomic_load(&bell->seen)) {
        atomic_store(&bell->ring->head, tail);
        bell->is_armed = arm(bell);
        if (!bell->is_armed) {
            bell->is_broken = true;
            atomic_store(&bell->seen, NEVER);
            break;
        }
        if (take_all(context) == 0) {
            atomic_store_explicit(&bell->seen, tail, memory_order_release);
            break;
        }
        while (atomic_load(&bell->ring->tail) == tail) {
            (void)sched_yield();
        }
        tail = atomic_load(&bell->ring->tail);
        (void)take_all(context);
    }
}
