/* SPDX-License-Identifier: Apache-2.0 */
#include "admit_sim.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    double loads[] = {0.5, 1.2, 2, 10, 0};
    static struct sim_result r;
    printf("%-10s %6s %7s %7s %5s %8s %8s %8s %6s %4s %6s %6s %6s %5s %5s\n", "scheme", "load",
           "goodput", "fair", "p50", "p99", "p999", "ref/op", "p99", "push", "qmax", "qmean", "mem",
           "waste", "refus");
    for (int l = 0; l < 5; l++)
        for (int s = 0; s < SIM_SCHEME_COUNT; s++) {
            if (argc > 1 && atoi(argv[1]) != s && atoi(argv[1]) >= 0)
                continue;
            struct sim_config c = sim_default(s);
            if (argc > 2)
                c.service_ns = atoi(argv[2]);
            if (argc > 3)
                c.duration_ns = atof(argv[3]) * 1e9;
            c.load = loads[l];
            if (l == 4) {
                c.clients = 2000;
                c.outstanding = 64;
            }
            sim_run(&c, &r);
            printf("%-10s %6.1f %7.4f %7.4f %7.2f %7.2f %7.2f %8.3f %4u %6.3f %6u %6.1f %6.1f "
                   "%5.3f %5.3f | %lu %lu\n",
                   sim_scheme_name(s), loads[l], r.goodput, r.fairness, r.p50_ms, r.p99_ms,
                   r.p999_ms, r.refusals, r.refusals_p99, r.pushes, r.queue_max, r.queue_mean,
                   r.memory_mib, r.wasted, r.refusing, r.submitted, r.done);
            fflush(stdout);
        }
}
