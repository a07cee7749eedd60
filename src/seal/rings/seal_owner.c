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

/* The rings that are not the run's so far, by each text that would make them so: what is granted is
 * looked up once. */
struct judgement {
    const struct wio_seal *seal;
    bool *is_trusted;
    struct wio_strtab texts;
    uint32_t *first; /* per text: a place, ring * KINSHIP_COUNT + kinship; UINT32_MAX = none */
    uint32_t *next;  /* per place: another one of the same text */
    uint32_t *found; /* rings whose grants are to be looked at */
    uint32_t found_count;
};

static void judgement_fini(struct judgement *judgement)
{
    wio_strtab_fini(&judgement->texts);
    free(judgement->first);
    free(judgement->next);
    free(judgement->found);
}

static enum wio_status judgement_init(struct judgement *judgement)
{
    size_t rings = judgement->seal->ring_count;
    size_t places = rings * KINSHIP_COUNT + 1;
    if (places > UINT32_MAX) {
        return WIO_ERR_NOMEM;
    }
    judgement->first = malloc(places * sizeof(*judgement->first));
    judgement->next = malloc(places * sizeof(*judgement->next));
    judgement->found = malloc((rings + 1) * sizeof(*judgement->found));
    if (judgement->first == NULL || judgement->next == NULL || judgement->found == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (size_t i = 0; i < places; i++) {
        judgement->first[i] = UINT32_MAX;
    }
    return WIO_OK;
}

static void trust(struct judgement *judgement, uint32_t i)
{
    if (!judgement->is_trusted[i]) {
        judgement->is_trusted[i] = true;
        judgement->found[judgement->found_count++] = i;
    }
}

/* What would make ring `i` the run's. */
static enum wio_status add_claims(struct judgement *judgement, uint32_t i)
{
    const struct wio_seal_ring *ring = &judgement->seal->rings[i];
    const struct wio_ring_header *header = &ring->header;
    const int32_t pids[] = {[FORKED] = 0, [EXECUTED] = header->pid, [SPAWNED] = header->ppid};
    char key[KEY_BYTES];
    uint32_t id = 0;
    for (uint32_t kinship = 0; kinship < KINSHIP_COUNT; kinship++) {
        uint32_t place = i * KINSHIP_COUNT + kinship;
        name_kinship((enum kinship)kinship, header->parent_ring, pids[kinship], header->pid_start,
                     ring->owner, key);
        WIO_TRY(wio_strtab_add(&judgement->texts, key, strlen(key), &id));
        judgement->next[place] = judgement->first[id];
        judgement->first[id] = place;
    }
    return WIO_OK;
}

static enum wio_status begin(struct judgement *judgement)
{
    for (uint32_t i = 0; i < judgement->seal->ring_count; i++) {
        const struct wio_seal_ring *ring = &judgement->seal->rings[i];
        if (wio_trust_ring(judgement->seal->dirs[ring->dir].owner, ring->owner)) {
            trust(judgement, i);
        } else {
            WIO_TRY(add_claims(judgement, i));
        }
    }
    return WIO_OK;
}

/* All that wait for this text; there are none afterwards. */
static void grant(struct judgement *judgement, const char *key)
{
    uint32_t id = wio_strtab_find(&judgement->texts, key, strlen(key));
    if (id == 0) {
        return;
    }
    for (uint32_t at = judgement->first[id]; at != UINT32_MAX; at = judgement->next[at]) {
        trust(judgement, at / KINSHIP_COUNT);
    }
    judgement->first[id] = UINT32_MAX;
}

/* What a ring of the run says of others. */
static void grant_all(struct judgement *judgement, const struct wio_seal_ring *ring)
{
    char key[KEY_BYTES];
    for (uint32_t i = 0; i < WIO_RING_USERS && ring->header.users[i] != 0; i++) {
        for (unsigned kinship = 0; kinship < KINSHIP_COUNT; kinship++) {
            name_kinship((enum kinship)kinship, ring->name, ring->header.pid,
                         ring->header.pid_start, ring->header.users[i] - 1, key);
            grant(judgement, key);
        }
    }
}

static enum wio_status judge(const struct wio_seal *seal, bool *is_trusted)
{
    WIO_CLEANUP(judgement_fini)
    struct judgement judgement = {.seal = seal, .is_trusted = is_trusted};
    WIO_TRY(judgement_init(&judgement));
    WIO_TRY(begin(&judgement));
    while (judgement.found_count > 0) {
        grant_all(&judgement, &seal->rings[judgement.found[--judgement.found_count]]);
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
