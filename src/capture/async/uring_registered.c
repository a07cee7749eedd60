/* SPDX-License-Identifier: Apache-2.0 */
/* What a program has registered with its rings: files, and rings themselves. */
#include <sys/mman.h>

#include "capture/async/uring.h"
#include "capture/core/address.h"
#include "capture/core/raw.h"
#include "capture/files/descriptors.h"
#include "capture/mpi/mpi_io.h"

#ifndef IORING_REGISTER_RING_FDS
#define IORING_REGISTER_RING_FDS 20
#endif
#ifndef IORING_UNREGISTER_RING_FDS
#define IORING_UNREGISTER_RING_FDS 21
#endif

#define ATTEMPTS_MAX 1000 /* to get at a side of a ring that another thread reads */

void cap_uring_drop_files(struct cap_uring *ring)
{
    if (ring->files != NULL) {
        (void)raw_munmap(ring->files, ring->file_room * sizeof(ring->files[0]));
    }
    ring->files = NULL;
    ring->file_count = 0;
    ring->file_room = 0;
}

static void set_file(struct cap_thread *self, struct cap_uring *ring, unsigned place, int fd)
{
    const bool is_told = fd >= 0 && !ring->is_hidden;
    ring->files[place] = (struct cap_uring_file){
        .fd = fd,
        .path = is_told ? cap_fd_path(self, fd) : WIO_NO_STRING,
        .is_mpi = cap_mpi_io_is_file(fd),
    };
}

/* Another thread may be reading entries, which name registered files: a moment. A signal handler
 * that interrupted this reader waits in vain; then the table stays as it was. */
static bool take_submission(struct cap_uring *ring)
{
    for (unsigned i = 0; i < ATTEMPTS_MAX; i++) {
        if (cap_uring_take(&ring->sq_busy)) {
            return true;
        }
        raw_yield();
    }
    return false;
}

void cap_uring_set_files(struct cap_thread *self, struct cap_uring *ring, const int *fds,
                         unsigned count)
{
    if (!take_submission(ring)) {
        return;
    }
    cap_uring_drop_files(ring);
    size_t bytes = count * sizeof(ring->files[0]);
    ring->files = count == 0
                      ? NULL
                      : raw_mmap(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (ring->files != NULL) {
        ring->file_room = count;
        ring->file_count = count;
        for (unsigned i = 0; i < count; i++) {
            set_file(self, ring, i, fds != NULL ? fds[i] : -1);
        }
    }
    cap_uring_release(&ring->sq_busy);
}

void cap_uring_update_files(struct cap_thread *self, struct cap_uring *ring, unsigned first,
                            const int *fds, unsigned count)
{
    uint64_t page = 0;
    for (unsigned i = 0;
         i < count && first + i < ring->file_count && cap_is_mapped_near((uintptr_t)&fds[i], &page);
         i++) {
        if (fds[i] != IORING_REGISTER_FILES_SKIP) {
            set_file(self, ring, first + i, fds[i]);
        }
    }
}

static const int *fds_at(uint64_t address)
{
    return (const int *)(uintptr_t)address;
}

void cap_uring_registered(struct cap_thread *self, struct cap_uring *ring, unsigned operation,
                          const void *arg, unsigned count)
{
    switch (operation) {
    case IORING_REGISTER_FILES:
        cap_uring_set_files(self, ring, arg, count);
        break;
    case IORING_UNREGISTER_FILES:
        cap_uring_set_files(self, ring, NULL, 0);
        break;
    case IORING_REGISTER_FILES_UPDATE: {
        const struct io_uring_files_update *update = arg;
        cap_uring_update_files(self, ring, update->offset, fds_at(update->fds), count);
        break;
    }
    case IORING_REGISTER_FILES2: {
        const struct io_uring_rsrc_register *files = arg;
        cap_uring_set_files(self, ring, fds_at(files->data), files->nr);
        break;
    }
    case IORING_REGISTER_FILES_UPDATE2: {
        const struct io_uring_rsrc_update2 *update = arg;
        cap_uring_update_files(self, ring, update->offset, fds_at(update->data), update->nr);
        break;
    }
    case IORING_REGISTER_RING_FDS: {
        const struct io_uring_rsrc_update *update = arg;
        ring->registered = count == 1 ? update->offset + 1 : 0;
        ring->registered_by = self->tid;
        break;
    }
    case IORING_UNREGISTER_RING_FDS:
        ring->registered = 0;
        break;
    default:
        break;
    }
}
