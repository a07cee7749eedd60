/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows: fences are collectives; post, start, complete and wait are messages between the ranks of
 * the groups; locks are locks.
 */
#include <sys/mman.h>

#include "capture/core/raw.h"
#include "capture/mpi/mpi_hooks.h"

enum { SALT_WINDOW = 0x77, TAG_POST = -10, TAG_COMPLETE = -11 };

void cap_mpi_after_new_win(struct cap_mpi *m, const void *win)
{
    cap_mpi_after_coll(m, -1, NULL);
    if (m->result != 0 || m->object == NULL) {
        return;
    }
    struct cap_mpi_object fresh = *m->object;
    fresh.id = cap_mix(cap_mix(m->object->id, m->seq), SALT_WINDOW);
    fresh.collectives = 0;
    fresh.path = 0;
    for (unsigned i = 0; i < CAP_MPI_GROUPS; i++) {
        fresh.groups[i] = (struct cap_mpi_group){.count = 0};
    }
    const struct cap_mpi_object *made = cap_mpi_object_add(CAP_MPI_WIN, cap_mpi_load(win), &fresh);
    if (made != NULL) {
        cap_mpi_tell(m, made);
    }
}

static void forget_group(struct cap_mpi_group *group)
{
    if (group->ranks != NULL) {
        (void)raw_munmap(group->ranks, group->bytes);
    }
    *group = (struct cap_mpi_group){.count = 0};
}

/* Ranks 0 .. count - 1 of `from`, as ranks of `to`; `out` has room for twice as many. */
static bool translate(cap_mpi_word from, cap_mpi_word to, int count, int *out)
{
    int *ranks = out + count;
    for (int i = 0; i < count; i++) {
        ranks[i] = i;
    }
    return cap_mpi_fn.Group_translate_ranks(from, count, ranks, to, out) == 0;
}

/* Kept until the epoch ends: the program may free the group before. */
void cap_mpi_before_group(struct cap_mpi *m, cap_mpi_word win, cap_mpi_word group, unsigned which)
{
    int count = 0;
    cap_mpi_word all = 0;
    cap_mpi_before_known(m, CAP_MPI_WIN, win);
    if (m->object == NULL) {
        return;
    }
    struct cap_mpi_group *kept = &m->object->groups[which];
    forget_group(kept);
    if (cap_mpi_fn.Group_size(group, &count) != 0 || count <= 0 ||
        cap_mpi_fn.Win_get_group(win, &all) != 0) {
        return;
    }
    kept->bytes = (uint32_t)(2 * sizeof(int) * (size_t)count);
    kept->ranks = raw_mmap(kept->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (kept->ranks != NULL && translate(group, cap_mpi_load(&all), count, kept->ranks)) {
        kept->count = (uint32_t)count;
    } else {
        forget_group(kept);
    }
    (void)cap_mpi_fn.Group_free(&all);
}

static void emit_group(struct cap_mpi *m, unsigned which, unsigned call, int tag)
{
    const struct cap_mpi_group *group = &m->object->groups[which];
    for (uint32_t i = 0; i < group->count; i++) {
        const int64_t arg[4] = {(int64_t)m->object->id, group->ranks[i], tag, 0};
        cap_mpi_emit_caused(m, call, WIO_NO_SIZE, 0, arg);
    }
}

void cap_mpi_after_post(struct cap_mpi *m)
{
    cap_mpi_after_wait(m, 0, 0);
    if (m->object != NULL && m->result == 0) {
        emit_group(m, CAP_MPI_POST, WIO_CALL_mpi_send, TAG_POST);
    }
}

void cap_mpi_after_complete(struct cap_mpi *m)
{
    cap_mpi_after_wait(m, 0, 0);
    if (m->object != NULL && m->result == 0) {
        emit_group(m, CAP_MPI_START, WIO_CALL_mpi_recv, TAG_POST);
        emit_group(m, CAP_MPI_START, WIO_CALL_mpi_send, TAG_COMPLETE);
        forget_group(&m->object->groups[CAP_MPI_START]);
    }
}

void cap_mpi_after_win_wait(struct cap_mpi *m, const void *flag)
{
    if (flag != NULL && m->result == 0 && *(const int *)flag == 0) {
        cap_mpi_look(m, 0);
        return;
    }
    if (flag != NULL) {
        cap_mpi_looks_end(m);
    }
    cap_mpi_after_wait(m, 0, m->result == 0);
    if (m->object != NULL && m->result == 0) {
        emit_group(m, CAP_MPI_POST, WIO_CALL_mpi_recv, TAG_COMPLETE);
        forget_group(&m->object->groups[CAP_MPI_POST]);
    }
}

/* FORMAT.md R-MPI-7. */
void cap_mpi_after_win_lock(struct cap_mpi *m, int rank, int type)
{
    if (m->object == NULL || rank == cap_mpi_abi.proc_null) {
        return;
    }
    m->ext.arg[0] = (int64_t)cap_mix(m->object->id, (uint64_t)(int64_t)rank);
    m->ext.arg[1] = rank == CAP_MPI_ALL_RANKS || type == cap_mpi_abi.lock_shared;
    cap_mpi_emit(m);
}
