/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Let the n-th allocation fail, for n = 1, 2, ... until the work under test succeeds. Each try must
 * end with WIO_ERR_NOMEM or success, leak nothing (AddressSanitizer looks) and leave its objects
 * usable. For programs that link with `alloc_link_args` and `alloc_dep`.
 *
 *     wio_alloc_every_failure(build_and_release_it, NULL);
 */
#ifndef WIO_TESTS_SUPPORT_ALLOC_H
#define WIO_TESTS_SUPPORT_ALLOC_H

#include <whyio/status.h>

/* Calls `work` until no allocation failed in it; gives the number of failures that were tried. */
unsigned wio_alloc_every_failure(enum wio_status (*work)(void *arg), void *arg);

#endif
