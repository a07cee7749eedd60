/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals: a wait for one ends after it was sent.
 *
 * Which processes belong to a group is not known. But a wait may report the sender's pid: where
 * that process has sent the signal to a group, this was it.
 */
#include <signal.h>

#include "causal/files/files.h"
#include "causal/threads/sync.h"

/* Signals not yet taken that are kept per process and number. */
#define KEPT_MAX 64u
/* Number of the list of all signals to a process. */
#define ANY 0u
/* Behind the numbers of signals: those that a process has sent to groups; `a` of a node counts them
 * from 1 on. */
#define TO_GROUPS 128u
/* Above a sender's pid and a signal: how many of those a process has taken. */
#define TAKEN (UINT64_C(1) << 63)
/* Of Linux; and what is read for each of them (struct signalfd_siginfo). */
#define SIGNALS_MAX 64
#define SIGNAL_BYTES 128

enum wio_status wio_infer_signals_init(struct wio_infer *infer)
{
    wio_pair_map_init(&infer->signals.list_of, &infer->alloc);
    return WIO_OK;
}

void wio_infer_signals_fini(struct wio_infer *infer)
{
    wio_pair_map_fini(&infer->signals.list_of);
}

static uint64_t key_of(uint32_t host, int64_t pid)
{
    return (uint64_t)host << 32 | (uint32_t)pid;
}

static int32_t pid_of(const struct wio_infer *infer, uint32_t image)
{
    return infer->params.processes[image].pid;
}

static enum wio_status list_of(struct wio_infer *infer, uint32_t host, int64_t pid, uint64_t signal,
                               uint32_t *list_out)
{
    uint64_t process = key_of(host, pid);
    *list_out = wio_pair_map_get(&infer->signals.list_of, process, signal);
    if (*list_out != WIO_INFER_NONE) {
        return WIO_OK;
    }
    WIO_TRY(wio_infer_new_list(infer, list_out));
    return wio_pair_map_put(&infer->signals.list_of, process, signal, *list_out);
}

static enum wio_status keep(struct wio_infer *infer, const struct wio_event *event, int64_t pid,
                            uint64_t signal)
{
    uint32_t number;
    struct wio_infer_node node = wio_infer_node_of(infer, event);
    WIO_TRY(list_of(infer, wio_infer_host(infer, event), pid, signal, &number));
    struct wio_infer_list *list = &infer->lists.items[number];
    node.a = list->count > 0 ? infer->lists.nodes[list->last].a + 1 : 1;
    WIO_TRY(wio_infer_append(infer, list, &node));
    if (list->count > KEPT_MAX) {
        wio_infer_drop_first(infer, list);
    }
    return WIO_OK;
}

enum wio_status wio_infer_kill(struct wio_infer *infer, const struct wio_event *event)
{
    const int64_t to = event->arg[0];
    const uint64_t signal = (uint64_t)event->arg[1];
    bool is_known =
        to >= -INT32_MAX && to <= INT32_MAX && (to != 0 || event->op != WIO_OP_pidfd_send_signal);
    if (event->error != 0 || event->arg[1] <= 0 || event->arg[1] > SIGNALS_MAX || !is_known) {
        return WIO_OK; /* signal 0 only asks */
    }
    if (to <= 0) {
        const uint32_t image = wio_infer_stream(infer, event)->process;
        WIO_TRY(keep(infer, event, pid_of(infer, image), TO_GROUPS + signal));
    }
    if (to == 0 || to == -1) {
        return WIO_OK;
    }
    const int64_t pid = to > 0 ? to : -to; /* a group's leader belongs to it */
    WIO_TRY(keep(infer, event, pid, signal));
    return keep(infer, event, pid, ANY);
}

static enum wio_status after(struct wio_infer *infer, const struct wio_event *event,
                             const struct wio_infer_node *from)
{
    struct wio_point point = wio_infer_point(infer, event);
    return wio_infer_edge_from_before(infer, (struct wio_edge){.from_thread = from->thread,
                                                               .from_op = from->op,
                                                               .to_thread = point.thread,
                                                               .to_op = point.op,
                                                               .class = WIO_EDGE_HARD,
                                                               .evidence = WIO_EVIDENCE_SIGNAL});
}

/* Signals below the real-time ones are not counted: those that came together are one. */
static enum wio_status take(struct wio_infer *infer, const struct wio_event *event,
                            struct wio_infer_list *list, bool is_counted)
{
    const struct wio_infer_node first = infer->lists.nodes[list->first];
    do {
        wio_infer_drop_first(infer, list);
    } while (!is_counted && list->count > 0);
    return after(infer, event, &first);
}

/* The first that the process `sender` has sent. */
static uint32_t find_from(const struct wio_infer *infer, const struct wio_infer_list *list,
                          int64_t sender, uint32_t *before_out)
{
    uint32_t i = list->first;
    *before_out = WIO_INFER_NONE;
    while (i != WIO_INFER_NONE && pid_of(infer, infer->lists.nodes[i].image) != sender) {
        *before_out = i;
        i = infer->lists.nodes[i].next;
    }
    return i;
}

/* The first of those to groups that this process has not taken; they are kept for other processes.
 */
static enum wio_status take_of_group(struct wio_infer *infer, const struct wio_event *event,
                                     int64_t sender, bool is_counted)
{
    const uint64_t signal = (uint64_t)event->arg[1];
    const uint32_t host = wio_infer_host(infer, event);
    const uint64_t own = key_of(host, pid_of(infer, wio_infer_stream(infer, event)->process));
    const uint64_t what = TAKEN | (uint64_t)sender << 8 | signal;
    uint32_t number;
    WIO_TRY(list_of(infer, host, sender, TO_GROUPS + signal, &number));
    const struct wio_infer_list *list = &infer->lists.items[number];
    uint32_t taken = wio_pair_map_get(&infer->signals.list_of, own, what);
    taken = taken == WIO_INFER_NONE ? 0 : taken;
    uint32_t i = list->first;
    while (i != WIO_INFER_NONE && infer->lists.nodes[i].a <= taken) {
        i = infer->lists.nodes[i].next;
    }
    if (i == WIO_INFER_NONE) {
        return WIO_OK;
    }
    const struct wio_infer_node *last = &infer->lists.nodes[is_counted ? i : list->last];
    WIO_TRY(wio_pair_map_put(&infer->signals.list_of, own, what, (uint32_t)last->a));
    return after(infer, event, &infer->lists.nodes[i]);
}

/* The sender is known. */
static enum wio_status take_from(struct wio_infer *infer, const struct wio_event *event,
                                 struct wio_infer_list *list, bool is_counted)
{
    uint32_t before;
    const uint32_t found = find_from(infer, list, event->arg[0], &before);
    if (found == WIO_INFER_NONE) {
        return take_of_group(infer, event, event->arg[0], is_counted);
    }
    const struct wio_infer_node from = infer->lists.nodes[found];
    if (is_counted) {
        wio_infer_drop_behind(infer, list, before);
        return after(infer, event, &from);
    }
    while (list->count > 0) {
        wio_infer_drop_first(infer, list);
    }
    return after(infer, event, &from);
}

/* pause() and its like do not say what came: the last signal that was sent while they waited. */
static enum wio_status take_any(struct wio_infer *infer, const struct wio_event *event,
                                const struct wio_infer_list *list)
{
    uint32_t found = WIO_INFER_NONE;
    for (uint32_t i = list->first; i != WIO_INFER_NONE; i = infer->lists.nodes[i].next) {
        found = infer->lists.nodes[i].begin_ns >= event->t_ns ? i : found;
    }
    return found == WIO_INFER_NONE ? WIO_OK : after(infer, event, &infer->lists.nodes[found]);
}

enum wio_status wio_infer_sigwait(struct wio_infer *infer, const struct wio_event *event)
{
    uint32_t list;
    uint64_t signal = event->arg[1] > 0 ? (uint64_t)event->arg[1] : ANY;
    bool waits_for_any =
        event->op == WIO_OP_pause || event->op == WIO_OP_sigsuspend || event->op == WIO_OP_sigpause;
    if (event->error != 0 && !waits_for_any) {
        return WIO_OK;
    }
    const bool is_counted = (int64_t)signal >= SIGRTMIN;
    int32_t pid = pid_of(infer, wio_infer_stream(infer, event)->process);
    WIO_TRY(list_of(infer, wio_infer_host(infer, event), pid, signal, &list));
    if (signal == ANY) {
        return take_any(infer, event, &infer->lists.items[list]);
    }
    if (signal == SIGCHLD && event->arg[0] > 0) {
        WIO_TRY(wio_infer_after_process(infer, event, event->arg[0], WIO_EVIDENCE_SIGNAL));
    }
    if (event->arg[0] > 0 && event->arg[0] <= INT32_MAX && signal <= SIGNALS_MAX) {
        return take_from(infer, event, &infer->lists.items[list], is_counted);
    }
    return infer->lists.items[list].count > 0
               ? take(infer, event, &infer->lists.items[list], is_counted)
               : WIO_OK;
}

enum wio_status wio_infer_after_kill(struct wio_infer *infer, const struct wio_event *event,
                                     int64_t pid, int signal)
{
    uint32_t list;
    WIO_TRY(list_of(infer, wio_infer_host(infer, event), pid, (uint64_t)signal, &list));
    return infer->lists.items[list].count > 0 ? take(infer, event, &infer->lists.items[list], false)
                                              : WIO_OK;
}

/* The kernel gives the one with the lowest number first. */
static enum wio_status take_lowest(struct wio_infer *infer, const struct wio_event *event,
                                   uint64_t signals)
{
    int32_t pid = pid_of(infer, wio_infer_stream(infer, event)->process);
    uint64_t process = key_of(wio_infer_host(infer, event), pid);
    for (uint64_t signal = 1; signal <= SIGNALS_MAX; signal++) {
        uint32_t list = (signals >> (signal - 1) & 1) != 0
                            ? wio_pair_map_get(&infer->signals.list_of, process, signal)
                            : WIO_INFER_NONE;
        if (list != WIO_INFER_NONE && infer->lists.items[list].count > 0) {
            return take(infer, event, &infer->lists.items[list], (int64_t)signal >= SIGRTMIN);
        }
    }
    return WIO_OK; /* SIGCHLD, a timer's, or of a sender that is not recorded */
}

/* R-CHAN-6 */
enum wio_status wio_infer_signals_read(struct wio_infer *infer, const struct wio_event *event)
{
    uint32_t file;
    WIO_TRY(wio_infer_file(infer, event, event->fd, &file));
    int64_t count = file == WIO_INFER_NONE ? 0 : event->result / SIGNAL_BYTES;
    for (int64_t i = 0; i < count && i < SIGNALS_MAX; i++) {
        WIO_TRY(take_lowest(infer, event, infer->files.items[file].signals));
    }
    return WIO_OK;
}
