/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenMP as gcc compiles it: libgomp's threads wait for each other by futex calls inlined into it,
 * so its entry points are wrapped. R-SYNC-5
 *
 * The threads of a region run a function of ours, which runs the program's. Its argument lies on
 * the stack of the thread that made the region, which leaves it last.
 */
#include <string.h>

#include "capture/sync/sync.h"
#include "capture/sync/sync_barrier.h"
#include "capture/sync/sync_lock.h"

typedef void region_fn(void *data);

struct region {
    region_fn *function;
    void *data;
    uintptr_t source;
    uint16_t call;
    const struct cap_thread *maker;
    int64_t key;
    int64_t rounds; /* of the maker, behind the code */
    int64_t members;
    uint64_t done; /* when the maker's own part was */
};

/* What each of its threads knows of the region in which it is. */
struct cap_team {
    int64_t key;
    int64_t round;
    int64_t members;
};

static int members_now(void)
{
    typedef int count_fn(void);
    static count_fn *count;
    count_fn *function = __atomic_load_n(&count, __ATOMIC_RELAXED);
    if (function == NULL) {
        void *found = cap_find_symbol("omp_get_num_threads");
        memcpy(&function, &found, sizeof(function));
        __atomic_store_n(&count, function, __ATOMIC_RELAXED);
    }
    return function != NULL ? function() : 1;
}

static void emit_round(struct cap_thread *self, struct cap_event *ev, const struct cap_team *team,
                       enum cap_part part)
{
    const int64_t arg[4] = {team->key, team->round, team->members, part};
    ev->result = 0;
    if (team->members > 1) {
        cap_emit_wait_ext(self, ev, arg);
    }
}

static void emit_mark(struct cap_thread *self, unsigned call, uintptr_t source,
                      const struct cap_team *team, enum cap_part part)
{
    struct cap_event ev = CAP_EVENT_OF(call, source);
    ev.begin = cap_begin(self);
    ev.end = ev.begin;
    emit_round(self, &ev, team, part);
}

static void run_member(void *argument)
{
    struct region *region = argument;
    struct cap_thread *self = cap_enter_sync(region->source, WIO_CALL_gomp_start);
    if (self == NULL) {
        region->function(region->data);
        return;
    }
    bool is_maker = self == region->maker;
    struct cap_team team = {.key = region->key, .members = members_now()};
    struct cap_team *outer = self->sync.team;
    emit_mark(self, WIO_CALL_gomp_start, region->source, &team,
              is_maker ? CAP_PART_GIVES : CAP_PART_TAKES);
    team.round = 1;
    self->sync.team = &team;
    region->function(region->data);
    self->sync.team = outer;
    if (is_maker) {
        region->rounds = team.round;
        region->members = team.members;
        region->done = cap_now();
    } else if (cap_enter_sync(region->source, WIO_CALL_gomp_end) != NULL) {
        emit_mark(self, WIO_CALL_gomp_end, region->source, &team, CAP_PART_GIVES);
    }
}

static bool begin_region(struct region *region, unsigned call, uintptr_t source)
{
    struct cap_thread *self = cap_enter_sync(source, call);
    region->source = source;
    region->call = (uint16_t)call;
    region->maker = self;
    region->done = 0;
    region->key = self != NULL ? (int64_t)cap_key() : 0;
    return self != NULL;
}

/* The maker has waited for the others. */
static void end_region(const struct region *region)
{
    CAP_KEEP_ERRNO;
    struct cap_thread *self = cap_enter_sync(region->source, region->call);
    if (self != NULL && region->done != 0) {
        const struct cap_team team = {region->key, region->rounds, region->members};
        struct cap_event ev = CAP_EVENT_OF(region->call, region->source);
        ev.begin = region->done;
        ev.end = cap_now();
        emit_round(self, &ev, &team, CAP_PART_TAKES);
    }
}

#define DEFINE_PARALLEL(symbol, parameters, ...)                                                   \
    CAP_EXPORT void symbol parameters;                                                             \
    CAP_EXPORT void symbol parameters                                                              \
    {                                                                                              \
        struct region region = {.function = function, .data = data};                               \
        if (!begin_region(&region, WIO_CALL_##symbol, CAP_CALLER())) {                             \
            CAP_REAL(symbol)(function, data, __VA_ARGS__);                                         \
            return;                                                                                \
        }                                                                                          \
        CAP_REAL(symbol)(run_member, &region, __VA_ARGS__);                                        \
        end_region(&region);                                                                       \
    }

DEFINE_PARALLEL(GOMP_parallel, (region_fn * function, void *data, unsigned threads, unsigned flags),
                threads, flags)
DEFINE_PARALLEL(GOMP_parallel_sections,
                (region_fn * function, void *data, unsigned threads, unsigned count,
                 unsigned flags),
                threads, count, flags)

/* Loops whose pieces are as large as the loop says, and those that the environment decides on. */
#define PIECES                                                                                     \
    (region_fn * function, void *data, unsigned threads, long first, long last, long step,         \
     long piece, unsigned flags)
#define NO_PIECES                                                                                  \
    (region_fn * function, void *data, unsigned threads, long first, long last, long step,         \
     unsigned flags)

/* NOLINTBEGIN(readability-function-size): as many parameters as libgomp's */
DEFINE_PARALLEL(GOMP_parallel_loop_static, PIECES, threads, first, last, step, piece, flags)
DEFINE_PARALLEL(GOMP_parallel_loop_dynamic, PIECES, threads, first, last, step, piece, flags)
DEFINE_PARALLEL(GOMP_parallel_loop_guided, PIECES, threads, first, last, step, piece, flags)
DEFINE_PARALLEL(GOMP_parallel_loop_nonmonotonic_dynamic, PIECES, threads, first, last, step, piece,
                flags)
DEFINE_PARALLEL(GOMP_parallel_loop_nonmonotonic_guided, PIECES, threads, first, last, step, piece,
                flags)
DEFINE_PARALLEL(GOMP_parallel_loop_runtime, NO_PIECES, threads, first, last, step, flags)
DEFINE_PARALLEL(GOMP_parallel_loop_nonmonotonic_runtime, NO_PIECES, threads, first, last, step,
                flags)
DEFINE_PARALLEL(GOMP_parallel_loop_maybe_nonmonotonic_runtime, NO_PIECES, threads, first, last,
                step, flags)
/* NOLINTEND(readability-function-size) */

/* ---- barriers of a region ----------------------------------------------------------------------
 */

struct team_wait {
    struct cap_thread *self;
    struct cap_event ev;
};

static void begin_wait(struct team_wait *wait, unsigned call, uintptr_t source)
{
    struct cap_thread *self = cap_self->sync.team != NULL ? cap_enter_sync(source, call) : NULL;
    wait->self = self;
    if (self != NULL) {
        wait->ev = CAP_EVENT_OF(call, source);
        cap_state_enter(self, CAP_STATE_BLOCKED);
        wait->ev.begin = cap_begin(wait->self);
    }
}

static void end_wait(struct team_wait *wait, bool has_waited)
{
    CAP_KEEP_ERRNO;
    struct cap_thread *self = wait->self;
    if (self == NULL) {
        return;
    }
    cap_state_leave(self);
    wait->ev.end = cap_now();
    if (has_waited && self->sync.team != NULL) {
        emit_round(self, &wait->ev, self->sync.team, CAP_PART_BOTH);
        self->sync.team->round++;
    }
}

#define DEFINE_BARRIER(symbol)                                                                     \
    CAP_EXPORT void symbol(void);                                                                  \
    CAP_EXPORT void symbol(void)                                                                   \
    {                                                                                              \
        struct team_wait wait;                                                                     \
        begin_wait(&wait, WIO_CALL_##symbol, CAP_CALLER());                                        \
        CAP_REAL(symbol)();                                                                        \
        end_wait(&wait, true);                                                                     \
    }

DEFINE_BARRIER(GOMP_barrier)
DEFINE_BARRIER(GOMP_loop_end)
DEFINE_BARRIER(GOMP_sections_end)

/* They say whether the region was cancelled. */
#define DEFINE_BARRIER_CANCEL(symbol)                                                              \
    CAP_EXPORT bool symbol(void);                                                                  \
    CAP_EXPORT bool symbol(void)                                                                   \
    {                                                                                              \
        struct team_wait wait;                                                                     \
        begin_wait(&wait, WIO_CALL_##symbol, CAP_CALLER());                                        \
        bool result = CAP_REAL(symbol)();                                                          \
        end_wait(&wait, true);                                                                     \
        return result;                                                                             \
    }

DEFINE_BARRIER_CANCEL(GOMP_barrier_cancel)
DEFINE_BARRIER_CANCEL(GOMP_loop_end_cancel)
DEFINE_BARRIER_CANCEL(GOMP_sections_end_cancel)

/* One thread gets NULL, does the work and calls _end; the others wait here for that. */
CAP_EXPORT void *GOMP_single_copy_start(void);
CAP_EXPORT void *GOMP_single_copy_start(void)
{
    struct team_wait wait;
    begin_wait(&wait, WIO_CALL_GOMP_single_copy_start, CAP_CALLER());
    void *result = CAP_REAL(GOMP_single_copy_start)();
    end_wait(&wait, result != NULL);
    return result;
}

CAP_EXPORT void GOMP_single_copy_end(void *data);
CAP_EXPORT void GOMP_single_copy_end(void *data)
{
    struct team_wait wait;
    begin_wait(&wait, WIO_CALL_GOMP_single_copy_end, CAP_CALLER());
    CAP_REAL(GOMP_single_copy_end)(data);
    end_wait(&wait, true);
}
