/* SPDX-License-Identifier: Apache-2.0 */
/* Names: what the catalogue is asked for, and the bytes of what has no name any more. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/sized.h"
#include "store/api/api_internal.h"
#include "store/wire/entries.h"

static enum wio_status ask(struct wio_store *store, const char *path, const char *path2,
                           struct api_question *question, struct api_answer *answer_out,
                           struct wio_error *err)
{
    struct wio_store_request *request = &question->request;
    size_t bytes = strlen(path);
    size_t bytes2 = path2 != NULL ? strlen(path2) : 0;
    *answer_out = (struct api_answer){0};
    if (bytes > WIO_STORE_PATH_MAX || bytes2 > WIO_STORE_PATH_MAX) {
        (void)wio_error_set(err, WIO_ERR_IO, NULL, WIO_ERROR_NO_OFFSET,
                            "a path has at most %u bytes", WIO_STORE_PATH_MAX);
        if (err != NULL) {
            err->sys_errno = ENAMETOOLONG;
        }
        return WIO_ERR_IO;
    }
    request->path = path;
    request->path_size = (uint32_t)bytes;
    request->path2 = path2;
    request->path2_size = (uint32_t)bytes2;
    question->deadline_ns = api_deadline_ns(store, 0);
    return api_about(api_ask(store, question, answer_out, NULL, err), path, err);
}

/* The same where nothing but success is answered. */
static enum wio_status tell(struct wio_store *store, const char *path, const char *path2,
                            const struct wio_store_request *request, struct wio_error *err)
{
    WIO_CLEANUP(api_answer_fini) struct api_answer answer = {0};
    struct api_question question = {.request = *request};
    return ask(store, path, path2, &question, &answer, err);
}

/* ---- bytes of files without names ---------------------------------------------------------- */

static enum wio_status drop(struct wio_store *store, const struct wio_store_stat *stat,
                            uint64_t deadline_ns, struct wio_error *err)
{
    const struct api_place place = api_place_of(store, stat);
    WIO_CLEANUP(api_op_cleanup) struct api_op *op = NULL;
    op = api_op_create(store, NULL, API_DROP, &place);
    if (op == NULL) {
        return api_nomem(err);
    }
    return api_op_run(op, deadline_ns, err);
}

/* UNLINK and RENAME: what they leave without a name. */
static enum wio_status ask_and_drop(struct wio_store *store, const char *path, const char *path2,
                                    uint16_t code, struct wio_error *err)
{
    WIO_CLEANUP(api_answer_fini) struct api_answer answer = {0};
    struct api_question question = {.request = {.op = code}, .keeps_grant = true};
    enum wio_status status = WIO_OK;
    WIO_TRY(ask(store, path, path2, &question, &answer, err));
    if (answer.stat.file == 0) {
        return WIO_OK;
    }
    if (S_ISREG(answer.stat.mode)) {
        status = api_about(drop(store, &answer.stat, question.deadline_ns, err), path, err);
    }
    api_drop_grants(store, answer.stat.file);
    return status;
}

enum wio_status wio_store_unlink(struct wio_store *store, const char *path, struct wio_error *err)
{
    return ask_and_drop(store, path, NULL, WIO_STORE_UNLINK, err);
}

enum wio_status wio_store_rename(struct wio_store *store, const char *from, const char *to,
                                 struct wio_error *err)
{
    return ask_and_drop(store, from, to, WIO_STORE_RENAME, err);
}

/* ---- stat ---------------------------------------------------------------------------------- */

static struct wio_store_attr attr_of(const struct wio_store_stat *stat)
{
    return (struct wio_store_attr){
        .struct_size = sizeof(struct wio_store_attr),
        .file = stat->file,
        .size = S_ISREG(stat->mode) ? 0 : stat->size,
        .mode = stat->mode,
        .uid = stat->uid,
        .gid = stat->gid,
        .links = stat->links,
        .segments = stat->segments,
        .stripe_unit = stat->stripe_unit,
        .atime_ns = stat->atime_ns,
        .mtime_ns = stat->mtime_ns,
        .ctime_ns = stat->ctime_ns,
    };
}

static enum wio_status ask_size(struct wio_store *store, const struct wio_store_stat *stat,
                                uint64_t deadline_ns, uint64_t *size_out, struct wio_error *err)
{
    const struct api_place place = api_place_of(store, stat);
    WIO_CLEANUP(api_op_cleanup) struct api_op *op = NULL;
    op = api_op_create(store, NULL, API_SIZE, &place);
    if (op == NULL) {
        return api_nomem(err);
    }
    WIO_TRY(api_op_run(op, deadline_ns, err));
    *size_out = op->file_end;
    return WIO_OK;
}

enum wio_status wio_store_stat(struct wio_store *store, const char *path, unsigned flags,
                               struct wio_store_attr *attr_out, struct wio_error *err)
{
    WIO_CLEANUP(api_answer_fini) struct api_answer answer = {0};
    bool wants_size = (flags & WIO_STORE_NO_SIZE) == 0;
    struct api_question question = {
        .request = {.op = WIO_STORE_STAT,
                    .flags = (flags & WIO_STORE_NOFOLLOW) != 0 ? WIO_STORE_FLAG_NOFOLLOW : 0},
        .keeps_grant = wants_size};
    size_t size = attr_out->struct_size;
    enum wio_status status = WIO_OK;
    WIO_TRY(ask(store, path, NULL, &question, &answer, err));
    struct wio_store_attr attr = attr_of(&answer.stat);
    if (wants_size && S_ISREG(answer.stat.mode)) {
        status = api_about(ask_size(store, &answer.stat, question.deadline_ns, &attr.size, err),
                           path, err);
    }
    if (wants_size) {
        api_drop_grants(store, answer.stat.file);
    }
    wio_copy_sized(attr_out, size, &attr, sizeof(attr));
    attr_out->struct_size = size;
    return status;
}

/* ---- directories --------------------------------------------------------------------------- */

/* WIO_END: `each` has enough. */
static enum wio_status tell_entries(const struct api_answer *answer, wio_store_each *each,
                                    void *context)
{
    struct wio_buf data = wio_buf_of(answer->data.data, answer->data.size);
    struct wio_wire_entry entry;
    char name[WIO_WIRE_ENTRY_NAME_MAX + 1];
    enum wio_status status = WIO_OK;
    while ((status = wio_wire_get_entry(&data, &entry)) == WIO_OK) {
        const struct wio_store_attr attr = attr_of(&entry.stat);
        (void)snprintf(name, sizeof(name), "%.*s", (int)entry.name_size, entry.name);
        if (!each(context, name, &attr)) {
            return WIO_END;
        }
    }
    return status == WIO_END ? WIO_OK : status;
}

enum wio_status wio_store_list(struct wio_store *store, const char *path, wio_store_each *each,
                               void *context, struct wio_error *err)
{
    struct api_question question = {.request = {.op = WIO_STORE_LIST}};
    do {
        WIO_CLEANUP(api_answer_fini) struct api_answer answer = {0};
        WIO_TRY(ask(store, path, NULL, &question, &answer, err));
        enum wio_status status = tell_entries(&answer, each, context);
        if (status == WIO_END) {
            return WIO_OK;
        }
        bool is_backwards = answer.offset != 0 && answer.offset <= question.request.offset;
        if (status != WIO_OK || is_backwards) {
            return wio_error_set(err, WIO_ERR_FORMAT, path, WIO_ERROR_NO_OFFSET,
                                 "the catalogue's list is none: expected entries in their order");
        }
        question.request.offset = answer.offset;
    } while (question.request.offset != 0);
    return WIO_OK;
}

enum wio_status wio_store_mkdir(struct wio_store *store, const char *path, uint32_t mode,
                                struct wio_error *err)
{
    const struct wio_store_request request = {.op = WIO_STORE_MKDIR, .file_mode = mode & 07777};
    return tell(store, path, NULL, &request, err);
}

enum wio_status wio_store_rmdir(struct wio_store *store, const char *path, struct wio_error *err)
{
    const struct wio_store_request request = {.op = WIO_STORE_RMDIR};
    return tell(store, path, NULL, &request, err);
}

/* ---- links and attributes ------------------------------------------------------------------ */

enum wio_status wio_store_symlink(struct wio_store *store, const char *target, const char *path,
                                  struct wio_error *err)
{
    const struct wio_store_request request = {.op = WIO_STORE_SYMLINK};
    return tell(store, target, path, &request, err);
}

enum wio_status wio_store_readlink(struct wio_store *store, const char *path, char *text,
                                   size_t size, struct wio_error *err)
{
    WIO_CLEANUP(api_answer_fini) struct api_answer answer = {0};
    struct api_question question = {.request = {.op = WIO_STORE_READLINK}};
    WIO_TRY(ask(store, path, NULL, &question, &answer, err));
    if (answer.data.size >= size) {
        (void)wio_error_set(err, WIO_ERR_IO, path, WIO_ERROR_NO_OFFSET,
                            "the link has %zu bytes, more than there is room for",
                            answer.data.size);
        if (err != NULL) {
            err->sys_errno = ERANGE;
        }
        return WIO_ERR_IO;
    }
    if (answer.data.size > 0) {
        memcpy(text, answer.data.data, answer.data.size);
    }
    text[answer.data.size] = '\0';
    return WIO_OK;
}

static uint16_t flags_of(unsigned flags)
{
    return (flags & WIO_STORE_NOFOLLOW) != 0 ? WIO_STORE_FLAG_NOFOLLOW : 0;
}

enum wio_status wio_store_chmod(struct wio_store *store, const char *path, uint32_t mode,
                                struct wio_error *err)
{
    const struct wio_store_request request = {.op = WIO_STORE_CHMOD, .file_mode = mode & 07777};
    return tell(store, path, NULL, &request, err);
}

enum wio_status wio_store_chown(struct wio_store *store, const char *path, uint32_t uid,
                                uint32_t gid, unsigned flags, struct wio_error *err)
{
    const struct wio_store_request request = {
        .op = WIO_STORE_CHOWN, .flags = flags_of(flags), .uid = uid, .gid = gid};
    return tell(store, path, NULL, &request, err);
}

enum wio_status wio_store_utimens(struct wio_store *store, const char *path, int64_t atime_ns,
                                  int64_t mtime_ns, unsigned flags, struct wio_error *err)
{
    const struct wio_store_request request = {.op = WIO_STORE_UTIMENS,
                                              .flags = flags_of(flags),
                                              .atime_ns = atime_ns,
                                              .mtime_ns = mtime_ns};
    return tell(store, path, NULL, &request, err);
}

/* ---- space --------------------------------------------------------------------------------- */

enum wio_status wio_store_statfs(struct wio_store *store, struct wio_store_space *space_out,
                                 struct wio_error *err)
{
    struct wio_store_space space = {.struct_size = space_out->struct_size,
                                    .targets = store->targets};
    uint64_t deadline_ns = api_deadline_ns(store, 0);
    for (uint16_t i = 0; i < store->targets; i++) {
        WIO_CLEANUP(api_answer_fini) struct api_answer answer = {0};
        const struct api_question question = {.request = {.op = WIO_STORE_STATFS},
                                              .is_for_target = true,
                                              .target = i,
                                              .deadline_ns = deadline_ns};
        WIO_TRY(api_ask(store, &question, &answer, NULL, err));
        space.total_bytes += answer.stat.size;
        space.used_bytes += answer.stat.used;
    }
    wio_copy_sized(space_out, space_out->struct_size, &space, sizeof(space));
    return WIO_OK;
}
