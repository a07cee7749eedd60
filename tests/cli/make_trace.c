/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes small traces that are the same on every machine, for the tests of the command line:
 *
 *     make_trace KIND DIR
 *
 * Times and sizes are made up, the structure is that of a real run. KIND is one of
 *   checkpoint  two ranks write a file together and read it back; one looks for a missing file
 *   replayed    the same operations below /target, at a third of the speed, without the pauses
 *   bounded     the last events of a run, whose begin was overwritten (record --keep=last)
 *   killed      one rank died by a signal, one has no end; events were dropped, an exec not seen
 *   odd         every odd value: no rank, odd bytes in paths, pending, asynchronous, stdio, mmap
 *   jobs        processes of jobs with odd names: blanks, quotes, colons, UTF-8, odd bytes, 4,096
 * of them; each with one operation of every sort that statistics of jobs have waits       two
 * ranks: a barrier, a message, one that is never received, a lock in turn, a file that one waits
 * for and the other makes empty       a process without any event long N      one rank, N writes of
 * 4 KiB each followed by a read (for measuring)
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <whyio/segment.h>
#include <whyio/trace.h>

#include "ops/calls.h"
#include "ops/image_end.h"
#include "ops/unseen.h"

#define MS UINT64_C(1000000)
#define US UINT64_C(1000)

struct maker {
    struct wio_segment *segment;
    struct wio_error err;
    uint64_t t_ns;  /* of the next event */
    uint64_t scale; /* durations are multiplied by it */
    uint32_t stream;
    const char *root; /* before every path */
};

static void must(struct maker *maker, enum wio_status status)
{
    char text[2048];

    if (status != WIO_OK) {
        wio_error_format(&maker->err, text, sizeof(text));
        fprintf(stderr, "make_trace: %s\n", text);
        exit(1);
    }
}

static uint32_t string_id(struct maker *maker, const char *text)
{
    uint32_t id;
    must(maker, wio_segment_string(maker->segment, text, strlen(text), &id, &maker->err));
    return id;
}

static uint32_t path_id(struct maker *maker, const char *path)
{
    char text[512];
    snprintf(text, sizeof(text), "%s%s", maker->root, path);
    return string_id(maker, text);
}

/* A source without debug information: the module does not exist. */
static uint32_t source_id(struct maker *maker, uint64_t address)
{
    struct wio_frame frame = {"/nowhere/bin/app", "00112233445566778899aabbccddeeff00112233",
                              address};
    uint32_t id;
    must(maker, wio_segment_source(maker->segment, &frame, 1, &id, &maker->err));
    return id;
}

static struct wio_event event_of(enum wio_op op, unsigned call)
{
    return (struct wio_event){.op = (uint16_t)op,
                              .call = (uint16_t)call,
                              .fd = WIO_NO_FD,
                              .fd2 = WIO_NO_FD,
                              .offset = WIO_NO_OFFSET,
                              .offset2 = WIO_NO_OFFSET,
                              .size = WIO_NO_SIZE};
}

/* Append an event that lasts `dur_ns`; the next begins `pause_ns` after it. */
static void append(struct maker *maker, struct wio_event event, uint64_t dur_ns, uint64_t pause_ns)
{
    event.t_ns = maker->t_ns;
    event.dur_ns = dur_ns * maker->scale;
    event.stream = maker->stream;
    maker->t_ns += event.dur_ns + pause_ns;
    must(maker, wio_segment_append(maker->segment, &event, &maker->err));
}

static void start_process(struct maker *maker, struct wio_process_info process, uint64_t t_ns)
{
    uint32_t index;

    process.start_ns = t_ns;
    process.parent = UINT32_MAX;
    must(maker, wio_segment_process(maker->segment, &process, &index, &maker->err));
    must(maker,
         wio_segment_stream(maker->segment, index, process.pid, 0, &maker->stream, &maker->err));
    maker->t_ns = t_ns + 100 * US; /* main() is not reached at once */
}

static struct wio_process_info rank_of(int32_t rank, int32_t pid)
{
    return (struct wio_process_info){.pid = pid,
                                     .ppid = 100,
                                     .rank = rank,
                                     .ranks = 2,
                                     .host = "node1",
                                     .job = "4711",
                                     .exe = "/home/u/bin/app",
                                     .argv = "./app input.dat",
                                     .cwd = "/home/u",
                                     .end = WIO_END_EXIT,
                                     .end_ns = 400 * MS};
}

static void meta(struct maker *maker, unsigned key, const char *value, size_t bytes)
{
    must(maker, wio_segment_meta(maker->segment, key, value, bytes, &maker->err));
}

static void add_file(struct maker *maker, const char *path, uint64_t size)
{
    struct wio_file_info file = {.path = path_id(maker, path),
                                 .type = WIO_FILE_REGULAR,
                                 .mode = 0644,
                                 .size = size,
                                 .fs = string_id(maker, "ext4")};
    must(maker, wio_segment_file(maker->segment, &file, &maker->err));
}

static void open_file(struct maker *maker, const char *path, int64_t flags, int64_t fd, int error)
{
    struct wio_event event = event_of(WIO_OP_open, wio_call_find("open"));

    event.path = path_id(maker, path);
    event.arg[0] = flags;
    event.arg[1] = (flags & O_CREAT) != 0 ? 0644 : 0;
    event.result = error == 0 ? fd : -1;
    event.error = (uint16_t)error;
    event.source = source_id(maker, 0x1234);
    append(maker, event, 20 * US, 5 * US);
}

static void transfer(struct maker *maker, enum wio_op op, const char *path, int64_t offset,
                     uint64_t size)
{
    struct wio_event event = event_of(op, wio_call_find(wio_op_name(op)));

    event.fd = 3;
    event.path = path_id(maker, path);
    event.offset = offset;
    event.size = size;
    event.result = (int64_t)size;
    event.source = source_id(maker, op == WIO_OP_pwrite ? 0x1300 : 0x1400);
    append(maker, event, op == WIO_OP_pwrite ? 800 * US : 300 * US, 10 * US);
}

static void simple(struct maker *maker, enum wio_op op, const char *path, uint64_t dur_ns)
{
    struct wio_event event = event_of(op, wio_call_find(wio_op_name(op)));

    event.fd = 3;
    event.path = path_id(maker, path);
    event.source = source_id(maker, 0x1500);
    append(maker, event, dur_ns, 5 * US);
}

static void make_checkpoint(struct maker *maker, uint64_t pause_ns)
{
    static const char file[] = "/home/u/checkpoint.dat";
    static const char command[] = "mpirun\0-n\0002\0./app\0input.dat";
    const unsigned blocks = 8;
    const uint64_t block = 65536;

    meta(maker, WIO_SEGMENT_META_COMMAND, command, sizeof(command) - 1);
    add_file(maker, file, 2 * blocks * block);
    for (int32_t rank = 0; rank < 2; rank++) {
        start_process(maker, rank_of(rank, 1000 + rank), 0);
        if (rank == 0) {
            open_file(maker, "/home/u/missing.conf", O_RDONLY, 0, ENOENT);
        }
        open_file(maker, file, O_RDWR | O_CREAT, 3, 0);
        for (unsigned i = 0; i < blocks; i++) {
            transfer(maker, WIO_OP_pwrite, file, (int64_t)((2 * i + (unsigned)rank) * block),
                     block);
            maker->t_ns += pause_ns;
        }
        simple(maker, WIO_OP_fsync, file, 5 * MS);
        maker->t_ns = maker->t_ns < 50 * MS ? 50 * MS : maker->t_ns;
        for (unsigned i = 0; i < blocks; i++) {
            transfer(maker, WIO_OP_pread, file, (int64_t)((2 * i + 1 - (unsigned)rank) * block),
                     block);
        }
        simple(maker, WIO_OP_close, file, 10 * US);
    }
}

static void make_killed(struct maker *maker)
{
    uint64_t unseen[WIO_UNSEEN_COUNT] = {[WIO_UNSEEN_STATIC_EXEC] = 2};
    struct wio_process_info process = rank_of(0, 1000);

    process.end = WIO_END_SIGNAL;
    process.end_status = 9;
    process.dropped = 5;
    process.unseen = unseen;
    process.unseen_count = WIO_UNSEEN_COUNT;
    add_file(maker, "/home/u/a", 4096);
    start_process(maker, process, 0);
    open_file(maker, "/home/u/a", O_WRONLY | O_CREAT | O_TRUNC, 3, 0);
    transfer(maker, WIO_OP_pwrite, "/home/u/a", 0, 4096);
    process = rank_of(1, 1001);
    process.end = WIO_END_NONE;
    start_process(maker, process, 0);
    transfer(maker, WIO_OP_pwrite, "/home/u/a", 4096, 4096);
}

/* Of a long run the last events: its begin was overwritten. */
static void make_bounded(struct maker *maker)
{
    static const char bound[] = "max_size 67108864\nkeep last\n";
    struct wio_process_info process = rank_of(0, 1000);

    must(maker, wio_segment_meta(maker->segment, WIO_SEGMENT_META_BOUND, bound, sizeof(bound) - 1,
                                 &maker->err));
    add_file(maker, "/home/u/log", 1 << 30);
    process.dropped = 1500000;
    process.evicted = 1500000;
    start_process(maker, process, 0);
    transfer(maker, WIO_OP_write, "/home/u/log", 1 << 20, 4096);
    process = rank_of(1, 1001);
    process.dropped = 3;
    process.evicted = 2;
    start_process(maker, process, 0);
    transfer(maker, WIO_OP_write, "/home/u/log", 1 << 21, 4096);
}

static void make_odd_calls(struct maker *maker)
{
    struct wio_event event = event_of(WIO_OP_fread, wio_call_find("fread"));

    event.fd = 4;
    event.path = string_id(maker, "/data/caf\xc3\xa9 \"x\"\n\xff");
    event.size = 64;
    event.result = 64;
    event.offset = 0;
    append(maker, event, 3 * US, 0);
    event.op = WIO_OP_read;
    event.call = (uint16_t)wio_call_find("read");
    event.size = event.result = 4096;
    event.flags = WIO_EVENT_CAUSED;
    maker->t_ns -= 2 * US;
    append(maker, event, 1 * US, US);
    event = event_of(WIO_OP_fread, wio_call_find("fread"));
    event.fd = 4;
    event.size = event.result = 64;
    event.flags = WIO_EVENT_BUFFERED;
    append(maker, event, 0, US);
    event = event_of(WIO_OP_aio_write, wio_call_find("aio_write"));
    event.fd = 5;
    event.path = string_id(maker, "/data/aio");
    event.offset = 1 << 20;
    event.size = 8192;
    event.result = WIO_RESULT_PENDING;
    event.flags = WIO_EVENT_ASYNC | WIO_EVENT_RAW;
    append(maker, event, 0, US);
}

static void make_odd(struct maker *maker)
{
    struct wio_process_info process = {.pid = 77,
                                       .rank = -1,
                                       .host = "",
                                       .job = "",
                                       .exe = "/bin/odd",
                                       .argv = "",
                                       .cwd = "/",
                                       .end = WIO_END_EXIT,
                                       .end_ns = MS};
    struct wio_event event;

    start_process(maker, process, 0);
    make_odd_calls(maker);
    event = event_of(WIO_OP_copy_file_range, wio_call_find("copy_file_range"));
    event.fd = 6;
    event.fd2 = 7;
    event.path = string_id(maker, "/data/to");
    event.path2 = string_id(maker, "/data/from");
    event.offset = 0;
    event.offset2 = 4096;
    event.size = event.result = 12288;
    append(maker, event, 40 * US, US);
    event = event_of(WIO_OP_rename, wio_call_find("rename"));
    event.path = string_id(maker, "/data/a");
    event.path2 = string_id(maker, "/data/b");
    event.result = -1;
    event.error = EACCES;
    append(maker, event, 9 * US, US);
    event = event_of(WIO_OP_write, wio_call_find("write"));
    event.fd = 1;
    event.path = string_id(maker, "pipe:[4711]");
    event.size = event.result = 10;
    append(maker, event, 2 * US, US);
    event = event_of(WIO_OP_mmap, wio_call_find("mmap"));
    event.fd = 8;
    event.path = string_id(maker, "/data/map");
    event.offset = 0;
    event.size = 8192;
    event.result = 0x7f0000000000;
    event.arg[0] = 3;
    event.arg[1] = 1;
    append(maker, event, 2 * US, US);
}

/* An event of MPI; args as FORMAT.md#mpi has them. */
static void mpi(struct maker *maker, enum wio_op op, uint64_t dur_ns, const int64_t *args)
{
    struct wio_event event = event_of(op, wio_call_find(wio_op_name(op)));

    memcpy(event.arg, args, sizeof(event.arg));
    event.size = 8;
    event.result = op == WIO_OP_MPI_Recv ? 8 : 0;
    event.flags = op == WIO_OP_mpi_comm ? WIO_EVENT_CAUSED : 0;
    append(maker, event, dur_ns, 5 * US);
}

static void look(struct maker *maker, const char *path, int error)
{
    struct wio_event event = event_of(WIO_OP_stat, wio_call_find("stat"));

    event.path = path_id(maker, path);
    event.result = error == 0 ? 0 : -1;
    event.error = (uint16_t)error;
    append(maker, event, 2 * US, 500 * US);
}

static void file_lock(struct maker *maker, int64_t operation, uint64_t dur_ns)
{
    struct wio_event event = event_of(WIO_OP_flock, wio_call_find("flock"));

    event.fd = 4;
    event.path = path_id(maker, "/home/u/lock");
    event.arg[0] = operation;
    append(maker, event, dur_ns, 5 * US);
}

/* Rank 0 sends, has the lock first, and makes the file; rank 1 waits each time. */
static void make_waits(struct maker *maker)
{
    static const char file[] = "/home/u/data";

    add_file(maker, file, 4096);
    for (int32_t rank = 0; rank < 2; rank++) {
        start_process(maker, rank_of(rank, 1000 + rank), 0);
        mpi(maker, WIO_OP_mpi_comm, 0, (int64_t[4]){0x5a, rank, 2, 0});
        mpi(maker, WIO_OP_MPI_Barrier, (rank == 0 ? 1 : 2) * MS, (int64_t[4]){0x5a, 0, -1, 0});
        maker->t_ns = 3 * MS;
        transfer(maker, WIO_OP_pwrite, file, rank * 4096, 4096);
        if (rank == 0) {
            mpi(maker, WIO_OP_MPI_Send, 10 * US, (int64_t[4]){0x5a, 1, 7, 0});
            mpi(maker, WIO_OP_MPI_Send, 10 * US, (int64_t[4]){0x5a, 1, 8, 0});
        } else {
            mpi(maker, WIO_OP_MPI_Recv, MS, (int64_t[4]){0x5a, 0, 7, 0});
        }
        maker->t_ns = 6 * MS + (uint64_t)rank * 100 * US;
        file_lock(maker, LOCK_EX, rank == 0 ? US : MS);
        transfer(maker, WIO_OP_pwrite, file, 8192, 4096);
        file_lock(maker, LOCK_UN, US);
        maker->t_ns = 10 * MS;
        if (rank == 0) {
            maker->t_ns = 12 * MS;
            open_file(maker, "/home/u/flag", O_WRONLY | O_CREAT | O_EXCL, 5, 0);
        } else {
            for (unsigned i = 0; i < 3; i++) {
                look(maker, "/home/u/flag", ENOENT);
            }
            maker->t_ns = 13 * MS;
            look(maker, "/home/u/flag", 0);
        }
    }
}

static void make_long(struct maker *maker, uint64_t count)
{
    start_process(maker, rank_of(0, 1000), 0);
    open_file(maker, "/home/u/big", O_RDWR | O_CREAT, 3, 0);
    for (uint64_t i = 0; i < count; i++) {
        transfer(maker, i < count / 2 ? WIO_OP_pwrite : WIO_OP_pread, "/home/u/big",
                 (int64_t)(i * 4096), 4096);
    }
}

static void make_slow(struct maker *maker)
{
    char file[32];
    start_process(maker, rank_of(0, 1000), 0);
    open_file(maker, "/home/u/log", O_RDWR | O_CREAT, 3, 0);
    for (int i = 0; i < 8; i++) {
        transfer(maker, WIO_OP_pwrite, "/home/u/log", (int64_t)i * 65536, 65536);
        simple(maker, WIO_OP_fsync, "/home/u/log", 5 * MS);
    }
    simple(maker, WIO_OP_close, "/home/u/log", 10 * US);
    for (int i = 0; i < 4; i++) {
        snprintf(file, sizeof(file), "/home/u/small/%d", i);
        open_file(maker, file, O_RDWR | O_CREAT, 3, 0);
        transfer(maker, WIO_OP_pwrite, file, 0, 4096);
        simple(maker, WIO_OP_close, file, 10 * US);
    }
    start_process(maker, rank_of(1, 1001), 0);
    open_file(maker, "/home/u/other", O_RDWR | O_CREAT, 3, 0);
    transfer(maker, WIO_OP_pwrite, "/home/u/other", 0, 4096);
}

/* A flush after every 4 KiB, on a file system of this type, and others that are few. */
static void make_storm(struct maker *maker, const char *fs)
{
    static const char log[] = "/home/u/log";
    struct wio_file_info file = {.path = path_id(maker, log),
                                 .type = WIO_FILE_REGULAR,
                                 .mode = 0644,
                                 .size = 64 * 4096,
                                 .fs = string_id(maker, fs)};
    if (strcmp(fs, "lustre") == 0) {
        file.target = string_id(maker, "stripe_count=4 stripe_size=1048576");
    }
    must(maker, wio_segment_file(maker->segment, &file, &maker->err));
    start_process(maker, rank_of(-1, 1000), 0);
    open_file(maker, log, O_RDWR | O_CREAT, 3, 0);
    for (int i = 0; i < 64; i++) {
        transfer(maker, WIO_OP_pwrite, log, (int64_t)i * 4096, 4096);
        simple(maker, WIO_OP_fsync, log, 5 * MS);
    }
    simple(maker, WIO_OP_close, log, 10 * US);
}

/* An operation on a name, which succeeds or fails. */
static void on_name(struct maker *maker, enum wio_op op, const char *path, const char *path2,
                    int64_t argument, int error)
{
    struct wio_event event = event_of(op, wio_call_find(wio_op_name(op)));

    event.path = path_id(maker, path);
    event.path2 = path2 != NULL ? path_id(maker, path2) : WIO_NO_STRING;
    event.arg[0] = argument;
    event.result = error == 0 ? 0 : -1;
    event.error = (uint16_t)error;
    append(maker, event, 7 * US, US);
}

static void make_job(struct maker *maker, const char *job, int32_t number)
{
    struct wio_process_info process = rank_of(-1, 2000 + number);

    process.job = job;
    start_process(maker, process, (uint64_t)number * MS);
    open_file(maker, "/home/u/in", O_RDONLY, 3, 0);
    for (int i = 0; i <= number; i++) {
        transfer(maker, WIO_OP_pread, "/home/u/in", 1000 * i, 1000u << number);
        transfer(maker, WIO_OP_write, "pipe:[1]", 0, 10);
    }
    simple(maker, WIO_OP_close, "/home/u/in", US);
}

static void make_all_operations(struct maker *maker)
{
    static const char from[] = "/home/u/dir/a";
    struct wio_process_info process = rank_of(-1, 3000);

    process.job = "dd.4854";
    start_process(maker, process, 100 * MS);
    on_name(maker, WIO_OP_mkdir, "/home/u/dir", NULL, 0755, 0);
    on_name(maker, WIO_OP_mkdir, "/home/u/dir", NULL, 0755, EEXIST);
    open_file(maker, from, O_RDWR | O_CREAT, 3, 0);
    transfer(maker, WIO_OP_pwrite, from, 0, 1 << 20);
    simple(maker, WIO_OP_fdatasync, from, 5 * MS);
    on_name(maker, WIO_OP_ftruncate, from, NULL, 0, 0);
    on_name(maker, WIO_OP_fallocate, from, NULL, 0, 0);
    on_name(maker, WIO_OP_fallocate, from, NULL, 3 /* punches a hole, keeps the size */, 0);
    on_name(maker, WIO_OP_lstat, from, NULL, 0, 0);
    on_name(maker, WIO_OP_chmod, from, NULL, 0600, 0);
    on_name(maker, WIO_OP_umask, from, NULL, 077, 0);
    on_name(maker, WIO_OP_getxattr, from, NULL, 0, 0);
    on_name(maker, WIO_OP_fremovexattr, from, NULL, 0, 0);
    on_name(maker, WIO_OP_statfs, from, NULL, 0, 0);
    on_name(maker, WIO_OP_link, from, "/home/u/dir/b", 0, 0);
    on_name(maker, WIO_OP_symlink, from, "b", 0, 0);
    on_name(maker, WIO_OP_readdir, "/home/u/dir", NULL, 0, 0);
    on_name(maker, WIO_OP_rename, from, "/home/u/dir/c", 0, 0);
    on_name(maker, WIO_OP_rename, from, "/home/u/other/c", 0, 0);
    on_name(maker, WIO_OP_unlink, from, NULL, 0, 0);
    on_name(maker, WIO_OP_unlink, "/home/u/dir", NULL, AT_REMOVEDIR, 0);
    simple(maker, WIO_OP_close, from, 10 * US);
}

static void make_jobs(struct maker *maker)
{
    static char longest[4097];
    static const char *const names[] = {
        "4711", "4712", "a b:c\"d'e\\f", "caf\xc3\xa9 \xff", "true", "", "1e3", "@odd", longest};

    memset(longest, 'n', sizeof(longest) - 1);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        make_job(maker, names[i], (int32_t)i);
    }
    make_all_operations(maker);
}

static void make_kind(struct maker *maker, const char *kind, const char *count)
{
    if (strcmp(kind, "checkpoint") == 0) {
        make_checkpoint(maker, 2 * MS);
    } else if (strcmp(kind, "replayed") == 0) {
        maker->root = "/target";
        maker->scale = 3;
        make_checkpoint(maker, 0);
    } else if (strcmp(kind, "killed") == 0) {
        make_killed(maker);
    } else if (strcmp(kind, "bounded") == 0) {
        make_bounded(maker);
    } else if (strcmp(kind, "odd") == 0) {
        make_odd(maker);
    } else if (strcmp(kind, "jobs") == 0) {
        make_jobs(maker);
    } else if (strcmp(kind, "waits") == 0) {
        make_waits(maker);
    } else if (strcmp(kind, "empty") == 0) {
        start_process(maker, rank_of(-1, 1000), 0);
    } else if (strcmp(kind, "slow") == 0) {
        make_slow(maker);
    } else if (strcmp(kind, "storm") == 0) {
        make_storm(maker, count != NULL ? count : "ext4");
    } else if (strcmp(kind, "long") == 0 && count != NULL) {
        make_long(maker, strtoull(count, NULL, 10));
    } else {
        fprintf(stderr, "make_trace: no such kind: %s\n", kind);
        exit(2);
    }
}

int main(int argc, char **argv)
{
    struct wio_segment_params params = {.struct_size = sizeof(params),
                                        .base_unix_ns = UINT64_C(1700000000000000000),
                                        .boot_id = ""};
    struct maker maker = {.scale = 1, .root = ""};
    char name[4096];

    if (argc < 3) {
        fprintf(stderr, "usage: make_trace KIND DIR [N]\n");
        return 2;
    }
    if (mkdir(argv[2], 0777) != 0 && errno != EEXIST) {
        perror(argv[2]);
        return 1;
    }
    snprintf(name, sizeof(name), "%s/node1.seg", argv[2]);
    must(&maker, wio_segment_create(name, &params, &maker.segment, &maker.err));
    meta(&maker, WIO_SEGMENT_META_VERSION, "0.1.0", 5);
    meta(&maker, WIO_SEGMENT_META_RECORDER_DONE, "1", 1);
    make_kind(&maker, argv[1], argc > 3 ? argv[3] : NULL);
    must(&maker, wio_segment_finish(maker.segment, &maker.err));
    return 0;
}
