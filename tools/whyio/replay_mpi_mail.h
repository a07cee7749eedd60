/* SPDX-License-Identifier: Apache-2.0 */
/* Small messages between ranks: those for one rank travel together. */
#ifndef WHYIO_REPLAY_MPI_MAIL_H
#define WHYIO_REPLAY_MPI_MAIL_H

#include <mpi.h>

#include "replay/launcher/link.h"

struct mail;

enum wio_status mail_open(MPI_Comm world, uint32_t ranks, struct mail **mail_out,
                          struct wio_error *err);
/* Waits until what was sent has left. */
void mail_close(struct mail *mail);

enum wio_status mail_put(struct mail *mail, uint32_t to, const struct wio_replay_mail *item,
                         struct wio_error *err);
/* Send what was put. */
enum wio_status mail_flush(struct mail *mail, struct wio_error *err);
enum wio_status mail_take(struct mail *mail,
                          void (*deliver)(void *arg, const struct wio_replay_mail *item), void *arg,
                          bool *any_out, struct wio_error *err);

/* In replay_mpi_link.c: the text of an MPI error. */
enum wio_status link_check(int code, const char *what, struct wio_error *err);

#endif
