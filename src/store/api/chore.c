/* SPDX-License-Identifier: Apache-2.0 */
/* Small things that only the loop may do, each a call of its own. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/sized.h"
#include "store/api/api_internal.h"

struct chore {
    struct api_call call; /* first */
    void (*what)(struct chore *chore);
    struct wio_store *store;
    struct api_txn *txn;
    uint64_t file;
    struct wio_store_info info;
    uint32_t source; /* or number of a job, or of a server */
    bool knows_jobs;
    bool is_stable;
    bool is_begun;
    size_t text_bytes;
    char text[];
};

/* ---- on the loop --------------------------------------------------------------------------- */

static void start(struct api_call *call)
{
    struct chore *chore = (struct chore *)call;
    chore->what(chore);
}

/* A commit: nothing but its time is over. */
static void abandoned(struct api_call *call)
{
    struct chore *chore = (struct chore *)call;
    if (chore->txn != NULL) {
        chore->txn->has_timed_out = true;
    }
}

static void destroy(struct api_call *call)
{
    free(call);
}

static const struct api_call_ops chore_ops = {start, abandoned, destroy};

static struct chore *chore_create_with(struct wio_store *store, void (*what)(struct chore *chore),
                                       const char *text, size_t bytes)
{
    struct chore *chore = calloc(1, sizeof(*chore) + bytes + 1);
    if (chore == NULL) {
        return NULL;
    }
    api_call_init(&chore->call, &chore_ops);
    chore->store = store;
    chore->what = what;
    chore->text_bytes = bytes;
    if (bytes > 0) {
        memcpy(chore->text, text, bytes + 1);
    }
    return chore;
}

static struct chore *chore_create(struct wio_store *store, void (*what)(struct chore *chore),
                                  const char *text)
{
    return chore_create_with(store, what, text, text != NULL ? strlen(text) : 0);
}

static void chore_cleanup(struct chore **chore)
{
    if (*chore != NULL) {
        api_call_release(&(*chore)->call);
    }
}

static enum wio_status chore_run(struct chore *chore, uint64_t deadline_ns, struct wio_error *err)
{
    struct wio_error own = WIO_ERROR_INIT;
    struct wio_store *store = chore->store;
    enum wio_status status = api_loop_run(store->loop, &chore->call, deadline_ns, &own);
    if (status != WIO_OK && own.sys_errno == ETIMEDOUT) {
        api_explain_timeout(store, &own);
    }
    return status == WIO_OK ? WIO_OK : wio_error_pass(err, &own);
}

/* ---- grants, call sites, numbers ----------------------------------------------------------- */

static void do_drop_grants(struct chore *chore)
{
    wio_session_drop_grants(chore->store->data, chore->file);
    api_call_finish(&chore->call);
}

void api_drop_grants(struct wio_store *store, uint64_t file)
{
    struct chore *chore = chore_create(store, do_drop_grants, NULL);
    if (chore != NULL) { /* else they stay: no more than memory */
        chore->file = file;
        api_loop_post(store->loop, &chore->call);
    }
}

static void do_source(struct chore *chore)
{
    chore->source = wio_session_source(chore->store->data, chore->text, chore->text_bytes);
    api_call_finish(&chore->call);
}

enum wio_status api_source(struct wio_store *store, const char *text, uint32_t *source_out,
                           struct wio_error *err)
{
    *source_out = 0;
    if (text == NULL || text[0] == '\0') {
        return WIO_OK;
    }
    WIO_CLEANUP(chore_cleanup) struct chore *chore = chore_create(store, do_source, text);
    if (chore == NULL) {
        return api_nomem(err);
    }
    WIO_TRY(chore_run(chore, api_deadline_ns(store, 0), err));
    *source_out = chore->source;
    return WIO_OK;
}

static void do_job(struct chore *chore)
{
    chore->source = api_caller_add(chore->store, chore->text, chore->text_bytes);
    api_call_finish(&chore->call);
}

enum wio_status api_job(struct wio_store *store, const char *job, size_t bytes,
                        uint32_t *number_out, struct wio_error *err)
{
    WIO_CLEANUP(chore_cleanup)
    struct chore *chore = chore_create_with(store, do_job, job, bytes);
    *number_out = 0;
    if (chore == NULL) {
        return api_nomem(err);
    }
    WIO_TRY(chore_run(chore, api_deadline_ns(store, 0), err));
    *number_out = chore->source;
    return chore->source != 0 ? WIO_OK : api_nomem(err);
}

static void do_knows_jobs(struct chore *chore)
{
    const struct wio_store *store = chore->store;
    bool is_catalogue = chore->source == WIO_STORE_PARTICIPANTS_MAX;
    chore->knows_jobs = is_catalogue ? wio_session_knows_jobs(store->names, 0)
                                     : wio_session_knows_jobs(store->data, (uint16_t)chore->source);
    api_call_finish(&chore->call);
}

enum wio_status api_knows_jobs(struct wio_store *store, uint32_t server, bool *knows_out,
                               struct wio_error *err)
{
    WIO_CLEANUP(chore_cleanup) struct chore *chore = chore_create(store, do_knows_jobs, NULL);
    if (chore == NULL) {
        return api_nomem(err);
    }
    chore->source = server;
    WIO_TRY(chore_run(chore, api_deadline_ns(store, 0), err));
    *knows_out = chore->knows_jobs;
    return WIO_OK;
}

static void do_info(struct chore *chore)
{
    struct wio_store *store = chore->store;
    const struct wio_coord_stat stat = wio_coord_stat(wio_session_coord(store->data));
    (void)pthread_mutex_lock(&store->mutex);
    chore->info = store->info;
    (void)pthread_mutex_unlock(&store->mutex);
    chore->info.targets = store->targets;
    chore->info.committed = stat.committed;
    chore->info.failed = stat.failed;
    chore->info.attempts = stat.attempts;
    chore->info.wounds = stat.wounds;
    const struct wio_pacing_counts data = wio_session_pacing(store->data);
    const struct wio_pacing_counts names = wio_session_pacing(store->names);
    chore->info.overloads = data.refused + names.refused;
    chore->info.held_back = data.waited + names.waited;
    api_call_finish(&chore->call);
}

void wio_store_get_info(struct wio_store *store, struct wio_store_info *info_out)
{
    static const struct wio_store_info none = {0};
    size_t size = info_out->struct_size;
    WIO_CLEANUP(chore_cleanup) struct chore *chore = chore_create(store, do_info, NULL);
    bool is_ok = chore != NULL && chore_run(chore, api_deadline_ns(store, 0), NULL) == WIO_OK;
    wio_copy_sized(info_out, size, is_ok ? &chore->info : &none, sizeof(none));
    info_out->struct_size = size;
}

/* ---- users' transactions ------------------------------------------------------------------- */

static void do_begin(struct chore *chore)
{
    struct wio_store *store = chore->store;
    struct api_txn *txn = chore->txn;
    uint16_t flags = chore->is_stable ? WIO_STORE_FLAG_STABLE : 0;
    enum wio_status status = wio_session_begin(store->data, txn, flags, &txn->coord);
    if (status != WIO_OK) {
        free(txn);
        chore->txn = NULL;
        api_call_fail(&chore->call, status, status == WIO_ERR_BUSY ? EAGAIN : ENOMEM,
                      "too many transactions are under way");
        return;
    }
    if (!api_call_lock(&chore->call)) {
        api_engine_end(txn);
        chore->txn = NULL;
    } else {
        chore->is_begun = true;
        api_call_unlock(&chore->call);
    }
    api_call_finish(&chore->call);
}

enum wio_status api_txn_begin(struct wio_store *store, bool is_stable, uint64_t deadline_ns,
                              struct api_txn **txn_out, struct wio_error *err)
{
    WIO_CLEANUP(chore_cleanup) struct chore *chore = chore_create(store, do_begin, NULL);
    struct api_txn *txn = calloc(1, sizeof(*txn));
    if (chore == NULL || txn == NULL) {
        free(txn);
        return api_nomem(err);
    }
    txn->store = store;
    txn->is_users = true;
    chore->txn = txn;
    chore->is_stable = is_stable;
    WIO_TRY(chore_run(chore, deadline_ns, err));
    *txn_out = txn;
    return WIO_OK;
}

static void do_restart(struct chore *chore)
{
    api_engine_restart(chore->txn, &chore->call);
}

static void do_commit(struct chore *chore)
{
    api_engine_commit(chore->txn, &chore->call);
}

static enum wio_status txn_call(struct api_txn *txn, void (*what)(struct chore *chore),
                                uint64_t deadline_ns, struct wio_error *err)
{
    WIO_CLEANUP(chore_cleanup) struct chore *chore = chore_create(txn->store, what, NULL);
    if (chore == NULL) {
        return api_nomem(err);
    }
    chore->txn = txn;
    return chore_run(chore, deadline_ns, err);
}

enum wio_status api_txn_restart(struct api_txn *txn, uint64_t deadline_ns, struct wio_error *err)
{
    return txn_call(txn, do_restart, deadline_ns, err);
}

enum wio_status api_txn_commit(struct api_txn *txn, uint64_t deadline_ns, struct wio_error *err)
{
    return txn_call(txn, do_commit, deadline_ns, err);
}

static void do_end(struct chore *chore)
{
    struct api_txn *txn = chore->txn;
    chore->txn = NULL;
    api_engine_end(txn);
    api_call_finish(&chore->call);
}

void api_txn_end(struct api_txn *txn)
{
    struct chore *chore = chore_create(txn->store, do_end, NULL);
    if (chore != NULL) { /* else it stays, and ends with the connection */
        chore->txn = txn;
        api_loop_post(txn->store->loop, &chore->call);
    }
}
