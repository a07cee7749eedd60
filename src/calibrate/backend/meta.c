/* SPDX-License-Identifier: Apache-2.0 */
#include "calibrate/backend/meta.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"

#define FILES 32

#define NAME_ROOM 32 /* for a letter and a number behind the directory */

struct pass {
    char dir[PATH_MAX - NAME_ROOM];
    char from[FILES][PATH_MAX]; /* names that the step uses */
    char to[FILES][PATH_MAX];
    int fds[FILES];
    DIR *dirs[FILES];
    unsigned entries; /* that were read */
};

static struct pass *pass_create(void)
{
    struct pass *pass = calloc(1, sizeof(*pass));
    for (size_t i = 0; pass != NULL && i < FILES; i++) {
        pass->fds[i] = -1;
    }
    return pass;
}

static void close_all(struct pass *pass)
{
    for (size_t i = 0; i < FILES; i++) {
        wio_fd_cleanup(&pass->fds[i]);
        wio_dir_cleanup(&pass->dirs[i]);
        pass->dirs[i] = NULL;
    }
}

static void pass_destroy(struct pass **pass)
{
    if (*pass != NULL) {
        close_all(*pass);
    }
    free(*pass);
}

/* One operation on the i-th file: 0, or -1 and errno. */
typedef int one_fn(struct pass *pass, size_t i);

static int do_create(struct pass *pass, size_t i)
{
    pass->fds[i] = open(pass->from[i], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    return pass->fds[i] < 0 ? -1 : 0;
}

static int do_ftruncate(struct pass *pass, size_t i)
{
    return ftruncate(pass->fds[i], 4096);
}

static int do_fstat(struct pass *pass, size_t i)
{
    struct stat st;
    return fstat(pass->fds[i], &st);
}

static int do_lseek(struct pass *pass, size_t i)
{
    return lseek(pass->fds[i], 4096, SEEK_SET) < 0 ? -1 : 0;
}

static int do_close(struct pass *pass, size_t i)
{
    int fd = pass->fds[i];
    pass->fds[i] = -1;
    return close(fd);
}

static int do_open(struct pass *pass, size_t i)
{
    wio_fd_cleanup(&pass->fds[i]);
    pass->fds[i] = open(pass->from[i], O_RDONLY | O_CLOEXEC);
    return pass->fds[i] < 0 ? -1 : 0;
}

static int do_stat(struct pass *pass, size_t i)
{
    struct stat st;
    return stat(pass->from[i], &st);
}

static int do_lstat(struct pass *pass, size_t i)
{
    struct stat st;
    return lstat(pass->from[i], &st);
}

static int do_access(struct pass *pass, size_t i)
{
    return access(pass->from[i], R_OK);
}

static int do_chmod(struct pass *pass, size_t i)
{
    return chmod(pass->from[i], 0640);
}

static int do_utimens(struct pass *pass, size_t i)
{
    const struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 2}};
    return utimensat(AT_FDCWD, pass->from[i], times, 0);
}

static int do_truncate(struct pass *pass, size_t i)
{
    return truncate(pass->from[i], 0);
}

static int do_rename(struct pass *pass, size_t i)
{
    return rename(pass->from[i], pass->to[i]);
}

static int do_link(struct pass *pass, size_t i)
{
    return link(pass->from[i], pass->to[i]);
}

static int do_symlink(struct pass *pass, size_t i)
{
    return symlink(pass->from[i], pass->to[i]);
}

static int do_readlink(struct pass *pass, size_t i)
{
    char text[PATH_MAX];
    return readlink(pass->from[i], text, sizeof(text)) < 0 ? -1 : 0;
}

static int do_opendir(struct pass *pass, size_t i)
{
    pass->dirs[i] = opendir(pass->dir);
    return pass->dirs[i] == NULL ? -1 : 0;
}

/* All entries; each call counts. */
static int do_readdir(struct pass *pass, size_t i)
{
    errno = 0;
    do {
        pass->entries++;
    } while (readdir(pass->dirs[i]) != NULL);
    return errno == 0 ? 0 : -1;
}

static int do_closedir(struct pass *pass, size_t i)
{
    DIR *dir = pass->dirs[i];
    pass->dirs[i] = NULL;
    return closedir(dir);
}

static int do_unlink(struct pass *pass, size_t i)
{
    return unlink(pass->from[i]);
}

static int do_mkdir(struct pass *pass, size_t i)
{
    return mkdir(pass->from[i], 0700);
}

static int do_rmdir(struct pass *pass, size_t i)
{
    return rmdir(pass->from[i]);
}

/* In the order of the list in backend.h; each finds what the ones before left. Names are a letter
 * and a number: f is a file, r a renamed one, l and s are links, d is a directory. */
static const struct meta_step {
    one_fn *one;
    char from;
    char to;
} steps[] = {
    [WIO_RIG_META_create] = {do_create, 'f', 0},
    [WIO_RIG_META_ftruncate] = {do_ftruncate, 'f', 0},
    [WIO_RIG_META_fstat] = {do_fstat, 'f', 0},
    [WIO_RIG_META_lseek] = {do_lseek, 'f', 0},
    [WIO_RIG_META_close] = {do_close, 'f', 0},
    [WIO_RIG_META_open] = {do_open, 'f', 0},
    [WIO_RIG_META_stat] = {do_stat, 'f', 0},
    [WIO_RIG_META_lstat] = {do_lstat, 'f', 0},
    [WIO_RIG_META_access] = {do_access, 'f', 0},
    [WIO_RIG_META_chmod] = {do_chmod, 'f', 0},
    [WIO_RIG_META_utimens] = {do_utimens, 'f', 0},
    [WIO_RIG_META_truncate] = {do_truncate, 'f', 0},
    [WIO_RIG_META_rename] = {do_rename, 'f', 'r'},
    [WIO_RIG_META_link] = {do_link, 'r', 'l'},
    [WIO_RIG_META_symlink] = {do_symlink, 'r', 's'},
    [WIO_RIG_META_readlink] = {do_readlink, 's', 0},
    [WIO_RIG_META_opendir] = {do_opendir, 'f', 0},
    [WIO_RIG_META_readdir] = {do_readdir, 'f', 0},
    [WIO_RIG_META_closedir] = {do_closedir, 'f', 0},
    [WIO_RIG_META_unlink] = {do_unlink, 'r', 0},
    [WIO_RIG_META_mkdir] = {do_mkdir, 'd', 0},
    [WIO_RIG_META_rmdir] = {do_rmdir, 'd', 0},
};
_Static_assert(WIO_ARRAY_SIZE(steps) == WIO_RIG_META_COUNT, "a step for each operation");

static void name_files(struct pass *pass, const struct meta_step *step)
{
    for (size_t i = 0; i < FILES; i++) {
        (void)snprintf(pass->from[i], PATH_MAX, "%s/%c%zu", pass->dir, step->from, i);
        (void)snprintf(pass->to[i], PATH_MAX, "%s/%c%zu", pass->dir, step->to, i);
    }
}

/* FAT has no links, some network file systems no modes: then there is nothing to measure; a
 * readlink without links is such a case too. */
static bool is_unsupported(int cause)
{
    return cause == EPERM || cause == EOPNOTSUPP || cause == ENOSYS || cause == EMLINK ||
           cause == ENOENT;
}

static enum wio_status run_step(struct pass *pass, enum wio_rig_meta meta, double *seconds_out,
                                struct wio_error *err)
{
    const struct meta_step *step = &steps[meta];
    name_files(pass, step);
    pass->entries = 0;
    uint64_t begin_ns = wio_clock_mono_ns();
    for (size_t i = 0; i < FILES; i++) {
        if (step->one(pass, i) == 0) {
            continue;
        }
        if (!is_unsupported(errno)) {
            return wio_error_sys(err, pass->from[i], "%s failed", wio_rig_meta_name(meta));
        }
        *seconds_out = (double)NAN;
        return WIO_OK;
    }
    uint64_t taken_ns = wio_clock_mono_ns() - begin_ns;
    *seconds_out = (double)taken_ns * 1e-9 / (pass->entries > 0 ? pass->entries : FILES);
    return WIO_OK;
}

static enum wio_status run_steps(struct pass *pass, double seconds_out[WIO_RIG_META_COUNT],
                                 struct wio_error *err)
{
    for (size_t i = 0; i < WIO_RIG_META_COUNT; i++) {
        WIO_TRY(run_step(pass, (enum wio_rig_meta)i, &seconds_out[i], err));
        if (i == WIO_RIG_META_open) {
            /* FUSE and NFS rename what is removed while it is open, and the name stays */
            close_all(pass);
        }
    }
    return WIO_OK;
}

enum wio_status wio_meta_pass(const char *dir, double seconds_out[WIO_RIG_META_COUNT],
                              struct wio_error *err)
{
    WIO_CLEANUP(pass_destroy) struct pass *pass = pass_create();
    if (pass == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, dir, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    if ((size_t)snprintf(pass->dir, sizeof(pass->dir), "%s/meta", dir) >= sizeof(pass->dir)) {
        return wio_error_set(err, WIO_ERR_USAGE, dir, WIO_ERROR_NO_OFFSET, "the path is too long");
    }
    if (mkdir(pass->dir, 0700) != 0) {
        return wio_error_sys(err, pass->dir, "cannot make the directory");
    }
    enum wio_status status = run_steps(pass, seconds_out, err);
    close_all(pass);
    enum wio_status removed = wio_io_remove_tree(pass->dir, status == WIO_OK ? err : NULL);
    return status == WIO_OK ? removed : status;
}
