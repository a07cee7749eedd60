/* SPDX-License-Identifier: Apache-2.0 */
#include "job/policy.h"

#include <string.h>

#define MS UINT64_C(1000000)
#define S (1000 * MS)

struct wio_job_policy wio_job_policy_exit(void)
{
    return (struct wio_job_policy){
        .refresh_ns = 30 * S,
        .retry_ns = 10 * MS,
        .retry_most_ns = 30 * S,
        .purge_ns = 300 * S,
        .evicts_at_exit = true,
        .keeps_on_failure = true,
    };
}

struct wio_job_policy wio_job_policy_lustre(void)
{
    return (struct wio_job_policy){
        .refresh_ns = 30 * S,
        .purge_ns = 300 * S,
        .sweep_ns = 300 * S,
    };
}

bool wio_job_policy_find(const char *name, struct wio_job_policy *policy_out)
{
    if (strcmp(name, "exit") == 0) {
        *policy_out = wio_job_policy_exit();
    } else if (strcmp(name, "lustre") == 0) {
        *policy_out = wio_job_policy_lustre();
    } else {
        return false;
    }
    return true;
}

uint64_t wio_job_policy_stands_ns(const struct wio_job_policy *policy, unsigned failures)
{
    if (failures == 0 || policy->retry_ns == 0) {
        return policy->refresh_ns;
    }
    uint64_t wait = policy->retry_ns;
    while (--failures > 0 && wait < policy->retry_most_ns) {
        wait *= 2;
    }
    return wait < policy->retry_most_ns ? wait : policy->retry_most_ns;
}
