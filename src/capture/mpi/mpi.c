/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of MPI that tell this process's rank. Calls inside them are the library's own. */
#include <dlfcn.h>

#include "capture/core/features.h"
#include "capture/core/process.h"
#include "capture/mpi/mpi_hooks.h"
#include "capture/mpi_bodies_gen.h"

static void find_rank(void)
{
    int rank = -1;
    int ranks = 0;
    if (cap_mpi_fn.Comm_rank(cap_mpi_abi.comm_world, &rank) != 0 ||
        cap_mpi_fn.Comm_size(cap_mpi_abi.comm_world, &ranks) != 0) {
        return;
    }
    cap_process.rank = rank;
    cap_process.ranks = ranks;
    if (cap_process.header != NULL) {
        cap_process.header->rank = rank;
        cap_process.header->ranks = ranks;
    }
}

static void begin(struct cap_mpi *m)
{
    cap_mute(m->self);
    cap_mpi_begin(m, CAP_STATE_STARTING);
}

/* Init and Finalize are collectives of the world. */
static int end_init(struct cap_mpi *m, int result)
{
    CAP_KEEP_ERRNO;
    cap_mpi_end(m, result);
    if (result == 0) {
        find_rank();
    }
    cap_unmute(m->self);
    if (result == 0 && cap_is_causal) {
        cap_mpi_before_coll(m, cap_mpi_abi.comm_world);
        cap_mpi_after_coll(m, -1, NULL);
    }
    return cap_mpi_leave(m);
}

int cap_mpi_MPI_Init(uintptr_t caller, unsigned symbol, void *argc, void *argv)
{
    int (*call)(void *, void *) = (int (*)(void *, void *))cap_mpi_real(symbol);
    struct cap_mpi m;
    if (!cap_mpi_enter_always(&m, WIO_CALL_MPI_Init, caller)) {
        return call(argc, argv);
    }
    begin(&m);
    return end_init(&m, call(argc, argv));
}

int cap_mpi_MPI_Init_thread(uintptr_t caller, unsigned symbol, void *argc, void *argv, int required,
                            void *provided)
{
    int (*call)(void *, void *, int, void *) =
        (int (*)(void *, void *, int, void *))cap_mpi_real(symbol);
    struct cap_mpi m;
    if (!cap_mpi_enter_always(&m, WIO_CALL_MPI_Init_thread, caller)) {
        return call(argc, argv, required, provided);
    }
    begin(&m);
    return end_init(&m, call(argc, argv, required, provided));
}

int cap_mpi_MPI_Finalize(uintptr_t caller, unsigned symbol)
{
    int (*call)(void) = (int (*)(void))cap_mpi_real(symbol);
    struct cap_mpi m;
    if (!cap_mpi_enter_always(&m, WIO_CALL_MPI_Finalize, caller)) {
        return call();
    }
    if (cap_is_causal) {
        cap_mpi_before_coll(&m, cap_mpi_abi.comm_world);
    }
    cap_on_internal_close();
    cap_mpi_begin(&m, CAP_STATE_IN_MPI); /* libraries close their files in what it calls back */
    cap_mpi_end(&m, call());
    if (cap_is_causal) {
        cap_mpi_after_coll(&m, -1, NULL);
    }
    return cap_mpi_leave(&m);
}

/* A library that is unloaded takes its addresses with it. */
CAP_EXPORT int dlclose(void *library)
{
    int result = CAP_REAL(dlclose)(library);
    if (result == 0) {
        cap_modules_forget();
    }
    return result;
}
