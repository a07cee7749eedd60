/* SPDX-License-Identifier: Apache-2.0 */
/* The library is loaded. */
#include "capture/core/features.h"
#include "capture/core/process.h"

/* Runs late among the constructors of the libraries; an earlier call configures by
 * cap_enter_slow. */
__attribute__((constructor)) static void load(void)
{
    CAP_KEEP_ERRNO;
    cap_real_find_early();
    if (cap_configure()) {
        (void)cap_thread_begin();
        cap_on_load();
    }
}
