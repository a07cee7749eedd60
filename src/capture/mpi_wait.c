/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completion of requests. The library sets the handles of completed requests to MPI_REQUEST_NULL:
 * what is known of them is copied before the call, also since another thread may have made another
 * request of the same handle before it returns. Statuses are asked for also where the program wants
 * none.
 */
#include <string.h>
#include <sys/mman.h>

#include "base/cleanup.h"
#include "capture/mpi_bodies_gen.h"
#include "capture/mpi_hooks.h"
#include "capture/raw.h"

#define FEW 32
#define STATUS_WORDS 4 /* of 8 bytes: more than any status */

/* What is known of the requests, and statuses of ours: a few on the stack, more in a mapping. */
struct snapshot {
    struct cap_mpi_request *known; /* handle 0: nothing */
    void *statuses;                /* the program's or ours */
    void *mapping;
    size_t bytes;
    struct cap_mpi_request few_known[FEW];
    uint64_t few_statuses[FEW * STATUS_WORDS];
};

/* The request whose handle lies at `place`. */
static void look_up(const void *place, struct cap_mpi_request *out)
{
    if (!cap_mpi_request_find(cap_mpi_load(place), out)) {
        out->handle = 0;
    }
}

static void take_snapshot(struct snapshot *s, int count, const void *requests, void *statuses,
                          int status_count)
{
    bool has_statuses = statuses != cap_mpi_abi.status_ignore;
    size_t requests_count = count > 0 ? (size_t)count : 0;
    s->mapping = NULL;
    s->known = s->few_known;
    s->statuses = has_statuses ? statuses : s->few_statuses;
    if (count > FEW) {
        size_t ours = has_statuses || status_count == 1 ? 0 : requests_count * STATUS_WORDS * 8;
        s->bytes = requests_count * sizeof(*s->known) + ours;
        s->mapping = raw_mmap(s->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        s->known = s->mapping;
        if (s->mapping == NULL) { /* nothing is told of the requests' ends */
            s->statuses = statuses;
            return;
        }
        if (ours > 0) {
            s->statuses = s->known + requests_count;
        }
    }
    for (size_t i = 0; i < requests_count; i++) {
        look_up((const char *)requests + i * cap_mpi_abi.handle_bytes, &s->known[i]);
    }
}

static void drop_snapshot(const struct snapshot *s)
{
    if (s->mapping != NULL) {
        (void)raw_munmap(s->mapping, s->bytes);
    }
}

static const void *status_at(const struct snapshot *s, int at)
{
    return (const char *)s->statuses + (size_t)at * cap_mpi_abi.status_bytes;
}

void cap_mpi_after_wait(struct cap_mpi *m, int requests, int completed)
{
    m->ext.arg[0] = m->object != NULL ? (int64_t)m->object->id : 0;
    m->ext.arg[1] = requests;
    m->ext.arg[2] = m->result == 0 ? completed : 0;
    cap_mpi_emit(m);
}

/* ---- what a request's end tells: FORMAT.md R-MPI-3 ---------------------------------------- */

static void tell_receive(struct cap_mpi *m, const struct cap_mpi_request *request,
                         const void *status)
{
    int source = cap_mpi_status_int(status, cap_mpi_abi.source_at);
    int64_t arg[4] = {(int64_t)request->object, request->peer, request->tag, (int64_t)request->key};
    if (request->is_cancelled && cap_mpi_status_cancelled(status)) {
        return;
    }
    if (request->has_no_status) {
        cap_mpi_emit_caused(m, WIO_CALL_mpi_done, WIO_NO_SIZE, 0, arg);
        return;
    }
    if (source >= 0) {
        arg[1] = (int64_t)request->peer_base + source;
        arg[2] = request->tag <= CAP_MPI_PARTITIONED
                     ? request->tag
                     : cap_mpi_status_int(status, cap_mpi_abi.tag_at);
    }
    cap_mpi_emit_caused(m, WIO_CALL_mpi_done, WIO_NO_SIZE, (int64_t)cap_mpi_status_bytes(status),
                        arg);
}

static void tell(struct cap_mpi *m, const struct cap_mpi_request *request, const void *status)
{
    int64_t arg[4] = {(int64_t)request->object, -1, -1, (int64_t)request->key};
    if (request->key == 0 || request->is_done) {
        return;
    }
    switch (request->kind) {
    case CAP_MPI_SEND:
        break;
    case CAP_MPI_RECV:
        tell_receive(m, request, status);
        break;
    case CAP_MPI_NEIGHBORS:
        arg[2] = request->tag;
        for (int i = 0; i < request->count; i++, arg[3]++) {
            cap_mpi_emit_caused(m, WIO_CALL_mpi_done, WIO_NO_SIZE, 0, arg);
        }
        break;
    case CAP_MPI_IO:
        cap_mpi_emit_caused(m, WIO_CALL_mpi_done, WIO_NO_SIZE,
                            (int64_t)cap_mpi_status_bytes(status), arg);
        break;
    default: /* a synchronous send that was cancelled has met nobody */
        if (!request->is_cancelled || !cap_mpi_status_cancelled(status)) {
            cap_mpi_emit_caused(m, WIO_CALL_mpi_done, WIO_NO_SIZE, 0, arg);
        }
        if (request->new_comm != 0) {
            cap_mpi_made_by(m, request);
        }
    }
}

static void complete(struct cap_mpi *m, const struct cap_mpi_request *request, const void *status)
{
    if (request->handle != 0) {
        cap_mpi_request_complete(request);
        tell(m, request, status);
    }
}

/* A request of several failed, or is not completed since another failed: told by its status. */
static bool is_taken(const struct cap_mpi *m, const void *status)
{
    if (m->result == 0) {
        return true;
    }
    int class = cap_mpi_error_class(cap_mpi_status_int(status, cap_mpi_abi.error_at));
    return class == 0 || class == cap_mpi_abi.error_truncate;
}

static bool has_statuses(const struct cap_mpi *m)
{
    return m->result == 0 || cap_mpi_error_class(m->result) == cap_mpi_abi.error_in_status;
}

static void complete_all(struct cap_mpi *m, int count, const struct snapshot *s)
{
    for (int i = 0; s->known != NULL && i < count && has_statuses(m); i++) {
        if (is_taken(m, status_at(s, i))) {
            complete(m, &s->known[i], status_at(s, i));
        }
    }
}

static void complete_some(struct cap_mpi *m, int done, const int *indices, const struct snapshot *s)
{
    for (int i = 0; s->known != NULL && i < done && has_statuses(m); i++) {
        if (is_taken(m, status_at(s, i))) {
            complete(m, &s->known[indices[i]], status_at(s, i));
        }
    }
}

/* One request: the result tells of it. */
static bool is_one_taken(const struct cap_mpi *m)
{
    return m->result == 0 || cap_mpi_error_class(m->result) == cap_mpi_abi.error_truncate;
}

/* ---- the wrappers ------------------------------------------------------------------------- */

int cap_mpi_MPI_Wait(uintptr_t caller, unsigned symbol, void *request, void *status)
{
    int (*call)(void *, void *) = (int (*)(void *, void *))cap_mpi_real(symbol);
    struct cap_mpi m;
    if (!cap_mpi_enter(&m, WIO_CALL_MPI_Wait, caller, false)) {
        return call(request, status);
    }
    struct cap_mpi_request known;
    look_up(request, &known);
    void *given = cap_mpi_status(&m, status);
    cap_mpi_begin(&m, CAP_STATE_IN_MPI);
    cap_mpi_end(&m, call(request, given));
    cap_mpi_after_wait(&m, 1, 1);
    if (is_one_taken(&m)) {
        complete(&m, &known, given);
    }
    return cap_mpi_leave(&m);
}

int cap_mpi_MPI_Waitall(uintptr_t caller, unsigned symbol, int count, void *requests,
                        void *statuses)
{
    int (*call)(int, void *, void *) = (int (*)(int, void *, void *))cap_mpi_real(symbol);
    struct cap_mpi m;
    if (!cap_mpi_enter(&m, WIO_CALL_MPI_Waitall, caller, false)) {
        return call(count, requests, statuses);
    }
    struct snapshot s;
    take_snapshot(&s, count, requests, statuses, count);
    cap_mpi_begin(&m, CAP_STATE_IN_MPI);
    cap_mpi_end(&m, call(count, requests, s.statuses));
    cap_mpi_after_wait(&m, count, count);
    complete_all(&m, count, &s);
    drop_snapshot(&s);
    return cap_mpi_leave(&m);
}

int cap_mpi_MPI_Waitany(uintptr_t caller, unsigned symbol, int count, void *requests, void *index,
                        void *status)
{
    int (*call)(int, void *, void *, void *) =
        (int (*)(int, void *, void *, void *))cap_mpi_real(symbol);
    struct cap_mpi m;
    if (!cap_mpi_enter(&m, WIO_CALL_MPI_Waitany, caller, false)) {
        return call(count, requests, index, status);
    }
    struct snapshot s;
    take_snapshot(&s, count, requests, status, 1);
    cap_mpi_begin(&m, CAP_STATE_IN_MPI);
    cap_mpi_end(&m, call(count, requests, index, s.statuses));
    int at = *(const int *)index;
    bool has_one = is_one_taken(&m) && at >= 0 && at < count;
    cap_mpi_after_wait(&m, count, has_one);
    if (has_one && s.known != NULL) {
        complete(&m, &s.known[at], s.statuses);
    }
    drop_snapshot(&s);
    return cap_mpi_leave(&m);
}

typedef int some_fn(int count, void *requests, void *done, void *indices, void *statuses);

/* NOLINTNEXTLINE(readability-function-size): what the call of MPI takes */
static int wait_some(struct cap_mpi *m, some_fn *call, int count, void *requests, void *done,
                     void *indices, void *statuses)
{
    bool is_test = m->ev.call == WIO_CALL_MPI_Testsome;
    struct snapshot s;
    take_snapshot(&s, count, requests, statuses, count);
    cap_mpi_begin(m, is_test ? CAP_STATE_POLLING : CAP_STATE_IN_MPI);
    cap_mpi_end(m, call(count, requests, done, indices, s.statuses));
    int finished = *(const int *)done;
    finished = has_statuses(m) && finished > 0 && finished <= count ? finished : 0;
    if (is_test && finished == 0 && m->result == 0 && *(const int *)done == 0) {
        cap_mpi_look(m);
    } else {
        if (is_test) {
            cap_mpi_looks_end(m);
        }
        cap_mpi_after_wait(m, count, finished);
        complete_some(m, finished, indices, &s);
    }
    drop_snapshot(&s);
    return cap_mpi_leave(m);
}

/* NOLINTNEXTLINE(readability-function-size): what the call of MPI takes */
int cap_mpi_MPI_Waitsome(uintptr_t caller, unsigned symbol, int count, void *requests, void *done,
                         void *indices, void *statuses)
{
    some_fn *call = (some_fn *)cap_mpi_real(symbol);
    struct cap_mpi m;
    if (!cap_mpi_enter(&m, WIO_CALL_MPI_Waitsome, caller, false)) {
        return call(count, requests, done, indices, statuses);
    }
    return wait_some(&m, call, count, requests, done, indices, statuses);
}

/* NOLINTNEXTLINE(readability-function-size): what the call of MPI takes */
int cap_mpi_MPI_Testsome(uintptr_t caller, unsigned symbol, int count, void *requests, void *done,
                         void *indices, void *statuses)
{
    some_fn *call = (some_fn *)cap_mpi_real(symbol);
    struct cap_mpi m;
    if (!cap_mpi_enter(&m, WIO_CALL_MPI_Testsome, caller, false)) {
        return call(count, requests, done, indices, statuses);
    }
    return wait_some(&m, call, count, requests, done, indices, statuses);
}

/* True where a test found nothing. */
static bool found_nothing(struct cap_mpi *m, const void *flag)
{
    if (m->result == 0 && *(const int *)flag == 0) {
        cap_mpi_look(m);
        return true;
    }
    cap_mpi_looks_end(m);
    return false;
}

int cap_mpi_MPI_Test(uintptr_t caller, unsigned symbol, void *request, void *flag, void *status)
{
    int (*call)(void *, void *, void *) = (int (*)(void *, void *, void *))cap_mpi_real(symbol);
    struct cap_mpi m;
    if (!cap_mpi_enter(&m, WIO_CALL_MPI_Test, caller, false)) {
        return call(request, flag, status);
    }
    struct cap_mpi_request known;
    look_up(request, &known);
    void *given = cap_mpi_status(&m, status);
    cap_mpi_begin(&m, CAP_STATE_POLLING);
    cap_mpi_end(&m, call(request, flag, given));
    if (!found_nothing(&m, flag)) {
        cap_mpi_after_wait(&m, 1, 1);
        if (is_one_taken(&m)) {
            complete(&m, &known, given);
        }
    }
    return cap_mpi_leave(&m);
}

int cap_mpi_MPI_Testall(uintptr_t caller, unsigned symbol, int count, void *requests, void *flag,
                        void *statuses)
{
    int (*call)(int, void *, void *, void *) =
        (int (*)(int, void *, void *, void *))cap_mpi_real(symbol);
    struct cap_mpi m;
    if (!cap_mpi_enter(&m, WIO_CALL_MPI_Testall, caller, false)) {
        return call(count, requests, flag, statuses);
    }
    struct snapshot s;
    take_snapshot(&s, count, requests, statuses, count);
    cap_mpi_begin(&m, CAP_STATE_POLLING);
    cap_mpi_end(&m, call(count, requests, flag, s.statuses));
    if (!found_nothing(&m, flag)) {
        cap_mpi_after_wait(&m, count, count);
        complete_all(&m, count, &s);
    }
    drop_snapshot(&s);
    return cap_mpi_leave(&m);
}

/* NOLINTNEXTLINE(readability-function-size): what the call of MPI takes */
int cap_mpi_MPI_Testany(uintptr_t caller, unsigned symbol, int count, void *requests, void *index,
                        void *flag, void *status)
{
    int (*call)(int, void *, void *, void *, void *) =
        (int (*)(int, void *, void *, void *, void *))cap_mpi_real(symbol);
    struct cap_mpi m;
    if (!cap_mpi_enter(&m, WIO_CALL_MPI_Testany, caller, false)) {
        return call(count, requests, index, flag, status);
    }
    struct snapshot s;
    take_snapshot(&s, count, requests, status, 1);
    cap_mpi_begin(&m, CAP_STATE_POLLING);
    cap_mpi_end(&m, call(count, requests, index, flag, s.statuses));
    if (!found_nothing(&m, flag)) {
        int at = *(const int *)index;
        bool has_one = is_one_taken(&m) && at >= 0 && at < count;
        cap_mpi_after_wait(&m, count, has_one);
        if (has_one && s.known != NULL) {
            complete(&m, &s.known[at], s.statuses);
        }
    }
    drop_snapshot(&s);
    return cap_mpi_leave(&m);
}

/* ---- requests that end otherwise ------------------------------------------------------------ */

void cap_mpi_before_request_free(struct cap_mpi *m, const void *request)
{
    (void)m;
    cap_mpi_request_forget(cap_mpi_load(request));
}

void cap_mpi_before_cancel(struct cap_mpi *m, const void *place)
{
    (void)m;
    struct cap_mpi_request request;
    if (cap_mpi_request_find(cap_mpi_load(place), &request)) {
        request.is_cancelled = true;
        cap_mpi_request_add(&request);
    }
}

/* The request stays: its end is told now, and not again. */
void cap_mpi_after_get_status(struct cap_mpi *m, cap_mpi_word handle, const void *flag,
                              const void *status)
{
    struct cap_mpi_request request;
    if (found_nothing(m, flag)) {
        return;
    }
    cap_mpi_after_wait(m, 1, 1);
    handle = cap_mpi_word_of(handle);
    if (m->result == 0 && cap_mpi_request_find(handle, &request) && !request.is_done) {
        tell(m, &request, status);
        request.is_done = true;
        cap_mpi_request_add(&request);
    }
}
