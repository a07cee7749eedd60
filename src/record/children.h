/* SPDX-License-Identifier: Apache-2.0 */
/* A look at the children of this process. */
#ifndef WIO_RECORD_CHILDREN_H
#define WIO_RECORD_CHILDREN_H

#include <stdbool.h>

#include "record/record.h"

/* How many there are, and the first of them. False where there is none or /proc does not tell. */
bool wio_children_look(struct wio_lingering *who_out);

#endif
