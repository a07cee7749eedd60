/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that no rule of ops/syscall_rules.h tells, in tables. */
#ifndef WIO_TRACER_SPECIALS_H
#define WIO_TRACER_SPECIALS_H

#include <stdbool.h>
#include <stdint.h>

#include "tracer/tracee.h"

/* A call that no rule tells; `before` and `after` may be NULL. Both are only called of threads that
 * are ready to write. */
struct tracer_special {
    uint16_t number;
    bool is_causal; /* only with synchronisation */
    void (*before)(struct tracer_session *session, struct tracer_thread *thread);
    void (*after)(struct tracer_session *session, struct tracer_thread *thread);
};

/* Tables that end with a row of number UINT16_MAX. */
extern const struct tracer_special tracer_file_specials[];
extern const struct tracer_special tracer_process_specials[];
extern const struct tracer_special tracer_wait_specials[];
extern const struct tracer_special tracer_socket_specials[];

#endif
