/* SPDX-License-Identifier: Apache-2.0 */
/* Open files, and what all operations on them have in common. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/sized.h"
#include "store/api/api_internal.h"

#define CLOSE_NS UINT64_C(2000000000)

/* ---- opening ------------------------------------------------------------------------------- */

static uint32_t open_flags_of(int flags)
{
    static const struct {
        int posix;
        uint32_t ours;
    } pairs[] = {{O_CREAT, WIO_STORE_OPEN_CREATE},
                 {O_EXCL, WIO_STORE_OPEN_EXCL},
                 {O_TRUNC, WIO_STORE_OPEN_TRUNC}};
    int access = flags & O_ACCMODE;
    uint32_t ours = access != O_WRONLY ? WIO_STORE_OPEN_READ : 0;
    ours |= access != O_RDONLY ? WIO_STORE_OPEN_WRITE : 0;
    for (size_t i = 0; i < WIO_ARRAY_SIZE(pairs); i++) {
        ours |= (flags & pairs[i].posix) != 0 ? pairs[i].ours : 0;
    }
    return ours;
}

static enum wio_status ask_open(struct wio_store *store, const char *path,
                                const struct wio_store_open_params *params, uint64_t deadline_ns,
                                struct wio_store_stat *stat_out, struct wio_error *err)
{
    WIO_CLEANUP(api_answer_fini) struct api_answer answer = {0};
    bool is_link_itself = (params->flags & O_NOFOLLOW) != 0;
    const struct api_question question = {
        .request = {.op = WIO_STORE_OPEN,
                    .flags = is_link_itself ? WIO_STORE_FLAG_NOFOLLOW : 0,
                    .path = path,
                    .path_size = (uint32_t)strlen(path),
                    .open_flags = open_flags_of(params->flags),
                    .file_mode = params->mode & 07777,
                    .segments = params->segments,
                    .stripe_unit = params->stripe_unit},
        .deadline_ns = deadline_ns,
        .keeps_grant = true,
    };
    WIO_TRY(api_ask(store, &question, &answer, NULL, err));
    *stat_out = answer.stat;
    return WIO_OK;
}

static void file_free(struct wio_store_file *file)
{
    (void)pthread_mutex_destroy(&file->pointer_mutex);
    (void)pthread_mutex_destroy(&file->mutex);
    free(file->blockers);
    free(file->path);
    free(file);
}

static struct wio_store_file *file_create(struct wio_store *store, const char *path,
                                          const struct wio_store_open_params *params)
{
    struct wio_store_file *file = calloc(1, sizeof(*file));
    char *copy = strdup(path);
    if (file == NULL || copy == NULL) {
        free(file);
        free(copy);
        return NULL;
    }
    (void)pthread_mutex_init(&file->pointer_mutex, NULL);
    (void)pthread_mutex_init(&file->mutex, NULL);
    file->store = store;
    file->path = copy;
    file->view = params->view;
    file->flags = params->flags;
    file->is_stable = params->is_stable;
    file->timeout_ns = params->timeout_ns;
    file->is_time_own = params->is_time_own;
    return file;
}

static enum wio_status set_place(struct wio_store_file *file, const struct wio_store_stat *stat,
                                 const struct wio_store_open_params *params, struct wio_error *err)
{
    file->place = api_place_of(file->store, stat);
    file->place.is_segment = params->view == WIO_VIEW_SEGMENTED;
    file->place.segment = file->place.is_segment ? params->segment : 0;
    file->place.group = params->group;
    file->place.hint = params->hint;
    if (file->place.segment >= file->place.layout.segments) {
        (void)wio_error_set(err, WIO_ERR_USAGE, file->path, WIO_ERROR_NO_OFFSET,
                            "there is no segment %u: the file has %u", params->segment,
                            file->place.layout.segments);
        return WIO_ERR_USAGE;
    }
    return api_source(file->store, params->source, &file->place.source, err);
}

/* A file that was there before: the catalogue has raised its generation. */
static enum wio_status cut(struct wio_store_file *file, const struct wio_store_stat *stat,
                           uint64_t deadline_ns, struct wio_error *err)
{
    WIO_CLEANUP(api_op_cleanup) struct api_op *op = NULL;
    bool was_there = stat->generation > 1;
    if ((file->flags & O_TRUNC) == 0 || !was_there) {
        return WIO_OK;
    }
    WIO_TRY(api_file_op(file, NULL, API_TRUNCATE, &op, err));
    return api_file_run_until(file, NULL, &op, deadline_ns, err);
}

static enum wio_status check_params(const char *path, const struct wio_store_open_params *params,
                                    struct wio_error *err)
{
    const int known = O_ACCMODE | O_CREAT | O_EXCL | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW;
    if ((params->flags & ~known) != 0 || (unsigned)params->view > WIO_VIEW_SEGMENTED) {
        return wio_error_set(err, WIO_ERR_USAGE, path, WIO_ERROR_NO_OFFSET,
                             "no such flag of open or view: flags %#x, view %u", params->flags,
                             (unsigned)params->view);
    }
    if (strlen(path) > WIO_STORE_PATH_MAX || params->segments > WIO_STORE_SEGMENTS_MAX) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                             "a path has at most %u bytes and a file at most %u segments",
                             WIO_STORE_PATH_MAX, WIO_STORE_SEGMENTS_MAX);
    }
    return WIO_OK;
}

static void file_cleanup(struct wio_store_file **file)
{
    wio_store_file_close(*file);
}

enum wio_status wio_store_file_open(struct wio_store *store, const char *path,
                                    const struct wio_store_open_params *given,
                                    struct wio_store_file **file_out, struct wio_error *err)
{
    struct wio_store_open_params params;
    struct wio_store_stat stat = {0};
    WIO_TRY(wio_take_sized(&params, sizeof(params), given, "struct wio_store_open_params", err));
    WIO_TRY(check_params(path, &params, err));
    uint64_t deadline_ns = api_deadline_ns(store, params.timeout_ns);
    struct wio_store_file *made = file_create(store, path, &params);
    if (made == NULL) {
        return api_nomem(err);
    }
    enum wio_status status = ask_open(store, path, &params, deadline_ns, &stat, err);
    if (status != WIO_OK) {
        file_free(made);
        return api_about(status, path, err);
    }
    WIO_CLEANUP(file_cleanup) struct wio_store_file *file = made;
    file->place.file = stat.file; /* its grant is to be dropped */
    WIO_TRY(set_place(file, &stat, &params, err));
    WIO_TRY(cut(file, &stat, deadline_ns, err));
    *file_out = file;
    file = NULL;
    return WIO_OK;
}

/* ---- closing ------------------------------------------------------------------------------- */

/* What was written has a time: of the name, if it still is that file's. Nothing more than a try. */
static void touch(const struct wio_store_file *file)
{
    struct wio_store *store = file->store;
    struct api_answer answer;
    struct api_question question = {.request = {.op = WIO_STORE_STAT,
                                                .path = file->path,
                                                .path_size = (uint32_t)strlen(file->path)},
                                    .deadline_ns = api_deadline_ns(store, CLOSE_NS)};
    bool is_same = api_ask(store, &question, &answer, NULL, NULL) == WIO_OK &&
                   answer.stat.file == file->place.file;
    api_answer_fini(&answer);
    if (is_same) {
        question.request.op = WIO_STORE_UTIMENS;
        question.request.atime_ns = WIO_STORE_TIME_OMIT;
        question.request.mtime_ns = WIO_STORE_TIME_NOW;
        (void)!api_ask(store, &question, &answer, NULL, NULL);
        api_answer_fini(&answer);
    }
}

void wio_store_file_close(struct wio_store_file *file)
{
    if (file == NULL) {
        return;
    }
    if (file->was_written && !file->is_time_own) {
        touch(file);
    }
    api_drop_grants(file->store, file->place.file);
    file_free(file);
}

void wio_store_file_layout(const struct wio_store_file *file, struct wio_store_layout *layout_out)
{
    const struct wio_store_layout layout = {
        .struct_size = layout_out->struct_size,
        .file = file->place.file,
        .segments = file->place.layout.segments,
        .stripe_unit = (uint32_t)file->place.layout.stripe_unit,
        .targets = file->place.layout.targets,
    };
    wio_copy_sized(layout_out, layout_out->struct_size, &layout, sizeof(layout));
}

/* ---- blockers ------------------------------------------------------------------------------ */

void wio_store_blockers(struct wio_store_file *file, struct wio_store_txn *txn,
                        struct wio_store_blockers *blockers_out)
{
    static const struct wio_store_blockers none = {0};
    size_t size = blockers_out->struct_size;
    if (txn == NULL) {
        (void)pthread_mutex_lock(&file->mutex);
        wio_copy_sized(blockers_out, size, file->blockers != NULL ? file->blockers : &none,
                       sizeof(none));
        (void)pthread_mutex_unlock(&file->mutex);
    } else {
        (void)pthread_mutex_lock(&txn->store->mutex);
        wio_copy_sized(blockers_out, size,
                       txn->engine->blockers != NULL ? txn->engine->blockers : &none, sizeof(none));
        (void)pthread_mutex_unlock(&txn->store->mutex);
    }
    blockers_out->struct_size = size;
}
