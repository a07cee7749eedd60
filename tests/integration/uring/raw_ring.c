/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io_uring without a library: `raw_ring FILE REQUESTS [own|late|unmap]`. Random reads and writes at
 * a random depth, tags that repeat; "own": the rings lie in memory of the program's own; "late":
 * one more read, of a pipe, ends when the program has left io_uring_enter for the last time;
 * "unmap": so, and the rings are unmapped before the program ends by _exit. Prints one line per
 * request in order of submission, "write OFFSET SIZE", and at the end "sum REQUESTS BYTES" of what
 * came back. Exit 77 where the kernel has no io_uring.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DEPTH 16
#define SIZE_MAX_BYTES 4096
#define TAGS 5

static struct {
    int fd;
    unsigned *sq_tail;
    unsigned *sq_array;
    unsigned *cq_head;
    unsigned *cq_tail;
    unsigned cq_entries;
    void *cq_map;
    size_t cq_bytes;
    struct io_uring_sqe *sqes;
    struct io_uring_cqe *cqes;
} ring;

static unsigned *word_at(char *base, unsigned offset)
{
    return (unsigned *)(void *)(base + offset);
}

static void *map(size_t bytes, off_t offset)
{
    void *address = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd, offset);
    if (address == MAP_FAILED) {
        exit(1);
    }
    return address;
}

static void *page(void)
{
    return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* The kernel looks for the memory's address in the last word of both structures of offsets. */
static void give_memory(struct io_uring_params *params, char **rings, void **sqes)
{
    *rings = page();
    *sqes = page();
    params->flags = 1U << 14; /* IORING_SETUP_NO_MMAP */
    memcpy((char *)&params->cq_off + sizeof(params->cq_off) - 8, rings, 8);
    memcpy((char *)&params->sq_off + sizeof(params->sq_off) - 8, sqes, 8);
}

static void make_ring(bool has_own)
{
    struct io_uring_params params;
    char *sq = NULL;
    void *sqes = NULL;
    memset(&params, 0, sizeof(params));
    if (has_own) {
        give_memory(&params, &sq, &sqes);
    }
    ring.fd = (int)syscall(SYS_io_uring_setup, DEPTH, &params);
    if (ring.fd < 0) {
        exit(errno == ENOSYS || errno == EPERM || (has_own && errno == EINVAL) ? 77 : 1);
    }
    char *cq = sq;
    if (!has_own) {
        sq = map(params.sq_off.array + params.sq_entries * sizeof(unsigned), IORING_OFF_SQ_RING);
        ring.cq_bytes = params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe);
        cq = map(ring.cq_bytes, IORING_OFF_CQ_RING);
        ring.cq_map = cq;
        sqes = map(params.sq_entries * sizeof(struct io_uring_sqe), IORING_OFF_SQES);
    }
    ring.sqes = sqes;
    ring.sq_tail = word_at(sq, params.sq_off.tail);
    ring.sq_array = word_at(sq, params.sq_off.array);
    ring.cq_head = word_at(cq, params.cq_off.head);
    ring.cq_tail = word_at(cq, params.cq_off.tail);
    ring.cq_entries = params.cq_entries;
    ring.cqes = (struct io_uring_cqe *)(void *)(cq + params.cq_off.cqes);
}

static void push(int file, unsigned char opcode, unsigned size, unsigned offset)
{
    static char buffer[SIZE_MAX_BYTES];
    unsigned place = *ring.sq_tail % DEPTH;
    struct io_uring_sqe *sqe = &ring.sqes[place];
    memset(sqe, 0, sizeof(*sqe));
    sqe->opcode = opcode;
    sqe->fd = file;
    sqe->addr = (uintptr_t)buffer;
    sqe->len = size;
    sqe->off = offset;
    sqe->user_data = (unsigned)rand() % TAGS;
    ring.sq_array[place] = place;
    __atomic_store_n(ring.sq_tail, *ring.sq_tail + 1, __ATOMIC_RELEASE);
    printf("%s %u %u\n", opcode == IORING_OP_READ ? "read" : "write", offset, size);
}

static void push_random(int file)
{
    unsigned char opcode = rand() % 2 == 0 ? IORING_OP_READ : IORING_OP_WRITE;
    unsigned size = 1 + (unsigned)rand() % SIZE_MAX_BYTES;
    push(file, opcode, size, (unsigned)rand() % 100000);
}

static int enter(unsigned submit, unsigned least)
{
    return (int)syscall(SYS_io_uring_enter, ring.fd, submit, least, IORING_ENTER_GETEVENTS, NULL,
                        8);
}

/* How many were taken; their results are added to *bytes. */
static unsigned take_all(long *bytes)
{
    unsigned count = 0;
    while (*ring.cq_head != __atomic_load_n(ring.cq_tail, __ATOMIC_ACQUIRE)) {
        *bytes += ring.cqes[*ring.cq_head % ring.cq_entries].res;
        __atomic_store_n(ring.cq_head, *ring.cq_head + 1, __ATOMIC_RELEASE);
        count++;
    }
    return count;
}

/* The kernel tells its end in the ring while the program is in another call. */
static int read_late(long *bytes)
{
    int ends[2];
    if (pipe(ends) != 0) {
        return -1;
    }
    push(ends[0], IORING_OP_READ, 1, 0);
    if (enter(1, 0) != 1 || take_all(bytes) != 0 || write(ends[1], "x", 1) != 1) {
        return -1;
    }
    while (take_all(bytes) == 0) {
        (void)usleep(100);
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        return 2;
    }
    const char *mode = argc > 3 ? argv[3] : "";
    bool is_unmapped = strcmp(mode, "unmap") == 0;
    unsigned total = (unsigned)atoi(argv[2]);
    unsigned submitted = 0;
    unsigned done = 0;
    long bytes = 0;
    int file = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
    make_ring(strcmp(mode, "own") == 0);
    while (done < total) {
        unsigned now = 0;
        for (unsigned wanted = (unsigned)rand() % (DEPTH + 1);
             now < wanted && submitted < total && submitted - done < DEPTH; now++, submitted++) {
            push_random(file);
        }
        unsigned least = submitted > done ? 1 : 0;
        if (enter(now, least) < 0) {
            return 1;
        }
        done += take_all(&bytes);
    }
    if (is_unmapped || strcmp(mode, "late") == 0) {
        if (read_late(&bytes) != 0) {
            return 1;
        }
        done++;
    }
    printf("sum %u %ld\n", done, bytes);
    if (is_unmapped) {
        (void)fflush(stdout);
        (void)munmap(ring.cq_map, ring.cq_bytes);
        _exit(0);
    }
    return 0;
}
