/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/mpi/mpi_done.h"

#include <sys/mman.h>

#include "capture/core/raw.h"
#include "capture/mpi/mpi_judge.h"

void cap_mpi_look_up(const void *place, struct cap_mpi_request *out)
{
    if (!cap_mpi_request_find(cap_mpi_load(place), out)) {
        out->handle = 0;
    }
}

void cap_mpi_snapshot_take(struct cap_mpi_snapshot *s, int count, const void *requests,
                           void *statuses, int status_count)
{
    bool has_statuses = statuses != cap_mpi_abi.status_ignore;
    size_t requests_count = count > 0 ? (size_t)count : 0;
    s->mapping = NULL;
    s->known = s->few_known;
    s->statuses = has_statuses ? statuses : s->few_statuses;
    if (count > CAP_MPI_FEW) {
        size_t ours =
            has_statuses || status_count == 1 ? 0 : requests_count * CAP_MPI_STATUS_WORDS * 8;
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
        cap_mpi_look_up((const char *)requests + i * cap_mpi_abi.handle_bytes, &s->known[i]);
    }
}

void cap_mpi_snapshot_drop(const struct cap_mpi_snapshot *s)
{
    if (s->mapping != NULL) {
        (void)raw_munmap(s->mapping, s->bytes);
    }
}

static const void *status_at(const struct cap_mpi_snapshot *s, int at)
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
    default: /* a cancelled synchronous send has met no receive */
        if (!request->is_cancelled || !cap_mpi_status_cancelled(status)) {
            cap_mpi_emit_caused(m, WIO_CALL_mpi_done, WIO_NO_SIZE, 0, arg);
        }
        if (request->new_comm != 0) {
            cap_mpi_made_by(m, request);
        }
    }
}

void cap_mpi_complete(struct cap_mpi *m, const struct cap_mpi_request *request, const void *status)
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

bool cap_mpi_has_statuses(const struct cap_mpi *m)
{
    return m->result == 0 || cap_mpi_error_class(m->result) == cap_mpi_abi.error_in_status;
}

void cap_mpi_complete_all(struct cap_mpi *m, int count, const struct cap_mpi_snapshot *s)
{
    for (int i = 0; s->known != NULL && i < count && cap_mpi_has_statuses(m); i++) {
        if (is_taken(m, status_at(s, i))) {
            cap_mpi_complete(m, &s->known[i], status_at(s, i));
        }
    }
}

void cap_mpi_complete_some(struct cap_mpi *m, int done, const int *indices,
                           const struct cap_mpi_snapshot *s)
{
    for (int i = 0; s->known != NULL && i < done && cap_mpi_has_statuses(m); i++) {
        if (is_taken(m, status_at(s, i))) {
            cap_mpi_complete(m, &s->known[indices[i]], status_at(s, i));
        }
    }
}

bool cap_mpi_is_one_taken(const struct cap_mpi *m)
{
    return m->result == 0 || cap_mpi_error_class(m->result) == cap_mpi_abi.error_truncate;
}

bool cap_mpi_found_nothing(struct cap_mpi *m, int requests, const void *flag)
{
    if (m->result == 0 && *(const int *)flag == 0) {
        cap_mpi_look(m, requests);
        return true;
    }
    cap_mpi_looks_end(m);
    return false;
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
    if (cap_mpi_found_nothing(m, 1, flag)) {
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
