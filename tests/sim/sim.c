/* SPDX-License-Identifier: Apache-2.0 */
/* Events in order of virtual time, and chance. */
#include "sim/sim.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/sim_internal.h"

#define DEFAULT(value, other) ((value) != 0 ? (value) : (other))
/* Any begin will do, but 0: code may take it for "never". */
#define BEGIN_NS UINT64_C(1000000000)

void sim_out_of_memory(void)
{
    fprintf(stderr, "sim: out of memory\n");
    exit(1);
}

void *sim_alloc(size_t size)
{
    void *memory = calloc(1, size > 0 ? size : 1);
    if (memory == NULL) {
        sim_out_of_memory();
    }
    return memory;
}

/* ---- chance -------------------------------------------------------------------------------- */

/* splitmix64 */
uint64_t wio_sim_random(struct wio_sim *sim)
{
    uint64_t z = (sim->chance += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

uint64_t sim_below(struct wio_sim *sim, uint64_t limit)
{
    return wio_sim_random(sim) % limit;
}

bool wio_sim_chance(struct wio_sim *sim, unsigned millionths)
{
    return millionths > 0 && sim_below(sim, 1000000) < millionths;
}

/* ---- what is kept -------------------------------------------------------------------------- */

void *sim_keep(struct wio_sim *sim, size_t size, size_t kept_at)
{
    char *memory = sim_alloc(size + sizeof(void *));
    struct sim_kept *kept = (struct sim_kept *)(void *)(memory + kept_at);
    kept->memory = memory;
    kept->next = sim->kept;
    if (sim->kept != NULL) {
        sim->kept->before = kept;
    }
    sim->kept = kept;
    return memory;
}

void sim_drop(struct wio_sim *sim, struct sim_kept *kept)
{
    if (kept->before != NULL) {
        kept->before->next = kept->next;
    } else {
        sim->kept = kept->next;
    }
    if (kept->next != NULL) {
        kept->next->before = kept->before;
    }
    free(kept->memory);
}

/* ---- events: a binary heap ----------------------------------------------------------------- */

static bool is_before(const struct sim_event *a, const struct sim_event *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

static void swap(struct sim_event *a, struct sim_event *b)
{
    struct sim_event kept = *a;
    *a = *b;
    *b = kept;
}

/* With the order that it has. */
static void put(struct wio_sim *sim, struct sim_event event)
{
    if (sim->events == sim->heap_capacity) {
        sim->heap_capacity = DEFAULT(2 * sim->heap_capacity, 64);
        sim->heap = realloc(sim->heap, sim->heap_capacity * sizeof(*sim->heap));
        if (sim->heap == NULL) {
            sim_out_of_memory();
        }
    }
    size_t at = sim->events++;
    sim->heap[at] = event;
    while (at > 0 && is_before(&sim->heap[at], &sim->heap[(at - 1) / 2])) {
        swap(&sim->heap[at], &sim->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
}

void sim_at(struct wio_sim *sim, uint64_t after_ns, const char *what, void (*call)(void *context),
            void *context)
{
    put(sim, (struct sim_event){sim->now_ns + after_ns, sim->order++, call, context, what, NULL});
}

uint64_t sim_process_now_ns(const struct sim_process *process)
{
    uint64_t now_ns = process->node->sim->now_ns;
    return process->busy_until_ns > now_ns ? process->busy_until_ns : now_ns;
}

void sim_at_process(struct sim_process *process, uint64_t after_ns, const char *what,
                    void (*call)(void *context), void *context)
{
    uint64_t at_ns = sim_process_now_ns(process) + after_ns;
    struct wio_sim *sim = process->node->sim;
    put(sim, (struct sim_event){at_ns, sim->order++, call, context, what, process});
}

static struct sim_event take_first(struct wio_sim *sim)
{
    struct sim_event first = sim->heap[0];
    size_t at = 0;
    sim->heap[0] = sim->heap[--sim->events];
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= sim->events) {
            return first;
        }
        child += child + 1 < sim->events && is_before(&sim->heap[child + 1], &sim->heap[child]);
        if (!is_before(&sim->heap[child], &sim->heap[at])) {
            return first;
        }
        swap(&sim->heap[at], &sim->heap[child]);
        at = child;
    }
}

void sim_note(struct wio_sim *sim, const char *what, const char *node, uint64_t value)
{
    uint64_t word = sim->now_ns ^ value;
    for (const char *at = what; *at != '\0'; at++) {
        word = word * 31 + (unsigned char)*at;
    }
    for (const char *at = node; *at != '\0'; at++) {
        word = word * 31 + (unsigned char)*at;
    }
    sim->hash = (sim->hash ^ word) * UINT64_C(0x100000001b3);
    if (sim->options.log != NULL) {
        fprintf(sim->options.log, "%12" PRIu64 " ns  %-12s %-10s %" PRIu64 "\n", sim->now_ns, what,
                node, value);
    }
}

bool wio_sim_run(struct wio_sim *sim, uint64_t steps)
{
    for (uint64_t i = 0; i < steps; i++) {
        if (sim->events == 0) {
            return false;
        }
        struct sim_event event = take_first(sim);
        sim->now_ns = event.at_ns;
        if (event.process != NULL && event.process->busy_until_ns > sim->now_ns) {
            event.at_ns = event.process->busy_until_ns;
            put(sim, event);
            continue;
        }
        sim->steps++;
        sim_note(sim, event.what, "", event.order);
        event.call(event.context);
    }
    return sim->events > 0;
}

void wio_sim_later(struct wio_sim *sim, uint64_t after_ns, void (*call)(void *context),
                   void *context)
{
    sim_at(sim, after_ns, "test", call, context);
}

uint64_t wio_sim_now_ns(const struct wio_sim *sim)
{
    return sim->now_ns;
}

uint64_t wio_sim_steps(const struct wio_sim *sim)
{
    return sim->steps;
}

uint64_t wio_sim_hash(const struct wio_sim *sim)
{
    return sim->hash;
}

struct wio_sim_options *wio_sim_options(struct wio_sim *sim)
{
    return &sim->options;
}

const struct wio_sim_counts *wio_sim_counts(const struct wio_sim *sim)
{
    return &sim->counts;
}

void wio_sim_set_middle(struct wio_sim *sim, wio_sim_middle *middle, void *context)
{
    sim->middle = middle;
    sim->middle_context = context;
}

/* ---- life ---------------------------------------------------------------------------------- */

struct wio_sim *wio_sim_create(const struct wio_sim_options *options)
{
    struct wio_sim *sim = sim_alloc(sizeof(*sim));
    sim->options = *options;
    sim->options.delay_ns = DEFAULT(options->delay_ns, 20000);
    sim->options.flush_ns = DEFAULT(options->flush_ns, 100000);
    sim->options.disk_bytes = DEFAULT(options->disk_bytes, UINT64_C(1) << 30);
    sim->options.window_bytes = DEFAULT(options->window_bytes, (size_t)256 << 10);
    sim->chance = options->seed * UINT64_C(0xd1342543de82ef95) + 1;
    sim->hash = UINT64_C(0xcbf29ce484222325);
    sim->now_ns = BEGIN_NS;
    sim_node_ops(&sim->ops);
    sim_conn_ops(&sim->ops);
    sim_disk_ops(&sim->ops);
    return sim;
}

/* Work that was begun is told as done: its owner gives its memory back there. */
static void finish_work(struct wio_sim *sim)
{
    for (struct wio_sim_node *node = sim->nodes; node != NULL; node = node->next) {
        for (struct sim_process *it = node->processes; it != NULL; it = it->next) {
            it->is_dead = true;
        }
    }
    for (size_t i = 0; i < sim->events; i++) {
        if (strcmp(sim->heap[i].what, "work") == 0) {
            sim->heap[i].call(sim->heap[i].context);
        }
    }
}

void wio_sim_destroy(struct wio_sim *sim)
{
    if (sim == NULL) {
        return;
    }
    finish_work(sim);
    for (struct wio_sim_node *node = sim->nodes; node != NULL; node = node->next) {
        sim_disk_free(&node->disk);
        for (struct sim_process *it = node->processes; it != NULL; it = it->next) {
            sim_conns_free(it);
        }
    }
    while (sim->kept != NULL) {
        sim_drop(sim, sim->kept);
    }
    free(sim->heap);
    free(sim);
}
