/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are being written, beside other processes that clear the directory. */
#include "trace/format/fresh.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/unit.h"

#define NAME "a.seg.tmp"
#define CLEARERS 2
#define ROUNDS (3000 / WIO_TEST_SLOWER)

static int open_dir(const char *name, char **path_out)
{
    *path_out = wio_test_path(name);
    assert_int_equal(mkdir(*path_out, 0777), 0);
    int dir = open(*path_out, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(dir >= 0);
    return dir;
}

static bool has(int dir, const char *name)
{
    return faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void what_is_written_is_not_cleared(void **state)
{
    (void)state;
    char *path;
    int dir = open_dir("alive", &path);
    int fd = wio_fresh_create_at(dir, NAME);
    assert_true(fd >= 0);
    wio_fresh_clear(dir);
    assert_true(has(dir, NAME));
    (void)close(fd); /* as if its process had died */
    wio_fresh_clear(dir);
    assert_false(has(dir, NAME));
    (void)close(dir);
    free(path);
}

static void a_name_that_is_there_is_not_taken(void **state)
{
    (void)state;
    char *path;
    int dir = open_dir("there", &path);
    assert_int_equal(symlinkat("/dev/null", dir, NAME), 0);
    assert_int_equal(wio_fresh_create_at(dir, NAME), -1);
    assert_int_equal(errno, EEXIST);
    assert_int_equal(symlinkat("nowhere", dir, "b.seg.tmp"), 0);
    assert_int_equal(wio_fresh_create_at(dir, "b.seg.tmp"), -1);
    assert_false(has(dir, "nowhere"));
    wio_fresh_clear(dir); /* what is behind them is another's */
    assert_true(has(dir, NAME) && has(dir, "b.seg.tmp"));
    (void)close(dir);
    free(path);
}

/* Others read what the directory lets them read. */
static void the_mode_is_that_of_the_directory(void **state)
{
    (void)state;
    static const mode_t modes[][2] = {
        {0700, 0600}, {0750, 0640}, {0755, 0644}, {0711, 0600}, {0744, 0600}};
    const mode_t mask = umask(0);
    char *path;
    int dir = open_dir("modes", &path);
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        struct stat st;
        assert_int_equal(fchmod(dir, modes[i][0]), 0);
        int fd = wio_fresh_create_at(dir, NAME);
        assert_true(fd >= 0 && fstat(fd, &st) == 0);
        assert_int_equal(st.st_mode & 0777, modes[i][1]);
        (void)close(fd);
        assert_int_equal(unlinkat(dir, NAME, 0), 0);
    }
    (void)umask(mask);
    (void)close(dir);
    free(path);
}

static pid_t clear_for_ever(int dir)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;) {
            wio_fresh_clear(dir);
        }
    }
    return pid;
}

/* A clearing that has found the file between its making and its locking takes it for one that is
 * dead. The maker has it all the same, or makes another one. */
static void a_file_survives_clearings(void **state)
{
    (void)state;
    pid_t pids[CLEARERS];
    char *path;
    int dir = open_dir("race", &path);
    unsigned lost = 0;
    for (unsigned i = 0; i < CLEARERS; i++) {
        pids[i] = clear_for_ever(dir);
    }
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct stat held;
        struct stat named;
        int fd = wio_fresh_create_at(dir, NAME);
        lost += fd < 0 || fstat(fd, &held) != 0 ||
                fstatat(dir, NAME, &named, AT_SYMLINK_NOFOLLOW) != 0 ||
                held.st_ino != named.st_ino || unlinkat(dir, NAME, 0) != 0;
        (void)close(fd);
    }
    for (unsigned i = 0; i < CLEARERS; i++) {
        assert_int_equal(kill(pids[i], SIGKILL), 0);
        assert_int_equal(waitpid(pids[i], NULL, 0), pids[i]);
    }
    assert_int_equal(lost, 0);
    (void)close(dir);
    free(path);
}

int main(void)
{
    wio_test_in_memory();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_not_cleared),
        cmocka_unit_test(a_name_that_is_there_is_not_taken),
        cmocka_unit_test(the_mode_is_that_of_the_directory),
        cmocka_unit_test(a_file_survives_clearings),
    };
    return WIO_RUN(tests);
}
