/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/accounts/steps.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "ops/calls.h"

#define CACHE_SLOTS 32768u /* a power of two */
#define FILE_BITS 5u       /* numbers of files at a site: 0 = none, 1 .., and that of all others */
#define SITE_BITS 25u
#define ANYWHERE ((1u << SITE_BITS) - 1)
#define ALIKE_SEVERAL ((1u << 25) - 1)
#define ALIKE_MAX 512u

_Static_assert(WIO_STEP_FILES + 2 <= 1u << FILE_BITS, "the file's number fits");

/* The step of the last event with this key: most events find theirs here. */
struct wio_step_cached {
    struct wio_step_key key;
    uint32_t step; /* + 1 */
};

const char *wio_step_op_name(uint32_t op)
{
    static const char *const names[] = {"computing", "waiting for a processor",
                                        "standing between operations", "starting",
                                        "a chain of waits that goes on"};

    if (op < WIO_OP_COMPUTE) {
        return wio_op_name(op);
    }
    op -= WIO_OP_COMPUTE;
    return op < WIO_ARRAY_SIZE(names) ? names[op] : "?";
}

/* ---- roles ---- */

/* Threads of the same program are one role, main threads and others apart. */
static enum wio_status find_role(struct wio_steps *steps, const struct wio_trace *trace,
                                 uint32_t stream)
{
    const struct wio_stream_info *info = wio_trace_stream(trace, stream);
    const struct wio_process_info *process = wio_trace_process(trace, info->process);
    const uint64_t *known;
    uint64_t key;
    uint32_t exe;

    WIO_TRY(wio_strtab_add(&steps->exes, process->exe, strlen(process->exe), &exe));
    key = (uint64_t)exe << 2 | (uint64_t)(process->rank >= 0) << 1 | (info->tid == process->pid);
    known = wio_map_get(&steps->role_index, key);
    if (known != NULL) {
        steps->roles[stream] = (uint32_t)*known;
        return WIO_OK;
    }
    steps->roles[stream] = steps->role_count;
    return wio_map_put(&steps->role_index, key, steps->role_count++);
}

enum wio_status wio_steps_init(struct wio_steps *steps, const struct wio_trace *trace)
{
    uint32_t streams = wio_trace_stream_count(trace);

    steps->places.trace = trace;
    steps->speakers.trace = trace;
    steps->cache = calloc(CACHE_SLOTS, sizeof(*steps->cache));
    steps->roles = calloc((size_t)streams + 1, sizeof(*steps->roles));
    if (steps->cache == NULL || steps->roles == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < streams; i++) {
        WIO_TRY(find_role(steps, trace, i));
    }
    return WIO_OK;
}

void wio_steps_fini(struct wio_steps *steps)
{
    for (uint32_t i = 0; i < steps->count; i++) {
        free(steps->steps[i].pattern);
    }
    free(steps->steps);
    free(steps->sites);
    free(steps->roles);
    free(steps->cache);
    wio_places_fini(&steps->places);
    wio_speakers_fini(&steps->speakers);
    wio_map_fini(&steps->role_index);
    wio_map_fini(&steps->site_index);
    wio_map_fini(&steps->file_index);
    wio_map_fini(&steps->step_index);
    wio_map_fini(&steps->cause_index);
    wio_map_fini(&steps->alike);
    wio_strtab_fini(&steps->alike_names);
    wio_strtab_fini(&steps->exes);
}

struct wio_step_pattern *wio_step_pattern(struct wio_step *step)
{
    if (step->pattern == NULL) {
        step->pattern = calloc(1, sizeof(*step->pattern));
    }
    return step->pattern;
}

/* ---- sites and steps ---- */

/* What is no operation is one cause wherever it is: its number, counted down from ANYWHERE. What a
 * thread begins with is computing. */
static uint16_t anywhere_op(uint16_t op)
{
    return op == WIO_OP_START ? WIO_OP_COMPUTE : op;
}

uint16_t wio_steps_cause_op(const struct wio_steps *steps, uint32_t cause)
{
    return anywhere_op(steps->sites[steps->steps[cause].site].op);
}

static enum wio_status find_site(struct wio_steps *steps, const struct wio_step_key *key,
                                 uint32_t *site_out)
{
    void *array = steps->sites;
    uint32_t place;
    const uint64_t *known;
    uint64_t number;

    WIO_TRY(wio_places_find(&steps->places, key->source, &place));
    number = (uint64_t)place << 32 | (uint64_t)key->op << 16 | key->outer;
    known = wio_map_get(&steps->site_index, number);
    if (known != NULL) {
        *site_out = (uint32_t)*known;
        return WIO_OK;
    }
    if (steps->site_count >= ANYWHERE - (WIO_OP_CHAIN - WIO_OP_COMPUTE)) {
        return WIO_ERR_NOMEM;
    }
    WIO_TRY(wio_grow(&array, sizeof(*steps->sites), &steps->site_capacity, steps->site_count + 1));
    steps->sites = array;
    steps->sites[steps->site_count] =
        (struct wio_site){.place = place, .op = key->op, .outer = key->outer, .kind = key->kind};
    *site_out = steps->site_count;
    return wio_map_put(&steps->site_index, number, steps->site_count++);
}

/* 0 = no file, 1 .. those that are told apart, then one for all others. */
static enum wio_status find_file(struct wio_steps *steps, uint32_t site, uint32_t path,
                                 uint32_t *file_out)
{
    uint64_t number = (uint64_t)site << 32 | path;
    struct wio_site *row = &steps->sites[site];
    const uint64_t *known;

    *file_out = 0;
    if (path == 0) {
        return WIO_OK;
    }
    known = wio_map_get(&steps->file_index, number);
    if (known != NULL) {
        *file_out = (uint32_t)*known;
        return WIO_OK;
    }
    *file_out = WIO_STEP_FILES + 1;
    if (row->files == WIO_STEP_FILES) {
        return WIO_OK;
    }
    *file_out = ++row->files;
    return wio_map_put(&steps->file_index, number, *file_out);
}

/* A number for all paths that differ in digits alone. */
static enum wio_status find_alike(struct wio_steps *steps, uint32_t path, uint32_t *alike_out)
{
    const uint64_t *known = wio_map_get(&steps->alike, path);
    char name[ALIKE_MAX];
    size_t count = 0;
    size_t bytes = 0;

    if (known != NULL) {
        *alike_out = (uint32_t)*known;
        return WIO_OK;
    }
    const char *text = wio_trace_string(steps->places.trace, path, &bytes);
    for (size_t i = 0; i < bytes && count < sizeof(name); i++) {
        bool is_digit = text[i] >= '0' && text[i] <= '9';
        if (!is_digit || count == 0 || name[count - 1] != '#') {
            name[count++] = is_digit ? '#' : text[i];
        }
    }
    WIO_TRY(wio_strtab_add(&steps->alike_names, name, count, alike_out));
    return wio_map_put(&steps->alike, path, *alike_out);
}

static enum wio_status add_step(struct wio_steps *steps, uint32_t stream, uint32_t site,
                                uint32_t file, uint32_t path)
{
    uint32_t alike = file > WIO_STEP_FILES ? ALIKE_SEVERAL : 0;
    void *array = steps->steps;

    if (path != 0 && alike == 0) {
        WIO_TRY(find_alike(steps, path, &alike));
    }
    /* places in the three ranges that a trace has in fact; beyond them causes may be mixed up */
    uint32_t what = site;
    if (steps->sites[site].op >= WIO_OP_COMPUTE) {
        what = ANYWHERE - (uint32_t)(anywhere_op(steps->sites[site].op) - WIO_OP_COMPUTE);
    }
    uint64_t number =
        (uint64_t)steps->roles[stream] << 50 | (uint64_t)what << 25 | (alike & ALIKE_SEVERAL);
    const uint64_t *cause = wio_map_get(&steps->cause_index, number);
    WIO_TRY(wio_grow(&array, sizeof(*steps->steps), &steps->capacity, steps->count + 1));
    steps->steps = array;
    steps->steps[steps->count] = (struct wio_step){
        .stream = stream,
        .site = site,
        .path = file > WIO_STEP_FILES ? WIO_SEVERAL_FILES : path,
        .cause = cause != NULL ? (uint32_t)*cause : steps->count,
        .gap = WIO_NO_STEP,
        .least_ns = UINT64_MAX,
        .first_ns = UINT64_MAX,
        .open_next = WIO_NO_STEP,
    };
    return cause != NULL ? WIO_OK : wio_map_put(&steps->cause_index, number, steps->count);
}

static enum wio_status find_step(struct wio_steps *steps, const struct wio_step_key *key,
                                 uint32_t *step_out)
{
    const uint64_t *known;
    uint64_t number;
    uint32_t site;
    uint32_t file;

    WIO_TRY(find_site(steps, key, &site));
    WIO_TRY(find_file(steps, site, key->path, &file));
    number = (uint64_t)key->stream << 32 | (uint64_t)site << FILE_BITS | file;
    known = wio_map_get(&steps->step_index, number);
    if (known != NULL) {
        *step_out = (uint32_t)*known;
        return WIO_OK;
    }
    WIO_TRY(add_step(steps, key->stream, site, file, key->path));
    *step_out = steps->count;
    return wio_map_put(&steps->step_index, number, steps->count++);
}

static struct wio_step_cached *slot_of(struct wio_steps *steps, const struct wio_step_key *key)
{
    uint64_t mixed = ((uint64_t)key->source << 32 | key->path) * 0x9e3779b97f4a7c15u;

    mixed ^=
        ((uint64_t)key->stream << 32 | (uint32_t)key->op << 16 | key->outer) * 0xc2b2ae3d27d4eb4fu;
    return &steps->cache[(mixed >> 40) & (CACHE_SLOTS - 1)];
}

static enum wio_status find_cached(struct wio_steps *steps, const struct wio_step_key *key,
                                   uint32_t *step_out)
{
    struct wio_step_cached *slot = slot_of(steps, key);

    if (slot->step != 0 && slot->key.source == key->source && slot->key.path == key->path &&
        slot->key.stream == key->stream && slot->key.op == key->op &&
        slot->key.outer == key->outer) {
        *step_out = slot->step - 1;
        return WIO_OK;
    }
    WIO_TRY(find_step(steps, key, step_out));
    *slot = (struct wio_step_cached){*key, *step_out + 1};
    return WIO_OK;
}

enum wio_status wio_steps_find(struct wio_steps *steps, const struct wio_step_key *key,
                               uint32_t *step_out)
{
    struct wio_step_key spoken = *key;

    if (key->source != 0) {
        WIO_TRY(wio_speakers_find(&steps->speakers, key->stream, key->source, &spoken.source));
    }
    return find_cached(steps, &spoken, step_out);
}
