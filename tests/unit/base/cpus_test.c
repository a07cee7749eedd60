/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <sched.h>
#include <string.h>

#include "support/unit.h"

#include "base/system/cpus.h"

static size_t known;  /* bytes of the kernel's own set, 0 = ask the real one */
static int set_every; /* of so many processors one is allowed */

int __real_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set);
int __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set);

int __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
    if (known == 0) {
        return __real_sched_getaffinity(pid, size, set);
    }
    if (size < known) {
        errno = EINVAL;
        return -1;
    }
    memset(set, 0, size);
    for (size_t cpu = 0; cpu < known * 8; cpu += (size_t)set_every) {
        CPU_SET_S(cpu, size, set);
    }
    return 0;
}

static void this_machine_is_counted(void **state)
{
    (void)state;
    known = 0;
    assert_true(wio_cpus_allowed() >= 1);
}

static void more_than_1024_are_counted(void **state)
{
    (void)state;
    known = 8192 / 8;
    set_every = 4;
    assert_int_equal(wio_cpus_allowed(), 2048);
}

static void a_set_that_is_too_large_ends_the_attempts(void **state)
{
    (void)state;
    known = SIZE_MAX / 8;
    assert_int_equal(wio_cpus_allowed(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(this_machine_is_counted),
        cmocka_unit_test(more_than_1024_are_counted),
        cmocka_unit_test(a_set_that_is_too_large_ends_the_attempts),
    };
    return WIO_RUN(tests);
}
