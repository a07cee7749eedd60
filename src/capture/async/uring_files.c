/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of liburing.so.2 that register files: later requests name them by their places. */
#include "capture/async/uring_hidden.h"
#include "capture/files/descriptors.h"

int io_uring_register_files(LIB ring, const int *files, unsigned count);
int io_uring_register_files_tags(LIB ring, const int *files, const uint64_t *tags, unsigned count);
int io_uring_register_files_sparse(LIB ring, unsigned count);
int io_uring_register_files_update(LIB ring, unsigned first, const int *files, unsigned count);
int io_uring_register_files_update_tag(LIB ring, unsigned first, const int *files,
                                       const uint64_t *tags, unsigned count);
int io_uring_unregister_files(LIB ring);

static bool end_register(struct cap_uring_call *call, const struct cap_lib_uring *library,
                         unsigned operation, unsigned count, int result)
{
    if (call->self == NULL) {
        call->self = cap_self;
        call->ring = result >= 0 ? cap_uring_hidden_library(call->ev.source, library) : NULL;
        return call->ring != NULL;
    }
    struct cap_ext ext = CAP_EXT;
    cap_unmute(call->self);
    call->ring = cap_uring_of_library(library);
    call->ev.end = cap_now();
    call->ev.fd = cap_uring_fd_of(library);
    call->ev.path = cap_fd_path(call->self, call->ev.fd);
    call->ev.size = count;
    cap_uring_set_result(&call->ev, result);
    ext.arg[0] = operation;
    cap_emit_ext(call->self, &call->ev, &ext);
    return call->ring != NULL && result >= 0;
}

CAP_EXPORT int io_uring_register_files(LIB ring, const int *files, unsigned count)
{
    struct cap_uring_call call;
    cap_uring_begin_muted(&call, WIO_CALL_io_uring_register_files, CAP_CALLER());
    int result = CAP_REAL(io_uring_register_files)(ring, files, count);
    if (end_register(&call, ring, IORING_REGISTER_FILES, count, result)) {
        cap_uring_set_files(call.self, call.ring, files, count);
    }
    return result;
}

CAP_EXPORT int io_uring_register_files_tags(LIB ring, const int *files, const uint64_t *tags,
                                            unsigned count)
{
    struct cap_uring_call call;
    cap_uring_begin_muted(&call, WIO_CALL_io_uring_register_files_tags, CAP_CALLER());
    int result = CAP_REAL(io_uring_register_files_tags)(ring, files, tags, count);
    if (end_register(&call, ring, IORING_REGISTER_FILES2, count, result)) {
        cap_uring_set_files(call.self, call.ring, files, count);
    }
    return result;
}

CAP_EXPORT int io_uring_register_files_sparse(LIB ring, unsigned count)
{
    struct cap_uring_call call;
    cap_uring_begin_muted(&call, WIO_CALL_io_uring_register_files_sparse, CAP_CALLER());
    int result = CAP_REAL(io_uring_register_files_sparse)(ring, count);
    if (end_register(&call, ring, IORING_REGISTER_FILES2, count, result)) {
        cap_uring_set_files(call.self, call.ring, NULL, count);
    }
    return result;
}

CAP_EXPORT int io_uring_register_files_update(LIB ring, unsigned first, const int *files,
                                              unsigned count)
{
    struct cap_uring_call call;
    cap_uring_begin_muted(&call, WIO_CALL_io_uring_register_files_update, CAP_CALLER());
    int result = CAP_REAL(io_uring_register_files_update)(ring, first, files, count);
    if (end_register(&call, ring, IORING_REGISTER_FILES_UPDATE, count, result)) {
        cap_uring_update_files(call.self, call.ring, first, files, count);
    }
    return result;
}

CAP_EXPORT int io_uring_register_files_update_tag(LIB ring, unsigned first, const int *files,
                                                  const uint64_t *tags, unsigned count)
{
    struct cap_uring_call call;
    cap_uring_begin_muted(&call, WIO_CALL_io_uring_register_files_update_tag, CAP_CALLER());
    int result = CAP_REAL(io_uring_register_files_update_tag)(ring, first, files, tags, count);
    if (end_register(&call, ring, IORING_REGISTER_FILES_UPDATE2, count, result)) {
        cap_uring_update_files(call.self, call.ring, first, files, count);
    }
    return result;
}

CAP_EXPORT int io_uring_unregister_files(LIB ring)
{
    struct cap_uring_call call;
    cap_uring_begin_muted(&call, WIO_CALL_io_uring_unregister_files, CAP_CALLER());
    int result = CAP_REAL(io_uring_unregister_files)(ring);
    if (end_register(&call, ring, IORING_UNREGISTER_FILES, 0, result)) {
        cap_uring_set_files(call.self, call.ring, NULL, 0);
    }
    return result;
}
