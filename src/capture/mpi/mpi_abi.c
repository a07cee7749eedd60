/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two families of MPI libraries, from their installed headers: Open MPI 4.1 (handles are
 * addresses of objects), MPICH 4.0 (handles are numbers; also Intel MPI, MVAPICH, Cray).
 */
#include <dlfcn.h>
#include <string.h>

#include "base/cleanup.h"
#include "capture/core/raw.h"
#include "capture/mpi/mpi.h"
#include "capture/mpi/mpi_io.h"

struct cap_mpi_abi cap_mpi_abi;
struct cap_mpi_functions cap_mpi_fn;

static const struct cap_mpi_abi openmpi = {
    .handle_bytes = 8,
    .status_bytes = 24,
    .source_at = 0,
    .tag_at = 4,
    .error_at = 8,
    .any_source = -1,
    .proc_null = -2,
    .root = -4,
    .any_tag = -1,
    .error_truncate = 15,
    .error_in_status = 18,
    .lock_shared = 2,
    .topology_cart = 1,
    .topology_graph = 2,
    .topology_distributed = 3,
    .status_ignore = NULL,
    .in_place = (void *)1,
};

static const struct cap_mpi_abi mpich = {
    .handle_bytes = 4,
    .status_bytes = 20,
    .source_at = 8,
    .tag_at = 12,
    .error_at = 16,
    .any_source = -2,
    .proc_null = -1,
    .root = -3,
    .any_tag = -1,
    .error_truncate = 14,
    .error_in_status = 17,
    .lock_shared = 235,
    .topology_graph = 1,
    .topology_cart = 2,
    .topology_distributed = 3,
    .status_ignore = (void *)1,
    .in_place = (void *)-1,
    .comm_world = 0x44000000,
    .comm_self = 0x44000001,
    .comm_null = 0x04000000,
    .request_null = 0x2c000000,
};

/* As the program sees it: a non-relocatable program has a copy of the library's data, and the copy
 * is the one that counts. Else from a library of local scope. */
static void *data_symbol(const char *name)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    return found != NULL ? found : cap_find_symbol(name);
}

void *cap_mpi_symbol(const char *name)
{
    return cap_find_symbol(name);
}

static int is_missing(void)
{
    return 16; /* MPI_ERR_OTHER, of MPICH MPI_ERR_INTERN */
}

cap_function *cap_mpi_find_real(cap_function **place, const char *name)
{
    CAP_KEEP_ERRNO;
    void *found = cap_find_symbol(name);
    cap_function *function;
    memcpy(&function, &found, sizeof(function));
    if (function == NULL) {
        return (cap_function *)is_missing; /* not remembered: the library may be loaded later */
    }
    cap_mpi_io_trust_names();
    __atomic_store_n(place, function, __ATOMIC_RELAXED);
    return function;
}

static void choose_family(void)
{
    void *world = data_symbol("ompi_mpi_comm_world");
    if (world == NULL) {
        cap_mpi_abi = mpich;
        return;
    }
    cap_mpi_abi = openmpi;
    cap_mpi_abi.comm_world = (cap_mpi_word)world;
    cap_mpi_abi.comm_self = (cap_mpi_word)data_symbol("ompi_mpi_comm_self");
    cap_mpi_abi.comm_null = (cap_mpi_word)data_symbol("ompi_mpi_comm_null");
    cap_mpi_abi.request_null = (cap_mpi_word)data_symbol("ompi_request_null");
    cap_mpi_abi.request_empty = (cap_mpi_word)data_symbol("ompi_request_empty");
}

/* Where each function of struct cap_mpi_functions goes. */
static const struct {
    const char *name;
    size_t at;
} wanted[] = {
#define WANTED(name)                                                                               \
    {                                                                                              \
        "PMPI_" #name, offsetof(struct cap_mpi_functions, name)                                    \
    }
    WANTED(Comm_rank),
    WANTED(Comm_size),
    WANTED(Comm_remote_size),
    WANTED(Comm_test_inter),
    WANTED(Comm_group),
    WANTED(Comm_remote_group),
    WANTED(Win_get_group),
    WANTED(Group_size),
    WANTED(Group_free),
    WANTED(Group_translate_ranks),
    WANTED(Type_size),
    WANTED(Error_class),
    WANTED(Topo_test),
    WANTED(Cartdim_get),
    WANTED(Cart_shift),
    WANTED(Graph_neighbors_count),
    WANTED(Graph_neighbors),
    WANTED(Dist_graph_neighbors_count),
    WANTED(Dist_graph_neighbors),
#undef WANTED
};

static bool find_functions(void)
{
    for (size_t i = 0; i < WIO_ARRAY_SIZE(wanted); i++) {
        void *found = cap_find_symbol(wanted[i].name);
        if (found == NULL) {
            return false;
        }
        memcpy((char *)&cap_mpi_fn + wanted[i].at, &found, sizeof(found));
    }
    return true;
}

bool cap_mpi_configure(void)
{
    static uint32_t state; /* atomic: 0 no, 1 in progress, 2 yes */
    if (CAP_LIKELY(__atomic_load_n(&state, __ATOMIC_ACQUIRE) == 2)) {
        return true;
    }
    CAP_KEEP_ERRNO;
    uint32_t expected = 0;
    while (!__atomic_compare_exchange_n(&state, &expected, 1, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_ACQUIRE)) {
        if (expected == 2) {
            return true;
        }
        expected = 0;
        raw_yield();
    }
    choose_family();
    bool is_there = find_functions();
    __atomic_store_n(&state, is_there ? 2 : 0, __ATOMIC_RELEASE);
    return is_there;
}

/* The layouts of status differ in more than places. */
uint64_t cap_mpi_status_bytes(const void *status)
{
    if (cap_mpi_abi.handle_bytes == 8) {
        return *(const uint64_t *)(const void *)((const char *)status + 16);
    }
    uint32_t low = (uint32_t)cap_mpi_status_int(status, 0);
    uint32_t high = (uint32_t)cap_mpi_status_int(status, 4);
    return (uint64_t)(high >> 1) << 32 | low;
}

bool cap_mpi_status_cancelled(const void *status)
{
    if (cap_mpi_abi.handle_bytes == 8) {
        return cap_mpi_status_int(status, 12) != 0;
    }
    return (cap_mpi_status_int(status, 4) & 1) != 0;
}
