/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes, their processes, clocks and timers. */
#include <stdio.h>
#include <string.h>

#include "sim/sim_internal.h"

/* ---- clocks and chance ---------------------------------------------------------------------- */

static uint64_t now_ns(struct wio_io *io)
{
    return sim_process_now_ns(sim_process_of(io));
}

/* 2026, give or take what it jumped. */
static uint64_t unix_ns(struct wio_io *io)
{
    const struct wio_sim_node *node = sim_process_of(io)->node;
    return UINT64_C(1800000000000000000) + node->sim->now_ns + (uint64_t)node->jump_ns;
}

static void random_bytes(struct wio_io *io, void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        ((uint8_t *)bytes)[i] = (uint8_t)wio_sim_random(sim_process_of(io)->node->sim);
    }
}

/* ---- timers -------------------------------------------------------------------------------- */

struct wio_io_timer {
    struct sim_kept kept;
    struct sim_process *process;
    void (*fire)(void *context);
    void *context;
    uint64_t set; /* how often it was set: an event for a former time is none */
    bool is_set;
    bool is_gone;
    unsigned pending; /* events that know it */
};

struct firing {
    struct sim_kept kept;
    struct wio_io_timer *timer;
    uint64_t set;
};

static void drop_if_gone(struct wio_io_timer *timer)
{
    if (timer->is_gone && timer->pending == 0) {
        sim_drop(timer->process->node->sim, &timer->kept);
    }
}

static void fire(void *context)
{
    struct firing *firing = context;
    struct wio_io_timer *timer = firing->timer;
    bool is_due = timer->is_set && timer->set == firing->set && !timer->process->is_dead;
    sim_drop(timer->process->node->sim, &firing->kept);
    timer->pending--;
    if (is_due) {
        timer->is_set = false;
        timer->fire(timer->context);
    } else {
        drop_if_gone(timer);
    }
}

static struct wio_io_timer *timer_create_in(struct wio_io *io, void (*call)(void *context),
                                            void *context)
{
    struct sim_process *process = sim_process_of(io);
    struct wio_io_timer *timer = SIM_KEEP(process->node->sim, struct wio_io_timer);
    timer->process = process;
    timer->fire = call;
    timer->context = context;
    return timer;
}

static void timer_set(struct wio_io_timer *timer, uint64_t after_ns)
{
    struct wio_sim *sim = timer->process->node->sim;
    if (timer->process->is_dead) {
        return;
    }
    struct firing *firing = SIM_KEEP(sim, struct firing);
    uint64_t late_ns = after_ns > 0 ? sim_below(sim, 1000000) : 0;
    firing->timer = timer;
    firing->set = ++timer->set;
    timer->is_set = true;
    timer->pending++;
    sim_at_process(timer->process, after_ns + late_ns, "timer", fire, firing);
}

static void timer_stop(struct wio_io_timer *timer)
{
    timer->is_set = false;
}

static void timer_destroy(struct wio_io_timer *timer)
{
    if (timer != NULL) {
        timer->is_set = false;
        timer->is_gone = true;
        drop_if_gone(timer);
    }
}

/* ---- what blocks --------------------------------------------------------------------------- */

struct doing {
    struct sim_kept kept;
    struct sim_process *process;
    struct wio_io_work *work;
};

/* Of an ended process: told as done, so that its memory is given back. */
static void do_work(void *context)
{
    struct doing *doing = context;
    struct wio_io_work *work = doing->work;
    if (!doing->process->is_dead) {
        work->run(work);
    }
    sim_drop(doing->process->node->sim, &doing->kept);
    work->done(work);
}

static enum wio_status begin_work(struct wio_io *io, struct wio_io_work *work)
{
    struct sim_process *process = sim_process_of(io);
    struct wio_sim *sim = process->node->sim;
    struct doing *doing = SIM_KEEP(sim, struct doing);
    doing->process = process;
    doing->work = work;
    sim_at(sim, 1000 + sim_below(sim, 1000000), "work", do_work, doing);
    return WIO_OK;
}

void sim_node_ops(struct wio_io_ops *ops)
{
    ops->now_ns = now_ns;
    ops->unix_ns = unix_ns;
    ops->random = random_bytes;
    ops->timer_create = timer_create_in;
    ops->timer_set = timer_set;
    ops->timer_stop = timer_stop;
    ops->timer_destroy = timer_destroy;
    ops->work = begin_work;
}

/* ---- nodes --------------------------------------------------------------------------------- */

struct wio_sim_node *wio_sim_node(struct wio_sim *sim, const char *name)
{
    struct wio_sim_node **at = &sim->nodes;
    for (; *at != NULL; at = &(*at)->next) {
        if (strcmp((*at)->name, name) == 0) {
            return *at;
        }
    }
    *at = SIM_KEEP(sim, struct wio_sim_node);
    (*at)->sim = sim;
    (*at)->slow = 1;
    snprintf((*at)->name, sizeof((*at)->name), "%s", name);
    return *at;
}

struct wio_io *wio_sim_start(struct wio_sim_node *node)
{
    struct sim_process *process = SIM_KEEP(node->sim, struct sim_process);
    process->io.ops = &node->sim->ops;
    process->node = node;
    process->next = node->processes;
    node->processes = process;
    sim_note(node->sim, "start", node->name, 0);
    return &process->io;
}

static void end(struct sim_process *process, bool silently)
{
    if (!process->is_dead) {
        process->is_dead = true;
        sim_conns_break(process, silently);
    }
}

void wio_sim_kill(struct wio_io *io)
{
    struct sim_process *process = sim_process_of(io);
    sim_note(process->node->sim, "kill", process->node->name, 0);
    end(process, false);
}

void wio_sim_crash(struct wio_sim_node *node)
{
    sim_note(node->sim, "crash", node->name, 0);
    node->sim->counts.crashes++;
    for (struct sim_process *process = node->processes; process != NULL; process = process->next) {
        end(process, true);
    }
    sim_disk_crash(node);
}

void wio_sim_jump(struct wio_sim_node *node, int64_t by_ns)
{
    sim_note(node->sim, "jump", node->name, (uint64_t)by_ns);
    node->jump_ns += by_ns;
}

void wio_sim_set_user(struct wio_sim_node *node, uint32_t uid, uint32_t gid)
{
    node->has_user = true;
    node->uid = uid;
    node->gid = gid;
}

void wio_sim_spend(struct wio_io *io, uint64_t ns)
{
    struct sim_process *process = sim_process_of(io);
    process->busy_until_ns = sim_process_now_ns(process) + ns;
}

void wio_sim_slow(struct wio_sim_node *node, unsigned times)
{
    sim_note(node->sim, "slow", node->name, times);
    node->slow = times;
}

/* ---- partitions ---------------------------------------------------------------------------- */

void wio_sim_part(struct wio_sim *sim, struct wio_sim_node *a, struct wio_sim_node *b)
{
    sim_note(sim, "part", a != NULL ? a->name : "", 0);
    if (sim->part_count < SIM_PARTS) {
        sim->parts[sim->part_count++] = (struct sim_part){a, b};
    }
}

bool sim_is_parted(const struct wio_sim *sim, const struct wio_sim_node *a,
                   const struct wio_sim_node *b)
{
    for (unsigned i = 0; i < sim->part_count; i++) {
        const struct sim_part *part = &sim->parts[i];
        bool there = (part->a == NULL || part->a == a) && (part->b == NULL || part->b == b);
        bool back = (part->a == NULL || part->a == b) && (part->b == NULL || part->b == a);
        if (a != b && (there || back)) {
            return true;
        }
    }
    return false;
}

void wio_sim_heal(struct wio_sim *sim)
{
    sim_note(sim, "heal", "", sim->part_count);
    sim->part_count = 0;
    for (struct wio_sim_node *node = sim->nodes; node != NULL; node = node->next) {
        for (struct sim_process *it = node->processes; it != NULL; it = it->next) {
            sim_conns_healed(it);
        }
    }
}
