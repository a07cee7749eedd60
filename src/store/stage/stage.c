/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "store/stage/stage_internal.h"

enum { JOBS = 8, JOBS_MAX = 256, WAITING_MAX = 1024 };

/* ---- threads ------------------------------------------------------------------------------- */

static void file_free(struct stage_file *file)
{
    free(file->local);
    free(file->remote);
    free(file);
}

static struct stage_file *next(struct stage *stage)
{
    (void)pthread_mutex_lock(&stage->mutex);
    while (STAILQ_EMPTY(&stage->files) && !stage->is_ending) {
        (void)pthread_cond_wait(&stage->is_there, &stage->mutex);
    }
    struct stage_file *file = STAILQ_FIRST(&stage->files);
    if (file != NULL) {
        STAILQ_REMOVE_HEAD(&stage->files, next);
        stage->waiting--;
        (void)pthread_cond_signal(&stage->has_room);
    }
    (void)pthread_mutex_unlock(&stage->mutex);
    return file;
}

static void *work(void *context)
{
    struct stage *stage = context;
    struct stage_file *file = NULL;
    void *buffer = malloc(STAGE_CHUNK);
    while ((file = next(stage)) != NULL) {
        if (buffer == NULL) {
            stage_failed_as(stage, file->remote, WIO_ERR_NOMEM, "out of memory");
        } else {
            stage->copy(stage, file, buffer);
        }
        file_free(file);
    }
    free(buffer);
    return NULL;
}

static unsigned jobs_of(const struct wio_stage_params *params)
{
    unsigned jobs = params->jobs > 0 ? params->jobs : JOBS;
    return jobs < JOBS_MAX ? jobs : JOBS_MAX;
}

enum wio_status
stage_begin(struct stage *stage, struct wio_store *store, const struct wio_stage_params *params,
            void (*copy)(struct stage *stage, struct stage_file *file, void *buffer),
            struct wio_error *err)
{
    unsigned jobs = copy != NULL ? jobs_of(params) : 0;
    *stage = (struct stage){.store = store, .params = params, .copy = copy};
    (void)pthread_mutex_init(&stage->mutex, NULL);
    (void)pthread_cond_init(&stage->is_there, NULL);
    (void)pthread_cond_init(&stage->has_room, NULL);
    STAILQ_INIT(&stage->files);
    stage->threads = calloc(jobs + 1, sizeof(*stage->threads));
    while (stage->threads != NULL && stage->thread_count < jobs &&
           pthread_create(&stage->threads[stage->thread_count], NULL, work, stage) == 0) {
        stage->thread_count++;
    }
    if (stage->threads == NULL || (jobs > 0 && stage->thread_count == 0)) {
        stage_end(stage, NULL);
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                             "cannot start a thread");
    }
    return WIO_OK;
}

static void dir_free(struct stage_dir *dir)
{
    free(dir->local);
    free(dir->remote);
    free(dir);
}

static void settle_dirs(struct stage *stage)
{
    struct stage_dir *dir = NULL;
    while ((dir = SLIST_FIRST(&stage->dirs)) != NULL) {
        SLIST_REMOVE_HEAD(&stage->dirs, next);
        stage->settle(stage, dir);
        dir_free(dir);
    }
}

void stage_add_dir(struct stage *stage, const struct stage_dir *like)
{
    struct stage_dir *dir = calloc(1, sizeof(*dir));
    if (dir != NULL) {
        *dir = *like;
        dir->local = strdup(like->local);
        dir->remote = strdup(like->remote);
    }
    if (dir == NULL || dir->local == NULL || dir->remote == NULL) {
        stage_failed_as(stage, like->remote, WIO_ERR_NOMEM, "out of memory");
        if (dir != NULL) {
            dir_free(dir);
        }
        return;
    }
    SLIST_INSERT_HEAD(&stage->dirs, dir, next);
}

void stage_end(struct stage *stage, struct wio_stage_counts *counts_out)
{
    (void)pthread_mutex_lock(&stage->mutex);
    stage->is_ending = true;
    (void)pthread_cond_broadcast(&stage->is_there);
    (void)pthread_mutex_unlock(&stage->mutex);
    for (unsigned i = 0; i < stage->thread_count; i++) {
        (void)pthread_join(stage->threads[i], NULL);
    }
    free(stage->threads);
    settle_dirs(stage);
    (void)pthread_mutex_destroy(&stage->mutex);
    (void)pthread_cond_destroy(&stage->is_there);
    (void)pthread_cond_destroy(&stage->has_room);
    if (counts_out != NULL) {
        *counts_out = stage->counts;
    }
}

void stage_add(struct stage *stage, const struct stage_file *like)
{
    struct stage_file *file = calloc(1, sizeof(*file));
    if (file != NULL) {
        *file = *like;
        file->local = strdup(like->local);
        file->remote = strdup(like->remote);
    }
    if (file == NULL || file->local == NULL || file->remote == NULL) {
        stage_failed_as(stage, like->remote, WIO_ERR_NOMEM, "out of memory");
        if (file != NULL) {
            file_free(file);
        }
        return;
    }
    (void)pthread_mutex_lock(&stage->mutex);
    while (stage->waiting >= WAITING_MAX) {
        (void)pthread_cond_wait(&stage->has_room, &stage->mutex);
    }
    STAILQ_INSERT_TAIL(&stage->files, file, next);
    stage->waiting++;
    (void)pthread_cond_signal(&stage->is_there);
    (void)pthread_mutex_unlock(&stage->mutex);
}

/* ---- counts -------------------------------------------------------------------------------- */

void stage_failed(struct stage *stage, const struct wio_error *err)
{
    (void)pthread_mutex_lock(&stage->mutex);
    stage->counts.failed++;
    if (stage->params->failed != NULL) {
        stage->params->failed(stage->params->context, err);
    }
    (void)pthread_mutex_unlock(&stage->mutex);
}

void stage_failed_sys(struct stage *stage, const char *path, const char *what)
{
    struct wio_error err = WIO_ERROR_INIT;
    (void)wio_error_sys(&err, path, "%s", what);
    stage_failed(stage, &err);
}

void stage_failed_at(struct stage *stage, const char *base, const char *local, const char *what)
{
    char name[STAGE_PATH_MAX];
    int wrong = errno;
    stage_name(name, base, local);
    errno = wrong;
    stage_failed_sys(stage, name, what);
}

void stage_failed_as(struct stage *stage, const char *path, enum wio_status status,
                     const char *what)
{
    struct wio_error err = WIO_ERROR_INIT;
    (void)wio_error_set(&err, status, path, WIO_ERROR_NO_OFFSET, "%s", what);
    stage_failed(stage, &err);
}

void stage_moved(struct stage *stage, uint64_t bytes)
{
    (void)pthread_mutex_lock(&stage->mutex);
    stage->counts.bytes += bytes;
    if (stage->params->progress != NULL) {
        stage->params->progress(stage->params->progress_arg, stage->counts.bytes, 0, "bytes");
    }
    (void)pthread_mutex_unlock(&stage->mutex);
}

void stage_count(struct stage *stage, uint64_t *count)
{
    (void)pthread_mutex_lock(&stage->mutex);
    ++*count;
    (void)pthread_mutex_unlock(&stage->mutex);
}

/* ---- names --------------------------------------------------------------------------------- */

bool stage_join(char out[STAGE_PATH_MAX], const char *dir, const char *name)
{
    size_t bytes = strlen(dir);
    const char *between = bytes == 0 || dir[bytes - 1] == '/' ? "" : "/";
    return snprintf(out, STAGE_PATH_MAX, "%s%s%s", dir, between, name) < STAGE_PATH_MAX;
}

void stage_name(char out[STAGE_PATH_MAX], const char *base, const char *local)
{
    char last[STAGE_PATH_MAX];
    stage_last(last, base);
    if (strcmp(local, ".") == 0 || strcmp(local, last) == 0 || !stage_join(out, base, local)) {
        (void)snprintf(out, STAGE_PATH_MAX, "%s", base);
    }
}

void stage_last(char out[STAGE_PATH_MAX], const char *path)
{
    size_t end = strlen(path);
    while (end > 0 && path[end - 1] == '/') {
        end--;
    }
    size_t from = end;
    while (from > 0 && path[from - 1] != '/') {
        from--;
    }
    (void)snprintf(out, STAGE_PATH_MAX, "%.*s", (int)(end - from), path + from);
}

bool stage_is_content(const char *last)
{
    return last[0] == '\0' || strcmp(last, ".") == 0 || strcmp(last, "..") == 0;
}

int stage_open(int dir, const char *path, int flags, unsigned mode)
{
    struct open_how how = {.flags = (unsigned)(flags | O_CLOEXEC | O_NONBLOCK),
                           .mode = (flags & O_CREAT) != 0 ? mode : 0,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
    return (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
}

struct timespec stage_time(int64_t ns)
{
    const int64_t second_ns = INT64_C(1000000000);
    const int64_t rest_ns = ns % second_ns;
    const bool is_before = rest_ns < 0; /* the second that it is in begins before it */
    return (struct timespec){.tv_sec = (time_t)(ns / second_ns - (is_before ? 1 : 0)),
                             .tv_nsec = (long)(rest_ns + (is_before ? second_ns : 0))};
}

const char *stage_remote(const char *path)
{
    return path[0] == ':' ? path + 1 : path;
}
