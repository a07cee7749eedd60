/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives: the how-many-th of their communicator, window or file. */
#include "capture/mpi/mpi_hooks.h"

static void begin_collective(struct cap_mpi *m, struct cap_mpi_object *object)
{
    m->object = object;
    if (object != NULL) {
        m->seq = __atomic_fetch_add(&object->collectives, 1, __ATOMIC_RELAXED);
    }
}

CAP_WARM void cap_mpi_before_coll(struct cap_mpi *m, cap_mpi_word comm)
{
    begin_collective(m, cap_mpi_comm(m, comm));
}

void cap_mpi_before_known(struct cap_mpi *m, enum cap_mpi_kind kind, cap_mpi_word handle)
{
    if (kind != CAP_MPI_FILE) { /* those are addresses in all libraries */
        handle = cap_mpi_word_of(handle);
    }
    struct cap_mpi_object *object = cap_mpi_object_find(kind, handle);
    m->object = object != NULL && object->id != 0 ? object : NULL;
    if (m->object != NULL) {
        m->ev.path = m->object->path;
    }
}

void cap_mpi_before_coll_of(struct cap_mpi *m, enum cap_mpi_kind kind, cap_mpi_word handle)
{
    cap_mpi_before_known(m, kind, handle);
    begin_collective(m, m->object);
}

int64_t cap_mpi_root(const struct cap_mpi_object *object, int root)
{
    if (!object->is_inter) {
        return root;
    }
    if (root == cap_mpi_abi.root) {
        return object->rank;
    }
    return root == cap_mpi_abi.proc_null ? -2 : cap_mpi_peer(object, root);
}

/* The key under which the request will be completed; 0 where it is over already. */
static uint64_t track(struct cap_mpi *m, const void *request)
{
    cap_mpi_word handle = cap_mpi_load(request);
    if (m->result != 0 || cap_mpi_request_is_over(handle)) {
        return 0;
    }
    struct cap_mpi_request tracked = {.handle = handle,
                                      .key = cap_key(),
                                      .object = m->object->id,
                                      .kind = CAP_MPI_COLLECTIVE,
                                      .peer = -1,
                                      .tag = -1};
    cap_mpi_request_add(&tracked);
    return tracked.key;
}

static bool has_root(unsigned call)
{
    enum wio_class class = wio_op_class(wio_call_op(call));
    return class == WIO_CLASS_MPI_FROM_ROOT || class == WIO_CLASS_MPI_TO_ROOT;
}

CAP_WARM void cap_mpi_after_coll(struct cap_mpi *m, int root, const void *request)
{
    if (m->object == NULL) {
        if (request != NULL && m->result == 0) {
            cap_mpi_request_forget(cap_mpi_load(request));
        }
        return;
    }
    m->ext.arg[0] = (int64_t)m->object->id;
    m->ext.arg[1] = (int64_t)m->seq;
    m->ext.arg[2] = has_root(m->ev.call) ? cap_mpi_root(m->object, root) : -1;
    m->ext.arg[3] = request != NULL ? (int64_t)track(m, request) : 0;
    cap_mpi_emit(m);
}

/* Forgotten before the call: another thread may get the same handle as soon as it is free. */
void cap_mpi_before_forget(struct cap_mpi *m, enum cap_mpi_kind kind, const void *place)
{
    cap_mpi_word handle = kind == CAP_MPI_FILE ? *(const cap_mpi_word *)place : cap_mpi_load(place);
    if (kind == CAP_MPI_FILE) {
        cap_fd_count_foreign_rings(); /* as long as MPI-IO has its rings */
    }
    if (kind == CAP_MPI_COMM) {
        (void)cap_mpi_comm(m, handle);
    }
    m->forgotten = handle;
    m->object = NULL;
    if (cap_mpi_object_take(kind, handle, &m->last) && m->last.id != 0) {
        m->ev.path = m->last.path;
        begin_collective(m, &m->last);
    }
}

void cap_mpi_after_forget(struct cap_mpi *m, enum cap_mpi_kind kind)
{
    if (m->result != 0 && m->object != NULL) { /* it was not freed */
        (void)cap_mpi_object_add(kind, m->forgotten, &m->last);
    }
    cap_mpi_after_coll(m, -1, NULL);
}
