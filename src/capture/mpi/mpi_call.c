/* SPDX-License-Identifier: Apache-2.0 */
/* Into a wrapper of MPI and out of it: the caller, and the events. */
#include "capture/core/process.h"
#include "capture/mpi/mpi_doors.h"
#include "capture/mpi/mpi_judge.h"

__thread uintptr_t cap_mpi_door __attribute__((tls_model("initial-exec")));

/* Calls of the program come from its own code, or from Fortran's and C++'s side of the library: the
 * door says from where that was called. All others are the library's own. */
static struct cap_thread *find_caller(uintptr_t *source, unsigned call)
{
    struct cap_thread *self = cap_self;
    struct cap_module module;
    if (*source - self->callers.lo2 < self->callers.span2) {
        return cap_enter(*source, call);
    }
    self = cap_enter(0, call);
    if (self == NULL) {
        return NULL;
    }
    if (!cap_module_find(self, *source, &module) || !module.is_internal) {
        return cap_enter(*source, call);
    }
    if (!module.is_mpi_binding) {
        return NULL;
    }
    if (cap_mpi_door != 0) {
        *source = cap_mpi_door;
        self = cap_enter(*source, call);
    }
    return self;
}

/* Every call within takes the slow path, which knows the caller's range as that of the program. */
static void go_in(struct cap_thread *self, uintptr_t frame, bool is_file)
{
    if (self->span != 0) {
        uintptr_t span = self->span;
        self->callers.span2 = 0;
        self->span = 0;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        self->callers.lo2 = self->lo;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        self->callers.span2 = span;
    }
    self->callers.outer_frame = frame | (is_file ? CAP_MPI_FRAME_FILE : 0);
}

static CAP_WARM bool enter(struct cap_mpi *m, unsigned call, uintptr_t source, uintptr_t frame,
                           bool is_file)
{
    struct cap_thread *self = cap_self;
    if (cap_is_within_mpi(self, frame)) {
        return false;
    }
    if (CAP_UNLIKELY(source - self->lo >= self->span)) {
        self->callers.outer_frame = 0;
        self = find_caller(&source, call);
        if (self == NULL || !cap_mpi_configure()) {
            return false;
        }
    }
    m->self = self;
    m->object = NULL;
    m->ev = CAP_EVENT_OF(call, source);
    m->ext = CAP_EXT;
    go_in(self, frame, is_file);
    return true;
}

CAP_WARM bool cap_mpi_enter(struct cap_mpi *m, unsigned call, uintptr_t source, bool is_file)
{
    return cap_is_causal && enter(m, call, source, (uintptr_t)__builtin_frame_address(0), is_file);
}

bool cap_mpi_enter_always(struct cap_mpi *m, unsigned call, uintptr_t source)
{
    return enter(m, call, source, (uintptr_t)__builtin_frame_address(0), false);
}

int cap_mpi_error_class(int code)
{
    int class = code;
    if (code == 0 || cap_mpi_fn.Error_class(code, &class) != 0) {
        return code;
    }
    return class;
}

static CAP_WARM void emit(struct cap_mpi *m, const struct cap_event *ev, const struct cap_ext *ext)
{
    CAP_KEEP_ERRNO;
    cap_emit_ext(m->self, ev, ext);
}

CAP_WARM void cap_mpi_emit(struct cap_mpi *m)
{
    if (wio_call_op(m->ev.call) == WIO_OP_unknown) {
        return;
    }
    if (CAP_UNLIKELY(m->result != 0)) {
        m->ev.error = EREMOTEIO;
        m->ev.result = -cap_mpi_error_class(m->result);
    }
    emit(m, &m->ev, &m->ext);
}

void cap_mpi_emit_caused(struct cap_mpi *m, unsigned call, uint64_t size, int64_t result,
                         const int64_t arg[4])
{
    struct cap_event ev = m->ev;
    struct cap_ext ext = CAP_EXT;
    ev.call = (uint16_t)call;
    ev.flags = WIO_EVENT_CAUSED;
    ev.path = 0;
    ev.offset = WIO_NO_OFFSET;
    ev.size = size;
    ev.result = result;
    ev.error = 0;
    if (ev.begin == 0) { /* before the call itself has begun */
        ev.begin = ev.end = cap_now();
    }
    for (unsigned i = 0; i < 4; i++) {
        ext.arg[i] = arg[i];
    }
    emit(m, &ev, &ext);
}

/* FORMAT.md R-MPI-4. */
void cap_mpi_look(struct cap_mpi *m, int requests)
{
    struct cap_thread *self = m->self;
    if (CAP_UNLIKELY((self->flags & WIO_EVENT_CAUSED) != 0)) { /* until cap_mpi_leave */
        self->mpi.looks = 0;
        m->ext.arg[1] = requests;
        cap_mpi_emit(m);
        return;
    }
    if (!cap_mpi_is_looking(self)) {
        self->mpi.looks = 0;
        self->mpi.look_begin = m->ev.begin;
        self->mpi.look_word = self->word;
    }
    self->mpi.looks++;
}

void cap_mpi_looks_end(struct cap_mpi *m)
{
    struct cap_thread *self = m->self;
    if (cap_mpi_is_looking(self)) {
        m->ev.begin = self->mpi.look_begin;
        m->ext.arg[3] = self->mpi.looks;
    }
    self->mpi.looks = 0;
}
