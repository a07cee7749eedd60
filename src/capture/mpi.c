/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The few MPI calls that tell who we are. Without mpi.h: a communicator is a word whose value for
 * MPI_COMM_WORLD differs between the two families of libraries.
 */
#include <dlfcn.h>
#include <string.h>

#include "capture/process.h"

#define MPICH_COMM_WORLD 0x44000000l

typedef int comm_fn(intptr_t comm, int *out);

/* As the program sees it: a non-relocatable program has a copy of the library's data, and the copy
 * is the one that counts. Else from a library of local scope. */
static void *find_mpi_symbol(const char *name)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    return found != NULL ? found : cap_find_symbol(name);
}

static comm_fn *find_comm_fn(const char *name)
{
    void *found = find_mpi_symbol(name);
    comm_fn *function;
    memcpy(&function, &found, sizeof(function));
    return function;
}

/* Open MPI: the address of an object; MPICH and its relatives: a number. */
static intptr_t comm_world(void)
{
    void *object = find_mpi_symbol("ompi_mpi_comm_world");
    return object != NULL ? (intptr_t)object : (intptr_t)MPICH_COMM_WORLD;
}

static void find_rank(void)
{
    comm_fn *rank_of = find_comm_fn("PMPI_Comm_rank");
    comm_fn *size_of = find_comm_fn("PMPI_Comm_size");
    int rank = -1;
    int ranks = 0;
    if (rank_of == NULL || size_of == NULL || rank_of(comm_world(), &rank) != 0 ||
        size_of(comm_world(), &ranks) != 0) {
        return;
    }
    cap_process.rank = rank;
    cap_process.ranks = ranks;
    if (cap_process.header != NULL) {
        cap_process.header->rank = rank;
        cap_process.header->ranks = ranks;
    }
}

/* What happens between the two is the library's own business. */
static struct cap_thread *mpi_begin(unsigned call, uintptr_t source)
{
    struct cap_thread *self = cap_enter(source, call);
    if (self != NULL) {
        cap_mute(self);
    }
    return self;
}

static void mpi_end(struct cap_thread *self, bool is_init)
{
    CAP_KEEP_ERRNO;
    if (self != NULL && is_init && self->mute == 1) {
        find_rank();
    }
    if (self != NULL) {
        cap_unmute(self);
    }
}

CAP_EXPORT int MPI_Init(int *argc, char ***argv);
CAP_EXPORT int MPI_Init(int *argc, char ***argv)
{
    struct cap_thread *self = mpi_begin(WIO_CALL_MPI_Init, CAP_CALLER());
    int result = CAP_REAL(MPI_Init)(argc, argv);
    mpi_end(self, result == 0);
    return result;
}

CAP_EXPORT int MPI_Init_thread(int *argc, char ***argv, int required, int *provided);
CAP_EXPORT int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    struct cap_thread *self = mpi_begin(WIO_CALL_MPI_Init_thread, CAP_CALLER());
    int result = CAP_REAL(MPI_Init_thread)(argc, argv, required, provided);
    mpi_end(self, result == 0);
    return result;
}

CAP_EXPORT int MPI_Finalize(void);
CAP_EXPORT int MPI_Finalize(void)
{
    struct cap_thread *self = mpi_begin(WIO_CALL_MPI_Finalize, CAP_CALLER());
    int result = CAP_REAL(MPI_Finalize)();
    mpi_end(self, false);
    return result;
}

/* Fortran. Open MPI's go straight to PMPI_Init, so that they are wrapped themselves. */
CAP_EXPORT void mpi_init_(int *error);
CAP_EXPORT void mpi_init_(int *error)
{
    struct cap_thread *self = mpi_begin(WIO_CALL_mpi_init_, CAP_CALLER());
    CAP_REAL(mpi_init_)(error);
    mpi_end(self, true);
}

CAP_EXPORT void mpi_init_thread_(int *required, int *provided, int *error);
CAP_EXPORT void mpi_init_thread_(int *required, int *provided, int *error)
{
    struct cap_thread *self = mpi_begin(WIO_CALL_mpi_init_thread_, CAP_CALLER());
    CAP_REAL(mpi_init_thread_)(required, provided, error);
    mpi_end(self, true);
}

CAP_EXPORT void mpi_finalize_(int *error);
CAP_EXPORT void mpi_finalize_(int *error)
{
    struct cap_thread *self = mpi_begin(WIO_CALL_mpi_finalize_, CAP_CALLER());
    CAP_REAL(mpi_finalize_)(error);
    mpi_end(self, false);
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
