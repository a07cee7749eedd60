/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inner interface of capture: what every wrapper is made of.
 *
 *     ssize_t pwrite(int fd, const void *buf, size_t size, off_t offset)
 *     {
 *         const uintptr_t source = CAP_CALLER();
 *         struct cap_thread *self = cap_enter_fd(source, WIO_CALL_pwrite, fd);
 *         if (CAP_UNLIKELY(self == NULL)) {
 *             return CAP_REAL(pwrite)(fd, buf, size, offset);
 *         }
 *         struct cap_event ev = CAP_EVENT(pwrite, source);
 *         ev.begin = cap_begin(self);
 *         ssize_t result = CAP_REAL(pwrite)(fd, buf, size, offset);
 *         ev.end = cap_now();
 *         ...
 *         cap_emit(self, &ev);
 *         return result;
 *     }
 *
 * Rules. Everything here is signal safe and thread safe, takes no lock on the path, allocates
 * nothing from the program's heap, and never touches errno: capture's own system calls are raw
 * (raw.h). A wrapper that calls libc for anything but the real function brackets that with
 * CAP_KEEP_ERRNO. There is no recursion guard: nothing here calls a wrapped symbol. Where the real
 * function itself calls wrapped symbols, bracket it with cap_mute and cap_unmute.
 */
#ifndef WIO_CAPTURE_CAPTURE_H
#define WIO_CAPTURE_CAPTURE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <whyio/event.h>

#include "base/clock.h"
#include "trace/calls.h"
#include "trace/ring.h"

#define CAP_LIKELY(x) __builtin_expect(!!(x), 1)
#define CAP_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define CAP_EXPORT __attribute__((visibility("default")))
#define CAP_HIDDEN __attribute__((visibility("hidden")))
/* For wrappers of calls that come by the million: on the usual path they call nothing but the real
 * function, and begin a cache line. Left alone, the compiler shares the parts among all wrappers;
 * then calls, saved registers and an event that goes through memory cost a quarter more. */
#define CAP_HOT __attribute__((flatten, aligned(64)))
/* For what all events go through: these functions lie side by side. A program whose ranks take
 * turns on a processor finds none of them in the innermost cache, and then their number of lines
 * and pages is what an event costs. */
#define CAP_WARM __attribute__((hot))
#define CAP_CALLER() ((uintptr_t)__builtin_return_address(0))

/* Declare at the top of a block: errno is as it was when the block is left. */
#define CAP_KEEP_ERRNO __attribute__((unused, cleanup(cap_put_errno))) int cap_kept_errno_ = errno
static inline void cap_put_errno(const int *kept)
{
    errno = *kept;
}

typedef void cap_function(void); /* any function: cast before the call */

/* One event while a wrapper fills it. In classes without position and size (FORMAT.md R-EVENT-2)
 * offset is arg0 and size is arg1, unless it is emitted with an ext. */
struct cap_event {
    uint64_t begin;
    uint64_t end;
    uintptr_t source;
    int64_t result;
    int64_t offset;
    uint64_t size;
    int32_t fd;
    uint32_t path;
    uint16_t call;
    uint8_t flags;
    int error;
};

#define CAP_EVENT(symbol, caller) CAP_EVENT_OF(WIO_CALL_##symbol, caller)
#define CAP_EVENT_OF(number, caller)                                                               \
    ((struct cap_event){.source = (caller),                                                        \
                        .offset = WIO_NO_OFFSET,                                                   \
                        .size = WIO_NO_SIZE,                                                       \
                        .fd = WIO_NO_FD,                                                           \
                        .call = (uint16_t)(number)})

struct cap_ext {
    uint32_t path2;
    int32_t fd2;
    int64_t offset2;
    int64_t arg[4];
    uint64_t key;
};

#define CAP_EXT ((struct cap_ext){.fd2 = WIO_NO_FD, .offset2 = WIO_NO_OFFSET})

/* A lock that a thread holds: sync_held.h. */
struct cap_held {
    uintptr_t lock; /* 0 = none */
    uint64_t begin; /* ticks when it was taken */
    uintptr_t source;
    uint32_t call;
    uint32_t use; /* CAP_HELD_*; 0 = taken once, its event is still to be written */
};

#define CAP_HELD_MAX 8u

/* One thread's writer. Lives in memory that a fork wipes, so that a child finds span = 0, ready = 0
 * and begins its own ring. The first line is all that the fast path touches. */
struct cap_thread {
    uintptr_t lo;   /* calls from [lo, lo + span) are recorded without further questions */
    uintptr_t span; /* 0 = take the slow path */
    uint64_t word;  /* high half: seq of slot 0; low half: next free slot. See cap_reserve */
    uint8_t *slots; /* slot 0 of the mapped chunk */
    union {
        struct {
            uint8_t flags;       /* enum wio_event_flags of every event of this thread just now */
            uint8_t has_pending; /* locks are held that are to be written before the next event */
            uint8_t is_ready;
            uint8_t is_causal; /* cap_is_causal, since the thread is ready */
            uint8_t watch;     /* enum cap_watch */
            uint8_t reserved;
            uint16_t mute; /* > 0: nothing is recorded */
        };
        uint16_t special; /* flags and has_pending: 0 = an event is written as it is */
        uint64_t state;   /* all of them: cap_is_plain */
    };
    uint32_t held_count;
    int32_t pid;
    int32_t tid;
    uint8_t is_internal; /* the thread belongs to an MPI library */
    uint64_t sampled;    /* ticks when its processor time was last asked for: cap_begin */

    uint64_t dropped;
    int64_t cpu_ns;  /* as of `sampled`; WIO_NO_OFFSET: not known */
    uint64_t sleeps; /* how often it had given its processor away by itself */

    /* What calls of MPI touch besides, in one place. */
    uintptr_t lo2; /* the caller range before the last one */
    uintptr_t span2;
    uintptr_t mpi_frame;     /* inside a call of MPI that stands there on the stack: mpi.h */
    uint64_t mpi_looks;      /* calls in a row that found nothing .. */
    uint64_t mpi_look_begin; /* .. since then .. */
    uint64_t mpi_look_word;  /* .. while nothing else was recorded */

    uint64_t token; /* of pthread_create, 0 = main or unknown */
    struct wio_chunk_header *chunk;
    uint32_t writer;
    uint32_t index;     /* place in the table of threads */
    uint32_t next_free; /* free list: index + 1 of the next, 0 = last */
    uint32_t place;     /* a chunk place that was claimed and not yet used, + 1; 0 = none */
    uint32_t retry_in;  /* records to drop before the next attempt on a full disk */
    int32_t clock_pid;  /* whom the last CLOCK record named */
    int32_t clock_tid;
    uint64_t stacks[64];         /* hashes of stacks that were written, by hash (see stack.c) */
    cap_function *start_routine; /* for the trampoline of pthread_create */
    void *start_arg;
    uint32_t birth;              /* is its maker done with it? thread_birth.c */
    uint32_t left_cwd;           /* the directory that the chdir under way leaves, 0 = none */
    struct cap_event pending;    /* the vfork that is under way */
    void *left;                  /* memory that a child of vfork left behind at its exec, */
    size_t left_bytes;           /* until its parent runs again */
    struct wio_board_node *node; /* place on the board of a throttled run: hold.h. NULL = none */
    uint64_t node_key;           /* of the node and of who made it */
    uint64_t node_parent;
    uint32_t node_children; /* that this thread has made */
    uint32_t waits;         /* depth of cap_state_enter */
    uint64_t look;          /* the last call that could be held: hash of call and target */
    uint8_t look_failed;    /* it did */
    uint8_t look_again;     /* it is made once more */
    struct cap_team *team;  /* of OpenMP, NULL = none: sync_gomp.c */
    struct cap_held held[CAP_HELD_MAX];
};

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ &&
                   offsetof(struct cap_thread, is_ready) == offsetof(struct cap_thread, state) + 2,
               "cap_is_plain looks at all at once");

/* Synchronisation is recorded, and there is nothing unusual about this thread: ready, not muted,
 * nobody else in its memory. */
static inline bool cap_is_plain(const struct cap_thread *self)
{
    return self->state >> 16 == 0x0101;
}

/* In `mpi_frame`: file operations inside are the program's. */
#define CAP_MPI_FRAME_FILE 1u

/* Is the thread inside a call of MPI? Not where that was left by a jump or an exception: then the
 * stack frame is above. */
static inline bool cap_is_within_mpi(const struct cap_thread *self, uintptr_t frame)
{
    return self->mpi_frame != 0 && frame < (self->mpi_frame & ~(uintptr_t)CAP_MPI_FRAME_FILE);
}

/* Another process may run on this thread's memory: compare ids before recording. */
enum cap_watch {
    CAP_WATCH_NONE = 0,
    CAP_WATCH_VFORK = 1, /* its events are framed by CLOCK records, until the parent is back */
    CAP_WATCH_CLONE = 2, /* for ever: runs beside the parent, is not recorded */
};

extern __thread struct cap_thread *cap_self __attribute__((tls_model("initial-exec"))) CAP_HIDDEN;
extern bool cap_clock_is_tsc CAP_HIDDEN;
/* Synchronisation is recorded (record --causal=observe, throttle). */
extern bool cap_is_causal CAP_HIDDEN;

/* ---- entering a wrapper ------------------------------------------------------------------- */

/*
 * The calling thread's writer, or NULL: pass the call through, record nothing (not recording at
 * all, inside an MPI library, in a child that shares memory, ...). `source` is the wrapper's return
 * address. The forms with fd and path let MPI-IO's file operations be told from an MPI library's
 * own business; use them for open, close, data, sync and size operations.
 */
struct cap_thread *cap_enter_slow(uintptr_t source, unsigned call, int fd,
                                  const char *path) CAP_HIDDEN;

static inline struct cap_thread *cap_enter_fd(uintptr_t source, unsigned call, int fd)
{
    struct cap_thread *self = cap_self;
    if (CAP_LIKELY(source - self->lo < self->span)) {
        return self;
    }
    return cap_enter_slow(source, call, fd, NULL);
}

static inline struct cap_thread *cap_enter_path(uintptr_t source, unsigned call, const char *path)
{
    struct cap_thread *self = cap_self;
    if (CAP_LIKELY(source - self->lo < self->span)) {
        return self;
    }
    return cap_enter_slow(source, call, -1, path);
}

static inline struct cap_thread *cap_enter(uintptr_t source, unsigned call)
{
    return cap_enter_fd(source, call, -1);
}

/* Nothing that this thread does is recorded between the two. They nest. */
static inline void cap_mute(struct cap_thread *self)
{
    self->mute++;
    self->span = 0;
}

static inline void cap_unmute(struct cap_thread *self)
{
    self->mute--;
}

/* Now, in ticks of the ring's clock. */
uint64_t cap_now_slow(void) CAP_HIDDEN;

static inline uint64_t cap_now(void)
{
#if defined(__x86_64__)
    if (CAP_LIKELY(cap_clock_is_tsc)) {
        return wio_clock_tsc();
    }
#endif
    return cap_now_slow();
}

/*
 * Processor time (cpu.c). Asking for it costs two system calls, so it is done where much time has
 * gone by since the last time: before a call when the thread came from a long computation, behind a
 * call that took long. What lies between two such moments and is short is not told apart.
 */
#define CAP_LONG ((uint64_t)1 << 18) /* ticks: about 0.1 ms */
/* Both asked too seldom: tells of the time since then. Returns the time now. */
uint64_t cap_cpu_before(struct cap_thread *self) CAP_HIDDEN;
void cap_cpu_behind(struct cap_thread *self, uint64_t begin, uint64_t end) CAP_HIDDEN;

/* The begin of a call that the thread makes (NULL: of one that is not recorded): now. */
static inline uint64_t cap_begin(struct cap_thread *self)
{
    uint64_t now = cap_now();
    return CAP_LIKELY(self == NULL || now - self->sampled < CAP_LONG) ? now : cap_cpu_before(self);
}

/* ---- the real functions ------------------------------------------------------------------- */

extern cap_function *cap_real_table[WIO_CALL_COUNT] CAP_HIDDEN;
/* Look up the next definition behind ours; a function that fails with ENOSYS where there is none.
 */
cap_function *cap_real_find(unsigned call) CAP_HIDDEN;

/* The next definition of any symbol behind ours, also in libraries of local scope; NULL = none. */
void *cap_find_symbol(const char *name) CAP_HIDDEN;

static inline cap_function *cap_real(unsigned call)
{
    cap_function *function = __atomic_load_n(&cap_real_table[call], __ATOMIC_RELAXED);
    return CAP_LIKELY(function != NULL) ? function : cap_real_find(call);
}

/* The real function as a callable of the wrapper's own type (it must be declared). */
#define CAP_REAL(symbol) ((__typeof__(&symbol))cap_real(WIO_CALL_##symbol))

/* ---- events ------------------------------------------------------------------------------- */

#define CAP_TICKS_MAX ((1ull << 48) - 1)

/* Add without a bus lock: atomic for signal handlers of this thread, which is all that can
 * interfere. Returns the value before. */
static inline uint64_t cap_fetch_add_local(uint64_t *word, uint64_t add)
{
#if defined(__x86_64__)
    __asm__ volatile("xaddq %0, %1" : "+r"(add), "+m"(*word) : : "memory", "cc");
    return add;
#else
    return __atomic_fetch_add(word, add, __ATOMIC_RELAXED);
#endif
}

static inline void cap_add_local(uint32_t *word, uint32_t add)
{
#if defined(__x86_64__)
    __asm__ volatile("addl %1, %0" : "+m"(*word) : "ri"(add) : "memory", "cc");
#else
    (void)__atomic_fetch_add(word, add, __ATOMIC_RELAXED);
#endif
}

/* Chunks are mapped at multiples of their size. */
static inline struct wio_chunk_header *cap_chunk_of(uint8_t *slot)
{
    return (struct wio_chunk_header *)((uintptr_t)slot & ~(uintptr_t)(WIO_CHUNK_BYTES - 1));
}

/* The slow end of cap_reserve: turns a full chunk over. NULL = dropped and counted. */
uint8_t *cap_reserve_slow(struct cap_thread *self, uint32_t slots, uint32_t *seq_out) CAP_HIDDEN;

/*
 * Claim `slots` slots in a row; *seq_out is the seq that makes the first one valid. A signal
 * handler may run between any two instructions and claim, fill and turn over the chunk: `word`
 * holds place and chunk together, so a claim that straddles a turn-over is noticed, and the
 * chunk's `published` tells the handler that a claim in it is still being filled, in which case the
 * chunk is not reused. Fill, then cap_publish. NULL where the record is dropped.
 */
static inline uint8_t *cap_reserve(struct cap_thread *self, uint32_t slots, uint32_t *seq_out)
{
    uint64_t before = __atomic_load_n(&self->word, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    uint8_t *base = __atomic_load_n(&self->slots, __ATOMIC_RELAXED);
    uint64_t word = cap_fetch_add_local(&self->word, slots);
    uint32_t place = (uint32_t)word;
    if (CAP_LIKELY(place + slots <= WIO_CHUNK_SLOTS && (word ^ before) >> 32 == 0)) {
        *seq_out = (uint32_t)(word >> 32) + place;
        return base + (size_t)place * WIO_SLOT_BYTES;
    }
    if (place + slots <= WIO_CHUNK_SLOTS) {
        cap_add_local(&self->chunk->published, slots); /* the hole stays invalid */
    }
    uint32_t seq; /* seq_out is a register of the caller's as long as no one else gets it */
    uint8_t *slot = cap_reserve_slow(self, slots, &seq);
    *seq_out = seq;
    return slot;
}

/* The record is whole: readers may have it. */
static inline void cap_publish(uint8_t *slot, uint32_t slots, uint32_t seq)
{
    __atomic_store_n((uint32_t *)(void *)slot, seq, __ATOMIC_RELEASE);
    cap_add_local(&cap_chunk_of(slot)->published, slots);
}

/* Write the fixed part of an event into its slot. */
static inline void cap_fill(uint8_t *bytes, const struct cap_event *ev, uint8_t kind)
{
    struct wio_slot_event *slot = (struct wio_slot_event *)(void *)bytes;
    uint64_t ticks = ev->end - ev->begin;
    if (CAP_UNLIKELY(ticks > CAP_TICKS_MAX)) {
        ticks = CAP_TICKS_MAX;
    }
    slot->kind = kind;
    slot->flags = ev->flags;
    slot->call = ev->call;
    slot->begin = ev->begin;
    slot->dur_error = ticks | (uint64_t)(uint16_t)ev->error << 48;
    slot->source = ev->source;
    slot->result = ev->result;
    slot->offset = ev->offset;
    slot->size = ev->size;
    slot->fd = ev->fd;
    slot->path = ev->path;
}

/* The event of a thread with flags (stack, vfork child, MPI internals) or pending locks. */
void cap_emit_flagged(struct cap_thread *self, const struct cap_event *ev,
                      const struct cap_ext *ext) CAP_HIDDEN;
/* The event with more fields: two slots. */
void cap_emit_ext(struct cap_thread *self, const struct cap_event *ev,
                  const struct cap_ext *ext) CAP_HIDDEN;

static inline void cap_emit(struct cap_thread *self, const struct cap_event *ev)
{
    if (CAP_UNLIKELY(ev->end - self->sampled >= CAP_LONG)) {
        cap_cpu_behind(self, ev->begin, ev->end);
    }
    if (CAP_UNLIKELY(self->special != 0)) {
        const struct cap_event copy = *ev; /* or the caller's would have to lie in memory */
        cap_emit_flagged(self, &copy, NULL);
        return;
    }
    uint32_t seq;
    uint8_t *slot = cap_reserve(self, 1, &seq);
    if (CAP_LIKELY(slot != NULL)) {
        cap_fill(slot, ev, WIO_SLOT_EVENT);
        cap_publish(slot, 1, seq);
    }
}

/* An asynchronous request with `key` (from cap_key) has ended with `result` (-errno on failure). */
void cap_complete(struct cap_thread *self, uint64_t key, int64_t result, uint64_t ticks) CAP_HIDDEN;
/* A key that no other request of this process image has. Never 0. */
uint64_t cap_key(void) CAP_HIDDEN;

/* Count what happened and was not recorded (enum wio_unseen). */
void cap_unseen(unsigned kind) CAP_HIDDEN;

/* ---- strings ------------------------------------------------------------------------------ */

/*
 * Id of a path argument as the program gave it: absolute, or relative to `dirfd` (AT_FDCWD: the
 * working directory). NULL gives 0, "" the path of dirfd. The text is copied now: call it after the
 * real function, and not when that failed with EFAULT (cap_path_of does both).
 */
uint32_t cap_string(struct cap_thread *self, int dirfd, const char *path) CAP_HIDDEN;
/* Id of any text (a link's target, an attribute's name), which is not a path to be completed. */
uint32_t cap_text(struct cap_thread *self, const char *text, size_t bytes) CAP_HIDDEN;

/* Is this a text that the kernel can read? For calls that may have failed before they looked. */
bool cap_is_readable(const char *path) CAP_HIDDEN;

/* A call's second path: nobody has looked at it where something was wrong with the first. */
static inline uint32_t cap_path2_of(struct cap_thread *self, int dirfd, const char *path, int error)
{
    if (CAP_UNLIKELY(error != 0) && (error == EFAULT || !cap_is_readable(path))) {
        return WIO_NO_STRING;
    }
    return cap_string(self, dirfd, path);
}

static inline uint32_t cap_path_of(struct cap_thread *self, int dirfd, const char *path, int error)
{
    bool was_read = error == ENOENT || error == EEXIST || error == EACCES;
    return cap_path2_of(self, dirfd, path, CAP_UNLIKELY(was_read) ? 0 : error);
}

/* ---- descriptors -------------------------------------------------------------------------- */

enum cap_fd_flags {
    CAP_FD_KNOWN = 1,      /* path is right */
    CAP_FD_TYPED = 2,      /* SEEKS, REGULAR are right */
    CAP_FD_SEEKS = 4,      /* has a position */
    CAP_FD_REGULAR = 8,    /* a regular file */
    CAP_FD_SHARED = 16,    /* others may move the position: ask the kernel after each operation */
    CAP_FD_APPEND = 32,    /* opened with O_APPEND */
    CAP_FD_CLOEXEC = 64,   /* not inherited over exec */
    CAP_FD_INTERNAL = 128, /* opened by an MPI library for itself */
    CAP_FD_BOUND = 256,    /* a socket whose address is recorded */
};

/* What is known of one descriptor; a cache line each, so that threads do not disturb each other. */
struct cap_fd {
    uint32_t path;
    uint32_t flags; /* enum cap_fd_flags */
    int64_t pos;    /* of the next read or write, where SEEKS and not SHARED */
    uint64_t reserved[6];
};

#define CAP_FD_BLOCK 1024u
#define CAP_FD_BLOCKS 1024u
extern struct cap_fd *cap_fd_blocks[CAP_FD_BLOCKS] CAP_HIDDEN;

/* The entry of a descriptor, or NULL where there is none yet. None for a child of vfork: it has
 * descriptors of its own, the table in the memory that it uses is its parent's. */
static inline struct cap_fd *cap_fd_find_of(const struct cap_thread *self, int fd)
{
    unsigned block = (unsigned)fd / CAP_FD_BLOCK;
    if (CAP_UNLIKELY(block >= CAP_FD_BLOCKS || (self->flags & WIO_EVENT_VFORK) != 0)) {
        return NULL;
    }
    struct cap_fd *entries = __atomic_load_n(&cap_fd_blocks[block], __ATOMIC_ACQUIRE);
    return CAP_LIKELY(entries != NULL) ? &entries[(unsigned)fd % CAP_FD_BLOCK] : NULL;
}

static inline struct cap_fd *cap_fd_find(int fd)
{
    return cap_fd_find_of(cap_self, fd);
}

/* Learn an unknown descriptor's path from /proc/self/fd; 0 where it is not open. */
uint32_t cap_fd_learn(struct cap_thread *self, int fd) CAP_HIDDEN;

/* Path id of a descriptor. */
static inline uint32_t cap_fd_path(struct cap_thread *self, int fd)
{
    const struct cap_fd *entry = cap_fd_find_of(self, fd);
    if (CAP_LIKELY(entry != NULL && (entry->flags & CAP_FD_KNOWN) != 0)) {
        return entry->path;
    }
    return cap_fd_learn(self, fd);
}

/* A descriptor was made by an open: `path` id, `open_flags` as in open(2). Position 0. */
void cap_fd_set(int fd, uint32_t path, int open_flags) CAP_HIDDEN;
/* It was closed, or became something that nobody saw. Call before the real close. */
void cap_fd_clear(int fd) CAP_HIDDEN;
void cap_fd_clear_range(unsigned first, unsigned last) CAP_HIDDEN;
/* new_fd is a duplicate of old_fd; both share a position from now on. */
void cap_fd_dup(struct cap_thread *self, int old_fd, int new_fd, bool is_cloexec) CAP_HIDDEN;
void cap_fd_set_cloexec(int fd, bool is_cloexec) CAP_HIDDEN;
void cap_fd_set_append(int fd, bool is_append) CAP_HIDDEN;
/* Before a fork (all) or a spawn or vfork (those without CLOEXEC): positions become shared. */
void cap_fd_share_all(bool only_inherited) CAP_HIDDEN;

/*
 * A read or write of `result` bytes at the position happened: moves the position and returns the
 * offset of its first byte (WIO_NO_OFFSET where the descriptor has none). A failed or empty one
 * gives the position where it would have begun.
 */
int64_t cap_fd_advance_slow(int fd, int64_t result) CAP_HIDDEN;

static inline int64_t cap_fd_advance(int fd, int64_t result)
{
    struct cap_fd *entry = cap_fd_find(fd);
    if (CAP_LIKELY(entry != NULL && (entry->flags & (CAP_FD_SEEKS | CAP_FD_SHARED |
                                                     CAP_FD_APPEND)) == CAP_FD_SEEKS)) {
        return result > 0 ? __atomic_fetch_add(&entry->pos, result, __ATOMIC_RELAXED) : entry->pos;
    }
    return cap_fd_advance_slow(fd, result);
}

/* The position is now `pos` (lseek, fseek). */
void cap_fd_seek(int fd, int64_t pos) CAP_HIDDEN;
/* The position as known without a system call, else WIO_NO_OFFSET. */
int64_t cap_fd_position(int fd) CAP_HIDDEN;
/* True where it is one of capture's own descriptors: the program must find it closed (EBADF). */
bool cap_fd_is_ours(int fd) CAP_HIDDEN;
/* Our own descriptors in [first, last], rising; returns how many. */
#define CAP_OWN_FDS 2u
unsigned cap_fd_ours_within(unsigned first, unsigned last, unsigned ours[CAP_OWN_FDS]) CAP_HIDDEN;
extern int *const cap_ring_fd_place CAP_HIDDEN;
extern int cap_pages_fd CAP_HIDDEN; /* the userfaultfd of pages.c, -1 = none */
/* The same, a few instructions for all other descriptors. */
static inline bool cap_fd_is_ours_maybe(int fd)
{
    return CAP_UNLIKELY(fd == *cap_ring_fd_place || fd == cap_pages_fd) && cap_fd_is_ours(fd);
}
/* The program is about to put a duplicate of fd at new_fd: get ours out of the way. Not where fd is
 * closed: the call will fail, and ours would stay behind. */
void cap_fd_make_room(int fd, int new_fd) CAP_HIDDEN;
/* Descriptors went to another process with this message: it shares their positions. */
struct msghdr;
void cap_fd_share_sent(const struct msghdr *message) CAP_HIDDEN;

/* ---- processes ---------------------------------------------------------------------------- */

/* Bracket of a fork in any form (also through syscall(2)): call before it in the parent. */
void cap_before_fork(struct cap_thread *self) CAP_HIDDEN;
/* The same for clone with its flags. */
void cap_before_clone(struct cap_thread *self, uint64_t flags) CAP_HIDDEN;
/* Before a call that changes the working directory: its path is relative to the one before. */
void cap_cwd_leave(struct cap_thread *self) CAP_HIDDEN;
/* The working directory is another one: ask for it when the next relative path comes. */
void cap_cwd_changed(void) CAP_HIDDEN;
/* From now on look who calls. */
void cap_watch(struct cap_thread *self, enum cap_watch watch) CAP_HIDDEN;
/* The process ends with `status` now (exit, _exit, ...): marks the ring. */
void cap_mark_end(uint32_t end, int32_t status) CAP_HIDDEN;

#endif
