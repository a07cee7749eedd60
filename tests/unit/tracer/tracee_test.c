/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <unistd.h>

#include "tracer/tracee.h"

/* Each image once, however often it is asked whether events can be written. */
static void a_ring_that_cannot_be_made_is_counted(void **state)
{
    struct tracer_losses losses = {0};
    const struct tracer_settings settings = {.rings = -1, .host = "host", .losses = &losses};
    struct tracer_session session;
    (void)state;
    tracer_session_init(&session, &settings);
    struct tracer_process *process = tracer_process_add(&session, getpid());
    assert_non_null(process);
    struct tracer_thread *thread = tracer_thread_add(&session, process, getpid());
    assert_non_null(thread);
    process->is_recorded = true;
    assert_false(tracer_thread_ready(&session, thread));
    assert_false(tracer_thread_ready(&session, thread));
    assert_int_equal(losses.no_ring, 1);
    tracer_process_renew(process);
    assert_false(tracer_thread_ready(&session, thread));
    assert_int_equal(losses.no_ring, 2);
    tracer_session_fini(&session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_ring_that_cannot_be_made_is_counted)};
    return WIO_RUN(tests);
}
