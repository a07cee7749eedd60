/* SPDX-License-Identifier: Apache-2.0 */
/* Which paths of a trace are one file: symbolic links, directories that get other names, and file
 * systems that each of two machines has for itself. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <whyio/segment.h>

#include "edges/edges.h"
#include "ops/calls.h"
#include "support/unit.h"

/* A machine with one process; the times of all are true. */
struct machine {
    struct wio_segment *segment;
    struct wio_error err;
    uint32_t stream;
};

static void must(struct machine *machine, enum wio_status status)
{
    assert_status(status, WIO_OK, &machine->err);
}

static struct machine begin(const char *dir, const char *host, const char *boot, const char *mounts)
{
    struct machine machine = {.err = WIO_ERROR_INIT};
    const struct wio_segment_params params = {.struct_size = sizeof(params), .boot_id = boot};
    const struct wio_process_info process = {.pid = 100 + host[0],
                                             .rank = -1,
                                             .host = host,
                                             .job = "",
                                             .exe = "",
                                             .argv = "",
                                             .cwd = "",
                                             .parent = UINT32_MAX};
    char name[512];
    uint32_t index = 0;
    (void)snprintf(name, sizeof(name), "%s/%s.seg", dir, host);
    must(&machine, wio_segment_create(name, &params, &machine.segment, &machine.err));
    must(&machine, wio_segment_meta(machine.segment, WIO_SEGMENT_META_HOST, host, strlen(host),
                                    &machine.err));
    must(&machine, wio_segment_meta(machine.segment, WIO_SEGMENT_META_MOUNTS, mounts,
                                    strlen(mounts), &machine.err));
    must(&machine, wio_segment_process(machine.segment, &process, &index, &machine.err));
    must(&machine,
         wio_segment_stream(machine.segment, index, process.pid, 0, &machine.stream, &machine.err));
    return machine;
}

static uint32_t string(struct machine *machine, const char *text)
{
    uint32_t id = 0;
    if (text != NULL) {
        must(machine, wio_segment_string(machine->segment, text, strlen(text), &id, &machine->err));
    }
    return id;
}

static void add(struct machine *machine, enum wio_op op, uint64_t at_ns, const char *path,
                const char *path2, int64_t arg)
{
    struct wio_event event = {.op = (uint16_t)op,
                              .stream = machine->stream,
                              .t_ns = at_ns,
                              .dur_ns = 1,
                              .fd = op == WIO_OP_flock || op == WIO_OP_close ? 5 : WIO_NO_FD,
                              .fd2 = WIO_NO_FD,
                              .offset = WIO_NO_OFFSET,
                              .offset2 = WIO_NO_OFFSET,
                              .size = WIO_NO_SIZE,
                              .result = op == WIO_OP_open ? 5 : 0,
                              .path = string(machine, path),
                              .path2 = string(machine, path2),
                              .arg = {arg}};
    must(machine, wio_segment_append(machine->segment, &event, &machine->err));
}

/* Takes a lock and gives it back. */
static void lock(struct machine *machine, uint64_t at_ns, const char *path)
{
    add(machine, WIO_OP_open, at_ns, path, NULL, O_RDWR | O_CREAT);
    add(machine, WIO_OP_flock, at_ns + 2, path, NULL, LOCK_EX);
    add(machine, WIO_OP_close, at_ns + 4, path, NULL, 0);
}

static void add_link(struct machine *machine, const char *path, const char *target)
{
    const struct wio_file_info file = {
        .path = string(machine, path), .type = WIO_FILE_SYMLINK, .target = string(machine, target)};
    must(machine, wio_segment_file(machine->segment, &file, &machine->err));
}

static void finish(struct machine *machine)
{
    add(machine, WIO_OP_fsync, 100000, "/x", NULL, 0); /* it lives on */
    must(machine, wio_segment_finish(machine->segment, &machine->err));
}

static char *new_dir(const char *name)
{
    char *path = wio_test_path(name);
    assert_int_equal(mkdir(path, 0777), 0);
    return path;
}

/* How many edges there are. */
static unsigned count_edges(const char *dir)
{
    const struct wio_join_params params = {.struct_size = sizeof(params), .in_memory = true};
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_trace *trace = NULL;
    struct wio_edge_cursor *cursor = NULL;
    const struct wio_edge_filter filter = {.struct_size = sizeof(filter), .kind = WIO_EDGES_IN};
    const struct wio_edge_row *row = NULL;
    unsigned count = 0;
    assert_ok(wio_trace_open(dir, &trace, &err), &err);
    assert_ok(wio_join(trace, &params, &err), &err);
    assert_ok(wio_edge_cursor_create(wio_trace_edges(trace), &filter, &cursor, &err), &err);
    enum wio_status status;
    while ((status = wio_edge_cursor_next(cursor, &row, &err)) == WIO_OK) {
        count++;
    }
    assert_status(status, WIO_END, &err);
    wio_edge_cursor_destroy(cursor);
    wio_trace_close(trace);
    return count;
}

#define ROOT "21 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
#define TMP "22 21 0:20 / /tmp rw - tmpfs tmpfs rw\n"
#define NET "23 21 0:40 / /net rw - nfs4 server:/export rw\n"

static void two(const char *name, const char *boot, const char *first, const char *second,
                unsigned edges)
{
    char *dir = new_dir(name);
    struct machine one = begin(dir, "a", "boot-1", ROOT TMP NET);
    struct machine other = begin(dir, "b", boot, ROOT TMP NET);
    add_link(&one, "/home", "net/home");
    add_link(&other, "/link", "/tmp");
    lock(&one, 1000, first);
    lock(&other, 2000, second);
    finish(&one);
    finish(&other);
    assert_int_equal(count_edges(dir), edges);
    free(dir);
}

/* Machines share what lies on a file system that is made for it; containers share all of it. */
static void machines_have_files_of_their_own(void **state)
{
    (void)state;
    two("tmp", "boot-2", "/tmp/lock", "/tmp/lock", 0);
    two("root", "boot-2", "/var/lock", "/var/lock", 0);
    two("net", "boot-2", "/net/lock", "/net/lock", 1);
    two("home", "boot-2", "/home/me/lock", "/home/me/lock", 1);
    two("machine", "boot-1", "/tmp/lock", "/tmp/lock", 1);
    two("unknown", "", "/tmp/lock", "/tmp/lock", 1);
}

static void links_are_followed(void **state)
{
    (void)state;
    two("direct", "boot-1", "/tmp/lock", "/link/lock", 1);
    two("twice", "boot-1", "/link/./lock", "/link/lock", 1);
    two("far", "boot-2", "/net/home/lock", "/home/lock", 1);
    two("else", "boot-1", "/net/lock", "/link/lock", 0);
}

/* The run made them itself: a link, and another name of a directory. */
static void names_that_the_run_gives(void **state)
{
    static const struct {
        enum wio_op op;
        const char *path;
        const char *path2;
        const char *second;
        unsigned edges;
    } cases[] = {
        {WIO_OP_symlink, "/tmp/new", "dir", "/tmp/new/lock", 1},
        {WIO_OP_symlink, "/tmp/new", "other", "/tmp/new/lock", 0},
        {WIO_OP_rename, "/tmp/dir", "/tmp/new", "/tmp/new/lock", 1},
        {WIO_OP_rename, "/tmp/dir", "/tmp/new", "/tmp/dir/lock", 0},
        {WIO_OP_rename, "/tmp/di", "/tmp/new", "/tmp/dir/lock", 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "made%zu", i);
        char *dir = new_dir(name);
        struct machine one = begin(dir, "a", "boot-1", ROOT TMP);
        struct machine other = begin(dir, "b", "boot-1", ROOT TMP);
        lock(&one, 1000, "/tmp/dir/lock");
        add(&one, cases[i].op, 1500, cases[i].path, cases[i].path2, 0);
        lock(&other, 2000, cases[i].second);
        finish(&one);
        finish(&other);
        assert_int_equal(count_edges(dir), cases[i].edges);
        free(dir);
    }
}

/* Links that go round, or to nowhere, leave names as they are. */
static void odd_links_are_left_alone(void **state)
{
    (void)state;
    char *dir = new_dir("odd");
    struct machine one = begin(dir, "a", "boot-1", ROOT);
    struct machine other = begin(dir, "b", "boot-1", ROOT);
    add_link(&one, "/p", "/q");
    add_link(&one, "/q", "p");
    add_link(&one, "/up", "../../..");
    add_link(&one, "/long", "/long/long/long");
    lock(&one, 1000, "/p/lock");
    lock(&one, 1100, "/long/lock");
    lock(&one, 1200, "/up/var/lock");
    lock(&other, 2000, "/p/lock");
    lock(&other, 2100, "/q/lock");
    lock(&other, 2200, "/var/lock");
    finish(&one);
    finish(&other);
    assert_int_equal(count_edges(dir), 2);
    free(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(machines_have_files_of_their_own),
        cmocka_unit_test(links_are_followed),
        cmocka_unit_test(names_that_the_run_gives),
        cmocka_unit_test(odd_links_are_left_alone),
    };
    return WIO_RUN(tests);
}
