/* SPDX-License-Identifier: Apache-2.0 */
#include "store/session/catalogue_desk.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "store/wire/entries.h"
#include "store/wire/results.h"

enum {
    LIST_BYTES = 256 << 10, /* of one reply to LIST */
    STRIPE_UNIT = 1 << 20
};

enum wio_status catalogue_desk_init(struct catalogue_desk *desk, struct wio_catalogue *catalogue,
                                    const struct wio_link_key *servers_key,
                                    const char *const *targets, uint16_t count)
{
    *desk = (struct catalogue_desk){.catalogue = catalogue,
                                    .servers_key = *servers_key,
                                    .target_count = count,
                                    .stripe_unit = STRIPE_UNIT};
    return wio_wire_put_targets(&desk->targets, targets, count);
}

void catalogue_desk_fini(struct catalogue_desk *desk)
{
    wio_blob_fini(&desk->targets);
    wio_blob_fini(&desk->data);
    explicit_bzero(&desk->servers_key, sizeof(desk->servers_key));
}

bool catalogue_desk_changes(const struct wio_store_request *request)
{
    switch (request->op) {
    case WIO_STORE_OPEN:
        return (request->open_flags & (WIO_STORE_OPEN_CREATE | WIO_STORE_OPEN_TRUNC)) != 0;
    case WIO_STORE_MKDIR:
    case WIO_STORE_RMDIR:
    case WIO_STORE_UNLINK:
    case WIO_STORE_RENAME:
    case WIO_STORE_SYMLINK:
    case WIO_STORE_CHMOD:
    case WIO_STORE_CHOWN:
    case WIO_STORE_UTIMENS:
        return true;
    default:
        return false;
    }
}

/* One request on its way. */
struct desk_work {
    struct catalogue_desk *desk;
    const struct wio_catalogue_user *user;
    uint64_t client;
    const struct wio_store_request *request;
    struct wio_store_reply *reply;
};

static struct wio_catalogue_path path_of(const struct desk_work *work)
{
    return (struct wio_catalogue_path){work->request->path, work->request->path_size};
}

static struct wio_catalogue_path path2_of(const struct desk_work *work)
{
    return (struct wio_catalogue_path){work->request->path2, work->request->path2_size};
}

static bool follows(const struct desk_work *work)
{
    return (work->request->flags & WIO_STORE_FLAG_NOFOLLOW) == 0;
}

/* R-GRANT-1: only files have bytes at the targets. */
static void grant(const struct desk_work *work, uint32_t rights)
{
    const struct wio_store_stat *stat = &work->reply->stat;
    if (stat->file == 0 || !S_ISREG(stat->mode)) {
        return;
    }
    const struct wio_grant given = {
        .file = stat->file, .client = work->client, .uid = work->user->uid, .rights = rights};
    wio_grant_make(&work->desk->servers_key, &given, work->desk->grant);
    work->reply->data = work->desk->grant;
    work->reply->data_size = sizeof(work->desk->grant);
}

/* ---- operations ---------------------------------------------------------------------------- */

static int do_open(const struct desk_work *work)
{
    const struct catalogue_desk *desk = work->desk;
    struct wio_store_request how = *work->request;
    how.segments = how.segments != 0 ? how.segments : desk->target_count;
    how.stripe_unit = how.stripe_unit != 0 ? how.stripe_unit : desk->stripe_unit;
    int result = wio_catalogue_open_file(desk->catalogue, work->user, path_of(work), &how,
                                         &work->reply->stat);
    uint32_t rights = WIO_GRANT_SIZE;
    rights |= (how.open_flags & WIO_STORE_OPEN_READ) != 0 ? WIO_GRANT_READ : 0u;
    rights |= (how.open_flags & (WIO_STORE_OPEN_WRITE | WIO_STORE_OPEN_TRUNC)) != 0
                  ? WIO_GRANT_WRITE
                  : 0u;
    if (result == 0) {
        grant(work, rights);
    }
    return result;
}

static int do_stat(const struct desk_work *work)
{
    int result = wio_catalogue_stat(work->desk->catalogue, work->user, path_of(work), follows(work),
                                    &work->reply->stat);
    if (result == 0) {
        grant(work, WIO_GRANT_SIZE);
    }
    return result;
}

static int do_unlink(const struct desk_work *work)
{
    int result =
        wio_catalogue_unlink(work->desk->catalogue, work->user, path_of(work), &work->reply->stat);
    if (result == 0) {
        grant(work, WIO_GRANT_DROP);
    }
    return result;
}

static int do_rename(const struct desk_work *work)
{
    int result = wio_catalogue_rename(work->desk->catalogue, work->user, path_of(work),
                                      path2_of(work), &work->reply->stat);
    if (result == 0) {
        grant(work, WIO_GRANT_DROP);
    }
    return result;
}

static int do_readlink(const struct desk_work *work)
{
    struct catalogue_desk *desk = work->desk;
    size_t got = 0;
    int result = wio_catalogue_readlink(desk->catalogue, work->user, path_of(work), desk->text,
                                        sizeof(desk->text), &got);
    if (result == 0) {
        work->reply->data = (const uint8_t *)desk->text;
        work->reply->data_size = (uint32_t)got;
    }
    return result;
}

struct desk_listing {
    struct wio_blob *data;
    uint64_t last;
    bool is_cut; /* there is more */
    bool has_failed;
};

static bool add_entry(void *context, const char *name, size_t size,
                      const struct wio_store_stat *stat, uint64_t cookie)
{
    struct desk_listing *listing = context;
    const struct wio_wire_entry entry = {
        .cookie = cookie, .stat = *stat, .name = name, .name_size = (uint32_t)size};
    if (listing->data->size > LIST_BYTES) {
        listing->is_cut = true;
        return false;
    }
    listing->has_failed = wio_wire_put_entry(listing->data, &entry) != WIO_OK;
    listing->last = cookie;
    return !listing->has_failed;
}

/* R-WIRE-15 */
static int do_list(const struct desk_work *work)
{
    struct catalogue_desk *desk = work->desk;
    struct desk_listing listing = {.data = &desk->data};
    wio_blob_clear(&desk->data);
    int result = wio_catalogue_list(desk->catalogue, work->user, path_of(work),
                                    work->request->offset, add_entry, &listing);
    if (result == 0 && listing.has_failed) {
        result = ENOMEM;
    }
    if (result == 0) {
        work->reply->offset = listing.is_cut ? listing.last : 0;
        work->reply->data = desk->data.data;
        work->reply->data_size = (uint32_t)desk->data.size;
    }
    return result;
}

static int do_targets(const struct desk_work *work)
{
    work->reply->data = work->desk->targets.data;
    work->reply->data_size = (uint32_t)work->desk->targets.size;
    return 0;
}

static int change_attributes(const struct desk_work *work)
{
    const struct wio_store_request *request = work->request;
    struct wio_catalogue *catalogue = work->desk->catalogue;
    switch (request->op) {
    case WIO_STORE_CHMOD:
        return wio_catalogue_chmod(catalogue, work->user, path_of(work), request->file_mode);
    case WIO_STORE_CHOWN:
        return wio_catalogue_chown(catalogue, work->user, path_of(work), follows(work),
                                   request->uid, request->gid);
    default: /* UTIMENS */
        return wio_catalogue_utimens(catalogue, work->user, path_of(work), follows(work),
                                     request->atime_ns, request->mtime_ns);
    }
}

static int do_request(const struct desk_work *work)
{
    const struct wio_store_request *request = work->request;
    struct wio_catalogue *catalogue = work->desk->catalogue;
    switch (request->op) {
    case WIO_STORE_OPEN:
        return do_open(work);
    case WIO_STORE_STAT:
        return do_stat(work);
    case WIO_STORE_LIST:
        return do_list(work);
    case WIO_STORE_MKDIR:
        return wio_catalogue_mkdir(catalogue, work->user, path_of(work), request->file_mode,
                                   &work->reply->stat);
    case WIO_STORE_RMDIR:
        return wio_catalogue_rmdir(catalogue, work->user, path_of(work));
    case WIO_STORE_UNLINK:
        return do_unlink(work);
    case WIO_STORE_RENAME:
        return do_rename(work);
    case WIO_STORE_SYMLINK:
        return wio_catalogue_symlink(catalogue, work->user, path_of(work), path2_of(work),
                                     &work->reply->stat);
    case WIO_STORE_READLINK:
        return do_readlink(work);
    case WIO_STORE_CHMOD:
    case WIO_STORE_CHOWN:
    case WIO_STORE_UTIMENS:
        return change_attributes(work);
    case WIO_STORE_TARGETS:
        return do_targets(work);
    case WIO_STORE_PING:
    case WIO_STORE_DEFINE_SOURCE:
        return 0;
    default:
        return ENOSYS;
    }
}

int catalogue_desk_answer(struct catalogue_desk *desk, const struct wio_catalogue_user *user,
                          uint64_t client, const struct wio_store_request *request,
                          struct wio_store_reply *reply)
{
    const struct desk_work work = {desk, user, client, request, reply};
    int result = do_request(&work);
    if (result != 0) {
        reply->stat = (struct wio_store_stat){0};
    }
    if (result == ENOSYS) {
        reply->result = WIO_STORE_BAD;
    } else {
        reply->result = (uint16_t)(result == ENOMEM ? WIO_STORE_BUSY : wio_store_result_of(result));
    }
    return result;
}
