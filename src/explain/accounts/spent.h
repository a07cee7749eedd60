/* SPDX-License-Identifier: Apache-2.0 */
/* Accounts per job, rank, file, directory, file system and operation, from the steps. Private. */
#ifndef WIO_EXPLAIN_SPENT_H
#define WIO_EXPLAIN_SPENT_H

#include "explain/explain.h"

/* Fills explanation->tables. */
WIO_MUST_CHECK enum wio_status wio_spent_count(struct wio_explanation *explanation);

#endif
