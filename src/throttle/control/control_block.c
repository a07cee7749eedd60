/* SPDX-License-Identifier: Apache-2.0 */
#include "throttle/control/control_block.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"

#define SECOND_NS UINT64_C(1000000000)

/* The board is shared between processes: no FUTEX_PRIVATE_FLAG. */
static long futex(uint32_t *word, int operation, uint32_t value, const struct timespec *limit)
{
    return syscall(SYS_futex, word, operation, value, limit, NULL, 0);
}

enum wio_status wio_board_create(struct wio_board_file *file_out, struct wio_error *err)
{
    *file_out = (struct wio_board_file){.fd = memfd_create("whyio-board", MFD_CLOEXEC)};
    if (file_out->fd < 0 || ftruncate(file_out->fd, sizeof(struct wio_board)) != 0) {
        enum wio_status status = wio_error_sys(err, NULL, "cannot make memory that is shared");
        wio_fd_cleanup(&file_out->fd);
        return status;
    }
    void *memory =
        mmap(NULL, sizeof(struct wio_board), PROT_READ | PROT_WRITE, MAP_SHARED, file_out->fd, 0);
    if (memory == MAP_FAILED) {
        enum wio_status status = wio_error_sys(err, NULL, "cannot map memory that is shared");
        wio_fd_cleanup(&file_out->fd);
        return status;
    }
    file_out->board = memory;
    snprintf(file_out->path, sizeof(file_out->path), "/proc/%d/fd/%d", (int)getpid(), file_out->fd);
    wio_board_reset(file_out->board, WIO_BOARD_FREE, UINT64_MAX);
    return WIO_OK;
}

void wio_board_destroy(struct wio_board_file *file)
{
    if (file->board != NULL) {
        wio_board_let_all_go(file->board);
        (void)munmap(file->board, sizeof(*file->board));
        wio_fd_cleanup(&file->fd);
    }
    *file = (struct wio_board_file){.fd = -1};
}

void wio_board_reset(struct wio_board *board, uint32_t first_grant, uint64_t limit_ns)
{
    memset(board, 0, sizeof(*board));
    board->first_grant = first_grant;
    board->limit_ns = limit_ns;
    __atomic_store_n(&board->magic, WIO_BOARD_MAGIC, __ATOMIC_SEQ_CST);
}

uint32_t wio_board_count(const struct wio_board *board)
{
    uint32_t taken = __atomic_load_n(&board->node_count, __ATOMIC_SEQ_CST);
    uint32_t count = 0;
    while (count < taken && count < WIO_BOARD_NODES &&
           __atomic_load_n(&board->nodes[count].is_used, __ATOMIC_ACQUIRE) != 0) {
        count++;
    }
    return count;
}

bool wio_board_is_overfull(const struct wio_board *board)
{
    return __atomic_load_n(&board->node_count, __ATOMIC_SEQ_CST) > WIO_BOARD_NODES;
}

void wio_board_grant(struct wio_board_node *node, uint32_t count)
{
    __atomic_store_n(&node->granted, count, __ATOMIC_SEQ_CST);
    (void)futex(&node->granted, FUTEX_WAKE, INT_MAX, NULL);
}

void wio_board_let_all_go(struct wio_board *board)
{
    __atomic_store_n(&board->first_grant, WIO_BOARD_FREE, __ATOMIC_SEQ_CST);
    __atomic_store_n(&board->is_over, 1, __ATOMIC_SEQ_CST);
    uint32_t taken = __atomic_load_n(&board->node_count, __ATOMIC_SEQ_CST);
    for (uint32_t i = 0; i < taken && i < WIO_BOARD_NODES; i++) {
        wio_board_grant(&board->nodes[i], WIO_BOARD_FREE);
    }
}

uint32_t wio_board_doorbell(const struct wio_board *board)
{
    return __atomic_load_n(&board->doorbell, __ATOMIC_SEQ_CST);
}

void wio_board_sleep(struct wio_board *board, uint32_t seen, uint64_t limit_ns)
{
    const struct timespec limit = {.tv_sec = (time_t)(limit_ns / SECOND_NS),
                                   .tv_nsec = (long)(limit_ns % SECOND_NS)};
    (void)__atomic_fetch_add(&board->beat, 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&board->is_awaited, 1, __ATOMIC_SEQ_CST);
    (void)futex(&board->doorbell, FUTEX_WAIT, seen, &limit);
    __atomic_store_n(&board->is_awaited, 0, __ATOMIC_SEQ_CST);
}
