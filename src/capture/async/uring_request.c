/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an entry of a submission ring asks for. The kernel reads each kind of entry in its own way
 * (io_uring_enter(2) lists them): the same 64 bytes hold a path or a buffer, an offset or a second
 * path.
 */
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>

#include "capture/async/uring.h"
#include "capture/core/address.h"
#include "capture/files/paths.h"

/* Kinds that are younger than the headers of Debian 12. */
#define OP_READ_MULTISHOT 49
#define OP_FTRUNCATE 55
#define OP_READV_FIXED 60
#define OP_WRITEV_FIXED 61
#define KEY_MARK (1ull << 63) /* no address has this bit: keys of aio and libaio are addresses */

uint64_t cap_uring_key(const struct cap_uring *ring, uint64_t user_data)
{
    uint64_t mixed = user_data ^ (uint64_t)ring->number * 0x9e3779b97f4a7c15ull;
    mixed = (mixed ^ mixed >> 32) * 0xd6e8feb86659fd93ull;
    return (mixed ^ mixed >> 32) | KEY_MARK;
}

static unsigned mark_of(unsigned opcode)
{
    switch (opcode) {
    case IORING_OP_READ:
    case IORING_OP_READV:
    case IORING_OP_READ_FIXED:
    case OP_READ_MULTISHOT:
    case OP_READV_FIXED:
        return WIO_CALL_uring_read;
    case IORING_OP_WRITE:
    case IORING_OP_WRITEV:
    case IORING_OP_WRITE_FIXED:
    case OP_WRITEV_FIXED:
        return WIO_CALL_uring_write;
    case IORING_OP_FSYNC:
    case IORING_OP_SYNC_FILE_RANGE:
        return WIO_CALL_uring_fsync;
    case IORING_OP_OPENAT:
    case IORING_OP_OPENAT2:
        return WIO_CALL_uring_open;
    case IORING_OP_CLOSE:
        return WIO_CALL_uring_close;
    case IORING_OP_STATX:
        return WIO_CALL_uring_stat;
    case IORING_OP_FALLOCATE:
        return WIO_CALL_uring_fallocate;
    case IORING_OP_RENAMEAT:
        return WIO_CALL_uring_rename;
    case IORING_OP_UNLINKAT:
        return WIO_CALL_uring_unlink;
    case IORING_OP_MKDIRAT:
        return WIO_CALL_uring_mkdir;
    default:
        return WIO_CALL_uring_other;
    }
}

/* Can the kernel read it? Longer ones it refuses, too. */
static bool is_path(uint64_t address)
{
    return cap_text_bytes(address, PATH_MAX) != UINT64_MAX;
}

/* An empty path is none, unless the request may mean the descriptor (AT_EMPTY_PATH). */
static uint32_t path_or_fd_at(struct cap_thread *self, int dirfd, uint64_t address, int flags)
{
    const char *path = (const char *)(uintptr_t)address;
    if (!is_path(address) || (path[0] == '\0' && (flags & AT_EMPTY_PATH) == 0)) {
        return WIO_NO_STRING;
    }
    return cap_string(self, dirfd, path);
}

static uint32_t path_at(struct cap_thread *self, int dirfd, uint64_t address)
{
    return path_or_fd_at(self, dirfd, address, 0);
}

/* The descriptor, or the registered file's, which may be closed by now but had a path. */
static void set_file(struct cap_request *request, const struct cap_uring *ring,
                     const struct io_uring_sqe *sqe)
{
    unsigned place = (unsigned)sqe->fd;
    if ((sqe->flags & IOSQE_FIXED_FILE) == 0) {
        request->fd = sqe->fd >= 0 ? sqe->fd : WIO_NO_FD;
        return;
    }
    if (place < ring->file_count) {
        int fd = ring->files[place].fd;
        request->fd = fd >= 0 ? fd : WIO_NO_FD;
        request->path = ring->files[place].path;
    }
}

/* A file that is opened to be a registered one has a path and no descriptor. */
static void set_place(struct cap_uring *ring, uint32_t file_index, uint32_t path)
{
    if (file_index != 0 && file_index <= ring->file_count) {
        ring->files[file_index - 1] = (struct cap_uring_file){.fd = -1, .path = path};
    }
}

/* Offset -1 is the file's position, which moves when the request ends, at an unknown time. */
static int64_t offset_of(const struct cap_request *request, uint64_t offset)
{
    struct cap_fd *entry = request->fd >= 0 ? cap_fd_find(request->fd) : NULL;
    if (offset != UINT64_MAX) {
        return (int64_t)offset;
    }
    if (entry == NULL || (entry->flags & CAP_FD_KNOWN) == 0) {
        return WIO_NO_OFFSET;
    }
    (void)__atomic_fetch_or(&entry->flags, CAP_FD_SHARED, __ATOMIC_RELAXED);
    return cap_fd_advance(request->fd, 0);
}

static bool is_vector(unsigned opcode)
{
    return opcode == IORING_OP_READV || opcode == IORING_OP_WRITEV || opcode == OP_READV_FIXED ||
           opcode == OP_WRITEV_FIXED;
}

static void set_data(struct cap_thread *self, struct cap_request *request,
                     const struct io_uring_sqe *sqe)
{
    if (request->path == WIO_NO_STRING && request->fd >= 0) {
        request->path = cap_fd_path(self, request->fd);
    }
    request->offset = offset_of(request, sqe->off);
    request->size = sqe->len;
    if (is_vector(sqe->opcode)) {
        request->size = cap_vector_bytes((const struct iovec *)(uintptr_t)sqe->addr, sqe->len);
    }
}

/* Of the descriptor itself where the path is empty. */
static void set_stat(struct cap_thread *self, struct cap_request *request,
                     const struct io_uring_sqe *sqe)
{
    int flags = (int)sqe->statx_flags;
    request->path = path_or_fd_at(self, sqe->fd, sqe->addr, flags);
    if ((flags & AT_EMPTY_PATH) != 0 && sqe->fd >= 0 && cap_is_mapped(sqe->addr) &&
        *(const char *)(uintptr_t)sqe->addr == '\0') {
        request->fd = sqe->fd;
    }
}

/* A symbolic link's text is no path: it is kept as it is. */
static void set_symlink(struct cap_thread *self, struct cap_request *request,
                        const struct io_uring_sqe *sqe)
{
    uint64_t bytes = cap_text_bytes(sqe->addr, PATH_MAX);
    request->path = path_at(self, sqe->fd, sqe->addr2);
    if (bytes != UINT64_MAX) {
        request->ext.path2 = cap_text(self, (const char *)(uintptr_t)sqe->addr, bytes);
    }
}

static void set_open(struct cap_thread *self, struct cap_request *request, struct cap_uring *ring,
                     const struct io_uring_sqe *sqe)
{
    request->path = path_at(self, sqe->fd, sqe->addr);
    set_place(ring, sqe->file_index, request->path);
    request->ext.offset2 = sqe->len;
    if (sqe->opcode == IORING_OP_OPENAT2) {
        const struct open_how *how = (const struct open_how *)(uintptr_t)sqe->off;
        bool is_readable = cap_is_mapped(sqe->off) && cap_is_mapped(sqe->off + sizeof(*how) - 1) &&
                           sqe->len >= sizeof(*how);
        request->ext.offset2 = is_readable ? (int64_t)how->mode : 0;
        request->ext.arg[2] = is_readable ? (int64_t)how->flags : 0;
    }
}

/* The descriptor's number is free for others from some moment on; what is known of it ends now. */
static void set_close(struct cap_thread *self, struct cap_request *request, struct cap_uring *ring,
                      const struct io_uring_sqe *sqe)
{
    if (sqe->file_index != 0) {
        unsigned place = sqe->file_index - 1;
        request->path = place < ring->file_count ? ring->files[place].path : WIO_NO_STRING;
        set_place(ring, sqe->file_index, WIO_NO_STRING);
        return;
    }
    request->fd = sqe->fd;
    request->path = cap_fd_path(self, sqe->fd);
    cap_fd_clear(sqe->fd);
}

static void set_other(struct cap_thread *self, struct cap_request *request, struct cap_uring *ring,
                      const struct io_uring_sqe *sqe)
{
    switch (sqe->opcode) {
    case IORING_OP_SPLICE:
    case IORING_OP_TEE:
        set_file(request, ring, sqe);
        request->offset = sqe->off != UINT64_MAX ? (int64_t)sqe->off : WIO_NO_OFFSET;
        request->size = sqe->len;
        if ((sqe->splice_flags & SPLICE_F_FD_IN_FIXED) == 0) {
            request->ext.fd2 = sqe->splice_fd_in;
            request->ext.path2 = cap_fd_path(self, sqe->splice_fd_in);
        }
        request->ext.offset2 =
            sqe->splice_off_in != UINT64_MAX ? (int64_t)sqe->splice_off_in : WIO_NO_OFFSET;
        break;
    case IORING_OP_LINKAT:
        request->path = path_or_fd_at(self, sqe->fd, sqe->addr, (int)sqe->hardlink_flags);
        request->ext.path2 = path_at(self, (int)sqe->len, sqe->addr2);
        break;
    case IORING_OP_SYMLINKAT:
        set_symlink(self, request, sqe);
        break;
    case IORING_OP_FILES_UPDATE:
        if (sqe->off != IORING_FILE_INDEX_ALLOC && cap_is_mapped(sqe->addr)) {
            cap_uring_update_files(self, ring, (unsigned)sqe->off,
                                   (const int *)(uintptr_t)sqe->addr, sqe->len);
        }
        break;
    case OP_FTRUNCATE:
        set_file(request, ring, sqe);
        request->size = sqe->off;
        break;
    case IORING_OP_SEND:
    case IORING_OP_RECV:
    case IORING_OP_SEND_ZC:
        set_file(request, ring, sqe);
        request->size = sqe->len;
        break;
    case IORING_OP_SENDMSG:
    case IORING_OP_RECVMSG:
    case IORING_OP_ACCEPT:
    case IORING_OP_CONNECT:
    case IORING_OP_POLL_ADD:
    case IORING_OP_FADVISE:
    case IORING_OP_SHUTDOWN:
        set_file(request, ring, sqe);
        break;
    default: /* timeouts, cancellations: no file of their own */
        break;
    }
}

static void set_kind(struct cap_thread *self, struct cap_request *request, struct cap_uring *ring,
                     const struct io_uring_sqe *sqe)
{
    switch (request->call) {
    case WIO_CALL_uring_read:
    case WIO_CALL_uring_write:
        set_file(request, ring, sqe);
        set_data(self, request, sqe);
        break;
    case WIO_CALL_uring_fsync:
        set_file(request, ring, sqe);
        if (sqe->opcode == IORING_OP_SYNC_FILE_RANGE || sqe->len != 0) {
            request->offset = (int64_t)sqe->off;
            request->size = sqe->len;
        }
        break;
    case WIO_CALL_uring_open:
        set_open(self, request, ring, sqe);
        break;
    case WIO_CALL_uring_close:
        set_close(self, request, ring, sqe);
        break;
    case WIO_CALL_uring_stat:
        set_stat(self, request, sqe);
        break;
    case WIO_CALL_uring_unlink:
        request->path = path_at(self, sqe->fd, sqe->addr);
        break;
    case WIO_CALL_uring_fallocate:
        set_file(request, ring, sqe);
        request->offset = (int64_t)sqe->off;
        request->size = sqe->addr;
        request->ext.arg[2] = sqe->len;
        break;
    case WIO_CALL_uring_rename:
        request->path = path_at(self, sqe->fd, sqe->addr);
        request->ext.path2 = path_at(self, (int)sqe->len, sqe->addr2);
        break;
    case WIO_CALL_uring_mkdir:
        request->path = path_at(self, sqe->fd, sqe->addr);
        request->ext.offset2 = sqe->len;
        break;
    default:
        set_other(self, request, ring, sqe);
        break;
    }
}

struct cap_request cap_uring_request(struct cap_thread *self, struct cap_uring *ring,
                                     const struct io_uring_sqe *sqe)
{
    struct cap_request request = CAP_REQUEST;
    request.call = (uint16_t)mark_of(sqe->opcode);
    request.ext.arg[0] = ring->fd;
    request.ext.arg[1] = (int64_t)sqe->user_data;
    request.ext.arg[2] = sqe->rw_flags;
    request.ext.arg[3] = sqe->opcode;
    set_kind(self, &request, ring, sqe);
    request.ext.arg[2] |= (int64_t)sqe->flags << 32;
    /* A request that posts no end must not take another one's. */
    bool is_skipped = (sqe->flags & IOSQE_CQE_SKIP_SUCCESS) != 0;
    ring->has_skips = ring->has_skips || is_skipped;
    request.key = is_skipped ? 0 : cap_uring_key(ring, sqe->user_data);
    return request;
}
