/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives among neighbours are messages: one to and one from each, as the topology says
 * (FORMAT.md R-MPI-6). */
#include <sys/mman.h>

#include "capture/core/process.h"
#include "capture/core/raw.h"
#include "capture/mpi/mpi_hooks.h"

#define FEW 64
#define FIRST_TAG (-100)
#define TAGS (1u << 29)

/* Ranks to receive from and to send to; MPI_PROC_NULL at the rim. */
struct neighbors {
    int in_count;
    int out_count;
    int *in;
    int *out;
    int *memory;  /* for four times the greater count */
    size_t bytes; /* of the mapping, 0: `few` */
    int few[4 * FEW];
};

int cap_mpi_neighbor_tag(struct cap_mpi_object *object)
{
    uint64_t number = __atomic_fetch_add(&object->neighbors, 1, __ATOMIC_RELAXED);
    return FIRST_TAG - (int)(number % TAGS);
}

static bool make_room(struct neighbors *n)
{
    size_t most = (size_t)(n->in_count > n->out_count ? n->in_count : n->out_count);
    n->bytes = most > FEW ? 4 * most * sizeof(int) : 0;
    n->memory = n->few;
    if (n->bytes > 0) {
        n->memory = raw_mmap(n->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
    n->in = n->memory;
    n->out = n->memory + most;
    return n->memory != NULL;
}

static bool look_up_grid(cap_mpi_word comm, struct neighbors *n)
{
    int dimensions = 0;
    if (cap_mpi_fn.Cartdim_get(comm, &dimensions) != 0) {
        return false;
    }
    n->in_count = n->out_count = 2 * dimensions;
    if (!make_room(n)) {
        return false;
    }
    n->out = n->in;
    for (int i = 0; i < dimensions; i++) {
        int *pair = &n->in[(size_t)i * 2];
        if (cap_mpi_fn.Cart_shift(comm, i, 1, pair, pair + 1) != 0) {
            return false;
        }
    }
    return true;
}

static bool look_up_graph(cap_mpi_word comm, int rank, struct neighbors *n)
{
    if (cap_mpi_fn.Graph_neighbors_count(comm, rank, &n->in_count) != 0) {
        return false;
    }
    n->out_count = n->in_count;
    if (!make_room(n)) {
        return false;
    }
    n->out = n->in;
    return cap_mpi_fn.Graph_neighbors(comm, rank, n->in_count, n->in) == 0;
}

static bool look_up_distributed(cap_mpi_word comm, struct neighbors *n)
{
    int is_weighted = 0;
    if (cap_mpi_fn.Dist_graph_neighbors_count(comm, &n->in_count, &n->out_count, &is_weighted) !=
            0 ||
        !make_room(n)) {
        return false;
    }
    size_t most = (size_t)(n->out - n->in);
    return cap_mpi_fn.Dist_graph_neighbors(comm, n->in_count, n->in, n->memory + 2 * most,
                                           n->out_count, n->out, n->memory + 3 * most) == 0;
}

static bool look_up(cap_mpi_word comm, int rank, struct neighbors *n)
{
    int topology = 0;
    if (cap_mpi_fn.Topo_test(comm, &topology) != 0) {
        return false;
    }
    if (topology == cap_mpi_abi.topology_cart) {
        return look_up_grid(comm, n);
    }
    if (topology == cap_mpi_abi.topology_graph) {
        return look_up_graph(comm, rank, n);
    }
    return topology == cap_mpi_abi.topology_distributed && look_up_distributed(comm, n);
}

static void emit_messages(struct cap_mpi *m, const struct neighbors *n, int tag, uint64_t size,
                          uint64_t key)
{
    int64_t arg[4] = {(int64_t)m->object->id, 0, tag, 0};
    for (int i = 0; i < n->out_count; i++) {
        arg[1] = n->out[i];
        if (n->out[i] >= 0) {
            cap_mpi_emit_caused(m, WIO_CALL_mpi_send, size, 0, arg);
        }
    }
    for (int i = 0; i < n->in_count; i++) {
        arg[1] = n->in[i];
        arg[3] = (int64_t)key;
        if (n->in[i] >= 0) {
            cap_mpi_emit_caused(m, WIO_CALL_mpi_recv, WIO_NO_SIZE, 0, arg);
            key += key != 0;
        }
    }
}

static int count_messages(const int *ranks, int count)
{
    int messages = 0;
    for (int i = 0; i < count; i++) {
        messages += ranks[i] >= 0;
    }
    return messages;
}

int cap_mpi_neighbor_messages(struct cap_mpi *m, cap_mpi_word comm, int tag, uint64_t size,
                              uint64_t *key_out)
{
    struct neighbors n;
    n.bytes = 0;
    if (m->object == NULL) {
        m->object = cap_mpi_comm(m, comm);
    }
    if (m->object == NULL || !look_up(comm, m->object->rank, &n)) {
        return 0;
    }
    int messages = count_messages(n.in, n.in_count);
    uint64_t key = 0;
    if (key_out != NULL && messages > 0) {
        key = 1 + __atomic_fetch_add(&cap_image->next_key, (uint64_t)messages, __ATOMIC_RELAXED);
        *key_out = key;
    }
    emit_messages(m, &n, tag, size, key);
    if (n.bytes > 0) {
        (void)raw_munmap(n.memory, n.bytes);
    }
    return messages;
}

void cap_mpi_after_neighbors(struct cap_mpi *m, cap_mpi_word comm, const void *place)
{
    uint64_t size = m->ev.size;
    m->ev.size = WIO_NO_SIZE;
    m->object = m->result == 0 ? cap_mpi_comm(m, comm) : NULL;
    cap_mpi_after_wait(m, place != NULL, place == NULL);
    if (m->object == NULL) {
        return;
    }
    struct cap_mpi_request request = {.object = m->object->id, .kind = CAP_MPI_NEIGHBORS};
    request.tag = cap_mpi_neighbor_tag(m->object);
    if (place == NULL) {
        (void)cap_mpi_neighbor_messages(m, comm, request.tag, size, NULL);
        return;
    }
    request.handle = cap_mpi_load(place);
    bool is_over = cap_mpi_request_is_over(request.handle);
    request.count =
        cap_mpi_neighbor_messages(m, comm, request.tag, size, is_over ? NULL : &request.key);
    if (!is_over) {
        cap_mpi_request_add(&request);
    }
}
