/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/prepare/fill.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"

#define WINDOW_MIN (UINT64_C(1) << 20)
#define PIECES_MAX 64u
#define PAGE 4096u

void rp_fill(void *data, size_t size, uint64_t *seed)
{
    uint64_t state = *seed;
    uint8_t *at = data;
    while (size > 0) {
        uint64_t word = (state += UINT64_C(0x9e3779b97f4a7c15)); /* splitmix64 */
        word = (word ^ (word >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        word = (word ^ (word >> 27)) * UINT64_C(0x94d049bb133111eb);
        word ^= word >> 31;
        size_t bytes = size < sizeof(word) ? size : sizeof(word);
        memcpy(at, &word, bytes);
        at += bytes;
        size -= bytes;
    }
    *seed = state;
}

static size_t round_up(size_t size, size_t to)
{
    return (size + to - 1) / to * to;
}

static enum wio_status map_pieces(struct rp_bulk *bulk, int fd, struct wio_error *err)
{
    for (size_t at = 0; at < bulk->size; at += bulk->window) {
        size_t bytes = bulk->size - at < bulk->window ? bulk->size - at : bulk->window;
        void *piece =
            mmap(bulk->data + at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
        if (piece == MAP_FAILED) {
            return wio_error_sys(err, NULL, "cannot map %zu bytes for data", bytes);
        }
    }
    return WIO_OK;
}

enum wio_status rp_bulk_create(size_t size, struct rp_bulk *bulk_out, struct wio_error *err)
{
    struct rp_bulk bulk WIO_CLEANUP(rp_bulk_destroy) = {0};
    int fd WIO_CLEANUP(wio_fd_cleanup) = -1;
    bulk.size = round_up(size == 0 ? 1 : size, PAGE);
    bulk.window = round_up(bulk.size / PIECES_MAX, PAGE);
    bulk.window = bulk.window < WINDOW_MIN ? WINDOW_MIN : bulk.window;
    bulk.window = bulk.window > bulk.size ? bulk.size : bulk.window;
    fd = memfd_create("whyio-data", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)bulk.window) != 0) {
        return wio_error_sys(err, NULL, "cannot get %zu bytes of memory for data", bulk.window);
    }
    void *data =
        mmap(NULL, bulk.size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED) {
        bulk.data = NULL;
        return wio_error_sys(err, NULL, "cannot reserve %zu bytes for data", bulk.size);
    }
    bulk.data = data;
    WIO_TRY(map_pieces(&bulk, fd, err));
    *bulk_out = bulk;
    bulk.data = NULL;
    return WIO_OK;
}

void rp_bulk_destroy(struct rp_bulk *bulk)
{
    if (bulk->data != NULL) {
        (void)munmap(bulk->data, bulk->size);
        bulk->data = NULL;
    }
}
