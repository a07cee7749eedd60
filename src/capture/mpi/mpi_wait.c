/* SPDX-License-Identifier: Apache-2.0 */
/* The calls that wait for requests, or test them. */
#include "capture/mpi/mpi_done.h"
#include "capture/mpi_bodies_gen.h"

int cap_mpi_MPI_Wait(uintptr_t caller, unsigned symbol, void *request, void *status)
{
    int (*call)(void *, void *) = (int (*)(void *, void *))cap_mpi_real(symbol);
    struct cap_mpi m;
    if (!cap_mpi_enter(&m, WIO_CALL_MPI_Wait, caller, false)) {
        return call(request, status);
    }
    struct cap_mpi_request known;
    cap_mpi_look_up(request, &known);
    void *given = cap_mpi_status(&m, status);
    cap_mpi_begin(&m, CAP_STATE_IN_MPI);
    cap_mpi_end(&m, call(request, given));
    cap_mpi_after_wait(&m, 1, 1);
    if (cap_mpi_is_one_taken(&m)) {
        cap_mpi_complete(&m, &known, given);
    }
    return cap_mpi_leave(&m);
}

int cap_mpi_MPI_Waitall(uintptr_t caller, unsigned symbol, int count, void *requests,
                        void *statuses)
{
    int (*call)(int, void *, void *) = (int (*)(int, void *, void *))cap_mpi_real(symbol);
    struct cap_mpi m;
    if (!cap_mpi_enter(&m, WIO_CALL_MPI_Waitall, caller, false)) {
        return call(count, requests, statuses);
    }
    struct cap_mpi_snapshot s;
    cap_mpi_snapshot_take(&s, count, requests, statuses, count);
    cap_mpi_begin(&m, CAP_STATE_IN_MPI);
    cap_mpi_end(&m, call(count, requests, s.statuses));
    cap_mpi_after_wait(&m, count, count);
    cap_mpi_complete_all(&m, count, &s);
    cap_mpi_snapshot_drop(&s);
    return cap_mpi_leave(&m);
}

int cap_mpi_MPI_Waitany(uintptr_t caller, unsigned symbol, int count, void *requests, void *index,
                        void *status)
{
    int (*call)(int, void *, void *, void *) =
        (int (*)(int, void *, void *, void *))cap_mpi_real(symbol);
    struct cap_mpi m;
    if (!cap_mpi_enter(&m, WIO_CALL_MPI_Waitany, caller, false)) {
        return call(count, requests, index, status);
    }
    struct cap_mpi_snapshot s;
    cap_mpi_snapshot_take(&s, count, requests, status, 1);
    cap_mpi_begin(&m, CAP_STATE_IN_MPI);
    cap_mpi_end(&m, call(count, requests, index, s.statuses));
    int at = *(const int *)index;
    bool has_one = cap_mpi_is_one_taken(&m) && at >= 0 && at < count;
    cap_mpi_after_wait(&m, count, has_one);
    if (has_one && s.known != NULL) {
        cap_mpi_complete(&m, &s.known[at], s.statuses);
    }
    cap_mpi_snapshot_drop(&s);
    return cap_mpi_leave(&m);
}

typedef int some_fn(int count, void *requests, void *done, void *indices, void *statuses);

/* NOLINTNEXTLINE(readability-function-size): what the call of MPI takes */
static int wait_some(struct cap_mpi *m, some_fn *call, int count, void *requests, void *done,
                     void *indices, void *statuses)
{
    bool is_test = m->ev.call == WIO_CALL_MPI_Testsome;
    struct cap_mpi_snapshot s;
    cap_mpi_snapshot_take(&s, count, requests, statuses, count);
    cap_mpi_begin(m, is_test ? CAP_STATE_POLLING : CAP_STATE_IN_MPI);
    cap_mpi_end(m, call(count, requests, done, indices, s.statuses));
    int finished = *(const int *)done;
    finished = cap_mpi_has_statuses(m) && finished > 0 && finished <= count ? finished : 0;
    if (is_test && finished == 0 && m->result == 0 && *(const int *)done == 0) {
        cap_mpi_look(m, count);
    } else {
        if (is_test) {
            cap_mpi_looks_end(m);
        }
        cap_mpi_after_wait(m, count, finished);
        cap_mpi_complete_some(m, finished, indices, &s);
    }
    cap_mpi_snapshot_drop(&s);
    return cap_mpi_leave(m);
}

/* NOLINTNEXTLINE(readability-function-size): what the call of MPI takes */
int cap_mpi_MPI_Waitsome(uintptr_t caller, unsigned symbol, int count, void *requests, void *done,
                         void *indices, void *statuses)
{
    some_fn *call = (some_fn *)cap_mpi_real(symbol);
    struct cap_mpi m;
    if (!cap_mpi_enter(&m, WIO_CALL_MPI_Waitsome, caller, false)) {
        return call(count, requests, done, indices, statuses);
    }
    return wait_some(&m, call, count, requests, done, indices, statuses);
}

/* NOLINTNEXTLINE(readability-function-size): what the call of MPI takes */
int cap_mpi_MPI_Testsome(uintptr_t caller, unsigned symbol, int count, void *requests, void *done,
                         void *indices, void *statuses)
{
    some_fn *call = (some_fn *)cap_mpi_real(symbol);
    struct cap_mpi m;
    if (!cap_mpi_enter(&m, WIO_CALL_MPI_Testsome, caller, false)) {
        return call(count, requests, done, indices, statuses);
    }
    return wait_some(&m, call, count, requests, done, indices, statuses);
}

int cap_mpi_MPI_Test(uintptr_t caller, unsigned symbol, void *request, void *flag, void *status)
{
    int (*call)(void *, void *, void *) = (int (*)(void *, void *, void *))cap_mpi_real(symbol);
    struct cap_mpi m;
    if (!cap_mpi_enter(&m, WIO_CALL_MPI_Test, caller, false)) {
        return call(request, flag, status);
    }
    struct cap_mpi_request known;
    cap_mpi_look_up(request, &known);
    void *given = cap_mpi_status(&m, status);
    cap_mpi_begin(&m, CAP_STATE_POLLING);
    cap_mpi_end(&m, call(request, flag, given));
    if (!cap_mpi_found_nothing(&m, 1, flag)) {
        cap_mpi_after_wait(&m, 1, 1);
        if (cap_mpi_is_one_taken(&m)) {
            cap_mpi_complete(&m, &known, given);
        }
    }
    return cap_mpi_leave(&m);
}

int cap_mpi_MPI_Testall(uintptr_t caller, unsigned symbol, int count, void *requests, void *flag,
                        void *statuses)
{
    int (*call)(int, void *, void *, void *) =
        (int (*)(int, void *, void *, void *))cap_mpi_real(symbol);
    struct cap_mpi m;
    if (!cap_mpi_enter(&m, WIO_CALL_MPI_Testall, caller, false)) {
        return call(count, requests, flag, statuses);
    }
    struct cap_mpi_snapshot s;
    cap_mpi_snapshot_take(&s, count, requests, statuses, count);
    cap_mpi_begin(&m, CAP_STATE_POLLING);
    cap_mpi_end(&m, call(count, requests, flag, s.statuses));
    if (!cap_mpi_found_nothing(&m, count, flag)) {
        cap_mpi_after_wait(&m, count, count);
        cap_mpi_complete_all(&m, count, &s);
    }
    cap_mpi_snapshot_drop(&s);
    return cap_mpi_leave(&m);
}

/* NOLINTNEXTLINE(readability-function-size): what the call of MPI takes */
int cap_mpi_MPI_Testany(uintptr_t caller, unsigned symbol, int count, void *requests, void *index,
                        void *flag, void *status)
{
    int (*call)(int, void *, void *, void *, void *) =
        (int (*)(int, void *, void *, void *, void *))cap_mpi_real(symbol);
    struct cap_mpi m;
    if (!cap_mpi_enter(&m, WIO_CALL_MPI_Testany, caller, false)) {
        return call(count, requests, index, flag, status);
    }
    struct cap_mpi_snapshot s;
    cap_mpi_snapshot_take(&s, count, requests, status, 1);
    cap_mpi_begin(&m, CAP_STATE_POLLING);
    cap_mpi_end(&m, call(count, requests, index, flag, s.statuses));
    if (!cap_mpi_found_nothing(&m, count, flag)) {
        int at = *(const int *)index;
        bool has_one = cap_mpi_is_one_taken(&m) && at >= 0 && at < count;
        cap_mpi_after_wait(&m, count, has_one);
        if (has_one && s.known != NULL) {
            cap_mpi_complete(&m, &s.known[at], s.statuses);
        }
    }
    cap_mpi_snapshot_drop(&s);
    return cap_mpi_leave(&m);
}
