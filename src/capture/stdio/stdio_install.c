/* SPDX-License-Identifier: Apache-2.0 */
/* Putting the hooks in place, once. */
#include "capture/stdio/stdio_call.h"
#include "capture/stdio/stdio_hooks.h"
#include "capture/stdio/stdio_tables.h"

void cap_stdio_install(void)
{
    static bool was_tried;
    if (was_tried) {
        return;
    }
    was_tried = true;
    cap_stdio_exchange(cap_stdio_hooks);
    if (!cap_stdio_has_hooks) {
        cap_unseen(WIO_UNSEEN_HIDDEN_STDIO);
    }
}
