/* SPDX-License-Identifier: Apache-2.0 */
/* The open that fopen makes inside libc: its descriptor, before the stream's first own call. */
#include <fcntl.h>

#include "capture/files/paths.h"
#include "capture/stdio/stdio_call.h"
#include "capture/stdio/stdio_hooks.h"

void cap_stdio_name_opening(int fd)
{
    struct cap_stdio *stdio = &cap_stdio;
    if (CAP_LIKELY(stdio->opening == NULL) || fd == stdio->opening_from) {
        return;
    }
    if (stdio->source != stdio->opening_source) { /* that call is over, its path perhaps gone */
        stdio->opening = NULL;
        return;
    }
    stdio->opened_path = cap_string(cap_self, AT_FDCWD, stdio->opening);
    stdio->opened_fd = fd;
    stdio->opened_after = stdio->last_end;
    stdio->opened_until = cap_now();
    stdio->opening = NULL;
    cap_fd_set(fd, stdio->opened_path, stdio->opening_flags);
}

/* libc seeks in the streams that are left when the process ends, and nothing calls it then: the
 * last caller of ours may be that of an fopen which a handler has left. */
__attribute__((destructor)) static void forget_opening(void)
{
    cap_stdio.opening = NULL;
}
