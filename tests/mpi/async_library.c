/* SPDX-License-Identifier: Apache-2.0 */
/* By its name a part of MPI (libmpi*): one whose MPI-IO uses the kernel's asynchronous I/O. */
#include "callback_library.h"

#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/rawcall.h"

/* The next 4 bytes of the file, and how many requests there were. */
struct progress {
    const char *name;
    int fd;
    uint64_t offset;
    unsigned requests;
};

static bool by_aio(struct progress *progress)
{
    aio_context_t context = 0;
    struct iocb block = {.aio_lio_opcode = IOCB_CMD_PWRITE,
                         .aio_fildes = (uint32_t)progress->fd,
                         .aio_buf = (uintptr_t) "abcd",
                         .aio_nbytes = 4,
                         .aio_offset = (int64_t)progress->offset};
    struct iocb *blocks[] = {&block};
    struct io_event event;
    progress->offset += 4;
    progress->requests += 1;
    return syscall(SYS_io_setup, 1, &context) == 0 &&
           syscall(SYS_io_submit, context, 1, blocks) == 1 &&
           syscall(SYS_io_getevents, context, 1, 1, &event, NULL) == 1 && event.res == 4 &&
           syscall(SYS_io_destroy, context) == 0;
}

#ifdef HAS_URING
#include <liburing.h>

static bool submit_one(struct io_uring *ring, struct progress *progress, int fd, unsigned flags)
{
    struct io_uring_cqe *end;
    struct io_uring_sqe *request = io_uring_get_sqe(ring);
    if (request == NULL) {
        return false;
    }
    io_uring_prep_write(request, fd, "efgh", 4, progress->offset);
    io_uring_sqe_set_flags(request, flags);
    progress->offset += 4;
    progress->requests += 1;
    if (io_uring_submit(ring) != 1 || io_uring_wait_cqe(ring, &end) != 0 || end->res != 4) {
        return false;
    }
    io_uring_cqe_seen(ring, end);
    return true;
}

/* By its descriptor, then as a registered file; a file that is not MPI's is registered before it.
 */
static bool by_liburing(struct progress *progress)
{
    struct io_uring ring;
    int own = memfd_create("own", 0);
    const int files[] = {own, progress->fd};
    if (io_uring_queue_init(4, &ring, 0) != 0) {
        return false;
    }
    bool is_good = submit_one(&ring, progress, progress->fd, 0) &&
                   io_uring_register_files(&ring, files, 2) == 0 &&
                   submit_one(&ring, progress, 1, IOSQE_FIXED_FILE);
    struct progress apart = {.fd = own};
    is_good = is_good && submit_one(&ring, &apart, 0, IOSQE_FIXED_FILE);
    io_uring_queue_exit(&ring);
    return close(own) == 0 && is_good;
}
#else
static bool by_liburing(struct progress *progress)
{
    return progress->fd >= 0;
}
#endif

/* How the kernel is called: by libc's syscall(), or by no function at all. */
typedef long call_fn(long number, long a, long b, long c, long d, long e, long f);

static long by_number(long number, long a, long b, long c, long d, long e, long f)
{
    return syscall(number, a, b, c, d, e, f);
}

static long by_instruction(long number, long a, long b, long c, long d, long e, long f)
{
    return wio_rawcall6(number, a, b, c, d, e, f);
}

struct ring {
    call_fn *call;
    int fd;
    struct io_uring_params params;
    uint8_t *places;
    size_t bytes;
    struct io_uring_sqe *requests;
};

static void *map_part(const struct ring *ring, size_t bytes, uint64_t offset)
{
    long at = ring->call(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd,
                         (long)offset);
    return at == -1 || (at < 0 && at > -4096) ? NULL : (void *)at;
}

static bool make_ring(struct ring *ring, call_fn *call)
{
    *ring = (struct ring){.call = call};
    ring->fd = (int)call(SYS_io_uring_setup, 4, (long)&ring->params, 0, 0, 0, 0);
    if (ring->fd < 0 || (ring->params.features & IORING_FEAT_SINGLE_MMAP) == 0) {
        return false;
    }
    ring->bytes = ring->params.cq_off.cqes + ring->params.cq_entries * sizeof(struct io_uring_cqe);
    ring->places = map_part(ring, ring->bytes, IORING_OFF_SQ_RING);
    ring->requests =
        map_part(ring, ring->params.sq_entries * sizeof(*ring->requests), IORING_OFF_SQES);
    return ring->places != NULL && ring->requests != NULL;
}

static uint32_t *word_at(const struct ring *ring, uint32_t offset)
{
    return (uint32_t *)(void *)(ring->places + offset);
}

/* Its result; -1 where it was not taken. */
static int enter_one(const struct ring *ring, const struct io_uring_sqe *request)
{
    uint32_t *tail = word_at(ring, ring->params.sq_off.tail);
    uint32_t *head = word_at(ring, ring->params.cq_off.head);
    const struct io_uring_cqe *ends = (void *)(ring->places + ring->params.cq_off.cqes);
    uint32_t place = *tail & (ring->params.sq_entries - 1);
    ring->requests[place] = *request;
    word_at(ring, ring->params.sq_off.array)[place] = place;
    __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
    if (ring->call(SYS_io_uring_enter, ring->fd, 1, 1, IORING_ENTER_GETEVENTS, 0, 0) != 1) {
        return -1;
    }
    int result = ends[*head & (ring->params.cq_entries - 1)].res;
    __atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
    return result;
}

static bool write_one(const struct ring *ring, struct progress *progress, int fd, uint8_t flags)
{
    const struct io_uring_sqe request = {.opcode = IORING_OP_WRITE,
                                         .flags = flags,
                                         .fd = fd,
                                         .off = progress->offset,
                                         .addr = (uintptr_t) "ijkl",
                                         .len = 4};
    progress->offset += 4;
    progress->requests += 1;
    return enter_one(ring, &request) == 4;
}

/* The file is opened by a request, too, which is one more. */
static bool open_one(const struct ring *ring, struct progress *progress)
{
    const struct io_uring_sqe request = {.opcode = IORING_OP_OPENAT,
                                         .fd = AT_FDCWD,
                                         .addr = (uintptr_t)progress->name,
                                         .open_flags = O_RDWR};
    int fd = enter_one(ring, &request);
    progress->requests += 1;
    return fd >= 0 && close(fd) == 0;
}

static bool drop_ring(const struct ring *ring)
{
    return ring->call(SYS_munmap, (long)ring->places, (long)ring->bytes, 0, 0, 0, 0) == 0 &&
           close(ring->fd) == 0;
}

static bool by_ring(struct progress *progress)
{
    struct ring ring;
    int own = memfd_create("own", 0);
    const int files[] = {progress->fd, own};
    struct progress apart = {.fd = own};
    return make_ring(&ring, by_number) && write_one(&ring, progress, progress->fd, 0) &&
           write_one(&ring, &apart, own, 0) &&
           by_number(SYS_io_uring_register, ring.fd, IORING_REGISTER_FILES, (long)files, 2, 0, 0) ==
               0 &&
           write_one(&ring, progress, 0, IOSQE_FIXED_FILE) &&
           write_one(&ring, &apart, 1, IOSQE_FIXED_FILE) && open_one(&ring, progress) &&
           drop_ring(&ring) && close(own) == 0;
}

bool async_is_possible(void)
{
    struct io_uring_params params = {0};
    long fd = wio_rawcall6(SYS_io_uring_setup, 4, (long)&params, 0, 0, 0, 0);
    return fd >= 0 && close((int)fd) == 0;
}

unsigned async_write(const char *name)
{
    struct progress progress = {.name = name, .fd = open(name, O_RDWR)};
    bool has_rings = async_is_possible();
    bool is_good =
        by_aio(&progress) && (!has_rings || (by_liburing(&progress) && by_ring(&progress)));
    return close(progress.fd) == 0 && is_good ? progress.requests : 0;
}

unsigned async_write_hidden(const char *name)
{
    static struct ring ring; /* it stays */
    struct progress progress = {.name = name, .fd = open(name, O_RDWR), .offset = 1000};
    bool is_good = make_ring(&ring, by_instruction);
    for (unsigned i = 0; i < 3; i++) {
        is_good = is_good && write_one(&ring, &progress, progress.fd, 0);
    }
    return close(progress.fd) == 0 && is_good ? progress.requests : 0;
}
