/* SPDX-License-Identifier: Apache-2.0 */
/* Which descriptors are rings of io_uring. */
#include <string.h>

#include "base/fmt.h"
#include "capture/async/uring.h"
#include "capture/core/raw.h"

bool cap_uring_is_ring(int fd)
{
    static const char ring[] = "anon_inode:[io_uring]";
    char name[48];
    char text[sizeof(ring)];
    struct wio_fmt fmt = wio_fmt_of(name, sizeof(name));
    wio_fmt_str(&fmt, "/proc/self/fd/");
    wio_fmt_i64(&fmt, fd);
    return raw_readlink(name, text, sizeof(text)) == (long)sizeof(ring) - 1 &&
           memcmp(text, ring, sizeof(ring) - 1) == 0;
}
