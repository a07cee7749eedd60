/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Persistent requests: what MPI_Start will begin. A persistent collective counts its starts for
 * itself, since ranks need not start several in the same order: it has an id like a communicator.
 */
#include "capture/mpi/mpi_hooks.h"

enum { SALT_PERSISTENT = 0x7073 };

/* That of partitions may end before the receiver is there. */
static uint16_t caused_by_message(enum cap_mpi_request_kind kind, int tag)
{
    if (kind == CAP_MPI_RECV) {
        return WIO_CALL_mpi_recv;
    }
    bool is_synchronous = kind == CAP_MPI_SYNCHRONOUS && tag > CAP_MPI_PARTITIONED;
    return is_synchronous ? WIO_CALL_mpi_ssend : WIO_CALL_mpi_send;
}

static void track(struct cap_mpi *m, cap_mpi_word comm, int peer, int tag, const void *place,
                  enum cap_mpi_request_kind kind)
{
    if (m->result != 0) {
        return;
    }
    m->object = cap_mpi_comm(m, comm);
    struct cap_mpi_request request = {.handle = cap_mpi_load(place),
                                      .size = m->ev.size,
                                      .tag = tag,
                                      .kind = (uint8_t)kind,
                                      .is_persistent = true};
    if (m->object == NULL || peer == cap_mpi_abi.proc_null) {
        cap_mpi_request_forget(request.handle);
        return;
    }
    request.object = m->object->id;
    request.peer = (int32_t)cap_mpi_peer(m->object, peer);
    request.peer_base = m->object->peer_base;
    request.call = caused_by_message(kind, tag);
    cap_mpi_request_add(&request);
}

void cap_mpi_after_send_init(struct cap_mpi *m, cap_mpi_word comm, int dest, int tag,
                             const void *request, enum cap_mpi_request_kind kind)
{
    track(m, comm, dest, tag, request, kind);
}

void cap_mpi_after_recv_init(struct cap_mpi *m, cap_mpi_word comm, int source, int tag,
                             const void *request)
{
    track(m, comm, source, tag, request, CAP_MPI_RECV);
}

void cap_mpi_after_neighbors_init(struct cap_mpi *m, cap_mpi_word comm, const void *request)
{
    track(m, comm, cap_mpi_abi.any_source, -1, request, CAP_MPI_NEIGHBORS);
    struct cap_mpi_request tracked;
    if (m->result == 0 && cap_mpi_request_find(cap_mpi_load(request), &tracked)) {
        tracked.comm = cap_mpi_word_of(comm);
        tracked.tag = cap_mpi_neighbor_tag(m->object);
        cap_mpi_request_add(&tracked);
    }
}

static unsigned caused_by(enum wio_class class)
{
    switch ((unsigned)class) {
    case WIO_CLASS_MPI_ALL:
        return WIO_CALL_mpi_all;
    case WIO_CLASS_MPI_FROM_ROOT:
        return WIO_CALL_mpi_from_root;
    case WIO_CLASS_MPI_TO_ROOT:
        return WIO_CALL_mpi_to_root;
    case WIO_CLASS_MPI_SCAN:
        return WIO_CALL_mpi_scan;
    default:
        return WIO_CALL_mpi_loose;
    }
}

void cap_mpi_persistent_collective(struct cap_mpi *m, unsigned op, int root, const void *place)
{
    uint64_t size = m->ev.size;
    m->ev.size = WIO_NO_SIZE;
    cap_mpi_after_coll(m, -1, NULL);
    if (m->result != 0 || m->object == NULL) {
        return;
    }
    struct cap_mpi_object itself = *m->object;
    itself.id = cap_mix(cap_mix(m->object->id, m->seq), SALT_PERSISTENT);
    cap_mpi_tell(m, &itself);
    enum wio_class class = wio_op_class(op);
    bool has_root = class == WIO_CLASS_MPI_FROM_ROOT || class == WIO_CLASS_MPI_TO_ROOT;
    struct cap_mpi_request request = {.handle = cap_mpi_load(place),
                                      .object = itself.id,
                                      .size = size,
                                      .peer = -1,
                                      .tag = -1,
                                      .root =
                                          has_root ? (int32_t)cap_mpi_root(m->object, root) : -1,
                                      .call = (uint16_t)caused_by(class),
                                      .kind = CAP_MPI_COLLECTIVE,
                                      .is_persistent = true};
    cap_mpi_request_add(&request);
}

/* One request begins its next operation. */
static void start(struct cap_mpi *m, cap_mpi_word handle)
{
    struct cap_mpi_request request;
    if (!cap_mpi_request_find(handle, &request) || !request.is_persistent) {
        return;
    }
    request.key = cap_key();
    request.is_done = false;
    int64_t arg[4] = {(int64_t)request.object, request.peer, request.tag, (int64_t)request.key};
    if (request.kind == CAP_MPI_NEIGHBORS) {
        request.count =
            cap_mpi_neighbor_messages(m, request.comm, request.tag, request.size, &request.key);
    } else {
        if (request.kind == CAP_MPI_COLLECTIVE) {
            arg[1] = (int64_t)request.starts++;
            arg[2] = request.root;
        }
        cap_mpi_emit_caused(m, request.call, request.size, 0, arg);
    }
    cap_mpi_request_add(&request);
}

void cap_mpi_after_start(struct cap_mpi *m, int count, const void *requests)
{
    cap_mpi_after_wait(m, count, 0);
    for (int i = 0; i < count && m->result == 0; i++) {
        const char *place = (const char *)requests + (size_t)i * cap_mpi_abi.handle_bytes;
        start(m, cap_mpi_load(place));
    }
}
