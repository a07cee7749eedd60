/* SPDX-License-Identifier: Apache-2.0 */
#include "store/link/munge_credentials.h"

#include <munge.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "base/cleanup.h"

/* A credential is read within this, by clocks that may differ. */
enum { TIME_TO_LIVE_S = 60 };

static void context_cleanup(munge_ctx_t *context)
{
    if (*context != NULL) {
        munge_ctx_destroy(*context);
    }
}

static void text_cleanup(char **text)
{
    free(*text);
}

static enum wio_status fail(struct wio_error *err, munge_ctx_t context, munge_err_t failed)
{
    const char *text = context != NULL ? munge_ctx_strerror(context) : NULL;
    return wio_error_set(err, WIO_ERR_IO, NULL, WIO_ERROR_NO_OFFSET, "munge: %s",
                         text != NULL ? text : munge_strerror(failed));
}

/* A context belongs to one call: the functions run in a thread of their own. */
static munge_ctx_t make_context(const struct wio_munge *munge)
{
    munge_ctx_t context = munge_ctx_create();
    if (context != NULL && munge->socket[0] != '\0' &&
        munge_ctx_set(context, MUNGE_OPT_SOCKET, munge->socket) != EMUNGE_SUCCESS) {
        munge_ctx_destroy(context);
        return NULL;
    }
    return context;
}

/* R-LINK-4: for one user, encrypted: with cipher "none" the secrets in it would be none. */
static munge_err_t restrict_to(munge_ctx_t context, uid_t uid)
{
    munge_err_t failed = munge_ctx_set(context, MUNGE_OPT_UID_RESTRICTION, uid);
    if (failed == EMUNGE_SUCCESS) {
        failed = munge_ctx_set(context, MUNGE_OPT_CIPHER_TYPE, MUNGE_CIPHER_AES256);
    }
    return failed != EMUNGE_SUCCESS ? failed
                                    : munge_ctx_set(context, MUNGE_OPT_TTL, TIME_TO_LIVE_S);
}

static enum wio_status make(void *of, const void *payload, size_t bytes, uint32_t for_uid,
                            char text_out[WIO_WIRE_CREDENTIAL_MAX], struct wio_error *err)
{
    WIO_CLEANUP(context_cleanup) munge_ctx_t context = make_context(of);
    WIO_CLEANUP(text_cleanup) char *text = NULL;
    munge_err_t failed = context == NULL ? EMUNGE_NO_MEMORY : restrict_to(context, for_uid);
    if (failed == EMUNGE_SUCCESS) {
        failed = munge_encode(&text, context, payload, (int)bytes);
    }
    if (failed != EMUNGE_SUCCESS) {
        return fail(err, context, failed);
    }
    int size = snprintf(text_out, WIO_WIRE_CREDENTIAL_MAX, "%s", text);
    return size < WIO_WIRE_CREDENTIAL_MAX
               ? WIO_OK
               : wio_error_set(err, WIO_ERR_FORMAT, NULL, WIO_ERROR_NO_OFFSET,
                               "munge: a credential of %d bytes", size);
}

/* Encrypted by the other side as well: what was readable on the way proves nothing. */
static bool is_encrypted(munge_ctx_t context)
{
    int cipher = MUNGE_CIPHER_NONE;
    return munge_ctx_get(context, MUNGE_OPT_CIPHER_TYPE, &cipher) == EMUNGE_SUCCESS &&
           cipher != MUNGE_CIPHER_NONE;
}

static enum wio_status read_text(void *of, const char *text, void *payload_out, size_t bytes,
                                 uint32_t *uid_out, uint32_t *gid_out, struct wio_error *err)
{
    WIO_CLEANUP(context_cleanup) munge_ctx_t context = make_context(of);
    void *payload = NULL;
    int size = 0;
    uid_t uid = 0;
    gid_t gid = 0;
    munge_err_t failed = context == NULL ? EMUNGE_NO_MEMORY
                                         : munge_decode(text, context, &payload, &size, &uid, &gid);
    bool is_right = failed == EMUNGE_SUCCESS && is_encrypted(context) && (size_t)size == bytes;
    if (is_right) {
        memcpy(payload_out, payload, bytes);
        *uid_out = uid;
        *gid_out = gid;
    }
    if (payload != NULL) {
        explicit_bzero(payload, (size_t)size);
        free(payload); /* munge_decode(3): also where it fails */
    }
    if (failed != EMUNGE_SUCCESS) {
        return fail(err, context, failed);
    }
    return is_right
               ? WIO_OK
               : wio_error_set(err, WIO_ERR_FORMAT, NULL, WIO_ERROR_NO_OFFSET,
                               "munge: a credential that is not encrypted, or carries %d bytes",
                               size);
}

enum wio_status wio_munge_init(struct wio_munge *munge, const char *socket, struct wio_error *err)
{
    const char *path = socket != NULL ? socket : "";
    if (strlen(path) >= sizeof(munge->socket)) {
        return wio_error_set(err, WIO_ERR_USAGE, path, WIO_ERROR_NO_OFFSET,
                             "the path of a socket has at most %zu bytes",
                             sizeof(munge->socket) - 1);
    }
    snprintf(munge->socket, sizeof(munge->socket), "%s", path);
    munge->credentials = (struct wio_link_credentials){make, read_text, munge};
    return WIO_OK;
}
