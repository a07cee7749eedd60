/* SPDX-License-Identifier: Apache-2.0 */
/* Claims are offered to the kinds in their order, summed, and put into words. */
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/map.h"
#include "explain/findings/finding.h"
#include "ops/calls.h"

static const struct wio_finding_kind *const kinds[] = {
#define WIO_FINDING(name) &wio_finding_##name,
#include "explain/findings/kinds.def"
#undef WIO_FINDING
};

#define KINDS WIO_ARRAY_SIZE(kinds)
#define LEAST_CLAIM 1e-6

struct sorter {
    const struct wio_finding_input *input;
    struct wio_finding_group *groups;
    uint32_t count;
    uint32_t capacity;
    struct wio_map index;
    struct wio_findings *findings;
};

static void sorter_fini(struct sorter *sorter)
{
    for (uint32_t i = 0; i < sorter->count; i++) {
        wio_rank_set_fini(&sorter->groups[i].ranks);
        wio_rank_set_fini(&sorter->groups[i].on_path);
        free(sorter->groups[i].steps);
    }
    free(sorter->groups);
    wio_map_fini(&sorter->index);
}

/* ---- groups ---- */

static uint64_t key_of(const struct sorter *sorter, uint32_t kind, const struct wio_step *step)
{
    uint64_t role = sorter->input->steps->roles[step->stream];

    switch (kinds[kind]->by) {
    case WIO_BY_ROLE:
        return role << 32;
    case WIO_BY_SITE:
        return step->site | role << 32;
    case WIO_BY_PLACE:
    default:
        return sorter->input->lines[wio_finding_site(sorter->input, step)->place] | role << 32;
    }
}

static enum wio_status find_group(struct sorter *sorter, uint32_t kind, const struct wio_step *step,
                                  struct wio_finding_group **group_out)
{
    uint64_t key = key_of(sorter, kind, step);
    uint64_t number = key * KINDS + kind;
    const uint64_t *known = wio_map_get(&sorter->index, number);
    void *array = sorter->groups;

    if (known != NULL) {
        WIO_PRE(sorter->groups != NULL);
        *group_out = &sorter->groups[*known];
        return WIO_OK;
    }
    WIO_TRY(wio_grow(&array, sizeof(*sorter->groups), &sorter->capacity, sorter->count + 1));
    sorter->groups = array;
    *group_out = &sorter->groups[sorter->count];
    **group_out = (struct wio_finding_group){
        .kind = kind, .key = key, .lead = WIO_NO_STEP, .lead_ns = -1, .path = step->path};
    return wio_map_put(&sorter->index, number, sorter->count++);
}

/* All members are counters. */
static void add_pattern(struct wio_step_pattern *sum, const struct wio_step_pattern *pattern)
{
    uint64_t *to = (uint64_t *)sum;
    const uint64_t *from = (const uint64_t *)pattern;

    for (size_t i = 0; pattern != NULL && i < sizeof(*sum) / sizeof(uint64_t); i++) {
        to[i] += from[i];
    }
}

static enum wio_status list_step(struct wio_finding_group *group, uint32_t step)
{
    void *array = group->steps;

    WIO_TRY(
        wio_make_room(&array, sizeof(*group->steps), &group->step_capacity, group->step_count + 1));
    group->steps = array;
    group->steps[group->step_count++] = step;
    return WIO_OK;
}

/* A call of stdio that opens is followed by the system call that it makes. */
static bool is_open(const struct wio_finding_input *input, const struct wio_step *step)
{
    return wio_finding_class(input, step) == WIO_CLASS_OPEN &&
           wio_finding_outer_class(input, step) != WIO_CLASS_OPEN;
}

static enum wio_status add_step(struct sorter *sorter, uint32_t kind, const struct wio_step *step,
                                double ns)
{
    const struct wio_finding_input *input = sorter->input;
    uint32_t number = (uint32_t)(step - input->steps->steps);
    struct wio_finding_group *group;

    WIO_TRY(find_group(sorter, kind, step, &group));
    WIO_TRY(list_step(group, number));
    group->critical_ns += ns;
    if (ns > group->lead_ns) {
        group->lead_ns = ns;
        group->lead = number;
    }
    group->count += step->count;
    group->bytes += step->bytes;
    group->asked += step->asked;
    group->errors += step->errors;
    group->repeated += step->repeated;
    group->time_ns += step->time_ns;
    group->unsynced += step->unsynced;
    group->data_count += step->data_count;
    group->data_ns += step->data_ns;
    group->data_opens += is_open(input, step) ? step->data_count : 0;
    group->opens += is_open(input, step) ? step->count : 0;
    group->is_several = group->is_several || step->path != group->path;
    if (step->cause < input->waiting->caused_capacity && step->cause == number) {
        group->others_wait_ns += input->waiting->caused_ns[step->cause];
    }
    add_pattern(&group->pattern, step->pattern);
    WIO_TRY(wio_rank_set_add(&group->ranks, wio_finding_rank(input, step)));
    return ns > 0 ? wio_rank_set_add(&group->on_path, wio_finding_rank(input, step)) : WIO_OK;
}

static void add_claim(struct wio_findings *findings, uint8_t kind, double ns)
{
    findings->claimed_io_ns += kind == WIO_STEP_IO ? ns : 0;
    findings->claimed_wait_ns += kind == WIO_STEP_WAIT ? ns : 0;
    findings->claimed_slept_ns += kind == WIO_STEP_SLEPT ? ns : 0;
}

static enum wio_status offer(struct sorter *sorter, const struct wio_step *step)
{
    double left = 1;
    const struct wio_site *site = wio_finding_site(sorter->input, step);

    if (site->kind == WIO_STEP_SHADOW || step->self_ns + step->critical_ns + step->count == 0) {
        return WIO_OK;
    }
    for (uint32_t i = 0; i < KINDS && left > LEAST_CLAIM; i++) {
        double part = kinds[i]->claim(sorter->input, step);
        part = part < left ? part : left;
        if (!(part > LEAST_CLAIM)) {
            continue;
        }
        left -= part;
        WIO_TRY(add_step(sorter, i, step, part * (double)step->critical_ns));
        add_claim(sorter->findings, site->kind, part * (double)step->critical_ns);
    }
    return WIO_OK;
}

/* ---- words ---- */

static enum wio_status put_into_words(struct sorter *sorter, struct wio_finding_group *group,
                                      struct wio_finding *finding)
{
    const struct wio_finding_input *input = sorter->input;
    const struct wio_finding_kind *kind = kinds[group->kind];

    finding->kind = kind->kind;
    finding->is_general = kind->is_general;
    finding->seconds = group->critical_ns / 1e9;
    finding->share = group->critical_ns / (double)input->duration_ns;
    finding->others_wait_s = (double)group->others_wait_ns / 1e9;
    finding->step = group->lead;
    finding->steps = group->steps;
    finding->step_count = group->step_count;
    group->steps = NULL;
    finding->path = group->is_several ? WIO_SEVERAL_FILES : group->path;
    finding->is_alone = group->ranks.count == 1 && input->ranks > 1;
    finding->ranks = group->ranks;
    group->ranks = (struct wio_rank_set){0};
    kind->describe(input, group, finding);
    const char *change = kind->is_of_library ? wio_finding_library_change(input, group) : NULL;
    if (change != NULL) {
        (void)snprintf(finding->change, sizeof(finding->change), "%s", change);
    }
    return WIO_OK;
}

static int by_seconds(const void *a, const void *b)
{
    const struct wio_finding *x = a;
    const struct wio_finding *y = b;

    if (x->seconds != y->seconds) {
        return x->seconds > y->seconds ? -1 : 1;
    }
    return x->step < y->step ? -1 : x->step > y->step;
}

static enum wio_status find(struct sorter *sorter)
{
    struct wio_findings *findings = sorter->findings;

    for (uint32_t i = 0; i < sorter->input->steps->count; i++) {
        WIO_TRY(offer(sorter, &sorter->input->steps->steps[i]));
    }
    findings->items = calloc((size_t)sorter->count + 1, sizeof(*findings->items));
    if (findings->items == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < sorter->count; i++) {
        if (sorter->groups[i].critical_ns >= 1) {
            WIO_TRY(
                put_into_words(sorter, &sorter->groups[i], &findings->items[findings->count++]));
        }
    }
    qsort(findings->items, findings->count, sizeof(*findings->items), by_seconds);
    return WIO_OK;
}

enum wio_status wio_findings_find(const struct wio_finding_input *input,
                                  struct wio_findings *findings)
{
    struct sorter sorter = {.input = input, .findings = findings};
    enum wio_status status = find(&sorter);

    sorter_fini(&sorter);
    return status;
}

void wio_findings_fini(struct wio_findings *findings)
{
    for (uint32_t i = 0; i < findings->count; i++) {
        wio_rank_set_fini(&findings->items[i].ranks);
        free(findings->items[i].steps);
    }
    free(findings->items);
}
