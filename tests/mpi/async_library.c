/* SPDX-License-Identifier: Apache-2.0 */
/* By its name a part of MPI (libmpi*): one whose MPI-IO uses the kernel's asynchronous I/O. */
#include "callback_library.h"

#include <fcntl.h>
#include <linux/aio_abi.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool by_aio(int fd)
{
    aio_context_t context = 0;
    struct iocb block = {.aio_lio_opcode = IOCB_CMD_PWRITE,
                         .aio_fildes = (uint32_t)fd,
                         .aio_buf = (uintptr_t) "abcd",
                         .aio_nbytes = 4};
    struct iocb *blocks[] = {&block};
    struct io_event event;
    return syscall(SYS_io_setup, 1, &context) == 0 &&
           syscall(SYS_io_submit, context, 1, blocks) == 1 &&
           syscall(SYS_io_getevents, context, 1, 1, &event, NULL) == 1 && event.res == 4 &&
           syscall(SYS_io_destroy, context) == 0;
}

#ifdef HAS_URING
#include <liburing.h>

/* Where the kernel does not allow it, nothing is written. */
static bool by_uring(int fd)
{
    struct io_uring ring;
    struct io_uring_cqe *end;
    if (io_uring_queue_init(4, &ring, 0) != 0) {
        return true;
    }
    struct io_uring_sqe *request = io_uring_get_sqe(&ring);
    if (request == NULL) {
        return false;
    }
    io_uring_prep_write(request, fd, "efgh", 4, 4);
    bool is_good =
        io_uring_submit(&ring) == 1 && io_uring_wait_cqe(&ring, &end) == 0 && end->res == 4;
    io_uring_queue_exit(&ring);
    return is_good;
}
#else
static bool by_uring(int fd)
{
    return fd >= 0;
}
#endif

bool async_write(const char *name)
{
    int fd = open(name, O_RDWR);
    return by_aio(fd) && by_uring(fd) && close(fd) == 0;
}
