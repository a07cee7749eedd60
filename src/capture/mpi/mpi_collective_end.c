/* SPDX-License-Identifier: Apache-2.0 */
/* The event of a collective, behind it. */
#include "capture/mpi/mpi_hooks.h"

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
