/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WIO_CAPTURE_ASYNC_URING_FOREIGN_H
#define WIO_CAPTURE_ASYNC_URING_FOREIGN_H

#include "capture/async/uring_foreign.h"
#include "capture/core/attributes.h"

/* Rings of io_uring among the descriptors of this process that no wrapped call has shown: counts
 * their requests as unseen, as far as an earlier call has not. Reads /proc/self/fd. */
void cap_uring_count_foreign(void) CAP_HIDDEN;

#endif
