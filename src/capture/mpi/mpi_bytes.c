/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many bytes a call moves. Only arguments that matter in this rank may be looked at: others
 * are often no types at all, and a type of a count of 0 need not be one either.
 */
#include "capture/mpi/mpi_hooks.h"

uint64_t cap_mpi_bytes(int64_t count, cap_mpi_word type)
{
    int size = 0;
    if (count <= 0 || cap_mpi_fn.Type_size(type, &size) != 0 || size < 0) {
        return 0;
    }
    return (uint64_t)count * (uint64_t)size;
}

static int64_t element(const void *counts, unsigned width, int at)
{
    return width == 8 ? ((const int64_t *)counts)[at] : ((const int *)counts)[at];
}

static cap_mpi_word handle_at(const void *handles, int at)
{
    return cap_mpi_load((const char *)handles + (size_t)at * cap_mpi_abi.handle_bytes);
}

uint64_t cap_mpi_peers(const struct cap_mpi *m)
{
    return m->object != NULL ? (uint64_t)m->object->peers : 0;
}

uint64_t cap_mpi_sum(const struct cap_mpi *m, const void *counts, unsigned width, cap_mpi_word type)
{
    int64_t sum = 0;
    for (int i = 0; i < (int)cap_mpi_peers(m); i++) {
        sum += element(counts, width, i);
    }
    return cap_mpi_bytes(sum, type);
}

static uint64_t sum_of_types(const struct cap_mpi *m, const void *counts, unsigned width,
                             const void *types)
{
    uint64_t sum = 0;
    for (int i = 0; i < (int)cap_mpi_peers(m); i++) {
        sum += cap_mpi_bytes(element(counts, width, i), handle_at(types, i));
    }
    return sum;
}

/* This process is not the root of an intercommunicator's collective but in its group. */
static bool has_no_part(const struct cap_mpi *m, int root)
{
    return m->object == NULL || (m->object->is_inter && root == cap_mpi_abi.proc_null);
}

static bool is_root(const struct cap_mpi *m, int root)
{
    return m->object->is_inter ? root == cap_mpi_abi.root : root == m->object->rank;
}

uint64_t cap_mpi_root_bytes(const struct cap_mpi *m, int root, int64_t count, cap_mpi_word type)
{
    return has_no_part(m, root) ? 0 : cap_mpi_bytes(count, type);
}

uint64_t cap_mpi_own_bytes(const void *sendbuf, int64_t sendcount, cap_mpi_word sendtype,
                           int64_t recvcount, cap_mpi_word recvtype)
{
    return sendbuf == cap_mpi_abi.in_place ? cap_mpi_bytes(recvcount, recvtype)
                                           : cap_mpi_bytes(sendcount, sendtype);
}

/* NOLINTNEXTLINE(readability-function-size): what the call of MPI takes */
uint64_t cap_mpi_gather_bytes(const struct cap_mpi *m, int root, const void *sendbuf,
                              int64_t sendcount, cap_mpi_word sendtype, int64_t recvcount,
                              cap_mpi_word recvtype)
{
    if (has_no_part(m, root)) {
        return 0;
    }
    if (m->object->is_inter && is_root(m, root)) {
        return cap_mpi_bytes(recvcount, recvtype);
    }
    return cap_mpi_own_bytes(sendbuf, sendcount, sendtype, recvcount, recvtype);
}

/* NOLINTNEXTLINE(readability-function-size): what the call of MPI takes */
uint64_t cap_mpi_gatherv_bytes(const struct cap_mpi *m, int root, const void *sendbuf,
                               int64_t sendcount, cap_mpi_word sendtype, const void *recvcounts,
                               unsigned width, cap_mpi_word recvtype)
{
    if (has_no_part(m, root)) {
        return 0;
    }
    if (m->object->is_inter && is_root(m, root)) {
        return cap_mpi_sum(m, recvcounts, width, recvtype);
    }
    if (sendbuf == cap_mpi_abi.in_place) {
        return cap_mpi_bytes(element(recvcounts, width, m->object->rank), recvtype);
    }
    return cap_mpi_bytes(sendcount, sendtype);
}

uint64_t cap_mpi_scatter_bytes(const struct cap_mpi *m, int root, int64_t sendcount,
                               cap_mpi_word sendtype, int64_t recvcount, cap_mpi_word recvtype)
{
    if (has_no_part(m, root)) {
        return 0;
    }
    return is_root(m, root) ? cap_mpi_bytes(sendcount, sendtype) * cap_mpi_peers(m)
                            : cap_mpi_bytes(recvcount, recvtype);
}

/* NOLINTNEXTLINE(readability-function-size): what the call of MPI takes */
uint64_t cap_mpi_scatterv_bytes(const struct cap_mpi *m, int root, const void *sendcounts,
                                unsigned width, cap_mpi_word sendtype, int64_t recvcount,
                                cap_mpi_word recvtype)
{
    if (has_no_part(m, root)) {
        return 0;
    }
    return is_root(m, root) ? cap_mpi_sum(m, sendcounts, width, sendtype)
                            : cap_mpi_bytes(recvcount, recvtype);
}

/* NOLINTNEXTLINE(readability-function-size): what the call of MPI takes */
uint64_t cap_mpi_own_bytes_v(const struct cap_mpi *m, const void *sendbuf, int64_t sendcount,
                             cap_mpi_word sendtype, const void *recvcounts, unsigned width,
                             cap_mpi_word recvtype)
{
    if (sendbuf != cap_mpi_abi.in_place) {
        return cap_mpi_bytes(sendcount, sendtype);
    }
    return m->object != NULL ? cap_mpi_bytes(element(recvcounts, width, m->object->rank), recvtype)
                             : 0;
}

/* NOLINTNEXTLINE(readability-function-size): what the call of MPI takes */
uint64_t cap_mpi_all_bytes_v(const struct cap_mpi *m, const void *sendbuf, const void *sendcounts,
                             unsigned send_width, cap_mpi_word sendtype, const void *recvcounts,
                             unsigned recv_width, cap_mpi_word recvtype)
{
    return sendbuf == cap_mpi_abi.in_place ? cap_mpi_sum(m, recvcounts, recv_width, recvtype)
                                           : cap_mpi_sum(m, sendcounts, send_width, sendtype);
}

/* NOLINTNEXTLINE(readability-function-size): what the call of MPI takes */
uint64_t cap_mpi_all_bytes_w(const struct cap_mpi *m, const void *sendbuf, const void *sendcounts,
                             unsigned send_width, const void *sendtypes, const void *recvcounts,
                             unsigned recv_width, const void *recvtypes)
{
    return sendbuf == cap_mpi_abi.in_place ? sum_of_types(m, recvcounts, recv_width, recvtypes)
                                           : sum_of_types(m, sendcounts, send_width, sendtypes);
}
