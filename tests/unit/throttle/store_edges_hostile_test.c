/* SPDX-License-Identifier: Apache-2.0 */
/* Directories that change while they are read, and files that no recorder made. */
#include "store_edges_dirs.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/io.h"

static ino_t inode_of(int at, const char *name)
{
    struct stat st;
    assert_int_equal(fstatat(at, name, &st, 0), 0);
    return st.st_ino;
}

/* Another directory has got the trace's name since it was opened: edges go where the trace is. */
static void edges_go_into_the_directory_that_is_open(void **state)
{
    (void)state;
    const struct wio_join_params params = {.struct_size = sizeof(params)};
    struct wio_error err = WIO_ERROR_INIT;
    char *dir = make_held("swapped");
    char *away = wio_test_path("swapped.away");
    char *other = make_dir("swapped.other");
    write_segment(dir, "a.seg", 300); /* what is stored does not fit any more */
    struct wio_trace *trace = open_trace(dir);
    assert_null(wio_trace_edges(trace));
    assert_int_equal(rename(dir, away), 0);
    assert_int_equal(symlink(other, dir), 0);
    assert_ok(wio_join(trace, &params, &err), &err);
    assert_non_null(wio_trace_edges(trace));
    wio_trace_close(trace);
    assert_false(has(other, "trace.edges") || has(other, "trace.held"));
    trace = open_trace(away);
    assert_non_null(wio_trace_edges(trace));
    wio_trace_close(trace);
    assert_int_equal(unlink(dir), 0);
    free(dir);
    free(away);
    free(other);
}

/* Two directories change names all the time: a trace is one of them, never parts of both. */
static void a_trace_is_one_directory(void **state)
{
    (void)state;
    char *dirs[2] = {make_held("one-of-two"), wio_test_path("other-of-two")};
    assert_int_equal(mkdir(dirs[1], 0777), 0);
    write_segment(dirs[1], "m.seg", 500);
    const ino_t first = inode_of(AT_FDCWD, dirs[0]);
    unsigned seen[2] = {0, 0};
    pid_t pid = fork();
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* also where the test fails */
        for (;;) {
            (void)renameat2(AT_FDCWD, dirs[0], AT_FDCWD, dirs[1], RENAME_EXCHANGE);
        }
    }
    for (unsigned i = 0; i < 400; i++) {
        struct wio_trace *trace = open_trace(dirs[0]);
        const bool is_first = inode_of(wio_trace_directory(trace), ".") == first;
        assert_int_equal(pid_of(trace, 0), is_first ? 100 : 500);
        assert_true((wio_trace_edges(trace) != NULL) == is_first);
        seen[is_first]++;
        wio_trace_close(trace);
    }
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_true(seen[0] > 0 && seen[1] > 0);
    free(dirs[0]);
    free(dirs[1]);
}

static unsigned open_descriptors(void)
{
    unsigned count = 0;
    for (int fd = 0; fd < 1024; fd++) {
        count += fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
    }
    return count;
}

/* Whatever is wrong with it, in each byte. */
static void damage_leaks_no_descriptors(void **state)
{
    (void)state;
    static const char *const names[] = {"trace.held", "trace.edges", "m.seg"};
    const struct wio_join_params params = {.struct_size = sizeof(params)};
    char *dir = make_held("leaks");
    const unsigned before = open_descriptors();
    unsigned failed = 0;
    for (unsigned k = 0; k < 3; k++) {
        struct wio_blob bytes = {0};
        char path[512];
        (void)snprintf(path, sizeof(path), "%s/%s", dir, names[k]);
        assert_ok(wio_io_read_file(path, 1u << 20, &bytes, NULL), NULL);
        for (size_t i = 0; i < bytes.size; i += 7) {
            struct wio_trace *trace = NULL;
            bytes.data[i] ^= 0x41;
            wio_test_write(path, bytes.data, bytes.size);
            if (wio_trace_open_events(dir, &trace, NULL) == WIO_OK) {
                failed += wio_join(trace, &params, NULL) != WIO_OK;
            }
            wio_trace_close(trace);
            trace = NULL;
            failed += wio_trace_open(dir, &trace, NULL) != WIO_OK;
            wio_trace_close(trace);
            bytes.data[i] ^= 0x41;
        }
        wio_test_write(path, bytes.data, bytes.size);
        wio_blob_fini(&bytes);
        assert_int_equal(open_descriptors(), before);
    }
    assert_true(failed > 0);
    free(dir);
}

/* A small file that unpacks to more edges than a trace of its size has: R-DAMAGE-3. */
static void held_edges_are_bounded(void **state)
{
    (void)state;
    const size_t count = 4000000; /* of 32 bytes; 64 MiB and 256 times the trace are allowed */
    struct wio_held_edge *edges = calloc(count, sizeof(*edges));
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_held held;
    struct stat st;
    char *dir = make_dir("bounded");
    struct wio_trace *trace = open_trace(dir);
    for (size_t i = 0; i < count; i++) {
        edges[i] = found[0];
    }
    assert_ok(wio_held_file_write(trace, edges, count, false, &err), &err);
    free(edges);
    assert_int_equal(fstatat(wio_trace_directory(trace), "trace.held", &st, 0), 0);
    assert_true(st.st_size < 200000);
    assert_status(wio_held_file_read(trace, &held, &err), WIO_ERR_UNSUPPORTED, &err);
    assert_non_null(strstr(err.message, "held edges of at most 64 MiB"));
    assert_null(held.edges);
    wio_trace_close(trace);
    free(dir);
}

int main(void)
{
    wio_test_in_memory();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_go_into_the_directory_that_is_open),
        cmocka_unit_test(a_trace_is_one_directory),
        cmocka_unit_test(damage_leaks_no_descriptors),
        cmocka_unit_test(held_edges_are_bounded),
    };
    return WIO_RUN(tests);
}
