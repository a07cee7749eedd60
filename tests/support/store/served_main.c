/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A store in memory for tests of commands: prints the address of its catalogue, and ends with its
 * standard input.
 *
 *     store_served [TARGETS [POLICY [CAPACITY [ADMISSION [WORK_US [TENANTS [TRACE]]]]]]]
 *
 * POLICY: enum wio_lock_policy. ADMISSION: a policy's name. WORK_US: time of the loop for each
 * read, and each update that is applied. TENANTS: job, uid, client, pool. TRACE: a directory for
 * rows of transactions, which is made.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "support/store/served.h"

int main(int argc, char **argv)
{
    static struct served served;
    unsigned targets = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 2;
    served.policy = argc > 2 ? (enum wio_lock_policy)strtoul(argv[2], NULL, 10) : 0;
    served.lock_timeout_ns = UINT64_C(250000000);
    served.capacity = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    served.kind = argc > 4 ? wio_admit_kind_find(argv[4]) : WIO_ADMIT_CREDIT;
    served.work_us = argc > 5 ? (unsigned)strtoul(argv[5], NULL, 10) : 0;
    served.tenant_by = argc > 6 ? wio_admit_tenant_find(argv[6]) : WIO_ADMIT_BY_JOB;
    served.trace = argc > 7 ? argv[7] : NULL;
    if (served.trace != NULL && mkdir(served.trace, 0700) != 0) {
        perror(served.trace);
        return 1;
    }
    served_begin_as(&served, targets > 0 && targets <= SERVED_TARGETS ? targets : 1);
    printf("%s\n", served.address);
    (void)fflush(stdout);
    while (getchar() != EOF) {
    }
    served_end(&served);
    return 0;
}
