/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A store in memory for tests of commands: prints the address of its catalogue, and ends with its
 * standard input.
 *
 *     store_served [TARGETS [POLICY [CAPACITY]]]      POLICY: enum wio_lock_policy
 */
#include <stdio.h>
#include <stdlib.h>

#include "support/store/served.h"

int main(int argc, char **argv)
{
    static struct served served;
    unsigned targets = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 2;
    served.policy = argc > 2 ? (enum wio_lock_policy)strtoul(argv[2], NULL, 10) : 0;
    served.lock_timeout_ns = UINT64_C(250000000);
    served.capacity = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    served_begin_as(&served, targets > 0 && targets <= SERVED_TARGETS ? targets : 1);
    printf("%s\n", served.address);
    (void)fflush(stdout);
    while (getchar() != EOF) {
    }
    served_end(&served);
    return 0;
}
