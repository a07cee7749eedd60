/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/perform/fds.h"

#include <sys/mman.h>
#include <unistd.h>

enum wio_status rp_fds_init(struct rp_fds *fds, uint32_t count, struct wio_error *err)
{
    if (count == 0) {
        return WIO_OK;
    }
    void *items = mmap(NULL, (size_t)count * sizeof(struct rp_fd), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (items == MAP_FAILED) {
        return wio_error_sys(err, NULL, "cannot reserve a table of %u descriptors", count);
    }
    fds->items = items;
    fds->count = count;
    return WIO_OK;
}

void rp_fds_fini(struct rp_fds *fds)
{
    if (fds->items != NULL) {
        (void)munmap(fds->items, (size_t)fds->count * sizeof(struct rp_fd));
    }
    *fds = (struct rp_fds){0};
}

int rp_fd_close(struct rp_fd *fd)
{
    int real = atomic_exchange(&fd->real, 0) - 1;
    return real < 0 ? 0 : close(real);
}

void rp_fd_set(struct rp_fd *fd, int real, bool is_cloexec, uint64_t open_ns)
{
    (void)rp_fd_close(fd);
    fd->is_cloexec = is_cloexec;
    fd->is_adopted = false;
    fd->open_ns = open_ns;
    atomic_store_explicit(&fd->real, real + 1, memory_order_release);
}

void rp_fds_inherit(struct rp_fds *to, const struct rp_fds *from, bool with_cloexec)
{
    for (uint32_t i = 0; i < from->count; i++) {
        const struct rp_fd *source = &from->items[i];
        struct rp_fd *target = &to->items[i];
        int real = rp_fd_real(source);
        if (real < 0) {
            continue;
        }
        if (source->is_cloexec && !with_cloexec) {
            (void)close(real);
        } else if (rp_fd_real(target) < 0 || target->open_ns <= source->open_ns) {
            *target = *source;
        }
    }
}
