/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Communication between the processes of a replay that a launcher has started (mpirun, srun). The
 * library knows no MPI: the helper program of an MPI fills this table and gives it to wio_replay.
 *
 * All functions are called by one thread of the process that was started, never by its children.
 * Unless one says otherwise it gives WIO_OK, or WIO_ERR_IO with a message; after a failure only
 * `rank` and `abort` may be used.
 */
#ifndef WIO_REPLAY_LAUNCHER_LINK_H
#define WIO_REPLAY_LAUNCHER_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

/* Values that the ranks reduce again and again while they replay: the least of the first, the sums
 * of the others. */
struct wio_replay_news {
    uint64_t least[2];
    uint64_t sums[6];
};

/* One message; its meaning is the replay's. */
struct wio_replay_mail {
    uint32_t kind;
    uint32_t index;
    uint32_t count;
    uint32_t from; /* rank, filled by the receiver's side */
    uint64_t value;
};

struct wio_replay_link {
    void *self;
    const char *name; /* "Open MPI" */
    uint32_t rank;
    uint32_t ranks;
    /* Machines are numbered 0, 1, ..; processes of one machine can share memory. The first rank of
     * a machine is its leader. */
    const uint32_t *machine_of; /* of each rank */
    uint32_t machines;
    uint64_t silence_ns; /* a rank silent for so long is dead, or the connection to it is */
    bool is_lost;        /* out: a rank does not answer, or was told to end */

    /* ---- all ranks together ---- */
    enum wio_status (*barrier)(void *self, struct wio_error *err);
    /* From rank `root` to all. */
    enum wio_status (*share)(void *self, uint32_t root, void *data, size_t bytes,
                             struct wio_error *err);
    /* To rank 0: one piece of each rank behind the other, in order of ranks; of the others *all_out
     * is NULL. The caller frees *all_out. */
    enum wio_status (*collect)(void *self, const void *data, size_t bytes, void **all_out,
                               size_t *bytes_out, struct wio_error *err);

    /* ---- while they replay ---- */
    /* Send soon; the message is copied. */
    enum wio_status (*send)(void *self, uint32_t to, const struct wio_replay_mail *mail,
                            struct wio_error *err);
    /* Give what has come to `deliver`; sets *any_out if there was something. */
    enum wio_status (*receive)(void *self,
                               void (*deliver)(void *arg, const struct wio_replay_mail *mail),
                               void *arg, bool *any_out, struct wio_error *err);
    /* Begin a reduction; done: true with the result when all have begun too. One at a time. */
    enum wio_status (*tell)(void *self, const struct wio_replay_news *mine, struct wio_error *err);
    enum wio_status (*told)(void *self, struct wio_replay_news *all_out, bool *is_done_out,
                            struct wio_error *err);

    /* End all ranks at once, with this exit status. Does not return. */
    void (*abort)(void *self, int status);
};

/* All ranks have come so far, each with its status: gives to all that of the first one that failed,
 * with its error (a failure reported by another rank counts last). Sets is_lost where no agreement
 * can be reached. */
WIO_MUST_CHECK enum wio_status wio_replay_agree(struct wio_replay_link *link,
                                                enum wio_status status, struct wio_error *err);

#endif
