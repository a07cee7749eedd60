/* SPDX-License-Identifier: Apache-2.0 */
/* Paths stay beneath the target, by the kernel's lookup and by the walk. */
#include "support/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "replay/root.h"

/*
 * DIR/outside/secret must never be opened; DIR/target is the root:
 *   in/file, up -> ../../outside/secret, abs -> /in/file, away -> <DIR>/outside, loop -> loop,
 *   in/back -> .., dangling -> /in/new
 */
static struct rp_root root = {.fd = -1};
static char *target;

static void make_link(const char *text, const char *name)
{
    assert_int_equal(symlinkat(text, root.fd, name), 0);
}

static int set_up(void **state)
{
    struct wio_error err = WIO_ERROR_INIT;
    char away[PATH_MAX];
    (void)state;
    target = wio_test_path("target");
    char *outside = wio_test_path("outside");
    char *secret = wio_test_path("outside/secret");
    assert_int_equal(mkdir(outside, 0777), 0);
    wio_test_write(secret, "secret", 6);
    assert_ok(rp_root_open(target, &root, &err), &err); /* makes it */
    assert_int_equal(mkdirat(root.fd, "in", 0777), 0);
    close(openat(root.fd, "in/file", O_CREAT | O_WRONLY, 0666));
    (void)snprintf(away, sizeof(away), "%s", outside);
    make_link("../../outside/secret", "up");
    make_link("/in/file", "abs");
    make_link(away, "away");
    make_link("loop", "loop");
    make_link("..", "in/back");
    make_link("/in/new", "dangling");
    free(outside);
    free(secret);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rp_root_close(&root);
    free(target);
    return 0;
}

/* Both lookups must agree; gives 0 or errno. */
static int look(const char *path, int flags)
{
    int by_kernel = rp_root_openat(&root, path, flags, 0666);
    int kernel_error = by_kernel < 0 ? errno : 0;
    int by_walk = rp_root_walk(&root, path, flags, 0666);
    int walk_error = by_walk < 0 ? errno : 0;
    if (by_kernel >= 0 && by_walk >= 0) {
        struct stat a;
        struct stat b;
        assert_int_equal(fstat(by_kernel, &a), 0);
        assert_int_equal(fstat(by_walk, &b), 0);
        assert_int_equal(a.st_ino, b.st_ino);
    }
    close(by_kernel);
    close(by_walk);
    assert_int_equal(kernel_error, walk_error);
    return walk_error;
}

static void finds_what_is_inside(void **state)
{
    (void)state;
    assert_int_equal(look("/in/file", O_RDONLY), 0);
    assert_int_equal(look("in//./file", O_RDONLY), 0);
    assert_int_equal(look("/", O_RDONLY | O_DIRECTORY), 0);
    assert_int_equal(look("/abs", O_RDONLY), 0);
    assert_int_equal(look("/in/back/in/file", O_RDONLY), 0);
    assert_int_equal(look("/in/nothing", O_RDONLY), ENOENT);
    assert_int_equal(look("/in/file/x", O_RDONLY), ENOTDIR);
    assert_int_equal(look("/in/file/", O_RDONLY), ENOTDIR);
    assert_int_equal(look("/loop", O_RDONLY), ELOOP);
    assert_int_equal(look("/abs", O_RDONLY | O_NOFOLLOW), ELOOP);
}

static void never_leaves(void **state)
{
    (void)state;
    assert_int_equal(look("/../outside/secret", O_RDONLY), ENOENT);
    assert_int_equal(look("/in/../../outside/secret", O_RDONLY), ENOENT);
    assert_int_equal(look("/../../../../../../etc/passwd", O_RDONLY), ENOENT);
    assert_int_equal(look("/up", O_RDONLY), ENOENT);
    assert_int_equal(look("/away/secret", O_RDONLY), ENOENT);
    assert_int_equal(look("/in/back/../outside/secret", O_RDONLY), ENOENT);
    assert_int_equal(look("/../in/file", O_RDONLY), 0); /* ".." of the root is the root */
}

static void makes_behind_a_link(void **state)
{
    (void)state;
    int fd = rp_root_walk(&root, "/dangling", O_CREAT | O_WRONLY, 0666);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(faccessat(root.fd, "in/new", F_OK, 0), 0);
    assert_int_equal(look("/dangling", O_CREAT | O_EXCL | O_WRONLY), EEXIST);
    assert_int_equal(unlinkat(root.fd, "in/new", 0), 0);
    fd = rp_root_openat(&root, "/dangling", O_CREAT | O_WRONLY, 0666);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(faccessat(root.fd, "in/new", F_OK, 0), 0);
}

static void refuses_long_paths(void **state)
{
    char path[2 * PATH_MAX];
    (void)state;
    memset(path, 'a', sizeof(path) - 1);
    path[sizeof(path) - 1] = '\0';
    assert_int_equal(look(path, O_RDONLY), ENAMETOOLONG);
    for (size_t i = 0; i + 2 < sizeof(path); i += 2) {
        memcpy(path + i, "/x", 2);
    }
    path[PATH_MAX - 2] = '\0';
    assert_int_equal(rp_root_walk(&root, path, O_RDONLY, 0), -1); /* deep, and not there */
}

static void parent_of(const char *path, const char *name)
{
    char found[NAME_MAX + 1];
    int dir = rp_root_parent(&root, path, found);
    assert_true(dir >= 0);
    assert_string_equal(found, name);
    close(dir);
}

static void an_empty_path_is_none(void **state)
{
    (void)state;
    char name[NAME_MAX + 1];
    assert_int_equal(rp_root_openat(&root, "", O_PATH, 0), -1);
    assert_int_equal(errno, ENOENT);
    errno = 0;
    assert_int_equal(rp_root_walk(&root, "", O_PATH, 0), -1);
    assert_int_equal(errno, ENOENT);
    errno = 0;
    assert_int_equal(rp_root_parent(&root, "", name), -1);
    assert_int_equal(errno, ENOENT);
}

static void splits_off_the_name(void **state)
{
    char name[NAME_MAX + 1];
    (void)state;
    parent_of("/in/file", "file");
    parent_of("/in/", "in");
    parent_of("/in", "in");
    parent_of("/", ".");
    parent_of("/in/..", "."); /* never ".." in a *at call */
    parent_of("/in/.", ".");
    parent_of("/..", ".");
    assert_int_equal(rp_root_parent(&root, "/nothing/x", name), -1);
    assert_int_equal(errno, ENOENT);
}

static void refuses_the_whole_system(void **state)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct rp_root other = {.fd = -1};
    (void)state;
    assert_status(rp_root_open("/", &other, &err), WIO_ERR_USAGE, &err);
    assert_status(rp_root_open("/proc/self/root", &other, &err), WIO_ERR_USAGE, &err);
    char *missing = wio_test_path("a/b");
    assert_status(rp_root_open(missing, &other, &err), WIO_ERR_IO, &err);
    free(missing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_is_inside),     cmocka_unit_test(never_leaves),
        cmocka_unit_test(makes_behind_a_link),      cmocka_unit_test(refuses_long_paths),
        cmocka_unit_test(splits_off_the_name),      cmocka_unit_test(an_empty_path_is_none),
        cmocka_unit_test(refuses_the_whole_system),
    };
    wio_test_begin();
    return cmocka_run_group_tests_name("root", tests, set_up, tear_down);
}
