/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state beside the kernel: random calls on real files, each told to a state as an event; then
 * every name and every descriptor must mean the same file to both. Files are told apart by their
 * inode, which no other file gets while a descriptor holds it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/state/world.h"

enum { STEPS = 500, SEEDS = 60, NAMES = 3, DEPTH = 3, PATHS = 3 + 9 + 27, FD_BASE = 100, FDS = 6 };

struct run {
    struct world w;
    uint64_t random;
    char paths[PATHS][512];
    int real[FDS];        /* descriptors of the program FD_BASE .. */
    ino_t inode_of[8192]; /* by number of the state's file; 0 = not met yet */
};

static unsigned pick(struct run *run, unsigned count)
{
    return (unsigned)(wio_test_random(&run->random) % count);
}

/* All paths of names a, b, c down to three levels: some will be directories, some files. */
static void name_paths(struct run *run, const char *dir)
{
    unsigned n = 0;
    for (unsigned depth = 1; depth <= DEPTH; depth++) {
        unsigned all = depth == 1 ? NAMES : depth == 2 ? NAMES * NAMES : NAMES * NAMES * NAMES;
        for (unsigned i = 0; i < all; i++) {
            size_t at = (size_t)snprintf(run->paths[n], sizeof(run->paths[n]), "%s", dir);
            for (unsigned d = depth, rest = i; d > 0; d--, rest /= NAMES) {
                at += (size_t)snprintf(run->paths[n] + at, sizeof(run->paths[n]) - at, "/%c",
                                       'a' + (int)(rest % NAMES));
            }
            n++;
        }
    }
    assert_int_equal(n, PATHS);
}

/* Keeps the inode from being used again. */
static void hold(const char *path)
{
    const int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    (void)fd; /* open until the end of the program */
}

static void tell(struct run *run, struct wio_event event, long result)
{
    event.error = result < 0 ? (uint16_t)errno : 0;
    event.result = result;
    do_event(&run->w, event);
}

static void do_open(struct run *run, const char *path)
{
    static const int kinds[] = {O_RDONLY, O_RDWR | O_CREAT, O_RDWR | O_CREAT | O_EXCL};
    const int flags = kinds[pick(run, 3)];
    const unsigned slot = pick(run, FDS);
    const int fd = open(path, flags | O_CLOEXEC, 0600);
    const struct wio_event event = {.op = WIO_OP_open, .path = text(&run->w, path), .arg = {flags}};
    if (fd < 0) {
        tell(run, event, -1);
        return;
    }
    hold(path);
    if (run->real[slot] >= 0) {
        close(run->real[slot]);
        do_event(&run->w, (struct wio_event){.op = WIO_OP_close, .fd = FD_BASE + (int)slot});
    }
    run->real[slot] = fd;
    tell(run, event, FD_BASE + (int)slot);
}

static void do_dup(struct run *run)
{
    const unsigned from = pick(run, FDS);
    const unsigned to = pick(run, FDS);
    if (run->real[from] < 0 || from == to) {
        return;
    }
    const int fd = dup(run->real[from]);
    assert_true(fd >= 0);
    if (run->real[to] >= 0) {
        close(run->real[to]);
    }
    run->real[to] = fd;
    do_event(&run->w, (struct wio_event){.op = WIO_OP_dup2,
                                         .fd = FD_BASE + (int)from,
                                         .result = FD_BASE + (int)to});
}

static void do_two_names(struct run *run, const char *from, const char *to)
{
    const uint32_t path = text(&run->w, from);
    const uint32_t path2 = text(&run->w, to);
    struct wio_event event = {.op = WIO_OP_rename, .path = path, .path2 = path2};
    switch (pick(run, 4)) {
    case 0:
        event.op = WIO_OP_link;
        tell(run, event, link(from, to));
        break;
    case 1:
        event.arg[0] = RENAME_EXCHANGE;
        tell(run, event, renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE));
        break;
    default:
        tell(run, event, rename(from, to));
    }
}

static void do_one_name(struct run *run, const char *path, const char *other)
{
    struct wio_event event = {.path = text(&run->w, path)};
    long result;
    switch (pick(run, 5)) {
    case 0:
        event.op = WIO_OP_unlink;
        result = unlink(path);
        break;
    case 1:
        event.op = WIO_OP_rmdir;
        result = rmdir(path);
        break;
    case 2:
        event.op = WIO_OP_symlink;
        event.path2 = text(&run->w, other);
        result = symlink(other, path);
        break;
    default:
        event.op = WIO_OP_mkdir;
        result = mkdir(path, 0700);
    }
    tell(run, event, result);
    if (result == 0 && event.op != WIO_OP_unlink && event.op != WIO_OP_rmdir) {
        hold(path);
    }
}

/* One file of the state, one inode. */
static void compare(struct run *run, uint32_t file, ino_t inode, const char *what)
{
    assert_true(file < sizeof(run->inode_of) / sizeof(run->inode_of[0]));
    for (uint32_t i = 0; run->inode_of[file] == 0 && i < 8192; i++) {
        if (run->inode_of[i] == inode) {
            fail_msg("%s: file %u, but inode %lu is file %u", what, file, (unsigned long)inode, i);
        }
    }
    if (run->inode_of[file] != 0 && run->inode_of[file] != inode) {
        fail_msg("%s: file %u is inode %lu, not %lu", what, file,
                 (unsigned long)run->inode_of[file], (unsigned long)inode);
    }
    run->inode_of[file] = inode;
}

static void compare_all(struct run *run)
{
    struct stat st;
    for (unsigned i = 0; i < PATHS; i++) {
        if (stat(run->paths[i], &st) == 0) {
            compare(run, named(&run->w, 0, run->paths[i]).file, st.st_ino, run->paths[i]);
        }
    }
    for (int slot = 0; slot < FDS; slot++) {
        const struct wio_state_file file = behind_fd(&run->w, 0, FD_BASE + slot);
        assert_int_equal(file.file == WIO_NO_INDEX, run->real[slot] < 0);
        if (run->real[slot] >= 0) {
            assert_int_equal(fstat(run->real[slot], &st), 0);
            compare(run, file.file, st.st_ino, "a descriptor");
        }
    }
}

static void random_calls(uint64_t seed)
{
    static struct run run;
    char name[32];
    (void)snprintf(name, sizeof(name), "seed-%u", (unsigned)seed);
    char *dir = wio_test_path(name);
    run = (struct run){.random = seed};
    memset(run.real, -1, sizeof(run.real));
    world_begin(&run.w, NULL);
    assert_int_equal(mkdir(dir, 0700), 0);
    name_paths(&run, dir);
    for (int step = 0; step < STEPS; step++) {
        const char *path = run.paths[pick(&run, PATHS)];
        const char *other = run.paths[pick(&run, PATHS)];
        switch (pick(&run, 6)) {
        case 0:
        case 1:
            do_open(&run, path);
            break;
        case 2:
            do_dup(&run);
            break;
        case 3:
            do_two_names(&run, path, other);
            break;
        default:
            do_one_name(&run, path, other);
        }
        compare_all(&run);
    }
    world_end(&run.w);
    closefrom(20); /* what held inodes; cmocka's own descriptors are below */
    free(dir);
}

static void the_state_agrees_with_the_kernel(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        random_calls(seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_state_agrees_with_the_kernel)};
    return WIO_RUN(tests);
}
