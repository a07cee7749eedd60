/* SPDX-License-Identifier: Apache-2.0 */
/* The ring file of this image: create, claim and turn over chunks. FORMAT.md#ring, #chunk. */
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/fmt.h"
#include "capture/process.h"
#include "capture/raw.h"

#define RETRY_EVERY 1024u /* dropped records between two attempts on a full disk */

static uint64_t chunk_offset(uint32_t place)
{
    return WIO_RING_HEADER_BYTES + (uint64_t)place * WIO_CHUNK_BYTES;
}

/* The program's own limit on file sizes holds for our file too: beyond it a write is a SIGXFSZ. */
static bool is_within_limit(uint64_t end)
{
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    (void)wio_rawcall4(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit);
    return end <= limit.rlim_cur;
}

/* Take real space, so that a store into the mapping can never meet a full disk (SIGBUS). */
static bool allocate(int fd, uint64_t offset, uint64_t size)
{
    static const char zeros[4096];
    if (!is_within_limit(offset + size)) {
        return false;
    }
    long result = raw_fallocate(fd, offset, size);
    if (result == 0) {
        return true;
    }
    if (result != -EOPNOTSUPP && result != -ENOSYS) {
        return false;
    }
    for (uint64_t done = 0; done < size; done += sizeof(zeros)) {
        if (raw_pwrite(fd, zeros, sizeof(zeros), offset + done) != (long)sizeof(zeros)) {
            return false;
        }
    }
    return true;
}

/* Out of the range that programs look at and dup2 into, but not so high that the kernel's table of
 * descriptors grows. */
static int move_high(int fd)
{
    struct rlimit limit = {1024, 1024};
    (void)wio_rawcall4(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, (long)&limit);
    long least = limit.rlim_cur >= 1024 ? 1000 : (long)limit.rlim_cur - 1;
    long moved = -1;
    for (; least > fd && moved < 0; least--) {
        moved = raw_fcntl(fd, F_DUPFD_CLOEXEC, least);
    }
    if (moved < 0) {
        return fd;
    }
    (void)raw_close(fd);
    return (int)moved;
}

static void make_name(char *path, size_t size, uint64_t mono_ns)
{
    struct wio_fmt name = wio_fmt_of(cap_process.ring_name, sizeof(cap_process.ring_name));
    wio_fmt_str(&name, cap_process.host);
    wio_fmt_str(&name, ".");
    wio_fmt_i64(&name, raw_getpid());
    wio_fmt_str(&name, ".");
    wio_fmt_u64(&name, mono_ns);
    wio_fmt_str(&name, ".ring");
    struct wio_fmt full = wio_fmt_of(path, size);
    wio_fmt_str(&full, cap_process.directory);
    wio_fmt_str(&full, "/");
    wio_fmt_str(&full, cap_process.ring_name);
}

/* Field 22 of /proc/self/stat, behind the name in brackets, which may hold anything. */
static uint64_t process_start(void)
{
    char text[1024];
    long fd = raw_openat(AT_FDCWD, "/proc/self/stat", O_RDONLY | O_CLOEXEC, 0);
    long got = fd >= 0 ? raw_read((int)fd, text, sizeof(text) - 1) : -1;
    if (fd >= 0) {
        (void)raw_close((int)fd);
    }
    if (got <= 0) {
        return 0;
    }
    text[got] = '\0';
    const char *at = strrchr(text, ')');
    uint64_t value = 0;
    for (int field = 2; at != NULL && field < 22; field++) {
        at = strchr(at + 1, ' ');
    }
    if (at != NULL) {
        at++;
        (void)wio_scan_u64(&at, &value);
    }
    return value;
}

static void copy(char *out, size_t size, const char *text)
{
    struct wio_fmt fmt = wio_fmt_of(out, size);
    wio_fmt_str(&fmt, text);
}

static void fill_header(struct wio_ring_header *header, uint64_t mono_ns, uint64_t ticks,
                        const char *parent_ring, uint32_t first_string)
{
    header->version = WIO_RING_VERSION;
    header->header_bytes = WIO_RING_HEADER_BYTES;
    header->chunk_bytes = WIO_CHUNK_BYTES;
    header->clock = cap_clock_is_tsc ? WIO_CLOCK_TSC : WIO_CLOCK_MONOTONIC_NS;
    header->start_unix_ns = wio_clock_unix_ns();
    header->start_mono_ns = mono_ns;
    header->start_ticks = ticks;
    header->pid = raw_getpid();
    header->ppid = (int32_t)wio_rawcall3(SYS_getppid, 0, 0, 0);
    header->pid_start = process_start();
    header->rank = cap_process.rank;
    header->ranks = cap_process.ranks;
    header->first_string = first_string;
    header->next_string = first_string;
    header->calls_hash = WIO_CALLS_HASH;
    copy(header->parent_ring, sizeof(header->parent_ring), parent_ring);
    copy(header->host, sizeof(header->host), cap_process.host);
    copy(header->job, sizeof(header->job), cap_process.job);
    copy(header->boot_id, sizeof(header->boot_id), cap_process.boot_id);
    uint64_t magic;
    memcpy(&magic, WIO_RING_MAGIC, sizeof(magic));
    __atomic_store_n((uint64_t *)(void *)header->magic, magic, __ATOMIC_RELEASE);
}

static void remember_identity(int fd)
{
    struct stat st;
    if (raw_fstat(fd, &st) == 0) {
        cap_process.ring_dev = st.st_dev;
        cap_process.ring_ino = st.st_ino;
    }
    cap_process.ring_fd = fd;
}

bool cap_ring_is(int fd)
{
    struct stat st;
    return fd >= 0 && raw_fstat(fd, &st) == 0 && st.st_dev == cap_process.ring_dev &&
           st.st_ino == cap_process.ring_ino;
}

/* In a fresh child: let go of the parent's ring. */
static void leave_parent(void)
{
    if (cap_ring_is(cap_process.ring_fd)) {
        (void)raw_close(cap_process.ring_fd);
    }
    if (cap_process.header != NULL) {
        (void)raw_munmap(cap_process.header, WIO_RING_HEADER_BYTES);
    }
    cap_process.ring_fd = -1;
    cap_process.header = NULL;
}

/* A fresh file of this image's name, with space for the header; -1 where it cannot be made. */
static int create_file(uint64_t mono_ns)
{
    char path[CAP_PATH_MAX + 160];
    make_name(path, sizeof(path), mono_ns);
    long fd = raw_openat(AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        return -1;
    }
    if (!allocate((int)fd, 0, WIO_RING_HEADER_BYTES)) {
        (void)raw_close((int)fd);
        (void)wio_rawcall3(SYS_unlinkat, AT_FDCWD, (long)path, 0);
        return -1;
    }
    return move_high((int)fd);
}

bool cap_ring_create(void)
{
    char parent_ring[sizeof(cap_process.ring_name)] = "";
    uint32_t first_string = 1;
    if (cap_process.header != NULL) {
        copy(parent_ring, sizeof(parent_ring), cap_process.ring_name);
        first_string = __atomic_load_n(&cap_process.header->next_string, __ATOMIC_RELAXED);
    }
    uint64_t ticks = cap_now();
    uint64_t mono_ns = wio_clock_mono_ns();
    int fd = create_file(mono_ns);
    void *map = fd < 0 ? NULL
                       : raw_mmap(WIO_RING_HEADER_BYTES, PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_POPULATE, fd, 0);
    if (map == NULL) {
        cap_unseen(WIO_UNSEEN_NO_RING); /* in the parent's ring, where there is one */
    }
    leave_parent();
    if (map == NULL) {
        if (fd >= 0) {
            (void)raw_close(fd);
        }
        return false;
    }
    remember_identity(fd);
    fill_header(map, mono_ns, ticks, parent_ring, first_string);
    __atomic_store_n(&cap_process.header, map, __ATOMIC_RELEASE);
    return true;
}

int cap_ring_fd(void)
{
    if (CAP_LIKELY(cap_ring_is(cap_process.ring_fd))) {
        return cap_process.ring_fd;
    }
    char path[CAP_PATH_MAX + 160];
    struct wio_fmt full = wio_fmt_of(path, sizeof(path));
    wio_fmt_str(&full, cap_process.directory);
    wio_fmt_str(&full, "/");
    wio_fmt_str(&full, cap_process.ring_name);
    long fd = raw_openat(AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
    if (fd < 0) {
        return -1;
    }
    if (!cap_ring_is((int)fd)) {
        (void)raw_close((int)fd);
        return -1;
    }
    cap_process.ring_fd = move_high((int)fd);
    return cap_process.ring_fd;
}

/* A place in the file; kept for the next attempt where it could not be filled. */
static uint32_t claim_place(struct cap_thread *self)
{
    if (self->place == 0) {
        self->place = __atomic_fetch_add(&cap_process.header->chunks, 1, __ATOMIC_RELAXED) + 1;
    }
    return self->place - 1;
}

/* At a multiple of its size (cap_chunk_of): within a range of twice the size that is given back. */
static uint8_t *map_chunk(int fd, uint64_t offset)
{
    uint8_t *range = raw_mmap(2 * WIO_CHUNK_BYTES, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == NULL) {
        return NULL;
    }
    size_t before = -(uintptr_t)range % WIO_CHUNK_BYTES;
    long mapped =
        wio_rawcall6(SYS_mmap, (long)(range + before), WIO_CHUNK_BYTES, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_POPULATE | MAP_FIXED, fd, (long)offset);
    if (mapped != (long)(range + before)) {
        (void)raw_munmap(range, 2 * WIO_CHUNK_BYTES);
        return NULL;
    }
    if (before > 0) {
        (void)raw_munmap(range, before);
    }
    (void)raw_munmap(range + before + WIO_CHUNK_BYTES, WIO_CHUNK_BYTES - before);
    return range + before;
}

bool cap_chunk_attach(struct cap_thread *self)
{
    int fd = cap_ring_fd();
    if (fd < 0) {
        return false;
    }
    uint64_t offset = chunk_offset(claim_place(self));
    if (!allocate(fd, offset, WIO_CHUNK_BYTES)) {
        return false;
    }
    uint8_t *map = map_chunk(fd, offset);
    if (map == NULL) {
        return false;
    }
    (void)raw_madvise(map, WIO_CHUNK_BYTES, MADV_DONTFORK);
    struct wio_chunk_header *chunk = (struct wio_chunk_header *)(void *)map;
    if (self->writer == 0) {
        self->writer = self->place; /* any number that no other writer of the image has */
        self->place = 0;
        chunk->chunk_no = 0;
    } else {
        self->place = 0;
        chunk->chunk_no = self->chunk->chunk_no + 1;
    }
    chunk->writer = self->writer;
    __atomic_store_n(&chunk->magic, WIO_CHUNK_MAGIC, __ATOMIC_RELEASE);
    self->chunk = chunk;
    __atomic_store_n(&self->slots, map + WIO_SLOT_BYTES, __ATOMIC_RELAXED);
    return true;
}

void cap_ring_calibrate(uint64_t ticks, uint64_t mono_ns)
{
    uint32_t is_free = 0;
    if (!__atomic_compare_exchange_n(&cap_image->calibration_lock, &is_free, 1, false,
                                     __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        return; /* another thread is at it with a moment that is as good */
    }
    __atomic_store_n(&cap_process.header->end_ticks, ticks, __ATOMIC_RELAXED);
    __atomic_store_n(&cap_process.header->end_mono_ns, mono_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&cap_image->calibration_lock, 0, __ATOMIC_RELEASE);
}

void cap_clock_record(struct cap_thread *self, uint8_t reason)
{
    uint32_t seq;
    uint8_t *bytes = cap_reserve(self, 1, &seq);
    if (bytes == NULL) {
        return;
    }
    struct wio_slot_clock *clock = (struct wio_slot_clock *)(void *)bytes;
    clock->kind = WIO_SLOT_CLOCK;
    clock->reason = reason;
    clock->ticks = cap_now();
    {
        CAP_KEEP_ERRNO;
        clock->mono_ns = wio_clock_mono_ns();
    }
    clock->pid = self->clock_pid;
    clock->tid = self->clock_tid;
    clock->thread = self->token;
    clock->dropped = self->dropped;
    clock->reserved = 0;
    memset(clock->reserved2, 0, sizeof(clock->reserved2));
    cap_ring_calibrate(clock->ticks, clock->mono_ns);
    cap_publish(bytes, 1, seq);
}

void cap_chunk_begin(struct cap_thread *self, uint8_t reason)
{
    uint64_t seq = (uint32_t)(self->chunk->chunk_no * WIO_CHUNK_SLOTS + 1);
    self->chunk->published = 0;
    __atomic_store_n(&self->word, seq << 32, __ATOMIC_RELAXED);
    cap_clock_record(self, reason);
}

/* Copy the full chunk away and use its memory again. */
static bool turn_over(struct cap_thread *self)
{
    int fd = cap_ring_fd();
    if (fd < 0) {
        return false;
    }
    uint64_t offset = chunk_offset(claim_place(self));
    if (!is_within_limit(offset + WIO_CHUNK_BYTES) ||
        raw_pwrite(fd, self->chunk, WIO_CHUNK_BYTES, offset) != WIO_CHUNK_BYTES) {
        return false;
    }
    self->place = 0;
    __atomic_store_n(&self->chunk->chunk_no, self->chunk->chunk_no + 1, __ATOMIC_RELEASE);
    return true;
}

/* With signals blocked. A claim below the end that is not published is being filled by code that
 * this handler interrupted: then its chunk stays where it is, whole in the file, and the writer
 * goes on in another place. */
static bool make_space(struct cap_thread *self, bool is_whole)
{
    if (self->retry_in > 0) {
        self->retry_in--;
        return false;
    }
    if (is_whole ? turn_over(self) : cap_chunk_attach(self)) {
        cap_chunk_begin(self, 0);
        return true;
    }
    self->retry_in = RETRY_EVERY;
    return false;
}

static void drop(struct cap_thread *self, bool is_whole)
{
    self->dropped++;
    (void)__atomic_fetch_add(&cap_process.header->dropped, 1, __ATOMIC_RELAXED);
    self->word = (self->word & ~(uint64_t)UINT32_MAX) | WIO_CHUNK_SLOTS;
    if (is_whole) {
        self->chunk->published = WIO_CHUNK_SLOTS;
    }
}

uint8_t *cap_reserve_slow(struct cap_thread *self, uint32_t slots, uint32_t *seq_out)
{
    uint64_t mask = raw_block_signals();
    uint8_t *place = NULL;
    uint32_t next = (uint32_t)self->word;
    bool is_whole = self->chunk != NULL && next - slots == self->chunk->published;
    if (next + slots <= WIO_CHUNK_SLOTS || make_space(self, is_whole)) {
        place = cap_reserve(self, slots, seq_out);
    } else {
        drop(self, is_whole);
    }
    raw_restore_signals(mask);
    return place;
}
