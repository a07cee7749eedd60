/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread says on the board of a throttled run. */
#include "support/unit.h"

#include <signal.h>
#include <stdlib.h>

#include "capture/throttle/hold.h"

struct scene {
    struct wio_board_node *node;
    struct cap_thread self;
};

static void begin(struct scene *scene)
{
    cap_board = calloc(1, sizeof(*cap_board));
    assert_non_null(cap_board);
    cap_board->is_over = 1; /* no thread is held */
    *scene = (struct scene){.node = &cap_board->nodes[0]};
    scene->self.hold.node = scene->node;
}

static void end(void)
{
    free(cap_board);
    cap_board = NULL;
}

static uint32_t state_of(const struct scene *scene)
{
    return WIO_BOARD_STATE(scene->node->word);
}

/* As a call that is entered and not left: a handler has jumped out of it. */
static __attribute__((noinline)) void jump_out_of(struct cap_thread *self, enum cap_state state)
{
    cap_state_enter(self, state);
}

static __attribute__((noinline)) void wait_within(struct scene *scene)
{
    cap_state_enter(&scene->self, CAP_STATE_POLLING);
    assert_int_equal(state_of(scene), WIO_BOARD_IN_MPI);
    cap_state_leave(&scene->self);
}

static void the_outermost_call_counts(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    cap_state_enter(&scene.self, CAP_STATE_IN_MPI);
    wait_within(&scene);
    assert_int_equal(state_of(&scene), WIO_BOARD_IN_MPI);
    cap_state_leave(&scene.self);
    assert_int_equal(state_of(&scene), WIO_BOARD_COMPUTING);
    end();
}

static void a_call_that_was_left_by_a_jump_is_over(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    jump_out_of(&scene.self, CAP_STATE_BLOCKED);
    cap_state_enter(&scene.self, CAP_STATE_SLEEPING);
    assert_int_equal(state_of(&scene), WIO_BOARD_SLEEPING);
    cap_state_leave(&scene.self);
    assert_int_equal(state_of(&scene), WIO_BOARD_COMPUTING);
    jump_out_of(&scene.self, CAP_STATE_BLOCKED);
    cap_hold(&scene.self, 0);
    assert_int_equal(state_of(&scene), WIO_BOARD_COMPUTING);
    end();
}

/* A handler that waits on a stack of its own, while the thread does. */
static struct scene *interrupted;
static uint32_t seen_within;

static void wait_in_handler(int number)
{
    (void)number;
    cap_state_enter(&interrupted->self, CAP_STATE_POLLING);
    seen_within = state_of(interrupted);
    cap_state_leave(&interrupted->self);
}

static __attribute__((noinline)) void wait_interrupted(struct scene *scene)
{
    interrupted = scene;
    cap_state_enter(&scene->self, CAP_STATE_IN_MPI);
    assert_int_equal(raise(SIGUSR1), 0);
    assert_int_equal(state_of(scene), WIO_BOARD_IN_MPI);
    cap_state_leave(&scene->self);
}

static void a_stack_of_signals_is_no_jump(void **state)
{
    (void)state;
    struct scene scene;
    struct sigaction action = {.sa_handler = wait_in_handler, .sa_flags = SA_ONSTACK};
    char above[1 << 16]; /* the wait's frame */
    const stack_t stack = {.ss_sp = above, .ss_size = sizeof(above)};
    stack_t before;
    begin(&scene);
    assert_int_equal(sigaltstack(&stack, &before), 0);
    assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
    wait_interrupted(&scene);
    assert_int_equal(seen_within, WIO_BOARD_IN_MPI);
    assert_int_equal(state_of(&scene), WIO_BOARD_COMPUTING);
    action = (struct sigaction){.sa_handler = SIG_DFL};
    assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
    assert_int_equal(sigaltstack(&before, NULL), 0);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_outermost_call_counts),
        cmocka_unit_test(a_call_that_was_left_by_a_jump_is_over),
        cmocka_unit_test(a_stack_of_signals_is_no_jump),
    };
    return WIO_RUN(tests);
}
