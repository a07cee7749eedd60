/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/compare/compare_causes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

const char *wio_cause_change_name(enum wio_cause_change change)
{
    static const char *const names[] = {"new", "gone", "grew", "shrank"};

    return names[change];
}

void wio_causes_fini(struct wio_causes *causes)
{
    free(causes->items);
    *causes = (struct wio_causes){0};
}

/* ---- which finding of b is which of a ---- */

struct pairing {
    const struct wio_cause_side *a;
    const struct wio_cause_side *b;
    uint32_t *of_a; /* finding of b -> of a, WIO_NO_FINDING */
    uint8_t *is_taken;
};

static void pairing_fini(struct pairing *pairing)
{
    free(pairing->of_a);
    free(pairing->is_taken);
}

static const struct wio_finding *finding_of(const struct wio_cause_side *side, uint32_t at)
{
    return &side->explanation->findings.items[at];
}

static uint16_t op_of(const struct wio_cause_side *side, uint32_t at)
{
    const struct wio_steps *steps = &side->explanation->steps;

    return steps->sites[steps->steps[finding_of(side, at)->step].site].op;
}

/* "" where it is no single file. */
static const char *path_of(const struct wio_cause_side *side, uint32_t at)
{
    uint32_t path = finding_of(side, at)->path;
    size_t root = side->root != NULL ? strlen(side->root) : 0;

    if (path == WIO_SEVERAL_FILES) {
        return "";
    }
    const char *text = wio_trace_string(side->explanation->trace, path, NULL);
    while (root > 0 && side->root[root - 1] == '/') {
        root--;
    }
    bool is_below = root > 0 && strncmp(text, side->root, root) == 0 && text[root] == '/';
    return is_below ? text + root : text;
}

typedef bool is_same_fn(const struct pairing *pairing, uint32_t a, uint32_t b);

static bool has_same_op(const struct pairing *pairing, uint32_t a, uint32_t b)
{
    return op_of(pairing->a, a) == op_of(pairing->b, b);
}

static bool has_same_function(const struct pairing *pairing, uint32_t a, uint32_t b)
{
    const char *function = pairing->a->functions[a];

    return function[0] != '\0' && strcmp(function, pairing->b->functions[b]) == 0 &&
           has_same_op(pairing, a, b);
}

static bool has_same_path(const struct pairing *pairing, uint32_t a, uint32_t b)
{
    const char *path = path_of(pairing->a, a);

    return path[0] != '\0' && strcmp(path, path_of(pairing->b, b)) == 0;
}

static void pair_by(struct pairing *pairing, is_same_fn *is_same)
{
    for (uint32_t b = 0; b < pairing->b->explanation->findings.count; b++) {
        uint32_t a = 0;
        uint32_t count = pairing->a->explanation->findings.count;
        if (pairing->of_a[b] != WIO_NO_FINDING) {
            continue;
        }
        while (a < count &&
               (pairing->is_taken[a] ||
                strcmp(finding_of(pairing->a, a)->kind, finding_of(pairing->b, b)->kind) != 0 ||
                !is_same(pairing, a, b))) {
            a++;
        }
        if (a < count) {
            pairing->of_a[b] = a;
            pairing->is_taken[a] = 1;
        }
    }
}

static enum wio_status pair(struct pairing *pairing)
{
    uint32_t count = pairing->b->explanation->findings.count;

    pairing->of_a = calloc((size_t)count + 1, sizeof(*pairing->of_a));
    pairing->is_taken = calloc((size_t)pairing->a->explanation->findings.count + 1, 1);
    if (pairing->of_a == NULL || pairing->is_taken == NULL) {
        return WIO_ERR_NOMEM;
    }
    memset(pairing->of_a, 0xff, count * sizeof(*pairing->of_a)); /* WIO_NO_FINDING */
    pair_by(pairing, has_same_function);
    pair_by(pairing, has_same_path);
    pair_by(pairing, has_same_op);
    return WIO_OK;
}

/* ---- what has changed ---- */

static void add(struct wio_causes *causes, struct wio_cause cause)
{
    if (cause.a_s == 0 && cause.b_s == 0) {
        return;
    }
    cause.change = cause.b_s >= cause.a_s ? WIO_CAUSE_GREW : WIO_CAUSE_SHRANK;
    if (cause.a_s == 0) {
        cause.change = WIO_CAUSE_NEW;
    } else if (cause.b_s == 0) {
        cause.change = WIO_CAUSE_GONE;
    }
    causes->items[causes->count++] = cause;
}

static double seconds_of(const struct wio_cause_side *side, uint32_t at)
{
    return at != WIO_NO_FINDING ? finding_of(side, at)->seconds : 0;
}

static void add_findings(const struct pairing *pairing, struct wio_causes *causes)
{
    for (uint32_t b = 0; b < pairing->b->explanation->findings.count; b++) {
        uint32_t a = pairing->of_a[b];
        add(causes, (struct wio_cause){.a = a,
                                       .b = b,
                                       .a_s = seconds_of(pairing->a, a),
                                       .b_s = seconds_of(pairing->b, b)});
    }
    for (uint32_t a = 0; a < pairing->a->explanation->findings.count; a++) {
        if (!pairing->is_taken[a]) {
            add(causes,
                (struct wio_cause){.a = a, .b = WIO_NO_FINDING, .a_s = seconds_of(pairing->a, a)});
        }
    }
}

static double rest_of(const struct wio_explanation *explanation, enum wio_cause_rest rest)
{
    switch (rest) {
    case WIO_CAUSE_COMPUTING:
        return wio_explanation_seconds(explanation, WIO_STEP_COMPUTE);
    case WIO_CAUSE_WAITING: /* without what findings have of it */
        return ((double)explanation->critical_ns[WIO_STEP_WAIT] -
                explanation->findings.claimed_wait_ns) /
               1e9;
    case WIO_CAUSE_CPU_WAIT:
        return wio_explanation_seconds(explanation, WIO_STEP_CPU_WAIT);
    case WIO_CAUSE_UNEXPLAINED:
        return explanation->unexplained_s;
    case WIO_CAUSE_FINDING:
    case WIO_CAUSE_RESTS:
        break;
    }
    return 0;
}

static void add_rests(const struct pairing *pairing, struct wio_causes *causes)
{
    for (unsigned rest = WIO_CAUSE_COMPUTING; rest < WIO_CAUSE_RESTS; rest++) {
        add(causes,
            (struct wio_cause){.rest = (enum wio_cause_rest)rest,
                               .a = WIO_NO_FINDING,
                               .b = WIO_NO_FINDING,
                               .a_s = rest_of(pairing->a->explanation, (enum wio_cause_rest)rest),
                               .b_s = rest_of(pairing->b->explanation, (enum wio_cause_rest)rest)});
    }
}

static int by_change(const void *a, const void *b)
{
    const struct wio_cause *x = a;
    const struct wio_cause *y = b;
    double x_s = fabs(x->b_s - x->a_s);
    double y_s = fabs(y->b_s - y->a_s);

    if (x_s != y_s) {
        return x_s > y_s ? -1 : 1;
    }
    if (x->rest != y->rest) {
        return x->rest < y->rest ? -1 : 1;
    }
    return x->b != y->b ? (x->b < y->b ? -1 : 1) : (x->a > y->a) - (x->a < y->a);
}

enum wio_status wio_causes_compare(const struct wio_cause_side *a, const struct wio_cause_side *b,
                                   struct wio_causes *causes_out)
{
    WIO_CLEANUP(pairing_fini) struct pairing pairing = {.a = a, .b = b};
    size_t most = (size_t)a->explanation->findings.count + b->explanation->findings.count;

    *causes_out =
        (struct wio_causes){.items = calloc(most + WIO_CAUSE_RESTS, sizeof(struct wio_cause))};
    if (causes_out->items == NULL) {
        return WIO_ERR_NOMEM;
    }
    WIO_TRY(pair(&pairing));
    add_findings(&pairing, causes_out);
    add_rests(&pairing, causes_out);
    qsort(causes_out->items, causes_out->count, sizeof(*causes_out->items), by_change);
    return WIO_OK;
}
