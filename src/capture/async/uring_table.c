/* SPDX-License-Identifier: Apache-2.0 */
/* Which rings exist, and where they lie. */
#include <string.h>
#include <sys/mman.h>

#include "capture/async/uring.h"
#include "capture/core/address.h"
#include "capture/core/process.h"
#include "capture/core/raw.h"
#include "capture/files/descriptors.h"

#define RINGS_MAX 256u
#ifndef IORING_SETUP_SQE128
#define IORING_SETUP_SQE128 (1U << 10)
#endif
#ifndef IORING_SETUP_CQE32
#define IORING_SETUP_CQE32 (1U << 11)
#endif
#define SETUP_NO_MMAP (1U << 14)    /* Linux 6.5 */
#define SETUP_NO_SQARRAY (1U << 16) /* Linux 6.6 */

static struct cap_uring rings[RINGS_MAX];
static uint32_t ring_count; /* places ever used: the search goes no further */
static uint32_t ring_numbers;

static struct cap_uring *place_of(int fd)
{
    uint32_t count = __atomic_load_n(&ring_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; fd >= 0 && i < count; i++) {
        bool is_known = __atomic_load_n(&rings[i].pid, __ATOMIC_ACQUIRE) != 0;
        if (rings[i].number != 0 && is_known && rings[i].fd == fd) {
            return &rings[i];
        }
    }
    return NULL;
}

/* A free place, empty. Other threads may claim at the same time. */
static struct cap_uring *claim(void)
{
    for (uint32_t i = 0; i < RINGS_MAX; i++) {
        uint32_t expected = 0;
        uint32_t number = __atomic_add_fetch(&ring_numbers, 1, __ATOMIC_RELAXED);
        if (__atomic_compare_exchange_n(&rings[i].number, &expected, number, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
            uint32_t count = __atomic_load_n(&ring_count, __ATOMIC_RELAXED);
            while (count < i + 1 &&
                   !__atomic_compare_exchange_n(&ring_count, &count, i + 1, false, __ATOMIC_ACQ_REL,
                                                __ATOMIC_RELAXED)) {
            }
            return &rings[i];
        }
    }
    return NULL;
}

/* The place is emptied while it still has its number, and is free afterwards. */
void cap_uring_forget(struct cap_uring *ring)
{
    cap_uring_drop_files(ring);
    memset((uint8_t *)ring + sizeof(ring->number), 0, sizeof(*ring) - sizeof(ring->number));
    __atomic_store_n(&ring->number, 0, __ATOMIC_RELEASE);
}

/* A fresh place for `fd`; a former ring of that number is over. NULL, and counted, where all are
 * taken. */
static struct cap_uring *begin_ring(int fd, uint32_t flags)
{
    struct cap_uring *ring = place_of(fd);
    if (ring != NULL) {
        cap_uring_forget(ring);
    }
    ring = claim();
    if (ring == NULL) {
        cap_unseen(WIO_UNSEEN_HIDDEN_URING);
        return NULL;
    }
    ring->fd = fd;
    ring->flags = flags;
    ring->sqe_bytes = (flags & IORING_SETUP_SQE128) != 0 ? 128 : 64;
    ring->cqe_bytes = (flags & IORING_SETUP_CQE32) != 0 ? 32 : 16;
    __atomic_store_n(&ring->pid, cap_self->pid, __ATOMIC_RELEASE);
    return ring;
}

/* ---- where the parts lie ----------------------------------------------------------------------
 */

static void set_range(struct cap_uring *ring, unsigned part, const void *address, size_t bytes)
{
    ring->ranges[part].lo = (uintptr_t)address;
    __atomic_store_n(&ring->ranges[part].hi, (uintptr_t)address + bytes, __ATOMIC_RELEASE);
}

static bool is_whole(const struct cap_uring *ring)
{
    for (unsigned part = 0; part < CAP_URING_RANGES; part++) {
        if (__atomic_load_n(&ring->ranges[part].hi, __ATOMIC_ACQUIRE) == 0) {
            return false;
        }
    }
    return true;
}

static const unsigned *word_at(const uint8_t *base, uint32_t offset)
{
    return (const unsigned *)(const void *)(base + offset);
}

static void set_submission(struct cap_uring *ring, const uint8_t *base, size_t bytes)
{
    bool has_array = (ring->flags & SETUP_NO_SQARRAY) == 0;
    ring->sq_head = word_at(base, ring->sq_off.head);
    ring->sq_tail = word_at(base, ring->sq_off.tail);
    ring->sq_array = has_array ? word_at(base, ring->sq_off.array) : NULL;
    ring->sq_seen = *ring->sq_head;
    set_range(ring, CAP_URING_SQ, base, bytes);
}

static void set_completion(struct cap_uring *ring, const uint8_t *base, size_t bytes)
{
    ring->cq_head = word_at(base, ring->cq_off.head);
    ring->cq_tail = word_at(base, ring->cq_off.tail);
    ring->cqes = base + ring->cq_off.cqes;
    ring->cq_seen = *ring->cq_tail;
    set_range(ring, CAP_URING_CQ, base, bytes);
}

/* The last 8 bytes of both structures of offsets: reserved, until the program could give memory of
 * its own. */
static const uint8_t *given_memory(const void *offsets, size_t bytes)
{
    uint64_t address;
    memcpy(&address, (const uint8_t *)offsets + bytes - sizeof(address), sizeof(address));
    return (const uint8_t *)(uintptr_t)address;
}

static void set_given(struct cap_uring *ring)
{
    const uint8_t *base = given_memory(&ring->cq_off, sizeof(ring->cq_off));
    size_t bytes = ring->cq_off.cqes + (size_t)ring->cq_entries * ring->cqe_bytes;
    set_submission(ring, base, bytes);
    set_completion(ring, base, bytes);
    ring->sqes = given_memory(&ring->sq_off, sizeof(ring->sq_off));
    set_range(ring, CAP_URING_SQES, ring->sqes, (size_t)ring->sq_entries * ring->sqe_bytes);
}

void cap_uring_opened(int fd, const struct io_uring_params *params)
{
    struct cap_uring *ring = begin_ring(fd, params->flags);
    if (ring == NULL) {
        return;
    }
    ring->features = params->features;
    ring->sq_off = params->sq_off;
    ring->cq_off = params->cq_off;
    ring->sq_entries = params->sq_entries;
    ring->cq_entries = params->cq_entries;
    if ((params->flags & SETUP_NO_MMAP) != 0) {
        set_given(ring);
    }
}

void cap_uring_mapped(int fd, uint64_t offset, const void *address, size_t bytes)
{
    struct cap_uring *ring = place_of(fd);
    if (ring == NULL || ring->sq_off.ring_entries == 0) {
        return;
    }
    if (!cap_uring_is_ring(fd)) { /* that was closed, and the number is another file's */
        cap_uring_forget(ring);
        return;
    }
    if (offset == IORING_OFF_SQ_RING) {
        set_submission(ring, address, bytes);
        if ((ring->features & IORING_FEAT_SINGLE_MMAP) != 0) {
            set_completion(ring, address, bytes);
        }
    } else if (offset == IORING_OFF_CQ_RING) {
        set_completion(ring, address, bytes);
    } else if (offset == IORING_OFF_SQES) {
        ring->sqes = address;
        set_range(ring, CAP_URING_SQES, address, bytes);
    }
}

/* A library may have unmapped it, unseen. */
static bool is_readable(const struct cap_uring *ring)
{
    return is_whole(ring) && ring->pid == cap_self->pid &&
           cap_is_mapped((uintptr_t)ring->sq_tail) && cap_is_mapped((uintptr_t)ring->cq_tail);
}

/* A program that enters the kernel by code of its own (fio does) fills the ring unseen; how often
 * is known when the ring goes. */
static void count_hidden(const struct cap_uring *ring, unsigned hidden)
{
    if (!ring->is_hidden) {
        cap_unseen_more(WIO_UNSEEN_HIDDEN_URING, hidden);
    } else if (cap_fds_have_mpi) {
        cap_unseen_more(WIO_UNSEEN_MPI_ASYNC, hidden);
    }
}

/* The last look at a ring: requests may have ended since the last call that looked. */
static void leave_ring(struct cap_uring *ring, uintptr_t source, unsigned call)
{
    if (!is_readable(ring)) {
        return;
    }
    unsigned hidden = __atomic_load_n(ring->sq_tail, __ATOMIC_ACQUIRE) - ring->sq_seen;
    struct cap_thread *self = hidden == 0 ? cap_enter(source, call) : NULL;
    if (self != NULL) {
        cap_uring_reap(self, ring);
    }
    count_hidden(ring, hidden);
}

__attribute__((destructor)) static void leave_at_exit(void)
{
    for (uint32_t i = 0; i < ring_count; i++) {
        if (rings[i].number != 0) {
            leave_ring(&rings[i], CAP_CALLER(), WIO_CALL_io_uring_queue_exit);
        }
    }
}

void cap_uring_unmapped(uintptr_t source, unsigned call, const void *address, size_t bytes)
{
    uintptr_t lo = (uintptr_t)address;
    uint32_t count = __atomic_load_n(&ring_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count; i++) {
        for (unsigned part = 0; part < CAP_URING_RANGES; part++) {
            const struct cap_uring_range *range = &rings[i].ranges[part];
            if (rings[i].number != 0 && range->lo < lo + bytes && lo < range->hi) {
                leave_ring(&rings[i], source, call);
                memset(rings[i].ranges, 0, sizeof(rings[i].ranges));
                break;
            }
        }
    }
}

void cap_uring_hide(int fd)
{
    struct cap_uring *ring = place_of(fd);
    if (ring != NULL) {
        ring->is_hidden = true;
    }
}

bool cap_uring_is_known(int fd)
{
    return place_of(fd) != NULL;
}

static struct cap_uring *checked(struct cap_uring *ring)
{
    return ring != NULL && is_whole(ring) && ring->pid == cap_self->pid ? ring : NULL;
}

struct cap_uring *cap_uring_find(int fd)
{
    return checked(place_of(fd));
}

struct cap_uring *cap_uring_find_registered(unsigned index)
{
    uint32_t count = __atomic_load_n(&ring_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count; i++) {
        if (rings[i].number != 0 && rings[i].registered == index + 1 &&
            rings[i].registered_by == cap_self->tid) {
            return checked(&rings[i]);
        }
    }
    return NULL;
}

struct cap_uring *cap_uring_at(const unsigned *sq_head)
{
    uint32_t count = __atomic_load_n(&ring_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count; i++) {
        if (rings[i].number != 0 && rings[i].sq_head == sq_head && checked(&rings[i]) != NULL) {
            return &rings[i];
        }
    }
    return NULL;
}

struct cap_uring *cap_uring_of_library(const struct cap_lib_uring *library)
{
    if (library->sq.head == NULL || library->cq.head == NULL || library->cq.tail == NULL) {
        return NULL;
    }
    /* After io_uring_close_ring_fd there is no descriptor any more, only an index. */
    struct cap_uring *ring =
        library->ring_fd >= 0 ? cap_uring_find(library->ring_fd) : cap_uring_at(library->sq.head);
    if (ring != NULL && ring->sq_head == library->sq.head) {
        ring->fd = library->ring_fd; /* its number may be another ring's soon */
        return ring;
    }
    ring = begin_ring(library->ring_fd, library->flags);
    if (ring == NULL) {
        return NULL;
    }
    ring->features = library->features;
    ring->sq_entries = *library->sq.entries;
    ring->cq_entries = *library->cq.entries;
    ring->sq_head = library->sq.head;
    ring->sq_tail = library->sq.tail;
    ring->sqes = (const uint8_t *)library->sq.sqes;
    ring->cq_head = library->cq.head;
    ring->cq_tail = library->cq.tail;
    ring->cqes = (const uint8_t *)library->cq.cqes;
    ring->sq_seen = *library->sq.tail;
    ring->cq_seen = *library->cq.head;
    set_range(ring, CAP_URING_SQ, library->sq.ring, library->sq.ring_bytes);
    set_range(ring, CAP_URING_CQ, library->cq.ring, library->cq.ring_bytes);
    set_range(ring, CAP_URING_SQES, library->sq.sqes, (size_t)ring->sq_entries * ring->sqe_bytes);
    return ring;
}
