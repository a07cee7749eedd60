/* SPDX-License-Identifier: Apache-2.0 */
#include "base/system/cpus.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>

/* A cpu_set_t has room for 1024; Linux can be built for 8192. */
#define CPUS_MIN 1024
#define CPUS_MAX 65536

/* False: the kernel knows of more than `room`. */
static bool count(int room, uint32_t *count_out)
{
    cpu_set_t *set = CPU_ALLOC(room);
    size_t size = CPU_ALLOC_SIZE(room);
    *count_out = 0;
    if (set == NULL) {
        return true;
    }
    bool is_known = sched_getaffinity(0, size, set) == 0;
    bool is_short = !is_known && errno == EINVAL;
    if (is_known) {
        *count_out = (uint32_t)CPU_COUNT_S(size, set);
    }
    CPU_FREE(set);
    return !is_short;
}

uint32_t wio_cpus_allowed(void)
{
    uint32_t allowed = 0;
    for (int room = CPUS_MIN; room <= CPUS_MAX && !count(room, &allowed); room *= 2) {
    }
    return allowed;
}
