/* SPDX-License-Identifier: Apache-2.0 */
/* What the core of capture expects of the wrappers: tests link it without them, since a test's own
 * calls are not to be wrapped. */
#include "capture/async/uring_foreign.h"
#include "capture/process/exec.h"
#include "capture/process/thread_events.h"
#include "capture/stdio/stdio_hooks.h"

void cap_exit_register(void)
{
}

void cap_thread_exit_event(struct cap_thread *self)
{
    (void)self;
}

void cap_stdio_install(void)
{
}

void cap_uring_count_foreign(void)
{
}
