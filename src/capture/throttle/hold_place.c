/* SPDX-License-Identifier: Apache-2.0 */
/* Places on the board: of threads and processes from their announcement to their end. */
#include "base/crc.h"
#include "capture/core/environment.h"
#include "capture/core/hash.h"
#include "capture/core/process.h"
#include "capture/core/raw.h"
#include "capture/throttle/hold_board.h"

/* Lives on in a fork: key of the child that is about to be made. */
static uint64_t next_child;
static uint64_t next_parent;

/* Of a process that was not forked by one that we are in: a rank, or the program of a spawn. */
static uint64_t root_key(void)
{
    char text[4096];
    size_t bytes = cap_process_arguments(text, sizeof(text));
    return cap_mix(wio_crc32c(0, text, bytes), (uint64_t)cap_process.rank + 1);
}

/* After an exec the thread has its place already. */
static struct wio_board_node *find_place(int32_t pid, int32_t tid)
{
    uint32_t count = __atomic_load_n(&cap_board->node_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count && i < WIO_BOARD_NODES; i++) {
        struct wio_board_node *node = &cap_board->nodes[i];
        if (__atomic_load_n(&node->is_used, __ATOMIC_ACQUIRE) != 0 && node->pid == pid &&
            node->tid == tid &&
            WIO_BOARD_STATE(__atomic_load_n(&node->word, __ATOMIC_ACQUIRE)) != WIO_BOARD_EXITED) {
            return node;
        }
    }
    return NULL;
}

static bool has_place(int32_t pid)
{
    uint32_t count = __atomic_load_n(&cap_board->node_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count && i < WIO_BOARD_NODES; i++) {
        if (cap_board->nodes[i].pid == pid) {
            return true;
        }
    }
    return false;
}

/* Made by a thread that is on the board, and announced there. */
static bool was_announced(const struct cap_thread *self)
{
    if (self->hold.parent != 0) {
        return true;
    }
    return has_place(raw_getppid());
}

static struct wio_board_node *take_place(const struct cap_thread *self)
{
    uint32_t index = __atomic_fetch_add(&cap_board->node_count, 1, __ATOMIC_SEQ_CST);
    if (index >= WIO_BOARD_NODES) {
        return NULL; /* the recorder sees the count */
    }
    struct wio_board_node *node = &cap_board->nodes[index];
    node->pid = self->pid;
    node->tid = self->tid;
    node->rank = cap_process.rank >= 0 ? cap_process.rank : WIO_BOARD_NO_RANK;
    node->ppid = raw_getppid();
    node->key = self->hold.key;
    node->parent = self->hold.parent;
    node->granted = __atomic_load_n(&cap_board->first_grant, __ATOMIC_SEQ_CST);
    __atomic_store_n(&node->is_used, 1, __ATOMIC_RELEASE);
    return node;
}

/* All nodes of the process but `but` (0: none) have ended. */
static void end_threads(int32_t pid, int32_t but)
{
    uint32_t count = __atomic_load_n(&cap_board->node_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count && i < WIO_BOARD_NODES; i++) {
        struct wio_board_node *node = &cap_board->nodes[i];
        if (node->pid == pid && node->tid != but) {
            (void)cap_hold_say(node, WIO_BOARD_EXITED);
        }
    }
}

static void note_arrival(void)
{
    if (cap_board != NULL) {
        (void)__atomic_fetch_add(&cap_board->arrived, 1, __ATOMIC_SEQ_CST);
    }
}

void cap_hold_begin_thread(struct cap_thread *self)
{
    if (cap_board == NULL || self->is_internal) {
        return;
    }
    bool is_main = self->pid == self->tid;
    if (is_main) {
        self->hold.key = next_child != 0 ? next_child : root_key();
        self->hold.parent = next_child != 0 ? next_parent : 0;
        next_child = 0;
    }
    self->hold.node = is_main ? find_place(self->pid, self->tid) : NULL;
    if (self->hold.node == NULL) {
        bool is_expected = was_announced(self);
        self->hold.node = take_place(self);
        cap_hold_ring(cap_board); /* first: a reader that sees the arrival sees the new node too */
        if (is_expected) {
            note_arrival();
        }
    } else {
        self->hold.key = self->hold.node->key;
        if (cap_process.rank >= 0) { /* launchers tell it to the program, not to the fork before */
            __atomic_store_n(&self->hold.node->rank, cap_process.rank, __ATOMIC_RELAXED);
        }
        end_threads(self->pid, self->tid); /* an exec leaves no others */
        (void)cap_hold_say(self->hold.node, WIO_BOARD_COMPUTING);
    }
}

void cap_hold_end_thread(struct cap_thread *self)
{
    if (self->hold.node != NULL) {
        (void)cap_hold_say(self->hold.node, WIO_BOARD_EXITED);
        self->hold.node = NULL;
    }
}

void cap_hold_end_process(void)
{
    if (cap_board != NULL) {
        end_threads(raw_getpid(), 0);
    }
}

void cap_hold_leave(void)
{
    cap_hold_configure();
    if (cap_board == NULL) {
        return;
    }
    if (has_place(raw_getpid())) {
        cap_hold_end_process();
    } else if (has_place(raw_getppid())) { /* it was announced */
        cap_hold_ring(cap_board);
        note_arrival();
    }
    (void)raw_munmap(cap_board, sizeof(*cap_board));
    cap_board = NULL;
    cap_process.is_slow = false;
}

void cap_hold_announce(const struct cap_thread *self)
{
    if (cap_board != NULL && self != NULL && self->hold.node != NULL) {
        (void)__atomic_fetch_add(&cap_board->announced, 1, __ATOMIC_SEQ_CST);
    }
}

void cap_hold_cancel(const struct cap_thread *self)
{
    if (self != NULL && self->hold.node != NULL) {
        note_arrival();
    }
}

/* A child of vfork uses its parent's memory and place, and takes one of its own in the program that
 * it becomes. */
static bool is_guest(const struct cap_thread *self)
{
    return (self->flags & WIO_EVENT_VFORK) != 0;
}

void cap_hold_before_exec(struct cap_thread *self, bool is_seen)
{
    if (cap_board == NULL || self == NULL || self->hold.node == NULL) {
        return;
    }
    if (is_guest(self)) {
        cap_hold_announce(is_seen ? self : NULL);
    } else if (!is_seen) {
        end_threads(self->pid, 0);
    }
}

void cap_hold_after_exec(struct cap_thread *self, bool is_seen)
{
    if (cap_board == NULL || self->hold.node == NULL) {
        return;
    }
    if (is_guest(self)) {
        cap_hold_cancel(is_seen ? self : NULL);
    } else if (!is_seen) {
        (void)cap_hold_say(self->hold.node, WIO_BOARD_COMPUTING);
    }
}

void cap_hold_before_fork(struct cap_thread *self)
{
    if (cap_board == NULL || self == NULL || self->hold.node == NULL) {
        return;
    }
    cap_hold_announce(self);
    next_parent = self->hold.key;
    next_child = cap_mix(self->hold.key, 2 * (uint64_t)self->hold.children++);
}

void cap_hold_prepare_thread(struct cap_thread *self, struct cap_thread *fresh)
{
    if (fresh->is_internal == 0) {
        cap_hold_announce(self);
    }
    fresh->hold.node = NULL;
    fresh->hold.waits = 0;
    fresh->hold.children = 0;
    fresh->hold.parent = self->hold.key;
    fresh->hold.key =
        cap_board != NULL ? cap_mix(self->hold.key, 2 * (uint64_t)self->hold.children++ + 1) : 0;
}
