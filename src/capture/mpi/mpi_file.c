/* SPDX-License-Identifier: Apache-2.0 */
/* MPI-IO: FORMAT.md R-MPI-8. The system calls that it makes are events of their own. */
#include <fcntl.h>
#include <string.h>

#include "capture/files/paths.h"
#include "capture/mpi/mpi_hooks.h"
#include "capture/mpi/mpi_io.h"
#include "capture/mpi/mpi_judge.h"

enum { SALT_FILE = 0x66 };

void cap_mpi_after_file_open(struct cap_mpi *m, const char *path, const void *file)
{
    m->ev.path = m->result == 0 ? cap_string(m->self, AT_FDCWD, cap_mpi_io_without_kind(path)) : 0;
    cap_mpi_after_coll(m, -1, NULL);
    if (m->result != 0 || m->object == NULL) {
        return;
    }
    struct cap_mpi_object fresh = *m->object;
    fresh.id = cap_mix(cap_mix(m->object->id, m->seq), SALT_FILE);
    fresh.collectives = 0;
    fresh.path = m->ev.path;
    memset(fresh.groups, 0, sizeof(fresh.groups));
    const struct cap_mpi_object *made =
        cap_mpi_object_add(CAP_MPI_FILE, *(const cap_mpi_word *)file, &fresh);
    if (made != NULL) {
        cap_mpi_tell(m, made);
    }
}

void cap_mpi_after_file_delete(struct cap_mpi *m, const char *path)
{
    m->ev.path = path != NULL ? cap_string(m->self, AT_FDCWD, cap_mpi_io_without_kind(path)) : 0;
    cap_mpi_emit(m);
}

static uint64_t track(struct cap_mpi *m, const void *place)
{
    struct cap_mpi_request request = {.handle = cap_mpi_load(place),
                                      .object = m->object->id,
                                      .kind = CAP_MPI_IO,
                                      .peer = -1,
                                      .tag = -1};
    if (m->result != 0 || cap_mpi_request_is_over(request.handle)) {
        return 0;
    }
    request.key = cap_key();
    cap_mpi_request_add(&request);
    return request.key;
}

void cap_mpi_after_file(struct cap_mpi *m, cap_mpi_word file, const void *request,
                        const void *status)
{
    cap_mpi_before_known(m, CAP_MPI_FILE, file);
    if (m->object != NULL) {
        m->ext.arg[0] = (int64_t)m->object->id;
        m->ext.arg[3] = request != NULL ? (int64_t)track(m, request) : 0;
    }
    if (status != NULL && m->result == 0) {
        m->ev.result = (int64_t)cap_mpi_status_bytes(status);
    }
    cap_mpi_emit(m);
}

void cap_mpi_after_file_all(struct cap_mpi *m, const void *status)
{
    if (m->result == 0) {
        m->ev.result = (int64_t)cap_mpi_status_bytes(status);
    }
    cap_mpi_after_coll(m, -1, NULL);
}

/* Begin and end are one collective that does not wait; a file has one at a time. */
void cap_mpi_after_file_begin(struct cap_mpi *m)
{
    uint64_t key = m->result == 0 ? cap_key() : 0;
    if (m->object != NULL) {
        m->object->split_key = key;
        m->ext.arg[0] = (int64_t)m->object->id;
        m->ext.arg[1] = (int64_t)m->seq;
        m->ext.arg[2] = -1;
        m->ext.arg[3] = (int64_t)key;
        cap_mpi_emit(m);
    }
}

void cap_mpi_after_file_end(struct cap_mpi *m, const void *status)
{
    cap_mpi_after_wait(m, 1, 1);
    if (m->object != NULL && m->result == 0 && m->object->split_key != 0) {
        const int64_t arg[4] = {(int64_t)m->object->id, -1, -1, (int64_t)m->object->split_key};
        cap_mpi_emit_caused(m, WIO_CALL_mpi_done, WIO_NO_SIZE,
                            (int64_t)cap_mpi_status_bytes(status), arg);
        m->object->split_key = 0;
    }
}
