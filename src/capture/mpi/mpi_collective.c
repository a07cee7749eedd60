/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives: the how-many-th of their communicator, window or file. */
#include "capture/core/features.h"
#include "capture/mpi/mpi_hooks.h"
#include "capture/mpi/mpi_judge.h"

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

/* Forgotten before the call: another thread may get the same handle as soon as it is free. */
void cap_mpi_before_forget(struct cap_mpi *m, enum cap_mpi_kind kind, const void *place)
{
    cap_mpi_word handle = kind == CAP_MPI_FILE ? *(const cap_mpi_word *)place : cap_mpi_load(place);
    if (kind == CAP_MPI_FILE) {
        cap_on_internal_close(); /* as long as MPI-IO has its rings */
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
