/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A discrete-event simulation of a recorded run: each thread of the trace is a process that
 * computes as recorded, waits for what it waited for, and does its I/O as the model of its host
 * says. Private to the room.
 *
 * A thread goes through its events in phases; where it has to wait it gives up its turn, and is
 * woken by the clock, by another thread (sim_gate.c) or by its operation's end (sim_op.c, and
 * sim_async.c for those it does not wait for at once).
 */
#ifndef WIO_PREDICT_SIM_SIM_H
#define WIO_PREDICT_SIM_SIM_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include <whyio/trace.h>

#include "base/map.h"
#include "base/tree.h"
#include "model/model.h"
#include "predict/changes/change.h"
#include "predict/convert.h"
#include "predict/predict.h"
#include "predict/program.h"
#include "predict/sim/machine.h"
#include "predict/used_files.h"
#include "schedule/thread_clock.h"
#include "schedule/waits.h"

struct sim_thread;
TAILQ_HEAD(sim_line, sim_thread);
TAILQ_HEAD(sim_turns, sim_thread);

enum sim_phase {
    SIM_REACH,   /* computing before the event */
    SIM_COMPUTE, /* the part of it that needs a processor */
    SIM_EDIT,    /* what a changed program does before it */
    SIM_BEGIN,   /* what others wait for is given, what it waits for is asked for */
    SIM_WAITS,   /* until all that has come */
    SIM_LOCK,    /* until it has the lock */
    SIM_READY,   /* what was waited for is accounted, its rest goes by */
    SIM_DO,      /* the operation begins */
    SIM_READ,    /* COPY: the read is done */
    SIM_THEN,    /* the model's part has ended; what metadata takes goes by */
    SIM_DONE,    /* the operation has ended */
    SIM_AFTER,   /* what is given behind the event */
    SIM_ENDED
};

/* Which thread of which program it is. */
struct sim_identity {
    uint32_t index; /* in sim.threads: also its task */
    uint32_t stream;
    uint32_t copy; /* of the program: 0, or up to what --scale-ranks makes of it */
    uint32_t image;
    uint32_t successor; /* thread of the image that exec made, UINT32_MAX: none */
    bool is_heir;       /* another one's successor: begins when that one ends */
};

/* Its events, as recorded. */
struct sim_events {
    struct wio_cursor *cursor;
    const struct wio_event *now; /* borrowed from the cursor; NULL behind the last */
    struct wio_used_files_reader files;
    const struct wio_event_files *on; /* of the event, from phase READY on */
    enum wio_class caller;            /* of the last event that no call has caused */
    uint64_t done;
    struct sim_time *times; /* of each event, or NULL */
};

/* Computing: sim_cpu.c. */
struct sim_computing {
    uint64_t work_ns;     /* to be computed yet */
    uint64_t work_at_ns;  /* since when it computes, if it does (is_working) */
    uint64_t turn_ns;     /* since when it has a processor, if it has one (has_it) .. */
    uint64_t turn_end_ns; /* .. and until when, if others wait then */
    bool is_working;
    bool has_it;
};

/* Waits for other threads: sim_gate.c. */
struct sim_waiting {
    size_t act; /* next in the plan's acts */
    size_t act_end;
    size_t asked;           /* acts from here to `act` are waited for */
    uint32_t lacking;       /* of them, how many have not come */
    uint64_t call_seq;      /* the first event of its call .. */
    size_t early_act;       /* .. and from here on acts that are done already: */
    uint64_t early;         /* a bit each */
    struct sim_queue *gets; /* the queue in whose line it stands, or NULL */
    uint32_t poll;          /* the poll that it is in + 1, 0: none */
};

/* Locks: sim_lock.c. */
struct sim_locking {
    uint32_t had;           /* that it has exclusively */
    struct sim_lock *wants; /* the lock that it waits for, or NULL */
    bool is_shared;         /* how it wants that lock, or had one last */
    bool is_new;            /* it came with the event, and is not accounted */
    uint64_t free_ns;       /* when it was free in the trace, 0: it was never held before */
};

/* What the thread waited for at this event. */
struct sim_taken {
    bool is_any;
    bool is_held;    /* one of them has evidence `held` .. */
    uint64_t lag_ns; /* .. and this is the thread's way from it (schedule/waits.h) */
    struct wio_release release;
};

/* The operation at hand: sim_op.c, sim_fit.c. */
struct sim_operation {
    struct wio_converted todo;
    uint64_t begin_ns;
    uint32_t parts;     /* of it, on a device each, that have not ended; 0: it is one */
    double metadata_s;  /* as the machine has it; NaN: not known */
    bool is_handed_out; /* its file, to the device (sim_replace.c) */
};

/* How it differs from the recorded one: sim_edit.c. */
struct sim_change {
    const struct wio_edit_list *list; /* or NULL */
    const struct wio_edit *range;     /* of an event with another range, or NULL */
    uint64_t drop_end;                /* events before this one do nothing */
    uint64_t skip_end;                /* the time before these does not pass */
    uint32_t next;                    /* of the edits */
    uint32_t added;                   /* operations of it that are begun */
    bool is_busy;                     /* it waits for one of them */
};

/* Requests beside the thread: sim_async.c. */
struct sim_beside {
    struct sim_request *requests; /* under way */
    uint64_t missing;             /* of them, that it waits for */
};

struct sim_thread {
    RB_ENTRY(sim_thread) by_wake;
    TAILQ_ENTRY(sim_thread) in_line; /* for a lock, a queue or a meeting */
    TAILQ_ENTRY(sim_thread) at_cpu;  /* it has a processor, or waits for one */
    struct sim_program *program;
    struct sim_identity id;
    uint32_t host;
    enum sim_phase phase;
    bool has_begun; /* its first event has */
    uint64_t wake_ns;
    uint64_t wait_ns; /* when it began to wait */
    struct wio_gap gap;
    struct sim_events events;
    struct sim_computing cpu;
    struct sim_waiting gate;
    struct sim_locking lock;
    struct sim_taken taken;
    struct sim_operation op;
    struct sim_change change;
    struct sim_beside async;
    struct wio_predict_account account;
};

/* When an event was in the simulation: kept for wio_predict_write. */
struct sim_time {
    uint64_t begin_ns;
    uint64_t dur_ns;
};

/* An asynchronous request. */
struct sim_request {
    struct sim_request *next;
    uint64_t place;     /* of its event in the thread */
    uint64_t traced_ns; /* when it was collected in the trace */
    uint64_t begin_ns;  /* of the simulation */
    uint64_t done_ns;   /* 0: under way */
    uint32_t task;
    uint32_t thread;
    struct wio_model_op op;
};

RB_HEAD(sim_wakes, sim_thread);

struct sim_edge {
    uint64_t given_ns; /* of the simulation */
    uint32_t waiting;  /* thread + 1; 0: none yet */
    bool is_given;
};

struct sim_meeting {
    uint64_t last_ns; /* when the last giver came */
    uint32_t arrived;
    struct sim_line line;
};

struct sim_queue {
    uint64_t items;
    struct sim_line line;
};

struct sim_lock {
    uint32_t readers;
    struct sim_thread *owner; /* thread that has it exclusively, or NULL */
    struct sim_line line;
};

/* A model, in the order in which something happens in them. */
struct sim_clock {
    RB_ENTRY(sim_clock) by_next;
    uint32_t index;
    double next_s;
    struct wio_model *model;
};

RB_HEAD(sim_clocks, sim_clock);

struct sim_host {
    const char *name;
    struct wio_machine machine;
    struct sim_clock *clocks; /* of the machine's models */
    struct wio_map ends;      /* file -> where its last operation ended */
    struct wio_map emptied;   /* files that were cut to nothing, and not closed since */
    uint32_t cpus;            /* 0: as many as there are threads */
    uint32_t traced_cpus;     /* of the machine where it was recorded; 0: not known */
    uint32_t busy;
    bool tells_sleep;         /* its models tell when an operation needs no processor any more */
    struct sim_turns turns;   /* threads that have a processor */
    struct sim_turns waiting; /* threads that want one */
};

/* Of all operations of a kind. */
struct sim_sum {
    uint64_t count;
    double time_s;
};

/* A recorded program in the simulation, or several copies of it side by side. */
struct sim_program {
    const struct wio_program *recorded;
    const struct wio_trace *trace; /* these two: the recorded one's */
    const struct wio_waits *waits;
    struct wio_converter converter;
    struct wio_edits edits; /* its changes */
    uint32_t *hosts;        /* of each process: in sim.hosts */
    uint32_t *files;        /* file -> its number in all programs; NULL: itself */
    uint32_t first_thread;  /* in sim.threads */
    uint32_t thread_count;  /* one per stream of the trace and copy of the job */
    uint32_t copies;
    uint32_t first_copy; /* counted over all programs */
    uint32_t first_rank; /* likewise */
    uint64_t events;     /* of all copies */
    struct sim_edge *edges;
    struct sim_meeting *meetings;
    struct sim_queue *queues;
    struct sim_lock *locks;
};

struct sim_store;

struct sim {
    const struct wio_predict_params *params;
    struct sim_program *programs;
    uint32_t program_count;
    struct sim_host *hosts;
    uint32_t host_count;
    struct sim_clocks clocks;
    uint32_t clock_count;
    struct sim_store *store;    /* of all hosts (sim_store.h); NULL: none */
    struct sim_thread *threads; /* of all programs */
    uint32_t thread_count;
    uint32_t left; /* threads that have not ended */
    uint64_t total_events;
    struct sim_wakes wakes;
    struct wio_map requests; /* task -> struct sim_request * */
    uint32_t first_request;  /* tasks from here on are asynchronous requests */
    uint32_t next_task;      /* the next one of them */
    uint64_t now_ns;
    uint64_t events;                       /* done */
    uint64_t told;                         /* operations, of which per_op has been told */
    struct sim_sum metadata[WIO_OP_COUNT]; /* as the machines have it */
    struct sim_sum kept[WIO_OP_COUNT];     /* as recorded */
    struct wio_budget budget;              /* of the machines */
    struct wio_map dirty;                  /* with a fit: file -> bytes since its last flush .. */
    struct wio_map recorded_dirty;         /* .. and what it would be if nothing were changed */
    struct wio_predict_result result;
};

/* ---- sim_program.c: which programs there are, and their copies ---- */

/* Makes sim.programs, and says how many threads there are. WIO_ERR_USAGE for a number of ranks that
 * is no multiple, WIO_ERR_UNSUPPORTED for more threads than can be simulated. */
WIO_MUST_CHECK enum wio_status sim_program_add_all(struct sim *sim,
                                                   const struct wio_program *recorded,
                                                   uint32_t count, struct wio_error *err);
/* Their edits, by the changes of sim.params. Once the hosts are there. */
WIO_MUST_CHECK enum wio_status sim_program_change(struct sim *sim, struct wio_error *err);
void sim_program_fini(struct sim *sim);

/* ---- sim_gate.c: waits for other threads ---- */

WIO_MUST_CHECK enum wio_status sim_gate_init(struct sim_program *program, struct wio_error *err);
void sim_gate_fini(struct sim_program *program);
/* The acts of the thread's event: gives what it gives; false where something it waits for has not
 * come: it is woken then. */
bool sim_gate_begin(struct sim *sim, struct sim_thread *thread, const struct wio_event *event);
/* Is it a failed poll for a file that is there already, or a sleep between two? */
bool sim_gate_is_pointless(struct sim_thread *thread, const struct wio_event *event);
/* All has come: joins the releases of what was waited for. */
void sim_gate_taken(struct sim *sim, struct sim_thread *thread);
/* What is given behind the event. */
void sim_gate_after(struct sim *sim, struct sim_thread *thread, const struct wio_event *event);
/* At the end of a thread: all that it has not given. */
void sim_gate_end(struct sim *sim, struct sim_thread *thread);
/* Deadlock: grant the earliest waiter of a lock or queue in trace order; false if there is none. */
bool sim_gate_untie(struct sim *sim);

/* ---- sim_lock.c: locks ---- */

/* False where the lock is taken: it is woken when it has it. */
bool sim_lock_take(struct sim_thread *thread, uint32_t number, bool is_shared);
void sim_lock_leave(struct sim *sim, const struct sim_thread *thread, uint32_t number,
                    bool is_shared);
/* At the end of a thread. What it left in a call that did not return (a wait for a condition until
 * the process ended) is no event. */
void sim_lock_leave_all(struct sim *sim, const struct sim_thread *thread);
/* The thread waits for a lock: the lock is taken away from its holder and given to the thread. */
void sim_lock_give_up(struct sim *sim, struct sim_thread *thread);

/* ---- sim_host.c: machines, and in which something happens first ---- */

/* The hosts of all programs. Of several programs those of the same name are one; of the others of
 * a program the first is the first that it has not met, and so on: programs share machines. Every
 * machine that is given by name must be one. */
WIO_MUST_CHECK enum wio_status sim_host_add_all(struct sim *sim, struct wio_error *err);
void sim_host_fini(struct sim *sim);
/* The model in which something happens first; *others_out: when it does in another one. NULL:
 * nothing happens in any. */
struct sim_clock *sim_host_first(struct sim *sim, double *others_out);
/* The model has been given an operation, or time has passed in it. */
void sim_host_moved(struct sim *sim, struct sim_clock *clock);

/* ---- sim_cpu.c: processors, which threads that compute take in turns ---- */

/* Linux' base slice, from 2.8 to 3 ms on machines of eight and more processors, less on smaller
 * ones. What is computed at a time is mostly shorter or much longer. */
#define SIM_TURN_NS 3000000u
/* Less than that passes without a sample of processor time (docs/adr/0010): it is computing. */
#define SIM_SHORT_NS 100000u

void sim_cpu_init(struct sim_host *host, uint32_t cpus);
/* The thread wants to compute thread->work_ns, or its turn is over: false until it has, it is woken
 * then. It has a processor afterwards. */
bool sim_cpu_compute(struct sim *sim, struct sim_thread *thread);
/* The thread wants a processor, or wants to keep it: false where others are first, it is woken when
 * it has one. */
bool sim_cpu_take(struct sim *sim, struct sim_thread *thread);
/* Has it had its turn, and others wait? */
bool sim_cpu_is_over(const struct sim *sim, const struct sim_thread *thread);
/* It needs none for now, if it has one. */
void sim_cpu_leave(struct sim *sim, struct sim_thread *thread);

/* ---- sim_place.c: files and devices of operations ---- */

/* A file of the program (used_files.h) for the models: copies of a job have files of their own,
 * programs that run beside each other share those of the same name. */
uint64_t sim_place_file(const struct sim_thread *thread, uint64_t file);
/* Of the machine of the thread's host. */
uint32_t sim_place_device(const struct sim_thread *thread, const struct sim_host *host,
                          uint32_t path);
/* The thread (or a request of it: `task`) begins `op` on its file, which `path` names. Fills in
 * what the host decides: device, offset, the file as models know it. */
WIO_MUST_CHECK enum wio_status sim_place_begin(struct sim *sim, const struct sim_thread *thread,
                                               uint32_t task, uint32_t path,
                                               struct wio_model_op *op, struct wio_error *err);
/* thread->op.todo begins on all devices of the host at once, each with a task of its own; the last
 * one ends the operation. */
WIO_MUST_CHECK enum wio_status sim_place_everywhere(struct sim *sim, struct sim_thread *thread,
                                                    struct wio_error *err);

/* ---- sim_op.c: what the operations of a thread cost ---- */

/* Rounded; there is no later moment than 2^62 ns, after 146 years. */
#define SIM_LAST_NS 0x1p62
static inline uint64_t sim_ns_of(double seconds)
{
    return (uint64_t)fmin(seconds * 1e9 + 0.5, SIM_LAST_NS);
}

/* Of the event: when it is over where it was recorded. */
static inline uint64_t sim_end_of(const struct wio_event *event)
{
    uint64_t dur_ns = event->result == WIO_RESULT_PENDING ? 0 : event->dur_ns;
    return dur_ns <= UINT64_MAX - event->t_ns ? event->t_ns + dur_ns : UINT64_MAX;
}

/* Tasks: the threads, then for each thread one per device where an operation has such parts, then
 * asynchronous requests. */
static inline uint32_t sim_part_task(const struct sim *sim, uint32_t thread, uint32_t device)
{
    return sim->thread_count + thread * WIO_MODEL_DEVICES_MAX + device;
}
static inline uint32_t sim_thread_of(const struct sim *sim, uint32_t task)
{
    return task < sim->thread_count ? task : (task - sim->thread_count) / WIO_MODEL_DEVICES_MAX;
}

/* The thread's operation (thread->op.todo) begins: sets the next phase. *go_on: it comes at once.
 */
WIO_MUST_CHECK enum wio_status sim_op_perform(struct sim *sim, struct sim_thread *thread,
                                              const struct wio_event *event, bool *go_on,
                                              struct wio_error *err);
/* COPY: the read is done. */
WIO_MUST_CHECK enum wio_status sim_op_write(struct sim *sim, struct sim_thread *thread,
                                            struct wio_error *err);
/* The model's part is done: *go_on unless more of it follows, or metadata takes time. */
WIO_MUST_CHECK enum wio_status sim_op_then(struct sim *sim, struct sim_thread *thread,
                                           const struct wio_event *event, bool *go_on,
                                           struct wio_error *err);
/* An operation from `begin_ns` to `end_ns` of the simulation widens the account's time; its event
 * that of the trace. */
void sim_op_span(struct wio_predict_account *sum, uint64_t begin_ns, uint64_t end_ns);
void sim_op_traced(struct wio_predict_account *sum, const struct wio_event *event);
/* All of it is done. */
void sim_op_finish(struct sim *sim, struct sim_thread *thread, const struct wio_event *event);

/* ---- sim_replace.c: files that take the place of others ---- */

/* The thread's operation has ended: does it cut its file? */
WIO_MUST_CHECK enum wio_status sim_replace_note(struct sim *sim, const struct sim_thread *thread);
/* Behind a close or a rename, once: where the file has taken the place of another one it is handed
 * to the device now, and *has_begun. */
WIO_MUST_CHECK enum wio_status sim_replace_begin(struct sim *sim, struct sim_thread *thread,
                                                 const struct wio_event *event, bool *has_begun,
                                                 struct wio_error *err);
/* What has ended was this: it is in the account, but no operation of the program. */
bool sim_replace_done(struct sim_thread *thread, double cost_s);

/* ---- sim_async.c: operations beside their thread ---- */

WIO_MUST_CHECK enum wio_status sim_async_begin(struct sim *sim, struct sim_thread *thread,
                                               const struct wio_event *event,
                                               struct wio_error *err);
/* A call that waits for requests ends when they have: false until then, it is woken. */
bool sim_async_collect(struct sim_thread *thread, const struct wio_event *event);
void sim_async_done(struct sim *sim, uint32_t task);
void sim_async_fini(struct sim_thread *thread);

/* ---- sim_fit.c: costs that are fitted from the trace (params->fit) ---- */

/* thread->op.todo begins: the next phase is DONE; *go_on: at once. */
WIO_MUST_CHECK enum wio_status sim_fit_perform(struct sim *sim, struct sim_thread *thread,
                                               const struct wio_event *event, bool *go_on);
/* thread->op.todo is an additional operation on `path`. */
WIO_MUST_CHECK enum wio_status sim_fit_added(struct sim *sim, struct sim_thread *thread,
                                             uint32_t path);
/* The event was dropped. */
WIO_MUST_CHECK enum wio_status sim_fit_dropped(struct sim *sim, const struct sim_thread *thread,
                                               const struct wio_event *event);
/* An asynchronous request: it ends when it ended, and a change of it is not known. */
void sim_fit_beside(struct sim *sim, struct sim_thread *thread, const struct wio_event *event);
/* What ranks take to exchange data; a middle that nothing tells is said in the result. */
struct wio_change_net sim_fit_net(struct sim *sim);
void sim_fit_fini(struct sim *sim);

/* ---- sim_edit.c: changes of a program ---- */

/* Of the time before the event so many ns do not pass; UINT64_MAX: nothing of it does. Once for
 * each event, before sim_edit_before. */
uint64_t sim_edit_skips(struct sim_thread *thread, const struct wio_event *event);
/* Before the event: what is done besides. Sets the next phase; *go_on: it comes at once. */
WIO_MUST_CHECK enum wio_status sim_edit_before(struct sim *sim, struct sim_thread *thread,
                                               const struct wio_event *event, bool *go_on,
                                               struct wio_error *err);
/* thread->op.todo with the range that a change gives to the event. */
void sim_edit_range(struct sim_thread *thread, const struct wio_event *event);
/* Does the event do nothing? Then it is accounted. */
bool sim_edit_drops(const struct sim *sim, struct sim_thread *thread,
                    const struct wio_event *event);

/* ---- sim_blame.c: the operation that ends a simulation ---- */

/* `thread` (NULL: not known) failed with `status`: appends its operation to `err`, and the bound of
 * the simulation if that is the reason. Gives the status to return. */
enum wio_status sim_blame(const struct sim *sim, const struct sim_thread *thread,
                          enum wio_status status, struct wio_error *err);

/* ---- sim_sum.c: the result ---- */

WIO_MUST_CHECK enum wio_status sim_sum_up(struct sim *sim);

/* ---- sim_wake.c: which thread wakes when ---- */

/* Wake it at `at_ns`, or now. */
void sim_wake(struct sim *sim, struct sim_thread *thread, uint64_t at_ns);
/* The same of one that would be woken at another time. */
void sim_wake_again(struct sim *sim, struct sim_thread *thread, uint64_t at_ns);
/* It is awake. */
void sim_wake_take(struct sim *sim, struct sim_thread *thread);
/* The one that wakes first; NULL: none. */
struct sim_thread *sim_first(struct sim *sim);

/* ---- sim_thread.c: what a thread does ---- */

WIO_MUST_CHECK enum wio_status sim_thread_init(struct sim *sim, uint32_t index,
                                               struct wio_error *err);
void sim_thread_fini(struct sim_thread *thread);
/* Its time has come: let it go on until it has to wait. */
WIO_MUST_CHECK enum wio_status sim_thread_wake(struct sim *sim, struct sim_thread *thread,
                                               struct wio_error *err);
/* The operation of a task has ended. */
WIO_MUST_CHECK enum wio_status sim_thread_done(struct sim *sim, const struct wio_model_done *done,
                                               struct wio_error *err);

#endif
