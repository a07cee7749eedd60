/* SPDX-License-Identifier: Apache-2.0 */
#include "replay_mpi_mail.h"

#include <stdlib.h>

#include "base/cleanup.h"

#define MAIL_TAG 2
#define BAG_ITEMS 170u /* about 4 KiB: MPIs send as much at once without asking the receiver */

/* On its way, or being filled for one rank. */
struct bag {
    struct bag *next;
    MPI_Request request;
    uint32_t to;
    uint32_t count;
    struct wio_replay_mail items[BAG_ITEMS];
};

struct mail {
    MPI_Comm world;
    struct bag **filling; /* of each rank, NULL where there is none */
    uint32_t *waiting;    /* ranks that have one */
    uint32_t waiting_count;
    struct bag *sent;
    struct bag *spare;
    struct wio_replay_mail got[BAG_ITEMS];
};

static enum wio_status no_memory(struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "no memory for messages");
}

enum wio_status mail_open(MPI_Comm world, uint32_t ranks, struct mail **mail_out,
                          struct wio_error *err)
{
    struct mail *mail = calloc(1, sizeof(*mail));
    if (mail == NULL) {
        return no_memory(err);
    }
    mail->world = world;
    mail->filling = calloc(ranks, sizeof(struct bag *));
    mail->waiting = calloc(ranks, sizeof(*mail->waiting));
    *mail_out = mail;
    return mail->filling == NULL || mail->waiting == NULL ? no_memory(err) : WIO_OK;
}

static void free_list(struct bag *bag)
{
    while (bag != NULL) {
        struct bag *next = bag->next;
        free(bag);
        bag = next;
    }
}

void mail_close(struct mail *mail)
{
    for (struct bag *bag = mail->sent; bag != NULL; bag = bag->next) {
        (void)MPI_Wait(&bag->request, MPI_STATUS_IGNORE);
    }
    free_list(mail->sent);
    free_list(mail->spare);
    free(mail->filling);
    free(mail->waiting);
    free(mail);
}

static struct bag *new_bag(struct mail *mail)
{
    struct bag *bag = mail->spare;
    if (bag == NULL) {
        return calloc(1, sizeof(*bag));
    }
    mail->spare = bag->next;
    bag->count = 0;
    return bag;
}

static enum wio_status send_bag(struct mail *mail, struct bag *bag, struct wio_error *err)
{
    bag->next = mail->sent;
    mail->sent = bag;
    int bytes = (int)(bag->count * sizeof(bag->items[0]));
    return link_check(
        MPI_Isend(bag->items, bytes, MPI_BYTE, (int)bag->to, MAIL_TAG, mail->world, &bag->request),
        "MPI_Isend", err);
}

enum wio_status mail_put(struct mail *mail, uint32_t to, const struct wio_replay_mail *item,
                         struct wio_error *err)
{
    struct bag *bag = mail->filling[to];
    if (bag == NULL) {
        bag = new_bag(mail);
        if (bag == NULL) {
            return no_memory(err);
        }
        bag->to = to;
        mail->filling[to] = bag;
        mail->waiting[mail->waiting_count++] = to;
    }
    bag->items[bag->count++] = *item;
    return bag->count == BAG_ITEMS ? mail_flush(mail, err) : WIO_OK;
}

/* Bags that have left can be filled again. */
static enum wio_status reap(struct mail *mail, struct wio_error *err)
{
    struct bag **link = &mail->sent;
    while (*link != NULL) {
        struct bag *bag = *link;
        int is_done = 0;
        WIO_TRY(link_check(MPI_Test(&bag->request, &is_done, MPI_STATUS_IGNORE), "MPI_Test", err));
        if (is_done == 0) {
            link = &bag->next;
            continue;
        }
        *link = bag->next;
        bag->next = mail->spare;
        mail->spare = bag;
    }
    return WIO_OK;
}

enum wio_status mail_flush(struct mail *mail, struct wio_error *err)
{
    while (mail->waiting_count > 0) {
        uint32_t to = mail->waiting[--mail->waiting_count];
        struct bag *bag = mail->filling[to];
        mail->filling[to] = NULL;
        WIO_TRY(send_bag(mail, bag, err));
    }
    return reap(mail, err);
}

enum wio_status mail_take(struct mail *mail,
                          void (*deliver)(void *arg, const struct wio_replay_mail *item), void *arg,
                          bool *any_out, struct wio_error *err)
{
    MPI_Status status;
    int is_there = 0;
    int bytes = 0;
    *any_out = false;
    for (;;) {
        WIO_TRY(link_check(MPI_Iprobe(MPI_ANY_SOURCE, MAIL_TAG, mail->world, &is_there, &status),
                           "MPI_Iprobe", err));
        if (is_there == 0) {
            return WIO_OK;
        }
        WIO_TRY(link_check(MPI_Recv(mail->got, (int)sizeof(mail->got), MPI_BYTE, status.MPI_SOURCE,
                                    MAIL_TAG, mail->world, &status),
                           "MPI_Recv", err));
        (void)MPI_Get_count(&status, MPI_BYTE, &bytes);
        for (size_t i = 0; i < (size_t)bytes / sizeof(mail->got[0]); i++) {
            mail->got[i].from = (uint32_t)status.MPI_SOURCE;
            deliver(arg, &mail->got[i]);
        }
        *any_out = true;
    }
}
