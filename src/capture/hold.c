/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/hold.h"

#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/clock.h"
#include "base/crc.h"
#include "capture/process.h"
#include "capture/raw.h"

/* How often a waiting thread looks whether the recorder still lives, and how many times in a row it
 * may find no sign of life. */
#define LOOK_NS UINT64_C(500000000)
#define LOOKS_WITHOUT_BEAT 10u

struct wio_board *cap_board;

/* Lives on in a fork: key of the child that is about to be made. */
static uint64_t next_child;
static uint64_t next_parent;

static uint64_t mix(uint64_t key, uint64_t number)
{
    uint64_t x = key ^ (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    x ^= x >> 31;
    return x != 0 ? x : 1;
}

/* Of a process that was not forked by one that we are in: a rank, or the program of a spawn. */
static uint64_t root_key(void)
{
    char text[4096];
    size_t bytes = cap_process_arguments(text, sizeof(text));
    return mix(wio_crc32c(0, text, bytes), (uint64_t)cap_process.rank + 1);
}

void cap_hold_configure(void)
{
    const char *path = cap_getenv("WHYIO_BOARD");
    long fd = path != NULL ? raw_openat(AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0) : -1;
    if (fd < 0) {
        return;
    }
    struct stat st;
    bool is_whole = raw_fstat((int)fd, &st) == 0 && st.st_size == sizeof(struct wio_board);
    struct wio_board *board = NULL;
    if (is_whole) {
        board = raw_mmap(sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
    }
    (void)raw_close((int)fd);
    if (board != NULL && board->magic != WIO_BOARD_MAGIC) {
        (void)raw_munmap(board, sizeof(*board));
        board = NULL;
    }
    cap_board = board;
}

static void ring_doorbell(struct wio_board *board)
{
    (void)__atomic_fetch_add(&board->doorbell, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&board->is_awaited, __ATOMIC_SEQ_CST) != 0) {
        (void)raw_call3(SYS_futex, (long)&board->doorbell, FUTEX_WAKE, INT_MAX);
    }
}

/* Between these a poll loop changes all the time: the recorder looks by itself. */
static bool is_quiet(uint32_t state)
{
    return state == WIO_BOARD_COMPUTING || state == WIO_BOARD_POLLING ||
           state == WIO_BOARD_SLEEPING;
}

/* Returns the word before. */
static uint64_t say(struct wio_board_node *node, uint32_t state)
{
    uint64_t before = __atomic_load_n(&node->word, __ATOMIC_RELAXED);
    uint64_t next = ((before >> 8) + 1) << 8 | state;
    __atomic_store_n(&node->word, next, __ATOMIC_SEQ_CST);
    if (!is_quiet(state) || !is_quiet(WIO_BOARD_STATE(before))) {
        ring_doorbell(cap_board);
    }
    return before;
}

void cap_state_enter_slow(struct cap_thread *self, enum cap_state state)
{
    if (self == NULL || self->node == NULL) {
        return;
    }
    if (self->waits++ == 0) {
        (void)say(self->node, state);
    }
}

void cap_state_leave_slow(struct cap_thread *self)
{
    if (self == NULL || self->node == NULL || self->waits == 0) {
        return;
    }
    if (--self->waits == 0) {
        (void)say(self->node, WIO_BOARD_COMPUTING);
    }
}

/* Has the recorder shown life since `beat`? */
struct patience {
    uint64_t since_ns;
    uint32_t beat;
    unsigned without;
};

static bool is_lost(struct patience *patience)
{
    uint32_t beat = __atomic_load_n(&cap_board->beat, __ATOMIC_RELAXED);
    patience->without = beat == patience->beat ? patience->without + 1 : 0;
    patience->beat = beat;
    return patience->without > LOOKS_WITHOUT_BEAT ||
           wio_clock_mono_ns() - patience->since_ns > cap_board->limit_ns;
}

static bool may_go(const struct wio_board_node *node, uint32_t ticket)
{
    return __atomic_load_n(&cap_board->is_over, __ATOMIC_SEQ_CST) != 0 ||
           __atomic_load_n(&node->granted, __ATOMIC_SEQ_CST) >= ticket;
}

/* False where there was nothing to wait for. */
static bool wait_for_grant(struct wio_board_node *node, uint32_t ticket)
{
    if (may_go(node, ticket)) {
        return false;
    }
    const struct timespec look = {.tv_nsec = (long)LOOK_NS};
    struct patience patience = {wio_clock_mono_ns(),
                                __atomic_load_n(&cap_board->beat, __ATOMIC_RELAXED), 0};
    while (!may_go(node, ticket) && !cap_is_confined) {
        uint32_t granted = __atomic_load_n(&node->granted, __ATOMIC_SEQ_CST);
        if (granted >= ticket) {
            return true;
        }
        long result = raw_call4(SYS_futex, (long)&node->granted, FUTEX_WAIT, granted, (long)&look);
        if (result == -ETIMEDOUT && is_lost(&patience)) {
            __atomic_store_n(&cap_board->is_over, 1, __ATOMIC_SEQ_CST);
        }
    }
    return true;
}

void cap_hold_slow(struct cap_thread *self, uintptr_t source)
{
    struct wio_board_node *node = self->node;
    if (node == NULL) {
        return;
    }
    uint32_t ticket = node->asked + 1;
    __atomic_store_n(&node->asked, ticket, __ATOMIC_SEQ_CST);
    struct cap_event ev = CAP_EVENT_OF(WIO_CALL_hold, source);
    ev.begin = cap_now();
    uint32_t before = WIO_BOARD_STATE(say(node, WIO_BOARD_AT_IO));
    bool is_held = wait_for_grant(node, ticket);
    (void)say(node, before == WIO_BOARD_AT_IO ? WIO_BOARD_COMPUTING : before);
    if (is_held) {
        ev.end = cap_now();
        cap_emit(self, &ev);
    }
    self->flags |= WIO_EVENT_HOLD; /* of the next event */
}

/* The same call on the same file, which failed the last time: one look that is not over yet. How
 * often a program looks depends on time, so it is one I/O. */
static bool is_retry(struct cap_thread *self, unsigned call, int fd, const char *path)
{
    bool is_readable = path != NULL && cap_is_readable(path);
    uint64_t target = is_readable ? wio_crc32c(0, path, strlen(path)) : (uint64_t)(uint32_t)fd;
    uint64_t look = mix(target, call);
    bool is_same = self->look == look && self->look_failed != 0;
    self->look = look;
    self->look_failed = 0;
    return is_same;
}

void cap_hold_call(struct cap_thread *self, uintptr_t source, unsigned call, int fd,
                   const char *path)
{
    self->flags &= (uint8_t)~WIO_EVENT_HOLD;
    if (self->node == NULL || (self->flags & WIO_EVENT_MPI) != 0 ||
        !cap_hold_counts(call, fd, path)) {
        return;
    }
    self->look_again = is_retry(self, call, fd, path);
    if (self->look_again != 0) {
        self->flags |= WIO_EVENT_HOLD;
    } else {
        cap_hold_slow(self, source);
    }
}

uint8_t cap_hold_emitted(struct cap_thread *self, const struct cap_event *ev)
{
    uint8_t flags = self->flags;
    self->flags &= (uint8_t)~WIO_EVENT_HOLD;
    bool is_read = wio_op_class(wio_call_op(ev->call)) == WIO_CLASS_READ;
    self->look_failed = ev->error != 0 || (is_read && ev->result == 0);
    return self->look_again != 0 ? self->flags : flags;
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

/* Made by somebody who is on the board, and announced there. */
static bool was_announced(const struct cap_thread *self)
{
    if (self->node_parent != 0) {
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
    node->key = self->node_key;
    node->parent = self->node_parent;
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
            (void)say(node, WIO_BOARD_EXITED);
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
        self->node_key = next_child != 0 ? next_child : root_key();
        self->node_parent = next_child != 0 ? next_parent : 0;
        next_child = 0;
    }
    self->node = is_main ? find_place(self->pid, self->tid) : NULL;
    if (self->node == NULL) {
        bool is_expected = was_announced(self);
        self->node = take_place(self);
        ring_doorbell(cap_board); /* first: who sees the arrival sees the newcomer too */
        if (is_expected) {
            note_arrival();
        }
    } else {
        self->node_key = self->node->key;
        if (cap_process.rank >= 0) { /* launchers tell it to the program, not to the fork before */
            __atomic_store_n(&self->node->rank, cap_process.rank, __ATOMIC_RELAXED);
        }
        end_threads(self->pid, self->tid); /* an exec leaves no others */
        (void)say(self->node, WIO_BOARD_COMPUTING);
    }
}

void cap_hold_end_thread(struct cap_thread *self)
{
    if (self->node != NULL) {
        (void)say(self->node, WIO_BOARD_EXITED);
        self->node = NULL;
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
        ring_doorbell(cap_board);
        note_arrival();
    }
    (void)raw_munmap(cap_board, sizeof(*cap_board));
    cap_board = NULL;
}

void cap_hold_announce(const struct cap_thread *self)
{
    if (cap_board != NULL && self != NULL && self->node != NULL) {
        (void)__atomic_fetch_add(&cap_board->announced, 1, __ATOMIC_SEQ_CST);
    }
}

void cap_hold_cancel(const struct cap_thread *self)
{
    if (self != NULL && self->node != NULL) {
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
    if (cap_board == NULL || self == NULL || self->node == NULL) {
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
    if (cap_board == NULL || self->node == NULL) {
        return;
    }
    if (is_guest(self)) {
        cap_hold_cancel(is_seen ? self : NULL);
    } else if (!is_seen) {
        (void)say(self->node, WIO_BOARD_COMPUTING);
    }
}

void cap_hold_before_fork(struct cap_thread *self)
{
    if (cap_board == NULL || self == NULL || self->node == NULL) {
        return;
    }
    cap_hold_announce(self);
    next_parent = self->node_key;
    next_child = mix(self->node_key, 2 * (uint64_t)self->node_children++);
}

void cap_hold_prepare_thread(struct cap_thread *self, struct cap_thread *fresh)
{
    if (fresh->is_internal == 0) {
        cap_hold_announce(self);
    }
    fresh->node = NULL;
    fresh->waits = 0;
    fresh->node_children = 0;
    fresh->node_parent = self->node_key;
    fresh->node_key =
        cap_board != NULL ? mix(self->node_key, 2 * (uint64_t)self->node_children++ + 1) : 0;
}
