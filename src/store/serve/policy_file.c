/* SPDX-License-Identifier: Apache-2.0 */
#include "store/serve/policy_file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "store/messages.h"
#include "store/session/intake.h"

enum { LINE_BYTES = 512, WORDS = 9 };

#define BURST_S 0.1
#define SHARE_MAX 1000u

struct policy_line {
    char text[LINE_BYTES];
    char *words[WORDS];
    unsigned count;
    unsigned number;
    const char *name; /* of the file */
    struct wio_error *err;
};

static enum wio_status wrong(const struct policy_line *line, const char *expected)
{
    return wio_error_set(line->err, WIO_ERR_FORMAT, line->name, WIO_ERROR_NO_OFFSET,
                         "line %u: expected %s", line->number, expected);
}

/* At blanks, up to a comment. */
static enum wio_status split(struct policy_line *line)
{
    char *rest = line->text;
    char *comment = strchr(rest, '#');
    if (comment != NULL) {
        *comment = '\0';
    }
    line->count = 0;
    for (char *word = strsep(&rest, " \t"); word != NULL; word = strsep(&rest, " \t")) {
        if (*word == '\0') {
            continue;
        }
        if (line->count == WORDS) {
            return wrong(line, "fewer words");
        }
        line->words[line->count++] = word;
    }
    return WIO_OK;
}

/* The value of "key=value"; NULL: another key. */
static const char *value_of(const char *word, const char *key)
{
    size_t bytes = strlen(key);
    return strncmp(word, key, bytes) == 0 && word[bytes] == '=' ? word + bytes + 1 : NULL;
}

static bool parse_u32(const char *text, uint32_t *out)
{
    uint64_t value = 0;
    if (wio_parse_u64(text, &value) != WIO_OK || value >= WIO_RULE_ANY) {
        return false;
    }
    *out = (uint32_t)value;
    return true;
}

static bool find_operation(const char *text, uint32_t *out)
{
    static const struct {
        const char *name;
        uint16_t op;
    } operations[] = {{"read", WIO_STORE_READ},          {"write", WIO_STORE_WRITE},
                      {"truncate", WIO_STORE_TRUNCATE},  {"size", WIO_STORE_SIZE},
                      {"drop", WIO_STORE_DROP},          {"pointer", WIO_STORE_POINTER},
                      {"lock", WIO_STORE_LOCK},          {"statfs", WIO_STORE_STATFS},
                      {"open", WIO_STORE_OPEN},          {"stat", WIO_STORE_STAT},
                      {"list", WIO_STORE_LIST},          {"mkdir", WIO_STORE_MKDIR},
                      {"rmdir", WIO_STORE_RMDIR},        {"unlink", WIO_STORE_UNLINK},
                      {"rename", WIO_STORE_RENAME},      {"symlink", WIO_STORE_SYMLINK},
                      {"readlink", WIO_STORE_READLINK},  {"chmod", WIO_STORE_CHMOD},
                      {"chown", WIO_STORE_CHOWN},        {"utimens", WIO_STORE_UTIMENS},
                      {"job_stats", WIO_STORE_JOB_STATS}};
    for (unsigned i = 0; i < WIO_ARRAY_SIZE(operations); i++) {
        if (strcmp(operations[i].name, text) == 0) {
            *out = wio_intake_operation(operations[i].op);
            return true;
        }
    }
    return false;
}

static bool parse_rate(const char *text, double *out)
{
    double value = 0;
    if (wio_parse_double(text, &value) != WIO_OK || !isfinite(value) || value <= 0) {
        return false;
    }
    *out = value;
    return true;
}

static bool parse_bytes(const char *text, double *out)
{
    uint64_t bytes = 0;
    if (wio_parse_size(text, &bytes) != WIO_OK || bytes == 0) {
        return false;
    }
    *out = (double)bytes;
    return true;
}

static bool parse_part(const char *word, struct wio_rule *rule)
{
    const char *value = value_of(word, "job");
    if (value != NULL) {
        rule->job = wio_intake_job(value);
        return value[0] != '\0';
    }
    if ((value = value_of(word, "uid")) != NULL) {
        return parse_u32(value, &rule->uid);
    }
    if ((value = value_of(word, "op")) != NULL) {
        return find_operation(value, &rule->operation);
    }
    if ((value = value_of(word, "ops")) != NULL) {
        return parse_rate(value, &rule->ops_per_s);
    }
    if ((value = value_of(word, "bytes")) != NULL) {
        return parse_bytes(value, &rule->bytes_per_s);
    }
    if ((value = value_of(word, "reserve")) != NULL) {
        return parse_rate(value, &rule->reserve_per_s);
    }
    if ((value = value_of(word, "share")) != NULL) {
        return parse_u32(value, &rule->weight) && rule->weight >= 1 && rule->weight <= SHARE_MAX;
    }
    value = value_of(word, "burst");
    return value != NULL && parse_rate(value, &rule->burst_s);
}

static enum wio_status parse_rule(const struct policy_line *line, struct serve_policy *policy)
{
    struct wio_rule rule = {.id = policy->rule_count + 1,
                            .job = WIO_RULE_ANY,
                            .uid = WIO_RULE_ANY,
                            .operation = WIO_RULE_ANY,
                            .burst_s = BURST_S};
    for (unsigned i = 1; i < line->count; i++) {
        if (!parse_part(line->words[i], &rule)) {
            return wrong(line, "rule with job=NAME, uid=N, op=NAME, ops=RATE, bytes=SIZE, "
                               "burst=SECONDS, reserve=RATE, share=N");
        }
    }
    if (rule.ops_per_s <= 0 && rule.bytes_per_s <= 0 && rule.reserve_per_s <= 0 &&
        rule.weight == 0) {
        return wrong(line, "a rule with ops=RATE or bytes=SIZE a second, reserve=RATE or share=N");
    }
    if (rule.ops_per_s > 0 && rule.reserve_per_s > rule.ops_per_s) {
        return wrong(line, "no more reserved than ops=RATE lets pass");
    }
    if (policy->rule_count == WIO_RULES_MAX) {
        return wrong(line, "no more than 256 rules");
    }
    policy->rules[policy->rule_count++] = rule;
    return WIO_OK;
}

static bool find_tenant(const char *word, enum wio_admit_tenant_by by, struct serve_weight *weight)
{
    const char *job = value_of(word, "job");
    const char *uid = value_of(word, "uid");
    uint32_t number = 0;
    if (job != NULL && job[0] != '\0' && by == WIO_ADMIT_BY_JOB) {
        weight->key[0] = wio_intake_job(job);
        return true;
    }
    if (uid == NULL || !parse_u32(uid, &number)) {
        return false;
    }
    if (by == WIO_ADMIT_BY_JOB) { /* of requests without a job */
        weight->key[1] = (uint64_t)number + 1;
    } else {
        weight->key[0] = number;
    }
    return by == WIO_ADMIT_BY_JOB || by == WIO_ADMIT_BY_UID;
}

static enum wio_status parse_weight(const struct policy_line *line, enum wio_admit_tenant_by by,
                                    struct serve_policy *policy)
{
    struct serve_weight weight = {{0, 0}, 0};
    if (line->count != 3 || !find_tenant(line->words[1], by, &weight) ||
        !parse_u32(line->words[2], &weight.weight) || weight.weight < 1 || weight.weight > 1000) {
        return wrong(line, by == WIO_ADMIT_BY_JOB ? "weight job=NAME or uid=N, and 1 to 1000"
                                                  : "weight uid=N, and 1 to 1000, with tenants "
                                                    "that are users");
    }
    if (policy->weight_count == SERVE_WEIGHTS_MAX) {
        return wrong(line, "no more than 256 weights");
    }
    policy->weights[policy->weight_count++] = weight;
    return WIO_OK;
}

static enum wio_status parse_kind(const struct policy_line *line, struct serve_policy *policy)
{
    enum wio_admit_kind kind =
        line->count == 2 ? wio_admit_kind_find(line->words[1]) : WIO_ADMIT_KIND_COUNT;
    if (kind == WIO_ADMIT_KIND_COUNT) {
        return wrong(line, "policy fifo, hint, hint-heap, credit, drr, tbf or mclock");
    }
    policy->kind = kind;
    return WIO_OK;
}

static enum wio_status parse_line(const struct policy_line *line, enum wio_admit_tenant_by by,
                                  struct serve_policy *policy)
{
    if (line->count == 0) {
        return WIO_OK;
    }
    if (strcmp(line->words[0], "policy") == 0) {
        return parse_kind(line, policy);
    }
    if (strcmp(line->words[0], "rule") == 0) {
        return parse_rule(line, policy);
    }
    return strcmp(line->words[0], "weight") == 0 ? parse_weight(line, by, policy)
                                                 : wrong(line, "policy, rule or weight");
}

/* The next line, ended by NUL. */
static enum wio_status take_line(struct policy_line *line, const char **at, const char *end)
{
    const char *next = memchr(*at, '\n', (size_t)(end - *at));
    size_t bytes = (size_t)((next != NULL ? next : end) - *at);
    line->number++;
    if (bytes >= LINE_BYTES || memchr(*at, '\0', bytes) != NULL) {
        return wrong(line, "a line of text, shorter than 512 bytes");
    }
    memcpy(line->text, *at, bytes);
    line->text[bytes] = '\0';
    *at = next != NULL ? next + 1 : end;
    return split(line);
}

enum wio_status serve_policy_parse(const char *text, size_t bytes, const char *name,
                                   enum wio_admit_kind kind, enum wio_admit_tenant_by tenant_by,
                                   struct serve_policy *policy_out, struct wio_error *err)
{
    struct serve_policy policy = {.kind = kind};
    struct policy_line line = {.name = name, .err = err};
    const char *at = text;
    while (at < text + bytes) {
        WIO_TRY(take_line(&line, &at, text + bytes));
        WIO_TRY(parse_line(&line, tenant_by, &policy));
    }
    *policy_out = policy;
    return WIO_OK;
}
