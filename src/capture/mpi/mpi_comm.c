/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Communicators, and ids that all their members agree on without a message: a communicator is told
 * by the one it was made from, by how many collectives that had seen, and by which of its ranks
 * became rank 0. Where only some members take part, by that rank, the size, the tag and how often
 * that was asked for.
 */
#include "capture/mpi/mpi_hooks.h"

enum { SALT_WORLD = 1, SALT_SELF, SALT_GROUP, SALT_BRIDGE, SALT_SESSION, SALT_UNKNOWN };

void cap_mpi_tell(struct cap_mpi *m, const struct cap_mpi_object *object)
{
    const int64_t arg[4] = {(int64_t)object->id, object->rank, object->size, object->is_inter};
    const uint64_t end = m->ev.end;
    m->ev.end = m->ev.begin; /* no time passes: that of the call is the call's */
    if (object->id != 0) {
        cap_mpi_emit_caused(m, WIO_CALL_mpi_comm, WIO_NO_SIZE, 0, arg);
    }
    m->ev.end = end;
}

/* Sizes and own rank; false where the library does not tell them. */
static bool describe(cap_mpi_word comm, struct cap_mpi_object *out)
{
    int is_inter = 0;
    *out = (struct cap_mpi_object){.id = 0};
    if (cap_mpi_fn.Comm_rank(comm, &out->rank) != 0 ||
        cap_mpi_fn.Comm_size(comm, &out->local_size) != 0 ||
        cap_mpi_fn.Comm_test_inter(comm, &is_inter) != 0) {
        return false;
    }
    out->size = out->peers = out->local_size;
    out->is_inter = is_inter != 0;
    if (out->is_inter) {
        if (cap_mpi_fn.Comm_remote_size(comm, &out->peers) != 0) {
            return false;
        }
        out->size = out->local_size + out->peers;
    }
    return true;
}

/* Number the ranks of both groups of an intercommunicator through: the group with the lower `own`
 * or `other` comes first, so that both sides do the same. */
static void number_through(struct cap_mpi_object *object, int64_t own, int64_t other)
{
    object->local_base = own < other ? 0 : object->peers;
    object->peer_base = own < other ? object->local_size : 0;
    object->rank += object->local_base;
}

typedef int group_of(cap_mpi_word comm, void *group);

/* Which rank of (a group of) `parent` is rank 0 of (a group of) `comm`; negative where none. */
static int64_t first_in(cap_mpi_word comm, group_of *group, cap_mpi_word parent,
                        group_of *parent_group)
{
    const int zero = 0;
    int found = -1;
    cap_mpi_word groups[2] = {0, 0};
    if (group(comm, &groups[0]) != 0) {
        return -1;
    }
    if (parent_group(parent, &groups[1]) == 0) {
        if (cap_mpi_fn.Group_translate_ranks(cap_mpi_load(&groups[0]), 1, &zero,
                                             cap_mpi_load(&groups[1]), &found) != 0) {
            found = -1;
        }
        (void)cap_mpi_fn.Group_free(&groups[1]);
    }
    (void)cap_mpi_fn.Group_free(&groups[0]);
    return found;
}

static int64_t first_in_world(cap_mpi_word comm, group_of *group)
{
    return first_in(comm, group, cap_mpi_abi.comm_world, cap_mpi_fn.Comm_group);
}

static int64_t lower(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* An id from what all members see of the world: 0 where some are not in it. */
static uint64_t id_in_world(cap_mpi_word comm, struct cap_mpi_object *object, uint64_t salt)
{
    int64_t own = first_in_world(comm, cap_mpi_fn.Comm_group);
    int64_t first = own;
    if (object->is_inter && own >= 0) {
        int64_t other = first_in_world(comm, cap_mpi_fn.Comm_remote_group);
        number_through(object, own, other);
        first = lower(own, other);
    }
    if (first < 0) {
        return 0;
    }
    uint64_t id = cap_mix(cap_mix(cap_mpi_job(), salt), (uint64_t)first);
    id = cap_mix(id, (uint64_t)object->size);
    return cap_mix(id, cap_mpi_count(id));
}

static struct cap_mpi_object *add(struct cap_mpi *m, cap_mpi_word comm,
                                  const struct cap_mpi_object *object)
{
    struct cap_mpi_object *added = cap_mpi_object_add(CAP_MPI_COMM, comm, object);
    if (added != NULL) {
        cap_mpi_tell(m, added);
    }
    return added;
}

static uint64_t id_of_unmade(cap_mpi_word comm, struct cap_mpi_object *object)
{
    if (comm == cap_mpi_abi.comm_world) {
        return cap_mix(cap_mpi_job(), SALT_WORLD);
    }
    if (comm == cap_mpi_abi.comm_self) {
        int64_t rank = first_in_world(comm, cap_mpi_fn.Comm_group);
        return cap_mix(cap_mix(cap_mpi_job(), SALT_SELF), (uint64_t)rank);
    }
    return id_in_world(comm, object, SALT_UNKNOWN);
}

CAP_WARM struct cap_mpi_object *cap_mpi_comm(struct cap_mpi *m, cap_mpi_word comm)
{
    comm = cap_mpi_word_of(comm);
    struct cap_mpi_object *known = cap_mpi_object_find(CAP_MPI_COMM, comm);
    if (CAP_LIKELY(known != NULL)) {
        return known->id != 0 ? known : NULL;
    }
    struct cap_mpi_object fresh;
    if (comm == 0 || comm == cap_mpi_abi.comm_null || !describe(comm, &fresh)) {
        return NULL;
    }
    fresh.id = id_of_unmade(comm, &fresh);
    known = add(m, comm, &fresh);
    return known != NULL && known->id != 0 ? known : NULL;
}

/* The id of what collective `seq` of `parent` made; the ranks of an intercommunicator get their
 * numbers. */
static uint64_t id_of_child(const struct cap_mpi_object *parent_object, cap_mpi_word parent,
                            uint64_t seq, cap_mpi_word comm, struct cap_mpi_object *object)
{
    int64_t first = parent_object->local_base +
                    first_in(comm, cap_mpi_fn.Comm_group, parent, cap_mpi_fn.Comm_group);
    if (parent_object->is_inter && !object->is_inter) { /* merged: both groups see it alike */
        first = 0;
    } else if (object->is_inter) {
        int64_t other = parent_object->peer_base + first_in(comm, cap_mpi_fn.Comm_remote_group,
                                                            parent, cap_mpi_fn.Comm_remote_group);
        number_through(object, first, other);
        first = lower(first, other);
    }
    return cap_mix(cap_mix(parent_object->id, seq), (uint64_t)first);
}

/* Nothing is made where this process is not a member. */
static bool describe_new(const struct cap_mpi *m, const void *newcomm, cap_mpi_word *comm,
                         struct cap_mpi_object *out)
{
    if (m->result != 0) {
        return false;
    }
    *comm = cap_mpi_load(newcomm);
    return *comm != cap_mpi_abi.comm_null && describe(*comm, out);
}

void cap_mpi_after_new_comm(struct cap_mpi *m, cap_mpi_word comm, const void *newcomm)
{
    struct cap_mpi_object fresh;
    cap_mpi_word made;
    cap_mpi_after_coll(m, -1, NULL);
    if (!describe_new(m, newcomm, &made, &fresh)) {
        return;
    }
    if (m->object != NULL) {
        fresh.id = id_of_child(m->object, comm, m->seq, made, &fresh);
    }
    (void)add(m, made, &fresh);
}

/* The members are the parent's, and so is the numbering. Both libraries give the handle at once;
 * where they put it may be gone later (Fortran's side has it on its stack). */
void cap_mpi_after_inew_comm(struct cap_mpi *m, cap_mpi_word comm, const void *newcomm,
                             const void *request)
{
    (void)comm;
    cap_mpi_after_coll(m, -1, request);
    struct cap_mpi_request tracked;
    if (m->result == 0 && m->object != NULL &&
        cap_mpi_request_find(cap_mpi_load(request), &tracked)) {
        tracked.new_comm = cap_mpi_load(newcomm);
        tracked.new_id = cap_mix(cap_mix(m->object->id, m->seq), 0);
        tracked.rank_base = m->object->local_base;
        tracked.peer_base = m->object->peer_base;
        cap_mpi_request_add(&tracked);
    }
}

void cap_mpi_made_by(struct cap_mpi *m, const struct cap_mpi_request *request)
{
    struct cap_mpi_object fresh;
    if (m->result == 0 && request->new_comm != cap_mpi_abi.comm_null &&
        describe(request->new_comm, &fresh)) {
        fresh.id = request->new_id;
        fresh.local_base = request->rank_base;
        fresh.peer_base = request->peer_base;
        fresh.rank += fresh.local_base;
        (void)add(m, request->new_comm, &fresh);
    }
}

/* Its first collective is its making. */
static void begin_with_itself(struct cap_mpi *m, cap_mpi_word made,
                              const struct cap_mpi_object *fresh)
{
    m->object = cap_mpi_object_add(CAP_MPI_COMM, made, fresh);
    if (m->object != NULL) {
        cap_mpi_tell(m, m->object);
        m->seq = __atomic_fetch_add(&m->object->collectives, 1, __ATOMIC_RELAXED);
    }
}

void cap_mpi_after_new_group_comm(struct cap_mpi *m, cap_mpi_word comm, int tag,
                                  const void *newcomm)
{
    struct cap_mpi_object fresh;
    cap_mpi_word made;
    if (describe_new(m, newcomm, &made, &fresh)) {
        const struct cap_mpi_object *parent = cap_mpi_comm(m, comm);
        if (parent != NULL) {
            int64_t first = first_in(made, cap_mpi_fn.Comm_group, comm, cap_mpi_fn.Comm_group);
            uint64_t id = cap_mix(cap_mix(parent->id, SALT_GROUP), (uint64_t)first);
            id = cap_mix(cap_mix(id, (uint64_t)fresh.size), (uint64_t)tag);
            fresh.id = cap_mix(id, cap_mpi_count(id));
        }
        begin_with_itself(m, made, &fresh);
    }
    cap_mpi_after_coll(m, -1, NULL);
}

void cap_mpi_after_new_session_comm(struct cap_mpi *m, const char *text, const void *newcomm)
{
    struct cap_mpi_object fresh;
    cap_mpi_word made;
    if (describe_new(m, newcomm, &made, &fresh)) {
        uint64_t id = cap_mix(cap_mix(cap_mpi_job(), SALT_SESSION), (uint64_t)fresh.size);
        id = cap_mpi_mix_text(id, text != NULL ? text : "");
        fresh.id = fresh.size > 1 ? cap_mix(id, cap_mpi_count(id)) : 0;
        begin_with_itself(m, made, &fresh);
    }
    cap_mpi_after_coll(m, -1, NULL);
}

void cap_mpi_after_new_intercomm(struct cap_mpi *m, int tag, const void *newcomm)
{
    struct cap_mpi_object fresh;
    cap_mpi_word made;
    if (describe_new(m, newcomm, &made, &fresh)) {
        uint64_t id = id_in_world(made, &fresh, SALT_BRIDGE);
        fresh.id = id != 0 ? cap_mix(id, (uint64_t)tag) : 0;
        begin_with_itself(m, made, &fresh);
    }
    cap_mpi_after_coll(m, -1, NULL);
}

/* Two jobs meet: they share no world, in which they could agree on an id. */
void cap_mpi_after_foreign_comm(struct cap_mpi *m, const void *newcomm)
{
    struct cap_mpi_object fresh;
    cap_mpi_word made;
    cap_mpi_after_coll(m, -1, NULL);
    if (describe_new(m, newcomm, &made, &fresh)) {
        (void)cap_mpi_object_add(CAP_MPI_COMM, made, &fresh);
    }
}
