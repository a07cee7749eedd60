/* SPDX-License-Identifier: Apache-2.0 */
/* Credentials are made and read in the work queue: munged(8) may take its time. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "store/link/link_internal.h"

struct wio_link_credential_work {
    struct wio_io_work work; /* first: the queue knows this */
    struct wio_link *link;   /* NULL: gone meanwhile */
    const struct wio_link_credentials *credentials;
    wio_link_credential_done *done;
    bool is_read;
    struct wio_link_credential credential;
};

static void run(struct wio_io_work *base)
{
    struct wio_link_credential_work *work = (struct wio_link_credential_work *)base;
    struct wio_link_credential *it = &work->credential;
    const struct wio_link_credentials *with = work->credentials;
    it->status = work->is_read ? with->read(with->context, it->text, it->payload,
                                            sizeof(it->payload), &it->uid, &it->gid, NULL)
                               : with->make(with->context, it->payload, sizeof(it->payload),
                                            it->uid, it->text, NULL);
}

static void done(struct wio_io_work *base)
{
    struct wio_link_credential_work *work = (struct wio_link_credential_work *)base;
    struct wio_link *link = work->link;
    if (link != NULL) {
        link->work_link = NULL;
        link->busy++;
        work->done(link, &work->credential);
        wio_link_resume(link, WIO_LINK_PAUSED_WORK);
        wio_link_leave(link);
    }
    explicit_bzero(&work->credential, sizeof(work->credential));
    free(work);
}

static enum wio_status begin(struct wio_link *link, struct wio_link_credential_work *work,
                             wio_link_credential_done *then)
{
    work->work = (struct wio_io_work){.run = run, .done = done};
    work->link = link;
    work->credentials = link->config->credentials;
    work->done = then;
    enum wio_status status = link->io->ops->work(link->io, &work->work);
    if (status != WIO_OK) {
        free(work);
        return status;
    }
    link->work_link = &work->link;
    wio_link_pause(link, WIO_LINK_PAUSED_WORK, true);
    return WIO_OK;
}

enum wio_status wio_link_credential_make(struct wio_link *link, const void *payload,
                                         uint32_t for_uid, wio_link_credential_done *then)
{
    struct wio_link_credential_work *work = calloc(1, sizeof(*work));
    if (work == NULL) {
        return WIO_ERR_NOMEM;
    }
    memcpy(work->credential.payload, payload, sizeof(work->credential.payload));
    work->credential.uid = for_uid;
    return begin(link, work, then);
}

enum wio_status wio_link_credential_read(struct wio_link *link, const uint8_t *text, uint32_t bytes,
                                         wio_link_credential_done *then)
{
    struct wio_link_credential_work *work = calloc(1, sizeof(*work));
    if (work == NULL) {
        return WIO_ERR_NOMEM;
    }
    if (bytes == 0 || bytes >= sizeof(work->credential.text) || memchr(text, '\0', bytes) != NULL) {
        free(work);
        return WIO_ERR_FORMAT;
    }
    memcpy(work->credential.text, text, bytes);
    work->is_read = true;
    return begin(link, work, then);
}
