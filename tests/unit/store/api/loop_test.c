/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that take turns in driving a loop: calls that end at once, later or never, time-outs of
 * all lengths, calls that nothing waits for, pauses in which the keeper takes over. */
#include "support/unit.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "store/api/loop.h"

enum { THREADS = 12, CALLS = 3000 / WIO_TEST_SLOWER, MARK = 7 };
#define SECOND_NS UINT64_C(1000000000)

enum how { AT_ONCE, LATER, NEVER, HOWS };

struct scene {
    struct wio_io *io;
    struct api_loop *loop;
    atomic_uint made;
    atomic_uint destroyed;
    atomic_uint begun;
    atomic_uint ended;
    atomic_bool is_driven; /* by more than one thread: never */
};

struct job {
    struct api_call call; /* first */
    struct scene *scene;
    struct wio_io_work work;
    enum how how;
    uint64_t took_ns;
    int *into; /* the caller's */
};

static void sleep_ns(uint64_t ns)
{
    const struct timespec pause = {(time_t)(ns / SECOND_NS), (long)(ns % SECOND_NS)};
    (void)nanosleep(&pause, NULL);
}

/* What is on the loop is on one thread. */
static void enter(struct scene *scene)
{
    assert_false(atomic_exchange(&scene->is_driven, true));
}

static void leave(struct scene *scene)
{
    atomic_store(&scene->is_driven, false);
}

/* ---- calls --------------------------------------------------------------------------------- */

static void finish(struct job *job)
{
    if (api_call_lock(&job->call)) {
        *job->into = MARK;
        api_call_unlock(&job->call);
    }
    api_call_finish(&job->call);
}

static void work(struct wio_io_work *work)
{
    const struct job *job = (const struct job *)((char *)work - offsetof(struct job, work));
    sleep_ns(job->took_ns);
}

static void worked(struct wio_io_work *work)
{
    struct job *job = (struct job *)((char *)work - offsetof(struct job, work));
    struct scene *scene = job->scene;
    enter(scene);
    finish(job);
    leave(scene);
}

static void start(struct api_call *call)
{
    struct job *job = (struct job *)call;
    struct scene *scene = job->scene;
    enter(scene);
    if (job->how == AT_ONCE) {
        finish(job);
    } else if (job->how == LATER) {
        job->work = (struct wio_io_work){.run = work, .done = worked};
        assert_int_equal(scene->io->ops->work(scene->io, &job->work), WIO_OK);
    }
    leave(scene);
}

static void abandoned(struct api_call *call)
{
    struct job *job = (struct job *)call;
    struct scene *scene = job->scene;
    enter(scene);
    if (job->how == NEVER) {
        api_call_fail(call, WIO_ERR_BUSY, ETIMEDOUT, "late");
    }
    leave(scene);
}

static void destroy(struct api_call *call)
{
    struct job *job = (struct job *)call;
    atomic_fetch_add(&job->scene->destroyed, 1);
    free(job);
}

static const struct api_call_ops job_ops = {start, abandoned, destroy};

static struct job *make(struct scene *scene, enum how how, uint64_t took_ns, int *into)
{
    struct job *job = calloc(1, sizeof(*job));
    assert_non_null(job);
    api_call_init(&job->call, &job_ops);
    job->scene = scene;
    job->how = how;
    job->took_ns = took_ns;
    job->into = into;
    atomic_fetch_add(&scene->made, 1);
    return job;
}

/* ---- the loop ------------------------------------------------------------------------------ */

static enum wio_status begin(void *context, struct wio_io *io, struct wio_error *err)
{
    struct scene *scene = context;
    (void)err;
    scene->io = io;
    atomic_fetch_add(&scene->begun, 1);
    return WIO_OK;
}

static void woken(void *context)
{
    struct scene *scene = context;
    enter(scene);
    leave(scene);
}

static void end(void *context)
{
    struct scene *scene = context;
    atomic_fetch_add(&scene->ended, 1);
}

static const struct api_loop_ops loop_ops = {begin, woken, end};

static void set_up(struct scene *scene)
{
    struct wio_error err = WIO_ERROR_INIT;
    *scene = (struct scene){0};
    assert_ok(api_loop_create(&loop_ops, scene, &scene->loop, &err), &err);
}

static void tear_down(struct scene *scene)
{
    api_loop_destroy(scene->loop);
    assert_int_equal(scene->begun, 1);
    assert_int_equal(scene->ended, 1);
    assert_int_equal(scene->made, scene->destroyed);
}

/* ---- callers ------------------------------------------------------------------------------- */

struct caller {
    struct scene *scene;
    uint64_t random;
    unsigned done;
    unsigned late;
};

static unsigned below(struct caller *caller, unsigned limit)
{
    return (unsigned)(wio_test_random(&caller->random) % limit);
}

/* Many are short, some as long as it takes the keeper to take over. */
static void pause_now(struct caller *caller)
{
    unsigned kind = below(caller, 64);
    if (kind == 0) {
        sleep_ns(3 * API_LOOP_KEEP_NS);
    } else if (kind < 8) {
        sleep_ns(below(caller, 300000));
    }
}

static void call_once(struct caller *caller)
{
    struct scene *scene = caller->scene;
    struct wio_error err = WIO_ERROR_INIT;
    int into = 0;
    enum how how = (enum how)below(caller, HOWS);
    bool is_short = how == NEVER || below(caller, 4) == 0;
    uint64_t timeout_ns = is_short ? below(caller, 2000000) : 300 * SECOND_NS;
    struct job *job = make(scene, how, below(caller, 200000), &into);
    enum wio_status status =
        api_loop_run(scene->loop, &job->call, wio_clock_mono_ns() + timeout_ns, &err);
    api_call_release(&job->call);
    if (status == WIO_OK) {
        assert_int_equal(into, MARK);
        assert_int_not_equal(how, NEVER);
        caller->done++;
    } else {
        assert_int_equal(err.sys_errno, ETIMEDOUT);
        assert_true(is_short);
        caller->late++;
        into = 0; /* from here on it is this thread's: ThreadSanitizer sees if not */
    }
}

static void *call_often(void *context)
{
    struct caller *caller = context;
    static int nowhere;
    for (unsigned i = 0; i < CALLS; i++) {
        if (below(caller, 8) == 0) {
            struct job *job = make(caller->scene, (enum how)below(caller, 2), 1000, &nowhere);
            api_loop_post(caller->scene->loop, &job->call);
        } else {
            call_once(caller);
        }
        if (below(caller, 16) == 0) {
            api_loop_wake(caller->scene->loop);
        }
        pause_now(caller);
    }
    return NULL;
}

static void threads_take_turns(void **state)
{
    struct scene scene;
    struct caller callers[THREADS];
    pthread_t threads[THREADS];
    unsigned done = 0;
    unsigned late = 0;
    (void)state;
    set_up(&scene);
    for (unsigned i = 0; i < THREADS; i++) {
        callers[i] = (struct caller){.scene = &scene, .random = i + 1};
        assert_int_equal(pthread_create(&threads[i], NULL, call_often, &callers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        (void)pthread_join(threads[i], NULL);
        done += callers[i].done;
        late += callers[i].late;
    }
    assert_true(done > THREADS * CALLS / 8);
    assert_true(late > THREADS * CALLS / 8);
    tear_down(&scene);
}

/* ---- one thread ---------------------------------------------------------------------------- */

static void run_now(struct scene *scene, enum how how)
{
    struct wio_error err = WIO_ERROR_INIT;
    int into = 0;
    struct job *job = make(scene, how, 1000, &into);
    assert_ok(api_loop_run(scene->loop, &job->call, wio_clock_mono_ns() + 300 * SECOND_NS, &err),
              &err);
    api_call_release(&job->call);
    assert_int_equal(into, MARK);
}

struct asker {
    struct api_call call; /* first */
    pthread_t by;
};

static void ask_start(struct api_call *call)
{
    ((struct asker *)call)->by = pthread_self();
    api_call_finish(call);
}

static void ask_destroy(struct api_call *call)
{
    free(call);
}

static const struct api_call_ops asker_ops = {ask_start, ask_start, ask_destroy};

/* Where no other thread drives, the caller does. */
static void a_caller_drives_by_itself(void **state)
{
    struct scene scene;
    struct wio_error err = WIO_ERROR_INIT;
    unsigned own = 0;
    (void)state;
    set_up(&scene);
    run_now(&scene, LATER); /* the keeper hands over */
    for (unsigned i = 0; i < 100; i++) {
        struct asker *asker = calloc(1, sizeof(*asker));
        assert_non_null(asker);
        api_call_init(&asker->call, &asker_ops);
        assert_ok(
            api_loop_run(scene.loop, &asker->call, wio_clock_mono_ns() + 300 * SECOND_NS, &err),
            &err);
        own += pthread_equal(asker->by, pthread_self()) != 0;
        api_call_release(&asker->call);
    }
    assert_true(own > 0);
    tear_down(&scene);
}

/* The keeper takes over, in the time that is promised, and hands over again. */
static void the_keeper_drives_while_there_are_no_calls(void **state)
{
    struct scene scene;
    (void)state;
    set_up(&scene);
    for (unsigned i = 0; i < 5; i++) {
        run_now(&scene, i % 2 == 0 ? LATER : AT_ONCE);
        struct job *job = make(&scene, LATER, 0, &(int){0});
        api_loop_post(scene.loop, &job->call);
        while (atomic_load(&scene.destroyed) < atomic_load(&scene.made)) {
            sleep_ns(API_LOOP_KEEP_NS / 10); /* a call would drive: the keeper has to */
        }
    }
    tear_down(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_take_turns),
        cmocka_unit_test(a_caller_drives_by_itself),
        cmocka_unit_test(the_keeper_drives_while_there_are_no_calls),
    };
    return WIO_RUN(tests);
}
