/* SPDX-License-Identifier: Apache-2.0 */
#include "history.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"

#define NONE UINT32_MAX
#define WRITES (HISTORY_TXNS * HISTORY_ACCESSES)

/* Edges of the order, as lists. */
struct order_graph {
    uint32_t head[HISTORY_TXNS];
    uint32_t into[HISTORY_TXNS]; /* edges that lead there */
    uint32_t count;
    struct {
        uint32_t to;
        uint32_t next;
    } edges[2 * WRITES + WRITES];
};

struct history_txn *history_add(struct history *history)
{
    assert(history->count < HISTORY_TXNS);
    struct history_txn *txn = &history->txns[history->count++];
    memset(txn, 0, sizeof(*txn));
    return txn;
}

/* written -> transaction * HISTORY_ACCESSES + access */
static const char *index_writes(const struct history *history, struct wio_map *writers)
{
    for (uint32_t t = 0; t < history->count; t++) {
        for (uint32_t a = 0; a < history->txns[t].count; a++) {
            const struct history_access *access = &history->txns[t].accesses[a];
            if (!access->is_write) {
                continue;
            }
            if (wio_map_get(writers, access->written) != NULL) {
                return "a version was written twice";
            }
            if (wio_map_put(writers, access->written, t * HISTORY_ACCESSES + a) != WIO_OK) {
                return "out of memory";
            }
        }
    }
    return NULL;
}

/* From the last version of a cell back to 0: `follows` has for each version the one behind it. */
static const char *walk(const struct history *history, uint32_t cell, uint64_t last,
                        const struct wio_map *writers, struct wio_map *follows)
{
    uint64_t next = 0;
    for (uint64_t version = last; version != 0;) {
        const uint64_t *place = wio_map_get(writers, version);
        if (place == NULL) {
            return "a cell has a version that no committed transaction wrote";
        }
        const struct history_access *access =
            &history->txns[*place / HISTORY_ACCESSES].accesses[*place % HISTORY_ACCESSES];
        if (access->cell != cell || wio_map_get(follows, version) != NULL) {
            return "the versions of a cell are no chain";
        }
        if (wio_map_put(follows, version, next) != WIO_OK) {
            return "out of memory";
        }
        next = version;
        version = access->seen;
    }
    /* the first one, by the cell's number, which no version has */
    return wio_map_put(follows, cell, next) == WIO_OK ? NULL : "out of memory";
}

static const char *place_txn(struct history_txn *txn, const struct wio_map *follows)
{
    uint32_t writes = 0;
    uint32_t in = 0;
    for (uint32_t a = 0; a < txn->count; a++) {
        const struct history_access *access = &txn->accesses[a];
        writes += access->is_write;
        in += access->is_write && wio_map_get(follows, access->written) != NULL;
    }
    if (txn->is_certain && in < writes) {
        return "what was committed is lost";
    }
    if (in > 0 && in < writes) {
        return "a transaction is half there";
    }
    txn->is_in = txn->is_certain || in > 0;
    return NULL;
}

static void add_edge(struct order_graph *graph, uint32_t from, uint32_t to)
{
    if (from == to) {
        return;
    }
    graph->edges[graph->count].to = to;
    graph->edges[graph->count].next = graph->head[from];
    graph->head[from] = graph->count++;
    graph->into[to]++;
}

static const char *add_edges(const struct history *history, uint32_t t,
                             const struct wio_map *writers, const struct wio_map *follows,
                             struct order_graph *graph)
{
    const struct history_txn *txn = &history->txns[t];
    for (uint32_t a = 0; a < txn->count; a++) {
        const struct history_access *access = &txn->accesses[a];
        uint64_t seen = access->seen;
        const uint64_t *next = wio_map_get(follows, seen != 0 ? seen : access->cell);
        if (next == NULL) {
            return "a version was read that is in no chain";
        }
        if (seen != 0) {
            add_edge(graph, (uint32_t)(*wio_map_get(writers, seen) / HISTORY_ACCESSES), t);
        }
        if (*next != 0) {
            add_edge(graph, t, (uint32_t)(*wio_map_get(writers, *next) / HISTORY_ACCESSES));
        }
    }
    return NULL;
}

/* Kahn: take what nothing leads to, until nothing is left. */
static bool has_order(const struct history *history, struct order_graph *graph)
{
    static uint32_t ready[HISTORY_TXNS];
    uint32_t count = 0;
    for (uint32_t t = 0; t < history->count; t++) {
        if (graph->into[t] == 0) {
            ready[count++] = t;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t e = graph->head[ready[i]]; e != NONE; e = graph->edges[e].next) {
            if (--graph->into[graph->edges[e].to] == 0) {
                ready[count++] = graph->edges[e].to;
            }
        }
    }
    return count == history->count;
}

static const char *check_order(const struct history *history, const struct wio_map *writers,
                               const struct wio_map *follows)
{
    static struct order_graph graph;
    graph.count = 0;
    for (uint32_t t = 0; t < history->count; t++) {
        graph.head[t] = NONE;
        graph.into[t] = 0;
    }
    for (uint32_t t = 0; t < history->count; t++) {
        const char *fault =
            history->txns[t].is_in ? add_edges(history, t, writers, follows, &graph) : NULL;
        if (fault != NULL) {
            return fault;
        }
    }
    return has_order(history, &graph) ? NULL : "no order of the transactions explains it";
}

static const char *check(struct history *history, const uint64_t last[HISTORY_CELLS],
                         struct wio_map *writers, struct wio_map *follows)
{
    const char *fault = index_writes(history, writers);
    for (uint32_t cell = 0; fault == NULL && cell < HISTORY_CELLS; cell++) {
        fault = walk(history, cell, last[cell], writers, follows);
    }
    for (uint32_t t = 0; fault == NULL && t < history->count; t++) {
        fault = place_txn(&history->txns[t], follows);
    }
    return fault != NULL ? fault : check_order(history, writers, follows);
}

const char *history_check(struct history *history, const uint64_t last[HISTORY_CELLS])
{
    struct wio_map writers = {0};
    struct wio_map follows = {0};
    const char *fault = check(history, last, &writers, &follows);
    wio_map_fini(&writers);
    wio_map_fini(&follows);
    return fault;
}
