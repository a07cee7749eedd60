/* SPDX-License-Identifier: Apache-2.0 */
/* What must hold at a target between any two events, beside what a history can tell. */
#ifndef WIO_TESTS_SIM_INVARIANTS_H
#define WIO_TESTS_SIM_INVARIANTS_H

#include <stdint.h>

#include "store/server/server.h"

/*
 * NULL: all is well.
 *  - What a dead client had not voted on keeps its locks for a bounded number of leases, answers or
 *    not.
 *  - A vote does not wait for a lock: votes given elsewhere could hold it up for ever (R-LAST-2).
 */
const char *invariants_of(const struct wio_server *server, uint64_t now_ns);

#endif
