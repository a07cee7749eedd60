/* SPDX-License-Identifier: Apache-2.0 */
/*
 * R-RING-10: whose rings belong to the run. Root's directory of rings lets every user make files,
 * so that processes that have given up root's rights are recorded, too; a neighbour may make one
 * there that looks like a ring. A ring of the directory's owner, of root and of this user is the
 * run's. One of another user is if a ring of the run says that its process made or executed
 * programs as that user, and the ring at hand is of such a process: forked from it (it knows the
 * name of the other ring, which only the owner of the directory can list), the same process after
 * exec, or its child.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "seal/seal_internal.h"
#include "trace/format/trust.h"

enum { KEY_BYTES = 256 };

/* The ways in which a process comes from another one, each a text that both can form. */
enum kinship { FORKED, EXECUTED, SPAWNED, KINSHIP_COUNT };

static void name_kinship(enum kinship kinship, const char *ring_name, int32_t pid, uint64_t start,
                         uint32_t owner, char key[KEY_BYTES])
{
    if (kinship == FORKED) {
        static const char end[] = WIO_SEALED_ENDING;
        size_t bytes = strlen(ring_name);
        size_t kept = bytes;
        if (bytes > sizeof(end) && strcmp(ring_name + bytes + 1 - sizeof(end), end) == 0) {
            kept = bytes + 1 - sizeof(end);
        }
        (void)snprintf(key, KEY_BYTES, "fork %u %.*s", owner, (int)kept, ring_name);
    } else if (kinship == EXECUTED) {
        (void)snprintf(key, KEY_BYTES, "exec %u %d %llu", owner, pid, (unsigned long long)start);
    } else {
        (void)snprintf(key, KEY_BYTES, "spawn %u %d", owner, pid);
    }
}

/* What a ring of the run says of others. */
static enum wio_status add_grants(const struct wio_seal_ring *ring, struct wio_strtab *grants)
{
    char key[KEY_BYTES];
    uint32_t id = 0;
    for (uint32_t i = 0; i < WIO_RING_USERS && ring->header.users[i] != 0; i++) {
        for (unsigned kinship = 0; kinship < KINSHIP_COUNT; kinship++) {
            name_kinship((enum kinship)kinship, ring->name, ring->header.pid,
                         ring->header.pid_start, ring->header.users[i] - 1, key);
            WIO_TRY(wio_strtab_add(grants, key, strlen(key), &id));
        }
    }
    return WIO_OK;
}

static bool is_granted(const struct wio_seal_ring *ring, const struct wio_strtab *grants)
{
    const struct wio_ring_header *header = &ring->header;
    const int32_t pids[] = {[FORKED] = 0, [EXECUTED] = header->pid, [SPAWNED] = header->ppid};
    char key[KEY_BYTES];
    for (unsigned kinship = 0; kinship < KINSHIP_COUNT; kinship++) {
        name_kinship((enum kinship)kinship, header->parent_ring, pids[kinship], header->pid_start,
                     ring->owner, key);
        if (wio_strtab_find(grants, key, strlen(key)) != 0) {
            return true;
        }
    }
    return false;
}

/* Rings are in order of their start: children come behind their parents, so that one pass finds
 * nearly all. */
static enum wio_status judge(const struct wio_seal *seal, bool *is_trusted)
{
    WIO_CLEANUP(wio_strtab_fini) struct wio_strtab grants = {0};
    bool has_changed = true;
    while (has_changed) {
        has_changed = false;
        for (uint32_t i = 0; i < seal->ring_count; i++) {
            const struct wio_seal_ring *ring = &seal->rings[i];
            if (is_trusted[i] || !(wio_trust_ring(seal->dirs[ring->dir].owner, ring->owner) ||
                                   is_granted(ring, &grants))) {
                continue;
            }
            is_trusted[i] = true;
            has_changed = true;
            WIO_TRY(add_grants(ring, &grants));
        }
    }
    return WIO_OK;
}

enum wio_status wio_seal_judge_owners(struct wio_seal *seal)
{
    bool *is_trusted = calloc((size_t)seal->ring_count + 1, sizeof(*is_trusted));
    uint32_t kept = 0;
    if (is_trusted == NULL) {
        return WIO_ERR_NOMEM;
    }
    enum wio_status status = judge(seal, is_trusted);
    for (uint32_t i = 0; i < seal->ring_count; i++) {
        if (is_trusted[i]) {
            seal->rings[kept++] = seal->rings[i];
            continue;
        }
        struct wio_seal_ring *ring = &seal->rings[i];
        if (status == WIO_OK) {
            status = wio_seal_refuse(seal, ring->dir, ring->name, ring->owner);
        }
        wio_seal_ring_fini(ring);
    }
    seal->ring_count = kept;
    free(is_trusted);
    return status;
}
