/* SPDX-License-Identifier: Apache-2.0 */
/* Rings in ordinary memory, filled by the test in place of program and kernel. */
#include "support/unit.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/async/uring.h"
#include "capture/core/address.h"

#define ENTRIES 8u
#define RING_FD 1000

static struct {
    unsigned head, tail, mask, entries, flags, dropped;
    unsigned array[ENTRIES];
} sq;
static struct {
    unsigned head, tail, mask, entries;
    struct {
        uint64_t user_data;
        int32_t res;
        uint32_t flags;
    } cqes[2 * ENTRIES]; /* struct io_uring_cqe without its flexible end */
} cq;
static struct io_uring_sqe sqes[ENTRIES];

/* ---- what the walk writes is caught here instead of a ring file ---------------------------------
 */

static struct cap_request submitted[64];
static unsigned submitted_count;
static struct {
    uint64_t key;
    int64_t result;
} completed[64];
static unsigned completed_count;

void __wrap_cap_submit(struct cap_thread *self, const struct cap_event *call,
                       const struct cap_request *request);
void __wrap_cap_complete(struct cap_thread *self, uint64_t key, int64_t result, uint64_t ticks);

static bool is_ring; /* what the kernel says of every descriptor */
bool __wrap_cap_uring_is_ring(int fd);

bool __wrap_cap_uring_is_ring(int fd)
{
    (void)fd;
    return is_ring;
}

void __wrap_cap_submit(struct cap_thread *self, const struct cap_event *call,
                       const struct cap_request *request)
{
    (void)self;
    (void)call;
    submitted[submitted_count++ % 64] = *request;
}

void __wrap_cap_complete(struct cap_thread *self, uint64_t key, int64_t result, uint64_t ticks)
{
    (void)self;
    (void)ticks;
    completed[completed_count % 64].key = key;
    completed[completed_count++ % 64].result = result;
}

/* ---- a ring -------------------------------------------------------------------------------------
 */

static struct cap_uring *make_ring(void)
{
    struct io_uring_params params;
    memset(&params, 0, sizeof(params));
    memset(&sq, 0, sizeof(sq));
    memset(&cq, 0, sizeof(cq));
    memset(sqes, 0, sizeof(sqes));
    submitted_count = 0;
    completed_count = 0;
    is_ring = true;
    params.sq_entries = ENTRIES;
    params.cq_entries = 2 * ENTRIES;
    params.sq_off.ring_entries = offsetof(__typeof__(sq), entries);
    params.sq_off.head = offsetof(__typeof__(sq), head);
    params.sq_off.tail = offsetof(__typeof__(sq), tail);
    params.sq_off.array = offsetof(__typeof__(sq), array);
    params.cq_off.head = offsetof(__typeof__(cq), head);
    params.cq_off.tail = offsetof(__typeof__(cq), tail);
    params.cq_off.cqes = offsetof(__typeof__(cq), cqes);
    cap_uring_opened(RING_FD, &params);
    cap_uring_mapped(RING_FD, IORING_OFF_SQ_RING, &sq, sizeof(sq));
    assert_null(cap_uring_find(RING_FD)); /* not before all parts are known */
    cap_uring_mapped(RING_FD, IORING_OFF_CQ_RING, &cq, sizeof(cq));
    cap_uring_mapped(RING_FD, IORING_OFF_SQES, sqes, sizeof(sqes));
    struct cap_uring *ring = cap_uring_find(RING_FD);
    assert_non_null(ring);
    return ring;
}

static void push(uint64_t user_data, unsigned place)
{
    sqes[place].opcode = IORING_OP_NOP;
    sqes[place].user_data = user_data;
    sq.array[sq.tail % ENTRIES] = place;
    sq.tail++;
}

static void finish(uint64_t user_data, int result)
{
    cq.cqes[cq.tail % (2 * ENTRIES)].user_data = user_data;
    cq.cqes[cq.tail % (2 * ENTRIES)].res = result;
    cq.tail++;
}

static struct cap_uring_batch enter(struct cap_uring *ring, unsigned accepted, long result)
{
    struct cap_event ev = CAP_EVENT_OF(0, 0);
    struct cap_uring_batch batch = cap_uring_before_submit(NULL, &ev, ring, sq.tail);
    sq.head += accepted;
    cap_uring_after_submit(NULL, &ev, &batch, result);
    return batch;
}

static void test_entries_are_read_through_the_array(void **state)
{
    struct cap_uring *ring = make_ring();
    (void)state;
    push(11, 5);
    push(12, 2);
    enter(ring, 2, 2);
    assert_int_equal(submitted_count, 2);
    assert_int_equal(submitted[0].ext.arg[1], 11);
    assert_int_equal(submitted[1].ext.arg[1], 12);
    assert_int_equal(submitted[0].ext.arg[0], RING_FD);
    enter(ring, 0, 0);
    assert_int_equal(submitted_count, 2);
    cap_uring_forget(ring);
}

static void test_positions_wrap_around(void **state)
{
    struct cap_uring *ring = make_ring();
    (void)state;
    sq.head = sq.tail = UINT32_MAX - 2;
    ring->sq_seen = sq.tail;
    for (unsigned i = 0; i < 6; i++) {
        push(100 + i, i);
    }
    enter(ring, 6, 6);
    assert_int_equal(submitted_count, 6);
    for (unsigned i = 0; i < 6; i++) {
        assert_int_equal(submitted[i].ext.arg[1], 100 + i);
    }
    cap_uring_forget(ring);
}

static void test_what_the_kernel_refused_comes_again(void **state)
{
    struct cap_uring *ring = make_ring();
    (void)state;
    push(1, 0);
    push(2, 1);
    push(3, 2);
    enter(ring, 1, 1);
    assert_int_equal(submitted_count, 3);
    assert_int_equal(completed_count, 2); /* 2 and 3 failed for now */
    assert_int_equal(completed[0].key, cap_uring_key(ring, 2));
    assert_int_equal(completed[0].result, -EAGAIN);
    enter(ring, 2, 2);
    assert_int_equal(submitted_count, 5);
    assert_int_equal(submitted[3].ext.arg[1], 2);
    assert_int_equal(completed_count, 2);
    cap_uring_forget(ring);
}

static void test_each_end_is_seen_once(void **state)
{
    struct cap_uring *ring = make_ring();
    (void)state;
    finish(1, 512);
    finish(2, -EIO);
    cap_uring_reap(NULL, ring);
    finish(3, 7);
    cap_uring_reap(NULL, ring);
    cap_uring_reap(NULL, ring);
    assert_int_equal(completed_count, 3);
    assert_int_equal(completed[1].key, cap_uring_key(ring, 2));
    assert_int_equal(completed[1].result, -EIO);
    assert_int_equal(completed[2].result, 7);
    cap_uring_forget(ring);
}

static void test_ends_that_were_overwritten_are_given_up(void **state)
{
    struct cap_uring *ring = make_ring();
    (void)state;
    for (unsigned i = 0; i < 2 * ENTRIES + 3; i++) {
        finish(i, (int)i);
    }
    cap_uring_reap(NULL, ring);
    assert_int_equal(completed_count, 2 * ENTRIES);
    assert_int_equal(completed[0].result, 3); /* 0, 1, 2 are gone */
    cap_uring_forget(ring);
}

/* All places are full and none was taken: each is what it was. */
static void test_a_full_ring_is_read_whole(void **state)
{
    struct cap_uring *ring = make_ring();
    (void)state;
    for (unsigned i = 0; i < 2 * ENTRIES; i++) {
        finish(i, (int)i);
    }
    cap_uring_reap(NULL, ring);
    assert_int_equal(completed_count, 2 * ENTRIES);
    assert_int_equal(completed[0].result, 0);
    cap_uring_forget(ring);
}

/* The program has taken `taken` of `count` ends of `under_way` requests. */
static unsigned reaped(unsigned count, unsigned taken, unsigned under_way)
{
    struct cap_uring *ring = make_ring();
    for (unsigned i = 0; i < count; i++) {
        finish(i, (int)i);
    }
    cq.head = taken;
    ring->sq_seen = under_way;
    cap_uring_reap(NULL, ring);
    cap_uring_forget(ring);
    return completed_count;
}

/* The kernel writes places before it moves the tail: where the program has taken two, and more
 * requests than there are places are under way, the next ends may be there already. */
static void test_ends_that_may_be_overwritten_are_given_up(void **state)
{
    const unsigned room = 2 * ENTRIES;
    (void)state;
    assert_int_equal(reaped(room, 2, room + 1), room - 1);
    assert_int_equal(reaped(room, 2, room + 5), room - 2);
    assert_int_equal(reaped(room - 3, 2, room + 5), room - 3 - 2);
    assert_int_equal(reaped(room, 2, room), room);  /* all that were submitted */
    assert_int_equal(reaped(room, 2, 1), room - 1); /* one request has many ends */
}

/* Requests that post no end say nothing of how many have come. */
static void test_ends_that_are_left_out(void **state)
{
    const unsigned room = 2 * ENTRIES;
    struct cap_uring *ring = make_ring();
    (void)state;
    for (unsigned i = 0; i < room - 1; i++) {
        finish(i, (int)i);
    }
    sqes[0].flags = IOSQE_CQE_SKIP_SUCCESS;
    push(1, 0);
    enter(ring, 1, 1);
    cq.head = 2;
    ring->sq_seen = 10 * room;
    cap_uring_reap(NULL, ring);
    assert_int_equal(completed_count, room - 1);
    cap_uring_forget(ring);
}

static void test_a_polled_ring_that_went_round(void **state)
{
    struct cap_uring *ring = make_ring();
    (void)state;
    ring->flags = IORING_SETUP_SQPOLL;
    for (unsigned i = 0; i < ENTRIES + 2; i++) {
        push(i, i % ENTRIES);
    }
    enter(ring, ENTRIES + 2, 0);
    assert_int_equal(submitted_count, ENTRIES);
    assert_int_equal(submitted[0].ext.arg[1], 2); /* 0 and 1 were overwritten */
    assert_int_equal(submitted[ENTRIES - 1].ext.arg[1], ENTRIES + 1);
    cap_uring_forget(ring);
}

static void test_unmapped_rings_are_left_alone(void **state)
{
    struct cap_uring *ring = make_ring();
    (void)state;
    cap_uring_unmapped(0, WIO_CALL_munmap, &cq, 1);
    assert_null(cap_uring_find(RING_FD));
    cap_uring_forget(ring);
}

static void test_a_number_that_is_another_files_now(void **state)
{
    struct cap_uring *ring = make_ring();
    (void)state;
    cap_uring_unmapped(0, WIO_CALL_munmap, &sq, 1);
    is_ring = false;
    cap_uring_mapped(RING_FD, IORING_OFF_SQ_RING, NULL, 1); /* would be followed */
    assert_null(cap_uring_find(RING_FD));
    assert_int_equal(ring->number, 0);
}

static void test_memory_of_the_programs_own(void **state)
{
    struct io_uring_params params;
    const void *memory[] = {&sq, sqes};
    (void)state;
    memset(&params, 0, sizeof(params));
    memset(&sq, 0, sizeof(sq));
    params.flags = 1U << 14; /* IORING_SETUP_NO_MMAP */
    params.sq_entries = ENTRIES;
    params.cq_entries = 2 * ENTRIES;
    params.sq_off.tail = offsetof(__typeof__(sq), tail);
    params.sq_off.array = offsetof(__typeof__(sq), array);
    memcpy((char *)&params.cq_off + sizeof(params.cq_off) - 8, &memory[0], 8);
    memcpy((char *)&params.sq_off + sizeof(params.sq_off) - 8, &memory[1], 8);
    submitted_count = 0;
    cap_uring_opened(RING_FD, &params);
    struct cap_uring *ring = cap_uring_find(RING_FD);
    assert_non_null(ring);
    push(77, 3);
    enter(ring, 1, 1);
    assert_int_equal(submitted_count, 1);
    assert_int_equal(submitted[0].ext.arg[1], 77);
    cap_uring_forget(ring);
}

static void test_files_by_their_places(void **state)
{
    struct cap_uring *ring = make_ring();
    const int before[] = {500, -1};
    const int after[] = {501, 502};
    (void)state;
    cap_uring_set_files(cap_self, ring, before, 2);
    struct io_uring_sqe update = {.opcode = IORING_OP_FILES_UPDATE, .len = 2};
    update.addr = (uintptr_t)after;
    struct io_uring_sqe read = {.opcode = IORING_OP_READ, .fd = 1, .flags = IOSQE_FIXED_FILE};
    assert_int_equal(cap_uring_request(cap_self, ring, &read).fd, WIO_NO_FD);
    (void)cap_uring_request(cap_self, ring, &update);
    assert_int_equal(cap_uring_request(cap_self, ring, &read).fd, 502);
    read.fd = 2; /* beyond */
    assert_int_equal(cap_uring_request(cap_self, ring, &read).fd, WIO_NO_FD);
    cap_uring_forget(ring);
}

static void test_vectors_of_registered_memory(void **state)
{
    struct cap_uring *ring = make_ring();
    struct iovec parts[] = {{parts, 10}, {parts, 20}};
    (void)state;
    for (unsigned opcode = 60; opcode < 62; opcode++) { /* IORING_OP_READV_FIXED, WRITEV_FIXED */
        struct io_uring_sqe sqe = {.opcode = (uint8_t)opcode, .fd = -1, .len = 2};
        sqe.addr = (uintptr_t)parts;
        struct cap_request request = cap_uring_request(cap_self, ring, &sqe);
        assert_int_equal(request.call, opcode == 60 ? WIO_CALL_uring_read : WIO_CALL_uring_write);
        assert_int_equal(request.size, 30);
        sqe.addr = 8;
        assert_true(cap_uring_request(cap_self, ring, &sqe).size == WIO_NO_SIZE);
    }
    cap_uring_forget(ring);
}

/* Two pages, and none behind them. */
static void test_paths_without_an_end(void **state)
{
    struct cap_uring *ring = make_ring();
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)state;
    assert_true(memory != MAP_FAILED);
    assert_int_equal(munmap(memory + 2 * page, page), 0);
    char *end = memory + 2 * page;
    memset(memory, 'x', 2 * page);
    memory[0] = '/';
    end[-20] = '/';
    assert_int_equal(cap_text_bytes((uintptr_t)end - 20, PATH_MAX), UINT64_MAX);
    assert_int_equal(cap_text_bytes((uintptr_t)memory, PATH_MAX), UINT64_MAX);
    assert_int_equal(cap_text_bytes((uintptr_t)end, PATH_MAX), UINT64_MAX);
    struct io_uring_sqe sqe = {.opcode = IORING_OP_UNLINKAT, .fd = AT_FDCWD};
    sqe.addr = (uintptr_t)end - 20;
    assert_int_equal(cap_uring_request(cap_self, ring, &sqe).path, WIO_NO_STRING);
    sqe.addr2 = (uintptr_t)end - 20;
    sqe.opcode = IORING_OP_SYMLINKAT;
    struct cap_request request = cap_uring_request(cap_self, ring, &sqe);
    assert_int_equal(request.path, WIO_NO_STRING);
    assert_int_equal(request.ext.path2, WIO_NO_STRING);
    end[-1] = '\0';
    assert_int_equal(cap_text_bytes((uintptr_t)end - 20, PATH_MAX), 19);
    assert_int_equal(cap_text_bytes((uintptr_t)memory + page - 3, PATH_MAX),
                     page + 2 < PATH_MAX ? page + 2 : UINT64_MAX);
    memory[page + 9] = '\0'; /* over the border of two pages */
    assert_int_equal(cap_text_bytes((uintptr_t)memory + page - 3, PATH_MAX), 12);
    assert_int_equal(munmap(memory, 2 * page), 0);
    cap_uring_forget(ring);
}

static void test_the_second_end_of_a_send_is_none(void **state)
{
    struct cap_uring *ring = make_ring();
    (void)state;
    finish(1, 100);
    finish(1, 0);
    cq.cqes[1].flags = IORING_CQE_F_NOTIF;
    cap_uring_reap(NULL, ring);
    assert_int_equal(completed_count, 1);
    assert_int_equal(completed[0].result, 100);
    cap_uring_forget(ring);
}

static void test_an_index_is_of_its_thread(void **state)
{
    struct cap_uring *ring = make_ring();
    struct io_uring_rsrc_update update = {.offset = 0};
    (void)state;
    cap_uring_registered(cap_self, ring, 20 /* IORING_REGISTER_RING_FDS */, &update, 1);
    assert_ptr_equal(cap_uring_find_registered(0), ring);
    ring->registered_by++;
    assert_null(cap_uring_find_registered(0));
    ring->registered_by--;
    cap_uring_registered(cap_self, ring, 21 /* IORING_UNREGISTER_RING_FDS */, &update, 1);
    assert_null(cap_uring_find_registered(0));
    cap_uring_forget(ring);
}

static void test_two_threads_enter_at_once(void **state)
{
    struct cap_uring *ring = make_ring();
    struct cap_event ev = CAP_EVENT_OF(0, 0);
    (void)state;
    push(1, 0);
    unsigned tail_of_one = sq.tail;
    push(2, 1);
    struct cap_uring_batch two = cap_uring_before_submit(NULL, &ev, ring, sq.tail);
    struct cap_uring_batch one = cap_uring_before_submit(NULL, &ev, ring, tail_of_one);
    assert_int_equal(submitted_count, 2);
    cap_uring_after_submit(NULL, &ev, &one, 0);
    sq.head++; /* the call of the second takes the entry of the first */
    push(3, 2);
    struct cap_uring_batch three = cap_uring_before_submit(NULL, &ev, ring, sq.tail);
    sq.head++;
    cap_uring_after_submit(NULL, &ev, &three, 1);
    sq.head++;
    cap_uring_after_submit(NULL, &ev, &two, 2);
    assert_int_equal(submitted_count, 3);
    assert_int_equal(completed_count, 0); /* none was refused */
    assert_int_equal(ring->sq_seen, 3);
    cap_uring_forget(ring);
}

static struct cap_lib_uring library_of(int fd)
{
    struct cap_lib_uring library = {.ring_fd = fd};
    library.sq.head = &sq.head;
    library.sq.tail = &sq.tail;
    library.sq.entries = &sq.entries;
    library.sq.sqes = sqes;
    library.sq.ring = &sq;
    library.sq.ring_bytes = sizeof(sq);
    library.cq.head = &cq.head;
    library.cq.tail = &cq.tail;
    library.cq.entries = &cq.entries;
    library.cq.ring = &cq;
    library.cq.ring_bytes = sizeof(cq);
    return library;
}

static void test_a_ring_without_a_descriptor(void **state)
{
    (void)state;
    cap_uring_forget(make_ring());
    sq.entries = ENTRIES;
    cq.entries = 2 * ENTRIES;
    struct cap_lib_uring library = library_of(RING_FD);
    struct cap_uring *ring = cap_uring_of_library(&library);
    assert_non_null(ring);
    library.ring_fd = -1; /* io_uring_close_ring_fd */
    assert_ptr_equal(cap_uring_of_library(&library), ring);
    assert_ptr_equal(cap_uring_at(&sq.head), ring);
    assert_null(cap_uring_find(RING_FD)); /* that may be another ring's number */
    assert_null(cap_uring_find(-1));
    cap_uring_forget(ring);
    assert_null(cap_uring_at(&sq.head));
}

static void test_a_child_does_not_touch_its_parents_rings(void **state)
{
    struct cap_uring *ring = make_ring();
    (void)state;
    ring->pid = getpid() + 1;
    assert_null(cap_uring_find(RING_FD));
    cap_uring_forget(ring);
}

static void test_keys_differ_by_ring_and_tag(void **state)
{
    struct cap_uring a = {.number = 1};
    struct cap_uring b = {.number = 2};
    (void)state;
    assert_true(cap_uring_key(&a, 7) == cap_uring_key(&a, 7));
    assert_true(cap_uring_key(&a, 7) != cap_uring_key(&a, 8));
    assert_true(cap_uring_key(&a, 7) != cap_uring_key(&b, 7));
    assert_true(cap_uring_key(&a, 0) != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_entries_are_read_through_the_array),
        cmocka_unit_test(test_positions_wrap_around),
        cmocka_unit_test(test_what_the_kernel_refused_comes_again),
        cmocka_unit_test(test_each_end_is_seen_once),
        cmocka_unit_test(test_ends_that_were_overwritten_are_given_up),
        cmocka_unit_test(test_a_full_ring_is_read_whole),
        cmocka_unit_test(test_ends_that_may_be_overwritten_are_given_up),
        cmocka_unit_test(test_ends_that_are_left_out),
        cmocka_unit_test(test_a_polled_ring_that_went_round),
        cmocka_unit_test(test_unmapped_rings_are_left_alone),
        cmocka_unit_test(test_a_child_does_not_touch_its_parents_rings),
        cmocka_unit_test(test_keys_differ_by_ring_and_tag),
        cmocka_unit_test(test_a_number_that_is_another_files_now),
        cmocka_unit_test(test_memory_of_the_programs_own),
        cmocka_unit_test(test_files_by_their_places),
        cmocka_unit_test(test_vectors_of_registered_memory),
        cmocka_unit_test(test_paths_without_an_end),
        cmocka_unit_test(test_the_second_end_of_a_send_is_none),
        cmocka_unit_test(test_an_index_is_of_its_thread),
        cmocka_unit_test(test_two_threads_enter_at_once),
        cmocka_unit_test(test_a_ring_without_a_descriptor),
    };
    cap_self->pid = getpid();
    return WIO_RUN(tests);
}
