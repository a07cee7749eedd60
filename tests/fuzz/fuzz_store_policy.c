/* SPDX-License-Identifier: Apache-2.0 */
/* The file of whyio serve --policy-file: whatever it has, what is read of it is in bounds. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "store/serve/policy_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct serve_policy policy;
    struct wio_error err = WIO_ERROR_INIT;
    enum wio_admit_tenant_by by = size % 2 == 0 ? WIO_ADMIT_BY_JOB : WIO_ADMIT_BY_UID;
    if (serve_policy_parse((const char *)data, size, "file", WIO_ADMIT_CREDIT, by, &policy, &err) !=
        WIO_OK) {
        require(err.message[0] != '\0');
        return 0;
    }
    require(policy.kind < WIO_ADMIT_KIND_COUNT);
    for (uint32_t i = 0; i < policy.rule_count; i++) {
        const struct wio_rule *rule = &policy.rules[i];
        require(isfinite(rule->ops_per_s) && isfinite(rule->bytes_per_s) && rule->burst_s > 0);
        require(isfinite(rule->reserve_per_s) && rule->reserve_per_s >= 0 && rule->weight <= 1000);
        require(rule->ops_per_s > 0 || rule->bytes_per_s > 0 || rule->reserve_per_s > 0 ||
                rule->weight > 0);
        require(rule->ops_per_s <= 0 || rule->reserve_per_s <= rule->ops_per_s);
    }
    for (uint32_t i = 0; i < policy.weight_count; i++) {
        require(policy.weights[i].weight >= 1 && policy.weights[i].weight <= 1000);
    }
    return 0;
}
