/* SPDX-License-Identifier: Apache-2.0 */
#include "replay_mpi_link.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "base/cleanup.h"
#include "base/env.h"
#include "base/text.h"
#include "replay_mpi_mail.h"

/* One call moves at most this many bytes: MPI counts in int. */
#define PIECE_BYTES ((size_t)1 << 30)
#define DATA_TAG 1
#define SILENCE_NS UINT64_C(30000000000)

struct mpi {
    struct wio_replay_link link;
    MPI_Comm world; /* of our own: failures are returned */
    MPI_Comm news;
    struct mail *mail;
    uint32_t *machine_of;
    struct wio_replay_news mine;
    struct wio_replay_news all;
    MPI_Request told[2];
};

enum wio_status link_check(int code, const char *what, struct wio_error *err)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int bytes = 0;
    if (code == MPI_SUCCESS) {
        return WIO_OK;
    }
    (void)MPI_Error_string(code, text, &bytes);
    return wio_error_set(err, WIO_ERR_IO, NULL, WIO_ERROR_NO_OFFSET, "%s failed: %s", what, text);
}

/* ---- all together ---- */

static enum wio_status barrier(void *self, struct wio_error *err)
{
    struct mpi *mpi = self;
    WIO_TRY(mail_flush(mpi->mail, err));
    return link_check(MPI_Barrier(mpi->world), "MPI_Barrier", err);
}

static enum wio_status share(void *self, uint32_t root, void *data, size_t bytes,
                             struct wio_error *err)
{
    struct mpi *mpi = self;
    WIO_TRY(mail_flush(mpi->mail, err));
    for (size_t at = 0; at < bytes; at += PIECE_BYTES) {
        size_t piece = bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES;
        WIO_TRY(
            link_check(MPI_Bcast((char *)data + at, (int)piece, MPI_BYTE, (int)root, mpi->world),
                       "MPI_Bcast", err));
    }
    return WIO_OK;
}

/* Blocks in pieces, to or from one rank. */
static enum wio_status move(struct mpi *mpi, uint32_t peer, void *data, size_t bytes, bool is_send,
                            struct wio_error *err)
{
    for (size_t at = 0; at < bytes; at += PIECE_BYTES) {
        int piece = (int)(bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES);
        int code =
            is_send ? MPI_Send((char *)data + at, piece, MPI_BYTE, (int)peer, DATA_TAG, mpi->world)
                    : MPI_Recv((char *)data + at, piece, MPI_BYTE, (int)peer, DATA_TAG, mpi->world,
                               MPI_STATUS_IGNORE);
        WIO_TRY(link_check(code, is_send ? "MPI_Send" : "MPI_Recv", err));
    }
    return WIO_OK;
}

static enum wio_status take_pieces(struct mpi *mpi, const uint64_t *sizes, const void *own,
                                   void **all_out, size_t *bytes_out, struct wio_error *err)
{
    size_t total = 0;
    for (uint32_t rank = 0; rank < mpi->link.ranks; rank++) {
        total += (size_t)sizes[rank];
    }
    char *all = malloc(total + 1);
    if (all == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                             "no memory for what the ranks have done");
    }
    *all_out = all;
    *bytes_out = total;
    memcpy(all, own, (size_t)sizes[0]);
    size_t at = (size_t)sizes[0];
    for (uint32_t rank = 1; rank < mpi->link.ranks; rank++) {
        WIO_TRY(move(mpi, rank, all + at, (size_t)sizes[rank], false, err));
        at += (size_t)sizes[rank];
    }
    return WIO_OK;
}

static enum wio_status collect(void *self, const void *data, size_t bytes, void **all_out,
                               size_t *bytes_out, struct wio_error *err)
{
    struct mpi *mpi = self;
    uint64_t mine = bytes;
    *all_out = NULL;
    *bytes_out = 0;
    WIO_TRY(mail_flush(mpi->mail, err));
    uint64_t *sizes = calloc(mpi->link.ranks, sizeof(*sizes));
    if (sizes == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                             "no memory for what the ranks have done");
    }
    enum wio_status status =
        link_check(MPI_Gather(&mine, 1, MPI_UINT64_T, sizes, 1, MPI_UINT64_T, 0, mpi->world),
                   "MPI_Gather", err);
    if (status == WIO_OK && mpi->link.rank == 0) {
        status = take_pieces(mpi, sizes, data, all_out, bytes_out, err);
    } else if (status == WIO_OK) {
        void *copy = malloc(bytes + 1); /* MPI takes what is not const */
        status = copy == NULL ? WIO_ERR_NOMEM : WIO_OK;
        if (copy != NULL) {
            memcpy(copy, data, bytes);
            status = move(mpi, 0, copy, bytes, true, err);
        }
        free(copy);
    }
    free(sizes);
    return status;
}

/* ---- while they replay ---- */

static enum wio_status send(void *self, uint32_t to, const struct wio_replay_mail *mail,
                            struct wio_error *err)
{
    struct mpi *mpi = self;
    return mail_put(mpi->mail, to, mail, err);
}

static enum wio_status receive(void *self,
                               void (*deliver)(void *arg, const struct wio_replay_mail *mail),
                               void *arg, bool *any_out, struct wio_error *err)
{
    struct mpi *mpi = self;
    WIO_TRY(mail_flush(mpi->mail, err));
    return mail_take(mpi->mail, deliver, arg, any_out, err);
}

static enum wio_status tell(void *self, const struct wio_replay_news *mine, struct wio_error *err)
{
    struct mpi *mpi = self;
    mpi->mine = *mine;
    WIO_TRY(
        link_check(MPI_Iallreduce(mpi->mine.least, mpi->all.least, (int)WIO_ARRAY_SIZE(mine->least),
                                  MPI_UINT64_T, MPI_MIN, mpi->news, &mpi->told[0]),
                   "MPI_Iallreduce", err));
    return link_check(MPI_Iallreduce(mpi->mine.sums, mpi->all.sums, (int)WIO_ARRAY_SIZE(mine->sums),
                                     MPI_UINT64_T, MPI_SUM, mpi->news, &mpi->told[1]),
                      "MPI_Iallreduce", err);
}

static enum wio_status told(void *self, struct wio_replay_news *all_out, bool *is_done_out,
                            struct wio_error *err)
{
    struct mpi *mpi = self;
    int is_done = 0;
    MPI_Status statuses[2]; /* gcc mistakes MPICH's MPI_STATUSES_IGNORE for an array */
    WIO_TRY(link_check(MPI_Testall(2, mpi->told, &is_done, statuses), "MPI_Testall", err));
    *is_done_out = is_done != 0;
    *all_out = mpi->all;
    return WIO_OK;
}

static void end_all(void *self, int status)
{
    (void)self;
    (void)MPI_Abort(MPI_COMM_WORLD, status);
    abort();
}

/* ---- start and end ---- */

/* Ranks that can share memory; for tests at most as many of them as the variable says. */
static int split(struct mpi *mpi, MPI_Comm *machine_out)
{
    MPI_Comm shared;
    uint64_t most = 0;
    int place = 0;
    const char *limit = wio_env_get(WIO_ENV_REPLAY_MACHINE_RANKS);
    int code = MPI_Comm_split_type(mpi->world, MPI_COMM_TYPE_SHARED, (int)mpi->link.rank,
                                   MPI_INFO_NULL, &shared);
    if (code != MPI_SUCCESS || limit == NULL || wio_parse_u64(limit, &most) != WIO_OK ||
        most == 0 || most > INT_MAX) {
        *machine_out = shared;
        return code;
    }
    (void)MPI_Comm_rank(shared, &place);
    code = MPI_Comm_split(shared, place / (int)most, place, machine_out);
    (void)MPI_Comm_free(&shared);
    return code;
}

/* Leaders become numbers. */
static void number_machines(struct mpi *mpi)
{
    struct wio_replay_link *link = &mpi->link;
    for (uint32_t rank = 0; rank < link->ranks; rank++) {
        uint32_t leader = mpi->machine_of[rank];
        mpi->machine_of[rank] = leader == rank ? link->machines++ : mpi->machine_of[leader];
    }
    link->machine_of = mpi->machine_of;
}

static enum wio_status find_machines(struct mpi *mpi, struct wio_error *err)
{
    MPI_Comm machine;
    uint32_t leader = mpi->link.rank;
    WIO_TRY(link_check(split(mpi, &machine), "MPI_Comm_split_type", err));
    int code = MPI_Bcast(&leader, 1, MPI_UINT32_T, 0, machine);
    (void)MPI_Comm_free(&machine);
    WIO_TRY(link_check(code, "MPI_Bcast", err));
    WIO_TRY(link_check(
        MPI_Allgather(&leader, 1, MPI_UINT32_T, mpi->machine_of, 1, MPI_UINT32_T, mpi->world),
        "MPI_Allgather", err));
    number_machines(mpi);
    return WIO_OK;
}

static enum wio_status connect_ranks(struct mpi *mpi, struct wio_error *err)
{
    int rank = 0;
    int ranks = 0;
    WIO_TRY(link_check(MPI_Comm_dup(MPI_COMM_WORLD, &mpi->world), "MPI_Comm_dup", err));
    (void)MPI_Comm_set_errhandler(mpi->world, MPI_ERRORS_RETURN);
    WIO_TRY(link_check(MPI_Comm_dup(mpi->world, &mpi->news), "MPI_Comm_dup", err));
    (void)MPI_Comm_set_errhandler(mpi->news, MPI_ERRORS_RETURN);
    (void)MPI_Comm_rank(mpi->world, &rank);
    (void)MPI_Comm_size(mpi->world, &ranks);
    mpi->link.rank = (uint32_t)rank;
    mpi->link.ranks = (uint32_t)ranks;
    mpi->machine_of = calloc((size_t)ranks, sizeof(*mpi->machine_of));
    if (mpi->machine_of == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "no memory");
    }
    WIO_TRY(mail_open(mpi->world, (uint32_t)ranks, &mpi->mail, err));
    return find_machines(mpi, err);
}

static enum wio_status read_silence(uint64_t *ns_out, struct wio_error *err)
{
    const char *text = wio_env_get(WIO_ENV_REPLAY_SILENCE);
    *ns_out = SILENCE_NS;
    if (text != NULL && (wio_parse_time(text, ns_out) != WIO_OK || *ns_out == 0)) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                             "WHYIO_REPLAY_SILENCE: expected a time as 30s, not '%s'", text);
    }
    return WIO_OK;
}

enum wio_status link_open(int *argc, char ***argv, struct wio_replay_link **link_out,
                          struct wio_error *err)
{
    struct mpi *mpi = calloc(1, sizeof(*mpi));
    if (mpi == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "no memory");
    }
    mpi->link = (struct wio_replay_link){.self = mpi,
                                         .name = "MPI",
                                         .barrier = barrier,
                                         .share = share,
                                         .collect = collect,
                                         .send = send,
                                         .receive = receive,
                                         .tell = tell,
                                         .told = told,
                                         .abort = end_all};
    *link_out = &mpi->link;
    WIO_TRY(read_silence(&mpi->link.silence_ns, err));
    WIO_TRY(link_check(MPI_Init(argc, argv), "MPI_Init", err));
    enum wio_status status = connect_ranks(mpi, err);
    if (status != WIO_OK) {
        (void)MPI_Abort(MPI_COMM_WORLD, wio_status_exit(status));
    }
    return status;
}

void link_close(struct wio_replay_link *link)
{
    struct mpi *mpi = link->self;
    mail_close(mpi->mail);
    (void)MPI_Comm_free(&mpi->news);
    (void)MPI_Comm_free(&mpi->world);
    (void)MPI_Finalize();
    free(mpi->machine_of);
    free(mpi);
}
