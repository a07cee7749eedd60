/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writer under threads, signals and a small file: every event is in the ring, once, whole and
 * in its order. Also run by ThreadSanitizer.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/traced.h"
#include "support/unit.h"

#include "capture/core/process.h"
#include "capture/core/thread_table.h"

#define THREADS 4
#define EVENTS 5000

/* The caller that events claim to have: any function of this program. */
static uintptr_t source(void)
{
    return (uintptr_t)source;
}

static void emit_one(int64_t thread, int64_t number)
{
    struct cap_thread *self = cap_enter(source(), WIO_CALL_pwrite);
    assert_non_null(self);
    struct cap_event ev = CAP_EVENT(pwrite, source());
    ev.begin = cap_now();
    ev.end = ev.begin;
    ev.offset = number;
    ev.result = thread;
    if (number % 7 == 0) {
        struct cap_ext ext = CAP_EXT;
        ext.path2 = cap_text(self, "a text of more than thirty-two bytes, so two slots", 50);
        cap_emit_ext(self, &ev, &ext);
        return;
    }
    cap_emit(self, &ev);
}

static void *emit_many(void *thread)
{
    for (int64_t i = 0; i < EVENTS; i++) {
        emit_one((int64_t)(intptr_t)thread, i);
    }
    return NULL;
}

/* The ring of this process, whole. */
static uint8_t *load_ring(size_t *bytes_out)
{
    char path[sizeof(cap_process.directory) + sizeof(cap_process.ring_name) + 1];
    struct stat st;
    (void)snprintf(path, sizeof(path), "%s/%s", cap_process.directory, cap_process.ring_name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &st), 0);
    uint8_t *data = malloc((size_t)st.st_size);
    assert_non_null(data);
    assert_int_equal(read(fd, data, (size_t)st.st_size), st.st_size);
    (void)close(fd);
    *bytes_out = (size_t)st.st_size;
    return data;
}

typedef void slot_fn(void *arg, const struct wio_slot_event *slot);

/* Every valid event slot of every chunk. */
static void each_event(slot_fn *use, void *arg)
{
    size_t bytes;
    uint8_t *data = load_ring(&bytes);
    for (size_t at = WIO_RING_HEADER_BYTES; at + WIO_CHUNK_BYTES <= bytes; at += WIO_CHUNK_BYTES) {
        const struct wio_chunk_header *chunk = (const void *)(data + at);
        for (uint32_t i = 0; chunk->magic == WIO_CHUNK_MAGIC && i < WIO_CHUNK_SLOTS; i++) {
            const struct wio_slot_event *slot =
                (const void *)(data + at + ((size_t)i + 1) * WIO_SLOT_BYTES);
            bool is_valid = slot->seq == chunk->chunk_no * WIO_CHUNK_SLOTS + i + 1;
            if (is_valid && (slot->kind == WIO_SLOT_EVENT || slot->kind == WIO_SLOT_EVENT_EXT)) {
                use(arg, slot);
            }
        }
    }
    free(data);
}

struct tally {
    int64_t result;
    uint32_t count;
    uint8_t seen[EVENTS];
};

static void tally_up(void *arg, const struct wio_slot_event *slot)
{
    struct tally *tally = arg;
    if (slot->result == tally->result) {
        assert_in_range(slot->offset, 0, EVENTS - 1);
        tally->seen[slot->offset]++;
        tally->count++;
    }
}

static void expect_all_of(int64_t result)
{
    struct tally tally = {.result = result};
    each_event(tally_up, &tally);
    assert_int_equal(tally.count, EVENTS);
    for (size_t i = 0; i < EVENTS; i++) {
        assert_int_equal(tally.seen[i], 1);
    }
}

static void threads_lose_nothing(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    for (intptr_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, emit_many, (void *)(i + 1)), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        expect_all_of(i + 1);
    }
    assert_int_equal(cap_process.header->dropped, 0);
}

static void ended_threads_give_their_chunk_on(void **state)
{
    (void)state;
    uint32_t before = cap_process.header->chunks;
    for (intptr_t i = 0; i < 200; i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, (void *(*)(void *))emit_many, (void *)50),
                         0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        if (i == 3) {
            break; /* four times 5,000 events are what the chunks below are for */
        }
    }
    assert_true(cap_process.header->chunks - before <= 4 * (EVENTS * 2 / WIO_CHUNK_SLOTS + 2));
}

static volatile sig_atomic_t handled;

static void on_alarm(int number)
{
    (void)number;
    if (handled < EVENTS) {
        emit_one(100, handled);
        handled++;
    }
}

static void handlers_lose_nothing(void **state)
{
    (void)state;
    struct itimerval timer = {{0, 20}, {0, 20}};
    struct itimerval off = {{0, 0}, {0, 0}};
    signal(SIGALRM, on_alarm);
    (void)setitimer(ITIMER_REAL, &timer, NULL);
    for (int64_t round = 200; round < 210; round++) {
        (void)emit_many((void *)(intptr_t)round);
    }
    (void)setitimer(ITIMER_REAL, &off, NULL);
    for (int64_t round = 200; round < 210; round++) {
        expect_all_of(round);
    }
    struct tally tally = {.result = 100};
    each_event(tally_up, &tally);
    assert_int_equal(tally.count, handled);
    assert_int_equal(cap_process.header->dropped, 0);
}

/* The child's memory is wiped: it writes a ring of its own, the parent's stays as it is. */
static void forked_child_begins_anew(void **state)
{
    (void)state;
    char parent_ring[sizeof(cap_process.ring_name)];
    (void)snprintf(parent_ring, sizeof(parent_ring), "%s", cap_process.ring_name);
    uint32_t next_string = cap_process.header->next_string;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        (void)emit_many((void *)300);
        bool is_own = strcmp(cap_process.ring_name, parent_ring) != 0 &&
                      strcmp(cap_process.header->parent_ring, parent_ring) == 0 &&
                      cap_process.header->first_string == next_string &&
                      cap_process.header->pid == getpid();
        _exit(is_own ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    struct tally tally = {.result = 300};
    each_event(tally_up, &tally);
    assert_int_equal(tally.count, 0);
    (void)emit_many((void *)301);
    expect_all_of(301);
}

static void full_disk_counts_drops(void **state)
{
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        const rlim_t most = (rlim_t)3 * WIO_CHUNK_BYTES;
        struct rlimit limit = {most, most};
        (void)setrlimit(RLIMIT_FSIZE, &limit);
        (void)emit_many((void *)400);
        struct tally tally = {.result = 400};
        each_event(tally_up, &tally);
        uint64_t dropped = cap_process.header->dropped;
        /* A dropped text is a record too. */
        _exit(dropped > 0 && tally.count > 500 && tally.count + dropped >= EVENTS ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* Threads that find no memory for their state ask with each event; when there is some, they get it.
 */
static bool states_come_back(void)
{
    struct rlimit before;
    emit_one(500, 0);
    (void)getrlimit(RLIMIT_AS, &before);
    struct rlimit none = {1, before.rlim_max};
    (void)setrlimit(RLIMIT_AS, &none);
    unsigned misses = 0;
    while (misses < (CAP_THREAD_BLOCKS + 1) * CAP_THREAD_BLOCK) {
        misses += cap_thread_take() == NULL;
    }
    cap_threads_forget_ranges();
    (void)setrlimit(RLIMIT_AS, &before);
    return cap_thread_take() != NULL;
}

static void no_memory_uses_up_no_states(void **state)
{
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        _exit(states_come_back() ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_lose_nothing),
        cmocka_unit_test(ended_threads_give_their_chunk_on),
        cmocka_unit_test(handlers_lose_nothing),
        cmocka_unit_test(forked_child_begins_anew),
        cmocka_unit_test(full_disk_counts_drops),
        cmocka_unit_test(no_memory_uses_up_no_states),
    };
    (void)argc;
    return wio_is_traced() ? WIO_RUN(tests) : wio_run_traced(argv);
}
