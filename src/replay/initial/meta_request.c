/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/initial/meta_request.h"

#include <stddef.h>

#include "base/cleanup.h"
#include "ops/calls.h"

/* Opcodes of io_uring (linux/io_uring.h) that have no operation of their own. */
#define OP_SYMLINKAT 38
#define OP_LINKAT 39
#define OP_FTRUNCATE 55

/* What the call's first argument is: that of the request, its mode, or nothing. */
enum first { NOTHING, FLAGS, MODE };

static const struct {
    uint16_t request;
    uint16_t call;
    int16_t opcode; /* of uring_other; -1 = any */
    uint8_t first;
} calls[] = {
    {WIO_OP_uring_open, WIO_OP_open, -1, FLAGS},
    {WIO_OP_uring_close, WIO_OP_close, -1, NOTHING},
    {WIO_OP_uring_stat, WIO_OP_statx, -1, FLAGS},
    {WIO_OP_uring_fallocate, WIO_OP_fallocate, -1, FLAGS},
    {WIO_OP_uring_rename, WIO_OP_rename, -1, FLAGS},
    {WIO_OP_uring_unlink, WIO_OP_unlink, -1, FLAGS},
    {WIO_OP_uring_mkdir, WIO_OP_mkdir, -1, MODE},
    {WIO_OP_uring_other, WIO_OP_symlink, OP_SYMLINKAT, NOTHING},
    {WIO_OP_uring_other, WIO_OP_link, OP_LINKAT, FLAGS},
    {WIO_OP_uring_other, WIO_OP_ftruncate, OP_FTRUNCATE, NOTHING},
};

static size_t find(const struct wio_event *event)
{
    size_t i = 0;
    while (i < WIO_ARRAY_SIZE(calls) &&
           (calls[i].request != event->op ||
            (calls[i].opcode >= 0 && calls[i].opcode != event->arg[3]))) {
        i++;
    }
    return i;
}

bool rp_request_call(const struct wio_event *request, struct wio_event *call_out)
{
    if (wio_op_class(request->op) != WIO_CLASS_ASYNC_META || !rp_is_request_call(request)) {
        return false;
    }
    size_t i = find(request);
    struct wio_event call = *request;
    call.op = calls[i].call;
    call.arg[0] = 0;
    call.arg[1] = calls[i].call == WIO_OP_open ? request->offset2 : 0;
    call.arg[2] = 0;
    call.arg[3] = 0;
    if (calls[i].first == FLAGS) {
        call.arg[0] = request->arg[2] & UINT32_MAX; /* IOSQE_* above */
    } else if (calls[i].first == MODE) {
        call.arg[0] = request->offset2;
    }
    call.offset2 = WIO_NO_OFFSET;
    *call_out = call;
    return true;
}

bool rp_is_request_call(const struct wio_event *event)
{
    return find(event) < WIO_ARRAY_SIZE(calls);
}
