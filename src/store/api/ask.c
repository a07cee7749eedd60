/* SPDX-License-Identifier: Apache-2.0 */
/* Requests outside transactions: of the catalogue, and of targets. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "store/api/api_internal.h"
#include "store/wire/results.h"

struct api_ask {
    struct api_call call; /* first */
    TAILQ_ENTRY(api_ask) asking;
    struct wio_store *store;
    struct wio_coord_ask ask;
    struct api_question question;
    bool is_waiting; /* for a slot */
    struct api_answer answer;
    struct wio_store_blockers *blockers; /* NULL: none */
    char paths[];
};

void api_answer_fini(struct api_answer *answer)
{
    wio_blob_fini(&answer->data);
}

/* ---- on the loop --------------------------------------------------------------------------- */

static void keep_blockers(struct api_ask *ask, const struct wio_store_reply *reply)
{
    struct wio_store *store = ask->store;
    ask->blockers = calloc(1, sizeof(*ask->blockers));
    (void)pthread_mutex_lock(&store->mutex);
    store->info.refused++;
    (void)pthread_mutex_unlock(&store->mutex);
    if (ask->blockers != NULL) {
        api_labels_fill(&store->labels, ask->question.target, &reply->blockers, ask->blockers);
    }
}

static void fail(struct api_ask *ask, const struct wio_store_reply *reply)
{
    enum wio_store_result result = (enum wio_store_result)reply->result;
    char why[512] = "";
    if (result == WIO_STORE_OVERLOADED) {
        api_overload_fail(&ask->call, (enum wio_admit_reason)reply->told.reason);
        return;
    }
    if (result == WIO_STORE_REFUSED) {
        keep_blockers(ask, reply);
        if (ask->blockers != NULL) {
            api_blockers_text(ask->blockers, why, sizeof(why));
        }
    }
    bool is_busy = result == WIO_STORE_REFUSED || result == WIO_STORE_BUSY;
    api_call_fail(&ask->call, is_busy ? WIO_ERR_BUSY : WIO_ERR_IO, wio_store_result_errno(result),
                  "%s%s", result == WIO_STORE_REFUSED ? "locked" : wio_store_result_text(result),
                  why);
}

static void answered(struct wio_coord_ask *coord_ask, const struct wio_store_reply *reply)
{
    struct api_ask *ask = coord_ask->owner;
    struct wio_store *store = ask->store;
    if (!TAILQ_EMPTY(&store->asking)) {
        api_loop_wake(store->loop);
    }
    if (reply->result != WIO_STORE_OK) {
        fail(ask, reply);
        return;
    }
    bool is_ok = reply->data_size == 0 ||
                 wio_blob_put(&ask->answer.data, reply->data, reply->data_size) == WIO_OK;
    if (is_ok && ask->question.keeps_grant && reply->stat.file != 0 && store->data != NULL) {
        is_ok = wio_session_add_grant(store->data, reply->stat.file, reply->data,
                                      reply->data_size) == WIO_OK;
    }
    ask->answer.offset = reply->offset;
    ask->answer.size = reply->size;
    ask->answer.stat = reply->stat;
    if (is_ok) {
        api_call_finish(&ask->call);
    } else {
        api_call_fail(&ask->call, WIO_ERR_NOMEM, ENOMEM, "out of memory");
    }
}

static void send(struct api_ask *ask)
{
    struct wio_store *store = ask->store;
    bool is_for_target = ask->question.is_for_target;
    struct wio_session *session = is_for_target ? store->data : store->names;
    uint16_t target = is_for_target ? ask->question.target : 0;
    ask->ask.request.source =
        is_for_target ? api_caller_of_data(store, ask->question.request.source, ask->question.job)
                      : api_caller_of_name(store, ask->question.job);
    enum wio_status status = wio_coord_ask(wio_session_coord(session), target, &ask->ask);
    ask->is_waiting = status == WIO_ERR_BUSY;
    if (ask->is_waiting) {
        TAILQ_INSERT_TAIL(&store->asking, ask, asking);
    } else if (status != WIO_OK) {
        api_call_fail(&ask->call, WIO_ERR_USAGE, EINVAL, "there is no such target");
    }
}

void api_ask_pump(struct wio_store *store)
{
    struct api_asking waiting = TAILQ_HEAD_INITIALIZER(waiting);
    struct api_ask *ask = NULL;
    TAILQ_CONCAT(&waiting, &store->asking, asking);
    while ((ask = TAILQ_FIRST(&waiting)) != NULL) {
        TAILQ_REMOVE(&waiting, ask, asking);
        send(ask);
    }
}

static void start(struct api_call *call)
{
    send((struct api_ask *)call);
}

/* What was sent stays until it is answered; its answer is dropped. A file that it opened is granted
 * until the store is disconnected. */
static void abandoned(struct api_call *call)
{
    struct api_ask *ask = (struct api_ask *)call;
    if (ask->is_waiting) {
        ask->is_waiting = false;
        TAILQ_REMOVE(&ask->store->asking, ask, asking);
        api_call_finish(call);
    }
}

static void destroy(struct api_call *call)
{
    struct api_ask *ask = (struct api_ask *)call;
    api_answer_fini(&ask->answer);
    free(ask->blockers);
    free(ask);
}

static const struct api_call_ops ask_ops = {start, abandoned, destroy};

/* ---- callers ------------------------------------------------------------------------------- */

static struct api_ask *ask_create(struct wio_store *store, const struct api_question *question)
{
    const struct wio_store_request *from = &question->request;
    struct api_ask *ask =
        calloc(1, sizeof(*ask) + (size_t)from->path_size + (size_t)from->path2_size);
    if (ask == NULL) {
        return NULL;
    }
    api_call_init(&ask->call, &ask_ops);
    ask->store = store;
    ask->question = *question;
    ask->question.job = api_acting(store);
    ask->ask = (struct wio_coord_ask){.request = *from, .answered = answered, .owner = ask};
    struct wio_store_request *request = &ask->ask.request;
    request->deadline_ns = question->deadline_ns;
    if (from->path_size > 0) {
        memcpy(ask->paths, from->path, from->path_size);
    }
    if (from->path2_size > 0) {
        memcpy(ask->paths + from->path_size, from->path2, from->path2_size);
    }
    request->path = ask->paths;
    request->path2 = ask->paths + from->path_size;
    return ask;
}

enum wio_status api_ask(struct wio_store *store, const struct api_question *question,
                        struct api_answer *answer_out, struct wio_store_blockers *blockers_out,
                        struct wio_error *err)
{
    struct wio_error own = WIO_ERROR_INIT;
    struct api_ask *ask = ask_create(store, question);
    *answer_out = (struct api_answer){0};
    if (ask == NULL) {
        return api_nomem(err);
    }
    enum wio_status status = api_loop_run(store->loop, &ask->call, question->deadline_ns, &own);
    if (status == WIO_OK) {
        *answer_out = ask->answer;
        ask->answer.data = (struct wio_blob){0};
    } else if (own.sys_errno == ETIMEDOUT) {
        api_explain_timeout(store, &own);
    } else if (blockers_out != NULL && ask->blockers != NULL) {
        *blockers_out = *ask->blockers;
    }
    api_call_release(&ask->call);
    return status == WIO_OK ? WIO_OK : wio_error_pass(err, &own);
}
