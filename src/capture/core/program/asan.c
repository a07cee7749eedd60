/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that were built with gcc's AddressSanitizer refuse to run when a preloaded library comes
 * before its run-time library. It asks this function for options, which a program may define; the
 * program's own definition comes before ours.
 */
#include "capture/core/capture.h"

CAP_EXPORT const char *__asan_default_options(void);
CAP_EXPORT const char *__asan_default_options(void)
{
    return "verify_asan_link_order=0";
}
