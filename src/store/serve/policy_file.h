/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of whyio serve --policy-file: policy of admission, rules and weights, which may change
 * while the store runs. One statement a line; # begins a comment:
 *
 *     policy tbf
 *     rule job=climate op=write bytes=100M burst=0.5
 *     rule uid=1000 ops=2000 reserve=500 share=3
 *     weight job=climate 3
 *
 * Pure: text in, numbers out.
 */
#ifndef WIO_STORE_SERVE_POLICY_FILE_H
#define WIO_STORE_SERVE_POLICY_FILE_H

#include "admit/admit.h"

enum { SERVE_WEIGHTS_MAX = 256, SERVE_POLICY_BYTES_MAX = 1 << 16 };

struct serve_weight {
    uint64_t key[2]; /* as wio_admit_set_weight has it */
    uint32_t weight;
};

struct serve_policy {
    enum wio_admit_kind kind;
    struct wio_rule rules[WIO_RULES_MAX];
    uint32_t rule_count;
    struct serve_weight weights[SERVE_WEIGHTS_MAX];
    uint32_t weight_count;
};

/* `kind`: of a text that names none. WIO_ERR_FORMAT with the line, and what was expected there;
 * *policy_out is as it was then. */
WIO_MUST_CHECK enum wio_status serve_policy_parse(const char *text, size_t bytes, const char *name,
                                                  enum wio_admit_kind kind,
                                                  enum wio_admit_tenant_by tenant_by,
                                                  struct serve_policy *policy_out,
                                                  struct wio_error *err);

#endif
