/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread says of itself on the board, and how it waits there. */
#include "capture/throttle/hold_board.h"

#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/clock.h"
#include "base/crc.h"
#include "capture/core/environment.h"
#include "capture/core/hash.h"
#include "capture/core/process.h"
#include "capture/core/raw.h"

/* Period in which a waiting thread checks that the recorder lives, and how many times in a row it
 * may find no new beat. */
#define LOOK_NS UINT64_C(500000000)
#define LOOKS_WITHOUT_BEAT 10u

struct wio_board *cap_board;

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
    cap_process.is_slow = board != NULL;
}

void cap_hold_ring(struct wio_board *board)
{
    (void)__atomic_fetch_add(&board->doorbell, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&board->is_awaited, __ATOMIC_SEQ_CST) != 0) {
        (void)raw_call3(SYS_futex, (long)&board->doorbell, FUTEX_WAKE, INT_MAX);
    }
}

uint64_t cap_hold_say(struct wio_board_node *node, uint32_t state)
{
    uint64_t before = __atomic_load_n(&node->word, __ATOMIC_RELAXED);
    uint64_t next = ((before >> 8) + 1) << 8 | state;
    __atomic_store_n(&node->word, next, __ATOMIC_SEQ_CST);
    if (!wio_board_is_quiet(state) || !wio_board_is_quiet(WIO_BOARD_STATE(before))) {
        cap_hold_ring(cap_board);
    }
    return before;
}

/* Where that lies says nothing of what the handler has interrupted. The kernel compares the stack
 * pointer, so it is not deceived by a jump out of a handler. */
static bool is_on_signal_stack(void)
{
    stack_t now = {0};
    return raw_call3(SYS_sigaltstack, 0, (long)&now, 0) == 0 && (now.ss_flags & SS_ONSTACK) != 0;
}

/* Calls that were left by a jump (siglongjmp, an exception) wait no more: a thread whose frame is
 * at theirs, or above, is not inside them. There is no other sign: while the thread only makes
 * calls from deeper frames, the calls that it has left still count. */
static void forget_left(struct cap_thread *self, uintptr_t frame)
{
    if (self->hold.waits > 0 && frame >= self->hold.wait_frame && !is_on_signal_stack()) {
        self->hold.waits = 0;
        (void)cap_hold_say(self->hold.node, WIO_BOARD_COMPUTING);
    }
}

void cap_state_enter_slow(struct cap_thread *self, enum cap_state state)
{
    const uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    if (self == NULL || self->hold.node == NULL) {
        return;
    }
    forget_left(self, frame);
    if (self->hold.waits++ == 0) {
        self->hold.wait_frame = frame;
        (void)cap_hold_say(self->hold.node, state);
    }
}

void cap_state_leave_slow(struct cap_thread *self)
{
    if (self == NULL || self->hold.node == NULL || self->hold.waits == 0) {
        return;
    }
    if (--self->hold.waits == 0) {
        (void)cap_hold_say(self->hold.node, WIO_BOARD_COMPUTING);
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
    struct wio_board_node *node = self->hold.node;
    if (node == NULL) {
        return;
    }
    forget_left(self, (uintptr_t)__builtin_frame_address(0));
    uint32_t ticket = node->asked + 1;
    __atomic_store_n(&node->asked, ticket, __ATOMIC_SEQ_CST);
    struct cap_event ev = CAP_EVENT_OF(WIO_CALL_hold, source);
    ev.begin = cap_now();
    uint32_t before = WIO_BOARD_STATE(cap_hold_say(node, WIO_BOARD_AT_IO));
    bool is_held = wait_for_grant(node, ticket);
    (void)cap_hold_say(node, before == WIO_BOARD_AT_IO ? WIO_BOARD_COMPUTING : before);
    if (is_held) {
        ev.end = cap_now();
        cap_emit(self, &ev);
    }
    self->flags |= WIO_EVENT_HOLD; /* of the next event */
}

/* The same call on the same file, which failed the last time: a failed poll that is repeated. The
 * number of polls depends on time, so they are one I/O. */
static bool is_retry(struct cap_thread *self, unsigned call, int fd, const char *path)
{
    bool is_readable = path != NULL && cap_is_readable(path);
    uint64_t target = is_readable ? wio_crc32c(0, path, strlen(path)) : (uint64_t)(uint32_t)fd;
    uint64_t look = cap_mix(target, call);
    bool is_same = self->hold.look == look && self->hold.look_failed != 0;
    self->hold.look = look;
    self->hold.look_failed = 0;
    return is_same;
}

void cap_hold_call(struct cap_thread *self, uintptr_t source, unsigned call, int fd,
                   const char *path)
{
    self->flags &= (uint8_t)~WIO_EVENT_HOLD;
    if (self->hold.node == NULL || (self->flags & WIO_EVENT_MPI) != 0 ||
        !cap_hold_counts(call, fd, path)) {
        return;
    }
    self->hold.look_again = is_retry(self, call, fd, path);
    if (self->hold.look_again != 0) {
        self->flags |= WIO_EVENT_HOLD;
    } else {
        cap_hold_slow(self, source);
    }
}

uint8_t cap_hold_emitted(struct cap_thread *self, const struct cap_event *ev, uint8_t flags)
{
    self->flags &= (uint8_t)~WIO_EVENT_HOLD;
    bool is_read = wio_op_class(wio_call_op(ev->call)) == WIO_CLASS_READ;
    self->hold.look_failed = ev->error != 0 || (is_read && ev->result == 0);
    return self->hold.look_again != 0 ? self->flags : flags;
}
