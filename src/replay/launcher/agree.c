/* SPDX-License-Identifier: Apache-2.0 */
/* Agreement: a step of a replay under a launcher failed everywhere where it failed on one rank. */
#include "replay/launcher/link.h"

#include <stdlib.h>
#include <string.h>

#include "replay/launcher/exchange.h"

struct vote {
    int32_t status;
    uint32_t is_hearsay;
    struct wio_error error;
};

static void vote_of(enum wio_status status, const struct wio_error *err, struct vote *vote_out)
{
    memset(vote_out, 0, sizeof(*vote_out));
    vote_out->status = (int32_t)status;
    if (status != WIO_OK && err != NULL) {
        vote_out->error = *err;
        vote_out->is_hearsay = strncmp(err->message, RP_OTHER_FAILED, strlen(RP_OTHER_FAILED)) == 0;
    }
}

static void choose_vote(const struct vote *votes, size_t count, struct vote *vote_out)
{
    for (size_t i = 0; i < count; i++) {
        bool is_worse =
            votes[i].status != WIO_OK &&
            (vote_out->status == WIO_OK || (vote_out->is_hearsay != 0 && votes[i].is_hearsay == 0));
        if (is_worse) {
            *vote_out = votes[i];
        }
    }
}

enum wio_status wio_replay_agree(struct wio_replay_link *link, enum wio_status status,
                                 struct wio_error *err)
{
    struct vote vote;
    void *votes = NULL;
    size_t bytes = 0;
    if (link->is_lost) {
        return status;
    }
    vote_of(status, err, &vote);
    enum wio_status met = link->collect(link->self, &vote, sizeof(vote), &votes, &bytes, err);
    if (met == WIO_OK) {
        if (link->rank == 0) {
            choose_vote(votes, bytes / sizeof(vote), &vote);
        }
        met = link->share(link->self, 0, &vote, sizeof(vote), err);
    }
    free(votes);
    if (met != WIO_OK) {
        link->is_lost = true;
        return met;
    }
    if (vote.status != WIO_OK && err != NULL) {
        *err = vote.error;
    }
    return (enum wio_status)vote.status;
}
