/* SPDX-License-Identifier: Apache-2.0 */
/* An event while it is made. Part of capture.h. */
#ifndef WIO_CAPTURE_CORE_EVENT_H
#define WIO_CAPTURE_CORE_EVENT_H

#include <stddef.h>
#include <stdint.h>

#include <whyio/event.h>

#include "capture/core/attributes.h"
#include "ops/calls.h"

/* One event while a wrapper fills it. In classes without position and size (FORMAT.md R-EVENT-2)
 * offset is arg0 and size is arg1, unless it is emitted with an ext. */
struct cap_event {
    uint64_t begin;
    uint64_t end;
    uintptr_t source;
    int64_t result;
    int64_t offset;
    uint64_t size;
    int32_t fd;
    uint32_t path;
    uint16_t call;
    uint8_t flags;
    int error;
};

#define CAP_EVENT(symbol, caller) CAP_EVENT_OF(WIO_CALL_##symbol, caller)
#define CAP_EVENT_OF(number, caller)                                                               \
    ((struct cap_event){.source = (caller),                                                        \
                        .offset = WIO_NO_OFFSET,                                                   \
                        .size = WIO_NO_SIZE,                                                       \
                        .fd = WIO_NO_FD,                                                           \
                        .call = (uint16_t)(number)})

struct cap_ext {
    uint32_t path2;
    int32_t fd2;
    int64_t offset2;
    int64_t arg[4];
    uint64_t key;
};

#define CAP_EXT ((struct cap_ext){.fd2 = WIO_NO_FD, .offset2 = WIO_NO_OFFSET})

#endif
