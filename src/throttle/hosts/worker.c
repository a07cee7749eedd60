/* SPDX-License-Identifier: Apache-2.0 */
#include "throttle/hosts/worker.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "record/describe.h"
#include "throttle/control/control_block.h"
#include "throttle/control/participants.h"
#include "throttle/control/run_child.h"
#include "throttle/control/task_state.h"
#include "throttle/hosts/inflight_bytes.h"
#include "throttle/hosts/remote_connect.h"

enum { SLICE_MS = 20 }; /* between checks of the command without a request */

struct agent {
    struct wio_remote_address address;
    struct wio_remote_link link; /* to the coordinator; closed: it is gone */
    struct wio_board_file board;
    struct wio_blob body;          /* that is sent just now */
    struct wio_remote_node *nodes; /* as last told */
    bool *has_parent;
    uint32_t count;
    uint64_t heard_ns;
};

static void agent_fini(struct agent *agent)
{
    wio_remote_link_fini(&agent->link);
    wio_remote_key_forget(&agent->address.key);
    wio_board_destroy(&agent->board);
    wio_blob_fini(&agent->body);
    free(agent->nodes);
    free(agent->has_parent);
}

static enum wio_status lose(struct agent *agent, struct wio_error *err)
{
    wio_remote_link_fini(&agent->link);
    if (agent->board.board != NULL) {
        wio_board_let_all_go(agent->board.board);
    }
    return wio_error_set(err, WIO_ERR_IO, NULL, WIO_ERROR_NO_OFFSET,
                         "'whyio record --hosts' of this run is gone");
}

/* ---- joining the run ---------------------------------------------------------------------- */

static enum wio_status introduce(struct agent *agent, struct wio_remote_welcome *welcome_out,
                                 struct wio_error *err)
{
    struct wio_remote_hello hello = {.pid = getpid()};
    struct wio_description description;
    struct wio_buf body;
    wio_description_init(&description, false);
    snprintf(hello.host, sizeof(hello.host), "%s", description.host);
    WIO_TRY(wio_remote_connect(&agent->address, &hello, &agent->link, err));
    if (wio_remote_receive(&agent->link, WIO_REMOTE_WELCOME, WIO_REMOTE_SILENCE_NS, &body) !=
            WIO_REMOTE_MESSAGE ||
        wio_remote_get_welcome(body, welcome_out) != WIO_OK) {
        return lose(agent, err);
    }
    agent->heard_ns = wio_clock_mono_ns();
    return WIO_OK;
}

static enum wio_status begin(struct agent *agent, const char *director, struct wio_error *err)
{
    struct wio_remote_welcome welcome = {0};
    agent->nodes = calloc(WIO_BOARD_NODES, sizeof(*agent->nodes));
    agent->has_parent = calloc(WIO_BOARD_NODES, sizeof(*agent->has_parent));
    if (agent->nodes == NULL || agent->has_parent == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    WIO_TRY(wio_remote_keys_begin(err));
    WIO_TRY(wio_remote_address_read(director, &agent->address, err));
    WIO_TRY(introduce(agent, &welcome, err));
    WIO_TRY(wio_board_create(&agent->board, err));
    wio_board_reset(agent->board.board, welcome.first_grant, welcome.limit_ns);
    return WIO_OK;
}

/* ---- looking ------------------------------------------------------------------------------ */

static uint32_t look(const struct wio_board_node *node, struct wio_remote_node *out)
{
    struct wio_task_state task;
    wio_task_look(node->pid, node->tid, &task);
    out->run_ns = task.run_ns;
    uint32_t flags = (task.is_there ? WIO_REMOTE_IS_THERE : 0u) |
                     (task.is_asleep ? WIO_REMOTE_IS_ASLEEP : 0u) |
                     (task.is_timed ? WIO_REMOTE_IS_TIMED : 0u);
    if (!task.is_there) {
        wio_task_look(node->pid, node->pid, &task);
    }
    return flags | (task.is_there ? WIO_REMOTE_HAS_PROCESS : 0u);
}

/* The kernel first: what a thread says of itself afterwards is no older. */
static void look_at_node(struct agent *agent, uint32_t place)
{
    const struct wio_board_node *node = &agent->board.board->nodes[place];
    struct wio_remote_node *out = &agent->nodes[place];
    if (place >= agent->count) {
        int32_t through;
        agent->has_parent[place] = wio_roster_has_parent(agent->board.board, place, &through);
        *out = (struct wio_remote_node){.pid = node->pid,
                                        .tid = node->tid,
                                        .rank = node->rank,
                                        .key = node->key,
                                        .parent = node->parent};
        agent->count = place + 1;
    }
    bool has_exited = WIO_BOARD_STATE(out->word) == WIO_BOARD_EXITED;
    out->flags = (has_exited ? 0u : look(node, out)) |
                 (agent->has_parent[place] ? WIO_REMOTE_HAS_PARENT : 0u);
    out->rank = __atomic_load_n(&node->rank, __ATOMIC_RELAXED);
    out->word = wio_board_word(node);
    out->asked = wio_board_asked(node);
}

static bool is_alive(const struct wio_remote_node *node)
{
    return WIO_BOARD_STATE(node->word) != WIO_BOARD_EXITED;
}

/* A process is asked about by the first of its threads that is alive: of one whose main thread has
 * ended, that thread shows nothing any more. */
static bool speaks_for_process(const struct agent *agent, uint32_t place)
{
    for (uint32_t i = 0; i < place; i++) {
        if (agent->nodes[i].pid == agent->nodes[place].pid && is_alive(&agent->nodes[i])) {
            return false;
        }
    }
    return is_alive(&agent->nodes[place]);
}

static bool has_bytes(const struct agent *agent)
{
    for (uint32_t i = 0; i < agent->count; i++) {
        if (speaks_for_process(agent, i) && wio_flight_has_bytes(agent->nodes[i].tid)) {
            return true;
        }
    }
    return false;
}

/* `arrived` is read before the places are counted, so each arrived node is among those reported. */
static void look_at_all(struct agent *agent, struct wio_remote_answer *answer)
{
    struct wio_board *board = agent->board.board;
    answer->announced = __atomic_load_n(&board->announced, __ATOMIC_SEQ_CST);
    answer->arrived = __atomic_load_n(&board->arrived, __ATOMIC_SEQ_CST);
    answer->count = wio_board_count(board);
    for (uint32_t place = 0; place < answer->count; place++) {
        look_at_node(agent, place);
    }
    answer->flags |= wio_board_is_overfull(board) ? WIO_REMOTE_IS_OVERFULL : 0u;
    answer->flags |=
        __atomic_load_n(&board->is_over, __ATOMIC_SEQ_CST) != 0 ? WIO_REMOTE_IS_LOST : 0u;
    answer->now_ns = wio_clock_mono_ns();
}

/* ---- answering ---------------------------------------------------------------------------- */

static enum wio_status let_go(struct agent *agent, struct wio_buf *body,
                              const struct wio_remote_ask *ask)
{
    struct wio_board *board = agent->board.board;
    for (uint32_t i = 0; i < ask->count; i++) {
        struct wio_remote_grant grant;
        WIO_TRY(wio_remote_get_grant(body, &grant));
        if (grant.place < agent->count) {
            wio_board_grant(&board->nodes[grant.place], grant.count);
        }
    }
    if (ask->is_over != 0) {
        wio_board_let_all_go(board);
    }
    return WIO_OK;
}

static bool send_answer(struct agent *agent, const struct wio_remote_answer *answer)
{
    wio_blob_clear(&agent->body);
    return wio_remote_put_answer(&agent->body, answer, agent->nodes) == WIO_OK &&
           wio_remote_send(&agent->link, WIO_REMOTE_ANSWER, &agent->body, WIO_REMOTE_SILENCE_NS);
}

/* `answer` holds what is to be sent beside the state of the threads. */
static enum wio_status serve(struct agent *agent, struct wio_remote_answer answer,
                             struct wio_error *err)
{
    struct wio_remote_ask ask;
    struct wio_buf body;
    if (wio_remote_receive(&agent->link, WIO_REMOTE_ASK, WIO_REMOTE_SILENCE_NS, &body) !=
            WIO_REMOTE_MESSAGE ||
        wio_remote_get_ask(&body, &ask) != WIO_OK || let_go(agent, &body, &ask) != WIO_OK) {
        return lose(agent, err);
    }
    agent->heard_ns = wio_clock_mono_ns();
    look_at_all(agent, &answer);
    answer.flags |= ask.wants_bytes != 0 && has_bytes(agent) ? WIO_REMOTE_HAS_BYTES : 0u;
    return send_answer(agent, &answer) ? WIO_OK : lose(agent, err);
}

/* While the command runs. By the beat held threads see that the recorder lives. */
static void attend(struct agent *agent)
{
    struct pollfd pollfd = {.fd = agent->link.fd, .events = POLLIN}; /* -1 is ignored */
    (void)__atomic_fetch_add(&agent->board.board->beat, 1, __ATOMIC_SEQ_CST);
    enum wio_status status = WIO_OK;
    if (poll(&pollfd, 1, SLICE_MS) > 0) {
        status = serve(agent, (struct wio_remote_answer){0}, NULL);
    } else if (agent->link.fd >= 0 &&
               wio_clock_mono_ns() - agent->heard_ns > WIO_REMOTE_SILENCE_NS) {
        status = lose(agent, NULL);
    }
    (void)status; /* the command runs on, unheld */
}

static struct wio_remote_answer last_answer(enum wio_status status,
                                            const struct wio_record_result *result)
{
    struct wio_remote_answer answer = {.flags = WIO_REMOTE_IS_DONE,
                                       .exit_status = wio_status_exit(status)};
    _Static_assert(sizeof(answer.unseen) == sizeof(result->totals.unseen), "the same counts");
    if (status != WIO_OK) {
        answer.flags |= WIO_REMOTE_IS_UNSEALED;
        return answer;
    }
    answer.exit_status = result->exit_status;
    answer.flags |= result->seal_error.status != WIO_OK ? WIO_REMOTE_IS_UNSEALED : 0u;
    answer.rings = result->totals.rings;
    answer.events = result->totals.events;
    answer.dropped = result->totals.dropped;
    answer.bytes = result->totals.bytes;
    memcpy(answer.unseen, result->totals.unseen, sizeof(answer.unseen));
    return answer;
}

static enum wio_status record(struct agent *agent, const struct wio_record_params *params,
                              struct wio_record_result *result_out, struct wio_error *err)
{
    struct wio_rerun rerun;
    const struct wio_rerun_own own = {.fds = &agent->link.fd, .fd_count = 1};
    enum wio_status status = wio_rerun_start(&rerun, params, &own, err);
    if (status == WIO_OK) {
        while (wio_rerun_goes_on(&rerun)) {
            attend(agent);
        }
        status = wio_rerun_finish(&rerun, result_out, err);
    }
    struct wio_remote_answer answer = last_answer(status, result_out);
    if (agent->link.fd >= 0) {
        WIO_TRY(serve(agent, answer, status == WIO_OK ? err : NULL));
    }
    return status;
}

enum wio_status wio_agent_record(const struct wio_record_params *params, const char *director,
                                 struct wio_record_result *result_out, struct wio_error *err)
{
    struct agent agent WIO_CLEANUP(agent_fini) = {.link = {.fd = -1}};
    struct wio_record_params record_params = *params;
    WIO_TRY(begin(&agent, director, err));
    record_params.dir = agent.address.dir;
    record_params.force = false;
    record_params.is_part = true;
    record_params.causal = true;
    record_params.board = agent.board.path;
    return record(&agent, &record_params, result_out, err);
}
