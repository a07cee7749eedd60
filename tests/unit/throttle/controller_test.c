/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes that write on the board by hand; time is an argument. The only real thing is a child that
 * sleeps, whose pid all nodes have. */
#include "support/unit.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "record/children.h"
#include "throttle/control/controller.h"

#define MS UINT64_C(1000000)
#define LIMIT_NS (1000 * MS)

struct stage {
    struct wio_board_file file;
    struct wio_roster roster;
    struct wio_profile profile;
    struct wio_profile_node ways[2];
    struct wio_hold *hold;
    struct wio_conduct conduct;
    pid_t pid;
    uint64_t now_ns;
};

static void place(struct stage *stage, uint32_t index)
{
    struct wio_board_node *node = &stage->file.board->nodes[index];
    node->pid = stage->pid;
    node->tid = stage->pid;
    node->rank = (int32_t)index;
    node->key = 100 + index;
    node->granted = stage->file.board->first_grant;
    node->is_used = 1;
    stage->file.board->node_count = index + 1;
}

static void say(struct stage *stage, uint32_t index, enum wio_board_state state)
{
    struct wio_board_node *node = &stage->file.board->nodes[index];
    node->asked += state == WIO_BOARD_AT_IO ? 1 : 0;
    node->word = (WIO_BOARD_CHANGES(node->word) + 1) << 8 | state;
    stage->file.board->doorbell++;
}

/* The child says no word to the board, but the kernel's about it count. */
static void wait_until_asleep(const struct stage *stage)
{
    struct wio_task_state task = {0};
    while (!task.is_asleep) {
        wio_task_look(stage->pid, stage->pid, &task);
        wio_clock_sleep_ns(MS / 10);
    }
}

static void set_up_method(struct stage *stage, enum wio_hold_method method)
{
    const struct wio_alloc heap = WIO_ALLOC_HEAP;
    *stage = (struct stage){.now_ns = 1};
    stage->pid = fork();
    assert_true(stage->pid >= 0);
    if (stage->pid == 0) {
        for (;;) {
            (void)pause();
        }
    }
    assert_int_equal(wio_board_create(&stage->file, NULL), WIO_OK);
    for (uint32_t n = 0; n < 2; n++) {
        place(stage, n);
        assert_int_equal(wio_roster_add(&stage->roster, &stage->file.board->nodes[n], false),
                         WIO_OK);
        stage->roster.nodes[n].ops = 2;
    }
    wait_until_asleep(stage);
    stage->profile = (struct wio_profile){.nodes = stage->ways, .count = 2};
    const struct wio_hold_params rules = {
        .method = method, .nodes = 2, .period = 1, .limit_ns = UINT64_MAX};
    assert_int_equal(wio_hold_create(&rules, &heap, &stage->hold), WIO_OK);
    wio_board_reset(stage->file.board, 0, LIMIT_NS);
    const struct wio_conduct_params params = {.board = stage->file.board,
                                              .roster = &stage->roster,
                                              .hold = stage->hold,
                                              .method = method,
                                              .period = 1,
                                              .profile = &stage->profile,
                                              .limit_ns = LIMIT_NS};
    assert_int_equal(wio_conduct_begin(&stage->conduct, &params, stage->now_ns), WIO_OK);
    place(stage, 0);
    place(stage, 1);
}

static void set_up(struct stage *stage)
{
    set_up_method(stage, WIO_HOLD_PRIORITY);
}

static void tear_down(struct stage *stage)
{
    (void)kill(stage->pid, SIGKILL);
    (void)waitpid(stage->pid, NULL, 0);
    wio_conduct_fini(&stage->conduct);
    wio_hold_destroy(stage->hold);
    wio_roster_fini(&stage->roster);
    wio_board_destroy(&stage->file);
}

static void step(struct stage *stage, uint64_t ns)
{
    uint64_t sleep_ns;
    stage->now_ns += ns;
    assert_int_equal(wio_conduct_step(&stage->conduct, stage->now_ns, &sleep_ns), WIO_OK);
}

static bool may_go(const struct stage *stage, uint32_t index)
{
    const struct wio_board_node *node = &stage->file.board->nodes[index];
    return node->granted >= node->asked;
}

static void one_goes_when_all_stand_still(void **state)
{
    (void)state;
    struct stage stage;
    set_up(&stage);
    say(&stage, 0, WIO_BOARD_AT_IO);
    step(&stage, MS);
    assert_false(may_go(&stage, 0)); /* the other one may still come */
    say(&stage, 1, WIO_BOARD_AT_IO);
    step(&stage, MS);
    assert_true(may_go(&stage, 0) != may_go(&stage, 1));
    assert_int_equal(stage.conduct.verdict, WIO_CONDUCT_GOOD);
    tear_down(&stage);
}

static void a_freed_node_gets_an_edge(void **state)
{
    (void)state;
    struct stage stage;
    set_up(&stage);
    say(&stage, 0, WIO_BOARD_AT_IO);
    say(&stage, 1, WIO_BOARD_BLOCKED);
    for (int i = 0; i < 1000 && !may_go(&stage, 0); i++) {
        step(&stage, MS); /* until the child is seen asleep twice */
        wio_clock_sleep_ns(MS);
    }
    assert_true(may_go(&stage, 0));
    say(&stage, 0, WIO_BOARD_COMPUTING);
    say(&stage, 1, WIO_BOARD_COMPUTING);
    step(&stage, MS);
    const struct wio_edges *edges = wio_hold_borrow_edges(stage.hold);
    assert_int_equal(edges->edge_count, 1);
    assert_int_equal(edges->edges[0].from_thread, 0);
    assert_int_equal(edges->edges[0].to_thread, 1);
    assert_int_equal(edges->edges[0].to_op, 0);
    tear_down(&stage);
}

static void no_hold_lasts_longer_than_the_limit(void **state)
{
    (void)state;
    struct stage stage;
    set_up(&stage);
    say(&stage, 0, WIO_BOARD_AT_IO);
    stage.file.board->announced = 1; /* a child is being made all the time */
    for (int i = 0; i < 9; i++) {
        step(&stage, 100 * MS);
        stage.file.board->announced++;
    }
    assert_false(may_go(&stage, 0));
    step(&stage, 200 * MS);
    assert_int_equal(stage.conduct.verdict, WIO_CONDUCT_TOO_LONG);
    assert_int_equal(stage.conduct.node, 0);
    assert_true(may_go(&stage, 0));
    assert_int_equal(stage.file.board->is_over, 1);
    tear_down(&stage);
}

static void a_death_lets_all_go(void **state)
{
    (void)state;
    struct stage stage;
    set_up(&stage);
    say(&stage, 0, WIO_BOARD_AT_IO);
    step(&stage, MS);
    assert_false(may_go(&stage, 0));
    assert_int_equal(kill(stage.pid, SIGKILL), 0);
    assert_int_equal(waitpid(stage.pid, NULL, 0), stage.pid);
    step(&stage, 20 * MS);
    assert_int_equal(stage.conduct.verdict, WIO_CONDUCT_DIED);
    assert_true(may_go(&stage, 0));
    tear_down(&stage);
}

static void more_io_than_in_the_first_run_ends_it(void **state)
{
    (void)state;
    struct stage stage;
    set_up(&stage);
    stage.file.board->nodes[1].asked = 2;
    stage.file.board->nodes[1].granted = 2;
    say(&stage, 1, WIO_BOARD_AT_IO);
    step(&stage, MS);
    assert_int_equal(stage.conduct.verdict, WIO_CONDUCT_DIFFERENT);
    assert_int_equal(stage.conduct.node, 1);
    tear_down(&stage);
}

static void an_unknown_thread_ends_it(void **state)
{
    (void)state;
    struct stage stage;
    set_up(&stage);
    place(&stage, 2);
    step(&stage, MS);
    assert_int_equal(stage.conduct.verdict, WIO_CONDUCT_STRANGER);
    tear_down(&stage);
}

/* capture/throttle/hold.c: a recorder that was stopped for some seconds is taken for dead. */
static void a_node_that_goes_on_by_itself_ends_it(void **state)
{
    (void)state;
    struct stage stage;
    set_up(&stage);
    say(&stage, 0, WIO_BOARD_AT_IO);
    step(&stage, MS);
    assert_int_equal(stage.conduct.verdict, WIO_CONDUCT_GOOD);
    stage.file.board->is_over = 1;
    step(&stage, MS);
    assert_int_equal(stage.conduct.verdict, WIO_CONDUCT_LOST);
    tear_down(&stage);
}

/* Node 0 is throttled and stands before an I/O: how long until it goes? */
static uint64_t time_of_hold(struct stage *stage)
{
    uint64_t begin_ns = stage->now_ns;
    while (!may_go(stage, 0) && stage->now_ns - begin_ns < LIMIT_NS / 2) {
        step(stage, MS);
    }
    assert_true(may_go(stage, 0));
    return stage->now_ns - begin_ns;
}

/* //TRACE: "in the current call for longer than in a run without holding". A node that is in the
 * same one when the next I/O is held needs not be waited for again. */
static void a_watchdog_remembers_its_answer(void **state)
{
    (void)state;
    struct stage stage;
    set_up_method(&stage, WIO_HOLD_TRACE);
    stage.ways[1].longest_call_ns = 100 * MS;
    say(&stage, 1, WIO_BOARD_IN_MPI);
    say(&stage, 0, WIO_BOARD_AT_IO);
    assert_true(time_of_hold(&stage) >= 200 * MS);
    say(&stage, 0, WIO_BOARD_COMPUTING);
    step(&stage, MS);
    say(&stage, 0, WIO_BOARD_AT_IO);
    uint64_t again_ns = time_of_hold(&stage);
    assert_true(again_ns >= WIO_WATCH_SPIN_NS && again_ns < 50 * MS);
    assert_int_equal(wio_hold_borrow_edges(stage.hold)->edge_count, 2);
    tear_down(&stage);
}

/* How long a library took to start says nothing of the calls behind that. */
static void a_call_has_a_limit_of_its_own(void **state)
{
    (void)state;
    struct stage stage;
    uint64_t gaps_ns[3] = {300 * MS, 0, 0};
    set_up_method(&stage, WIO_HOLD_TRACE);
    stage.ways[1] = (struct wio_profile_node){
        .gaps_ns = gaps_ns, .count = 2, .room = 3, .longest_call_ns = 10 * MS};
    say(&stage, 1, WIO_BOARD_IN_MPI);
    say(&stage, 0, WIO_BOARD_AT_IO);
    assert_true(time_of_hold(&stage) < 100 * MS);
    tear_down(&stage);
}

/* A rank sleeps while the launcher starts it: that is no rest. */
static void a_node_being_started_does_not_stand_still(void **state)
{
    (void)state;
    struct stage stage;
    uint64_t gaps_ns[3] = {100 * MS, 0, 0};
    set_up(&stage);
    stage.ways[1] = (struct wio_profile_node){.gaps_ns = gaps_ns, .count = 2, .room = 3};
    say(&stage, 1, WIO_BOARD_STARTING);
    say(&stage, 0, WIO_BOARD_AT_IO);
    assert_true(time_of_hold(&stage) >= 200 * MS);
    tear_down(&stage);
}

/* Given up after two seconds, and then it came: the next one that is announced is waited for. */
static void a_late_node_hides_no_other(void **state)
{
    (void)state;
    struct stage stage;
    set_up(&stage);
    stage.conduct.params.limit_ns = 100 * LIMIT_NS;
    stage.file.board->announced = 1;
    say(&stage, 0, WIO_BOARD_AT_IO);
    say(&stage, 1, WIO_BOARD_AT_IO);
    step(&stage, MS);
    assert_false(may_go(&stage, 0) || may_go(&stage, 1));
    step(&stage, 2100 * MS);
    assert_true(may_go(&stage, 0) != may_go(&stage, 1));
    uint32_t free = may_go(&stage, 0) ? 0 : 1;
    stage.file.board->arrived = 1;
    stage.file.board->nodes[free].pid = getpid(); /* which is not asleep */
    stage.file.board->nodes[free].tid = getpid();
    say(&stage, free, WIO_BOARD_COMPUTING);
    step(&stage, MS);
    stage.file.board->announced = 2;
    say(&stage, free, WIO_BOARD_EXITED);
    step(&stage, MS);
    assert_false(may_go(&stage, 1 - free));
    stage.file.board->arrived = 2;
    step(&stage, MS);
    assert_true(may_go(&stage, 1 - free));
    tear_down(&stage);
}

/* On a busy machine a process may take long to begin: as long as it tries to it is waited for. */
static void a_node_that_begins_slowly_is_waited_for(void **state)
{
    (void)state;
    struct stage stage;
    struct wio_children children;
    if (!wio_children_read(&children)) {
        print_message("# not tested: this kernel does not tell children\n");
        return; /* in TAP skip() would be a failure */
    }
    wio_children_fini(&children);
    set_up(&stage);
    stage.conduct.params.limit_ns = 100 * LIMIT_NS;
    stage.file.board->nodes[0].pid = getpid(); /* it has a child that is not on the board */
    stage.file.board->nodes[0].tid = getpid();
    pid_t slow = fork();
    assert_true(slow >= 0);
    if (slow == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* of a test that failed nothing goes on */
        for (volatile unsigned long count = 0;; count++) {
        }
    }
    stage.file.board->announced = 1;
    say(&stage, 0, WIO_BOARD_AT_IO);
    say(&stage, 1, WIO_BOARD_AT_IO);
    step(&stage, MS);
    step(&stage, 2100 * MS);
    assert_false(may_go(&stage, 0) || may_go(&stage, 1));
    assert_int_equal(kill(slow, SIGKILL), 0);
    assert_int_equal(waitpid(slow, NULL, 0), slow);
    step(&stage, 2100 * MS);
    assert_true(may_go(&stage, 0) != may_go(&stage, 1));
    tear_down(&stage);
}

/* A launcher that is on no board has begun to start ranks: all of them have to come. */
static void ranks_of_one_launch_come_together(void **state)
{
    (void)state;
    struct stage stage;
    set_up(&stage);
    for (uint32_t n = 0; n < 2; n++) {
        stage.roster.nodes[n].has_parent = true;
        stage.roster.nodes[n].wave = 77;
    }
    stage.file.board->node_count = 1;
    stage.file.board->nodes[1].is_used = 0;
    /* it waits to be made */
    assert_int_equal(wio_hold_event(stage.hold, 1, WIO_NODE_BLOCKED, stage.now_ns), WIO_OK);
    say(&stage, 0, WIO_BOARD_AT_IO);
    step(&stage, MS);
    step(&stage, MS);
    assert_false(may_go(&stage, 0));
    stage.roster.nodes[1].wave = 78; /* of another launch, whose time may not have come */
    step(&stage, MS);
    assert_true(may_go(&stage, 0));
    tear_down(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_goes_when_all_stand_still),
        cmocka_unit_test(a_freed_node_gets_an_edge),
        cmocka_unit_test(no_hold_lasts_longer_than_the_limit),
        cmocka_unit_test(a_death_lets_all_go),
        cmocka_unit_test(more_io_than_in_the_first_run_ends_it),
        cmocka_unit_test(an_unknown_thread_ends_it),
        cmocka_unit_test(a_node_that_goes_on_by_itself_ends_it),
        cmocka_unit_test(a_watchdog_remembers_its_answer),
        cmocka_unit_test(a_call_has_a_limit_of_its_own),
        cmocka_unit_test(a_node_being_started_does_not_stand_still),
        cmocka_unit_test(a_late_node_hides_no_other),
        cmocka_unit_test(a_node_that_begins_slowly_is_waited_for),
        cmocka_unit_test(ranks_of_one_launch_come_together),
    };
    return WIO_RUN(tests);
}
