/* SPDX-License-Identifier: Apache-2.0 */
/*
 * R-END-1, R-END-2: a process that is killed cannot say so, but its parent is told when it waits
 * for it. Which events tell that may lie in a ring that is sealed behind the child's (the parent
 * became another program meanwhile), so ends are completed when all rings are taken.
 */
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/bisect.h"
#include "base/cleanup.h"
#include "ops/calls.h"
#include "seal/seal_internal.h"

/* By how much the clocks of two rings of a machine may differ. */
#define SLACK_NS UINT64_C(1000000)

/* Of a status: no signal has a greater number. */
#define SIGNAL_MASK 0x7f

/* When a process image began, to tell apart processes with one pid. */
struct birth {
    uint64_t child; /* host and pid */
    uint64_t t_ns;
    uint32_t ring;
};

struct births {
    struct birth *items;
    uint32_t count;
};

static void births_fini(struct births *births)
{
    free(births->items);
}

static enum wio_status add_kin(struct wio_seal *seal, struct wio_seal_kin kin)
{
    void *array = seal->kin;
    WIO_TRY(wio_grow(&array, sizeof(*seal->kin), &seal->kin_capacity, seal->kin_count + 1));
    seal->kin = array;
    seal->kin[seal->kin_count++] = kin;
    return WIO_OK;
}

static bool makes_child(const struct wio_event *event)
{
    switch ((int)event->op) {
    case WIO_OP_fork:
    case WIO_OP_vfork:
    case WIO_OP_posix_spawn:
    case WIO_OP_posix_spawnp:
        return event->result > 0;
    case WIO_OP_clone: /* not a thread, not a process whose pid is another one for itself */
        return event->result > 0 && (event->arg[0] & (CLONE_VM | CLONE_NEWPID)) == 0;
    default:
        return false;
    }
}

/* The status as wait(2) gives it; false where the child goes on. */
static bool read_status(const struct wio_event *event, int *status_out)
{
    int status = (int)event->arg[0];
    if (event->op == WIO_OP_waitid) {
        int code = (int)event->arg[3];
        status = code == CLD_EXITED   ? W_EXITCODE(status & 0xff, 0)
                 : code == CLD_KILLED ? W_EXITCODE(0, status & SIGNAL_MASK)
                 : code == CLD_DUMPED ? W_EXITCODE(0, status & SIGNAL_MASK) | WCOREFLAG
                                      : W_STOPCODE(SIGSTOP);
    }
    *status_out = status;
    return WIFEXITED(status) || WIFSIGNALED(status);
}

/* Also a signal to groups of processes, of which nothing tells the members. */
static bool kills(const struct wio_event *event)
{
    return wio_op_class(event->op) == WIO_CLASS_KILL && event->error == 0 && event->arg[2] == 0 &&
           event->op != WIO_OP_raise && event->arg[1] > 0 && event->arg[1] < NSIG;
}

enum wio_status wio_seal_note_kin(struct wio_seal *seal, const struct wio_seal_ring *ring,
                                  uint32_t process, const struct wio_event *event)
{
    const bool is_wait = wio_op_class(event->op) == WIO_CLASS_WAIT;
    struct wio_seal_kin kin = {.t_ns = event->t_ns, .kind = WIO_KIN_MADE, .process = process};
    int64_t pid = event->result;
    if (is_wait && read_status(event, &kin.status)) {
        kin.kind = WIO_KIN_ENDED;
        kin.t_ns += event->dur_ns;
    } else if (kills(event)) {
        kin.kind = WIO_KIN_KILLED;
        kin.status = (int)event->arg[1];
        pid = event->arg[0] > 0 ? event->arg[0] : 0;
    } else if (!makes_child(event)) {
        return WIO_OK;
    }
    if (pid < (kin.kind != WIO_KIN_KILLED) || pid > INT32_MAX) {
        return WIO_OK;
    }
    kin.pid = (int32_t)pid;
    kin.other = wio_seal_pid_key(ring->header.host, kin.pid);
    return add_kin(seal, kin);
}

/* Rows about one process are grouped by kind, signals by their number, each group in order of time:
 * what is looked for is the first of its group from a moment on. */
static int compare_kin(const void *a, const void *b)
{
    const struct wio_seal_kin *left = a;
    const struct wio_seal_kin *right = b;
    if (left->other != right->other) {
        return left->other < right->other ? -1 : 1;
    }
    if (left->kind != right->kind) {
        return left->kind < right->kind ? -1 : 1;
    }
    if (left->kind == WIO_KIN_KILLED && left->status != right->status) {
        return left->status < right->status ? -1 : 1;
    }
    return (left->t_ns > right->t_ns) - (left->t_ns < right->t_ns);
}

static bool is_alike(const struct wio_seal_kin *a, const struct wio_seal_kin *b)
{
    return a->other == b->other && a->kind == b->kind &&
           (a->kind != WIO_KIN_KILLED || a->status == b->status);
}

static int compare_births(const void *a, const void *b)
{
    const struct birth *left = a;
    const struct birth *right = b;
    if (left->child != right->child) {
        return left->child < right->child ? -1 : 1;
    }
    return (left->t_ns > right->t_ns) - (left->t_ns < right->t_ns);
}

/* The first row of the group of `key` from its moment on; NULL = none. */
static const struct wio_seal_kin *find_kin(const struct wio_seal *seal,
                                           const struct wio_seal_kin *key)
{
    size_t first = WIO_FIRST(i, 0, seal->kin_count, compare_kin(&seal->kin[i], key) >= 0);
    return first < seal->kin_count && is_alike(&seal->kin[first], key) ? &seal->kin[first] : NULL;
}

/* The row behind one in its group; NULL = none. */
static const struct wio_seal_kin *next_kin(const struct wio_seal *seal,
                                           const struct wio_seal_kin *kin)
{
    const struct wio_seal_kin *next = kin + 1;
    return next < seal->kin + seal->kin_count && is_alike(next, kin) ? next : NULL;
}

static const struct wio_seal_kin *find_end(const struct wio_seal *seal, uint64_t other,
                                           uint64_t t_ns)
{
    return find_kin(seal,
                    &(struct wio_seal_kin){.other = other, .t_ns = t_ns, .kind = WIO_KIN_ENDED});
}

/* Did another process send this signal, between those moments? */
static bool was_killed(const struct wio_seal *seal, uint32_t process, uint64_t other, int number,
                       const uint64_t span_ns[2])
{
    const struct wio_seal_kin key = {
        .other = other, .t_ns = span_ns[0], .kind = WIO_KIN_KILLED, .status = number};
    const struct wio_seal_kin *kin = find_kin(seal, &key);
    while (kin != NULL && kin->process == process) {
        kin = next_kin(seal, kin);
    }
    return kin != NULL && kin->t_ns < span_ns[1];
}

/* The first image of `child` from that moment on; UINT32_MAX = none. */
static uint32_t find_birth(const struct births *births, uint64_t child, uint64_t t_ns)
{
    const struct birth *items = births->items;
    size_t first =
        WIO_FIRST(i, 0, births->count,
                  items[i].child != child ? items[i].child > child : items[i].t_ns >= t_ns);
    return first < births->count && items[first].child == child ? (uint32_t)first : UINT32_MAX;
}

static enum wio_status list_births(const struct wio_seal *seal, struct births *births)
{
    births->items = calloc((size_t)seal->ring_count + 1, sizeof(*births->items));
    if (births->items == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < seal->ring_count; i++) {
        const struct wio_ring_header *header = &seal->rings[i].header;
        births->items[births->count++] = (struct birth){
            .child = wio_seal_pid_key(header->host, header->pid),
            .t_ns = wio_seal_time(seal, &seal->rings[i], header->start_mono_ns),
            .ring = i,
        };
    }
    if (births->count > 1) {
        qsort(births->items, births->count, sizeof(*births->items), compare_births);
    }
    return WIO_OK;
}

static uint64_t less_slack(uint64_t t_ns)
{
    return t_ns > SLACK_NS ? t_ns - SLACK_NS : 0;
}

static bool is_counted(const struct wio_segment_process *parent)
{
    static const uint8_t kinds[] = {WIO_UNSEEN_STATIC_EXEC,   WIO_UNSEEN_FOREIGN_EXEC,
                                    WIO_UNSEEN_SETUID_EXEC,   WIO_UNSEEN_SHARED_CLONE,
                                    WIO_UNSEEN_FILTERED_EXEC, WIO_UNSEEN_NO_RING};
    for (size_t i = 0; i < sizeof(kinds); i++) {
        if (parent->unseen[kinds[i]] > 0) {
            return true;
        }
    }
    return false;
}

/* R-END-2 */
static void count_early(struct wio_segment_process *process, int wait_status)
{
    if (WIFSIGNALED(wait_status) && !is_counted(process)) {
        process->unseen[WIO_UNSEEN_KILLED_EARLY] += 1;
        process->info.unseen_count = WIO_UNSEEN_COUNT;
    }
}

/* The status of a process of this machine that ended after that moment; false = not known. */
static bool find_status(const struct wio_seal *seal, uint64_t other, int32_t pid, uint64_t t_ns,
                        int *status_out)
{
    const struct wio_seal_kin *end = find_end(seal, other, t_ns);
    if (end != NULL) {
        *status_out = end->status;
        return true;
    }
    return seal->params->ended != NULL &&
           seal->params->ended(seal->params->ended_arg, pid, seal->base_mono_ns + t_ns, status_out);
}

/* R-END-1 */
static void settle_end(struct wio_seal *seal, const struct births *births, uint32_t i)
{
    const struct birth *birth = &births->items[i];
    const struct wio_seal_ring *ring = &seal->rings[birth->ring];
    const struct birth *next = i + 1 < births->count ? birth + 1 : NULL;
    const bool is_last = next == NULL || next->child != birth->child;
    const uint64_t span_ns[2] = {less_slack(birth->t_ns), is_last ? UINT64_MAX : next->t_ns};
    int wait_status = 0;
    if (ring->process == UINT32_MAX || ring->is_live) {
        return;
    }
    struct wio_segment_process *process = &seal->segment->processes[ring->process];
    struct wio_process_info *info = &process->info;
    const struct wio_seal_kin *end = find_end(seal, birth->child, span_ns[0]);
    const bool is_told = end != NULL && end->t_ns < span_ns[1];
    if (info->end == WIO_END_EXEC && is_last &&
        find_status(seal, birth->child, ring->header.pid, span_ns[0], &wait_status)) {
        count_early(process, wait_status); /* of the program that was executed nothing is here */
    }
    if (info->end == WIO_END_NONE && is_told) {
        wio_seal_put_end(end->status, info);
    }
    const uint64_t group = wio_seal_pid_key(ring->header.host, 0);
    info->is_expected =
        info->end == WIO_END_SIGNAL &&
        (is_told || was_killed(seal, ring->process, birth->child, info->end_status, span_ns) ||
         was_killed(seal, ring->process, group, info->end_status, span_ns));
}

/* A child that ended by itself had nothing to tell: its end is an event. */
static void settle_child(struct wio_seal *seal, const struct births *births,
                         const struct wio_seal_kin *made)
{
    const uint64_t from_ns = less_slack(made->t_ns);
    uint32_t birth = find_birth(births, made->other, from_ns);
    const struct wio_seal_kin *end = find_end(seal, made->other, made->t_ns);
    int wait_status = 0;
    if (birth != UINT32_MAX && (end == NULL || births->items[birth].t_ns <= end->t_ns + SLACK_NS)) {
        return;
    }
    if (find_status(seal, made->other, made->pid, made->t_ns, &wait_status)) {
        count_early(&seal->segment->processes[made->process], wait_status);
    }
}

enum wio_status wio_seal_settle_kin(struct wio_seal *seal)
{
    WIO_CLEANUP(births_fini) struct births births = {0};
    WIO_TRY(list_births(seal, &births));
    if (seal->kin_count > 1) {
        qsort(seal->kin, seal->kin_count, sizeof(*seal->kin), compare_kin);
    }
    for (uint32_t i = 0; i < births.count; i++) {
        settle_end(seal, &births, i);
    }
    for (uint32_t i = 0; i < seal->kin_count; i++) {
        if (seal->kin[i].kind == WIO_KIN_MADE) {
            settle_child(seal, &births, &seal->kin[i]);
        }
    }
    return WIO_OK;
}
