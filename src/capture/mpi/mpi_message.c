/* SPDX-License-Identifier: Apache-2.0 */
/* Messages between two ranks: FORMAT.md R-MPI-2. Those to and from MPI_PROC_NULL are none. */
#include "capture/mpi/mpi_hooks.h"

/* Fill in object, peer, tag and key; false where there is nothing to record. */
static bool address(struct cap_mpi *m, cap_mpi_word comm, int peer, int tag, int64_t arg[4])
{
    if (peer == cap_mpi_abi.proc_null) {
        return false;
    }
    if (m->object == NULL) {
        m->object = cap_mpi_comm(m, comm);
    }
    if (m->object == NULL) {
        return false;
    }
    arg[0] = (int64_t)m->object->id;
    arg[1] = cap_mpi_peer(m->object, peer);
    arg[2] = tag;
    arg[3] = 0;
    return true;
}

/* Remember the request; its key, or 0 where it is over. Sends too, since the handle may have meant
 * a receive whose end was not seen. */
static uint64_t track(struct cap_mpi *m, const void *place, enum cap_mpi_request_kind kind,
                      const int64_t arg[4], bool has_no_status)
{
    cap_mpi_word handle = cap_mpi_load(place);
    if (cap_mpi_request_is_over(handle)) {
        return 0;
    }
    struct cap_mpi_request request = {.handle = handle,
                                      .key = cap_key(),
                                      .object = (uint64_t)arg[0],
                                      .size = m->ev.size,
                                      .peer = (int32_t)arg[1],
                                      .tag = (int32_t)arg[2],
                                      .peer_base = m->object->peer_base,
                                      .kind = (uint8_t)kind,
                                      .has_no_status = has_no_status};
    cap_mpi_request_add(&request);
    return request.key;
}

void cap_mpi_after_send(struct cap_mpi *m, cap_mpi_word comm, int dest, int tag)
{
    if (address(m, comm, dest, tag, m->ext.arg)) {
        cap_mpi_emit(m);
    }
}

void cap_mpi_after_isend(struct cap_mpi *m, cap_mpi_word comm, int dest, int tag,
                         const void *request, enum cap_mpi_request_kind kind)
{
    if (!address(m, comm, dest, tag, m->ext.arg)) {
        cap_mpi_after_imrecv(m, request);
        return;
    }
    if (m->result == 0) {
        m->ext.arg[3] = (int64_t)track(m, request, kind, m->ext.arg, false);
    }
    cap_mpi_emit(m);
}

static bool is_done(const struct cap_mpi *m)
{
    return m->result == 0 || cap_mpi_error_class(m->result) == cap_mpi_abi.error_truncate;
}

/* Did the call take a message, and was that not one from MPI_PROC_NULL? */
static bool has_message(const struct cap_mpi *m, const void *status)
{
    return is_done(m) && cap_mpi_status_int(status, cap_mpi_abi.source_at) >= 0;
}

void cap_mpi_after_recv(struct cap_mpi *m, cap_mpi_word comm, int source, const void *status)
{
    if (!address(m, comm, source, -1, m->ext.arg)) {
        return;
    }
    m->ext.arg[1] = -1;
    if (has_message(m, status)) {
        m->ext.arg[1] = cap_mpi_peer(m->object, cap_mpi_status_int(status, cap_mpi_abi.source_at));
        m->ext.arg[2] = cap_mpi_status_int(status, cap_mpi_abi.tag_at);
        m->ev.result = (int64_t)cap_mpi_status_bytes(status);
    }
    cap_mpi_emit(m);
}

void cap_mpi_after_irecv(struct cap_mpi *m, cap_mpi_word comm, int source, int tag,
                         const void *request)
{
    if (!address(m, comm, source, tag, m->ext.arg)) {
        cap_mpi_after_imrecv(m, request);
        return;
    }
    if (m->result == 0) {
        m->ext.arg[3] = (int64_t)track(m, request, CAP_MPI_RECV, m->ext.arg, false);
    }
    cap_mpi_emit(m);
}

/* A request whose end tells nothing: the message was there before, or there is none. */
void cap_mpi_after_imrecv(struct cap_mpi *m, const void *request)
{
    if (m->result == 0) {
        cap_mpi_request_forget(cap_mpi_load(request));
    }
    if (m->ev.call == WIO_CALL_MPI_Imrecv) {
        cap_mpi_after_wait(m, 1, 0);
    }
}

/* The call, then its two messages. A message that was too long for its receive says nothing of the
 * one that was sent. */
static void emit_send(struct cap_mpi *m, cap_mpi_word comm, int dest, int tag, uint64_t size)
{
    int64_t arg[4];
    if (is_done(m) && address(m, comm, dest, tag, arg)) {
        cap_mpi_emit_caused(m, WIO_CALL_mpi_send, size, 0, arg);
    }
}

static void emit_recv(struct cap_mpi *m, cap_mpi_word comm, int source, const void *status)
{
    int64_t arg[4];
    if (!has_message(m, status) || !address(m, comm, source, -1, arg)) {
        return;
    }
    arg[1] = cap_mpi_peer(m->object, cap_mpi_status_int(status, cap_mpi_abi.source_at));
    arg[2] = cap_mpi_status_int(status, cap_mpi_abi.tag_at);
    cap_mpi_emit_caused(m, WIO_CALL_mpi_recv, WIO_NO_SIZE, (int64_t)cap_mpi_status_bytes(status),
                        arg);
}

void cap_mpi_after_sendrecv(struct cap_mpi *m, cap_mpi_word comm, int dest, int sendtag, int source,
                            const void *status)
{
    uint64_t size = m->ev.size;
    m->ev.size = WIO_NO_SIZE;
    m->object = m->result == 0 ? cap_mpi_comm(m, comm) : NULL;
    cap_mpi_after_wait(m, 2, 2);
    emit_send(m, comm, dest, sendtag, size);
    emit_recv(m, comm, source, status);
}

/* NOLINTNEXTLINE(readability-function-size): what the call of MPI takes */
void cap_mpi_after_isendrecv(struct cap_mpi *m, cap_mpi_word comm, int dest, int sendtag,
                             int source, int recvtag, const void *request)
{
    uint64_t size = m->ev.size;
    int64_t arg[4];
    m->ev.size = WIO_NO_SIZE;
    m->object = m->result == 0 ? cap_mpi_comm(m, comm) : NULL;
    cap_mpi_after_wait(m, 2, 0);
    emit_send(m, comm, dest, sendtag, size);
    if (m->result != 0) {
        return;
    }
    cap_mpi_request_forget(cap_mpi_load(request));
    if (address(m, comm, source, recvtag, arg)) {
        arg[3] = (int64_t)track(m, request, CAP_MPI_RECV, arg, true);
        cap_mpi_emit_caused(m, WIO_CALL_mpi_recv, WIO_NO_SIZE, 0, arg);
    }
}

/* True where the call found something, or failed. */
static bool has_found(struct cap_mpi *m, const void *flag)
{
    if (flag == NULL) {
        return true;
    }
    if (m->result == 0 && *(const int *)flag == 0) {
        cap_mpi_look(m, 0);
        return false;
    }
    cap_mpi_looks_end(m);
    return true;
}

void cap_mpi_after_probe(struct cap_mpi *m, cap_mpi_word comm, const void *flag)
{
    if (has_found(m, flag)) {
        m->object = m->result == 0 ? cap_mpi_comm(m, comm) : NULL;
        cap_mpi_after_wait(m, 0, m->result == 0);
    }
}

/* The message is taken here; MPI_Mrecv only fetches it. */
void cap_mpi_after_mprobe(struct cap_mpi *m, cap_mpi_word comm, int source, const void *flag,
                          const void *status)
{
    if (has_found(m, flag)) {
        m->object = m->result == 0 ? cap_mpi_comm(m, comm) : NULL;
        cap_mpi_after_wait(m, 0, m->result == 0);
        emit_recv(m, comm, source, status);
    }
}
