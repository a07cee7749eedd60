/* SPDX-License-Identifier: Apache-2.0 */
/* What each rank of a replay has on its board, brought to that of rank 0. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "replay/launcher/linked.h"

/* One rank's piece: this, the accounts of all ranks, its mismatches, then for each stream that it
 * played with keep_events: struct piece_stream and its records. */
struct rank_piece {
    uint64_t bytes; /* of all of it */
    uint64_t untied;
    struct rp_tally tally;
    uint32_t mismatch_count;
    uint32_t mismatch_listed;
    uint32_t stream_count;
    uint32_t reserved;
};

struct piece_stream {
    uint64_t stream;
    uint64_t count;
};

/* ---- sending ---- */

static bool plays(const struct rp_stage *stage, uint32_t stream)
{
    const struct rp_family *family = &stage->plan->family;
    uint32_t image = family->streams[stream].image;
    return image != RP_NONE && rp_is_home(&stage->run, family->images[image].group);
}

static enum wio_status add_records(const struct rp_stage *stage, struct wio_blob *blob,
                                   uint32_t *count_out)
{
    const struct rp_family *family = &stage->plan->family;
    for (uint32_t i = 0; stage->board->records != NULL && i < family->stream_count; i++) {
        if (!plays(stage, i)) {
            continue;
        }
        const struct piece_stream head = {i, wio_trace_stream(stage->plan->trace, i)->events};
        const struct rp_record *records = &stage->board->records[stage->run.record_base[i]];
        WIO_TRY(wio_blob_put(blob, &head, sizeof(head)));
        WIO_TRY(wio_blob_put(blob, records, (size_t)head.count * sizeof(*records)));
        (*count_out)++;
    }
    return WIO_OK;
}

static enum wio_status make_piece(const struct rp_stage *stage, struct wio_blob *blob)
{
    const struct rp_board *board = stage->board;
    struct rank_piece piece = {.tally = board->tally,
                               .untied = atomic_load(&board->untied),
                               .mismatch_count = atomic_load(&board->mismatch_count)};
    piece.mismatch_listed =
        piece.mismatch_count < WIO_REPLAY_MISMATCHES ? piece.mismatch_count : WIO_REPLAY_MISMATCHES;
    WIO_TRY(wio_blob_put(blob, &piece, sizeof(piece)));
    WIO_TRY(wio_blob_put(blob, board->ranks, board->rank_count * sizeof(*board->ranks)));
    WIO_TRY(
        wio_blob_put(blob, board->mismatches, piece.mismatch_listed * sizeof(*board->mismatches)));
    WIO_TRY(add_records(stage, blob, &piece.stream_count));
    piece.bytes = blob->size;
    memcpy(blob->data, &piece, sizeof(piece));
    return WIO_OK;
}

/* ---- adding ---- */

static enum wio_status take(struct wio_buf *buf, void *data, size_t bytes)
{
    const uint8_t *from;
    WIO_TRY(wio_buf_bytes(buf, bytes, &from));
    memcpy(data, from, bytes);
    return WIO_OK;
}

static enum wio_status add_accounts(struct rp_board *board, struct wio_buf *buf)
{
    for (uint32_t i = 0; i < board->rank_count; i++) {
        struct wio_replay_account account;
        WIO_TRY(take(buf, &account, sizeof(account)));
        rp_account_merge(&board->ranks[i], &account);
    }
    return WIO_OK;
}

static enum wio_status add_mismatches(struct rp_board *board, struct wio_buf *buf, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct wio_replay_mismatch mismatch;
        WIO_TRY(take(buf, &mismatch, sizeof(mismatch)));
        uint32_t at = atomic_load(&board->mismatch_count);
        if (at < WIO_REPLAY_MISMATCHES) {
            board->mismatches[at] = mismatch;
            atomic_store(&board->mismatch_count, at + 1);
        }
    }
    return WIO_OK;
}

static enum wio_status add_streams(struct rp_stage *stage, struct wio_buf *buf, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct piece_stream head;
        WIO_TRY(take(buf, &head, sizeof(head)));
        if (head.stream >= stage->plan->family.stream_count ||
            head.count > wio_trace_stream(stage->plan->trace, (uint32_t)head.stream)->events) {
            return WIO_ERR_FORMAT;
        }
        uint64_t base = stage->run.record_base[head.stream];
        WIO_TRY(take(buf, &stage->board->records[base],
                     (size_t)head.count * sizeof(*stage->board->records)));
    }
    return WIO_OK;
}

static enum wio_status add_piece(struct rp_stage *stage, struct wio_buf *buf, bool is_own)
{
    struct rank_piece *piece = malloc(sizeof(*piece));
    if (piece == NULL) {
        return WIO_ERR_NOMEM;
    }
    uint64_t begin = buf->pos;
    enum wio_status status = take(buf, piece, sizeof(*piece));
    if (status != WIO_OK) {
        free(piece);
        return status;
    }
    uint64_t end = begin + piece->bytes;
    if (!is_own) {
        rp_tally_merge(&stage->board->tally, &piece->tally);
        atomic_fetch_add(&stage->board->untied, piece->untied);
        status = add_accounts(stage->board, buf);
        if (status == WIO_OK) {
            status = add_mismatches(stage->board, buf, piece->mismatch_listed);
        }
        if (status == WIO_OK) {
            status = add_streams(stage, buf, piece->stream_count);
        }
    }
    free(piece);
    buf->pos = end;
    return status;
}

enum wio_status rp_linked_gather(struct rp_stage *stage, struct wio_error *err)
{
    struct wio_replay_link *link = stage->params->link;
    struct wio_blob blob WIO_CLEANUP(wio_blob_fini) = {0};
    void *all = NULL;
    size_t bytes = 0;
    enum wio_status status = make_piece(stage, &blob);
    if (status != WIO_OK) {
        (void)wio_error_set(err, status, NULL, WIO_ERROR_NO_OFFSET,
                            "no memory for the result of the replay");
    }
    WIO_TRY(wio_replay_agree(link, status, err));
    status = link->collect(link->self, blob.data, blob.size, &all, &bytes, err);
    if (status != WIO_OK) {
        link->is_lost = true;
        return status;
    }
    struct wio_buf buf = {.data = all, .size = bytes};
    for (uint32_t rank = 0; link->rank == 0 && rank < link->ranks && status == WIO_OK; rank++) {
        status = add_piece(stage, &buf, rank == 0);
    }
    free(all);
    if (status != WIO_OK) {
        (void)wio_error_set(err, WIO_ERR_INTERNAL, NULL, WIO_ERROR_NO_OFFSET,
                            "the ranks of the replay disagree on what they have done");
    }
    return wio_replay_agree(link, status, err);
}
