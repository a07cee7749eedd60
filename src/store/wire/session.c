/* SPDX-License-Identifier: Apache-2.0 */
#include "store/wire/session.h"

#include <string.h>

#include "base/cleanup.h"
#include "store/wire/parts.h"

/* These are answered by no number and belong to no transaction. */
static enum wio_status begin(struct wio_blob *out, struct wio_wire_header *header, size_t *at)
{
    header->number = 0;
    return wio_wire_begin(out, at);
}

static bool is_plain(const struct wio_wire_header *header, enum wio_wire_session kind)
{
    const struct wio_txn *txn = &header->txn;
    return header->kind == (uint16_t)kind && header->flags == 0 && header->hint == 0 &&
           header->number == 0 && header->source == 0 && txn->client == 0 && txn->number == 0 &&
           txn->birth_ns == 0 && txn->attempt == 0;
}

static enum wio_status put_features(struct wio_blob *out, const struct wio_wire_features *features)
{
    for (unsigned i = 0; i < WIO_WIRE_CLASSES; i++) {
        WIO_TRY(wio_blob_u32(out, features->bits[i]));
    }
    return WIO_OK;
}

static enum wio_status get_features(struct wio_buf *body, struct wio_wire_features *features_out)
{
    for (unsigned i = 0; i < WIO_WIRE_CLASSES; i++) {
        WIO_TRY(wio_buf_u32(body, &features_out->bits[i]));
    }
    return WIO_OK;
}

static enum wio_status at_end(const struct wio_buf *body, bool is_sound)
{
    return wio_buf_left(body) == 0 && is_sound ? WIO_OK : WIO_ERR_FORMAT;
}

/* ---- HELLO: R-WIRE-11 ---------------------------------------------------------------------- */

static enum wio_status put_hello_body(struct wio_blob *out, const struct wio_wire_hello *hello)
{
    WIO_TRY(wio_blob_put(out, hello->nonce.bytes, sizeof(hello->nonce.bytes)));
    WIO_TRY(wio_blob_u8(out, hello->auth));
    WIO_TRY(wio_blob_u8(out, hello->role));
    WIO_TRY(wio_blob_u64(out, hello->client));
    WIO_TRY(wio_blob_u64(out, hello->pool));
    WIO_TRY(wio_blob_u64(out, hello->container));
    WIO_TRY(wio_blob_u64(out, hello->unix_ns));
    WIO_TRY(wio_blob_u64(out, hello->mono_ns));
    WIO_TRY(wio_blob_u32(out, hello->uid));
    WIO_TRY(wio_blob_u32(out, hello->gid));
    WIO_TRY(wio_blob_u32(out, hello->pid));
    WIO_TRY(put_features(out, &hello->features));
    WIO_TRY(wio_wire_put_name(out, hello->job));
    WIO_TRY(wio_wire_put_name(out, hello->project));
    WIO_TRY(wio_wire_put_name(out, hello->host));
    return wio_wire_put_name(out, hello->executable);
}

enum wio_status wio_wire_put_hello(struct wio_blob *out, const struct wio_wire_hello *hello)
{
    struct wio_wire_header header = {.kind = WIO_WIRE_HELLO};
    size_t at = 0;
    WIO_TRY(begin(out, &header, &at));
    WIO_TRY(put_hello_body(out, hello));
    wio_wire_end(out, at, &header, NULL, 0);
    return WIO_OK;
}

enum wio_status wio_wire_get_hello(const struct wio_wire_header *header, struct wio_buf body,
                                   struct wio_wire_hello *hello_out)
{
    struct wio_wire_hello *hello = hello_out;
    if (!is_plain(header, WIO_WIRE_HELLO)) {
        return WIO_ERR_FORMAT;
    }
    WIO_TRY(wio_buf_copy(&body, hello->nonce.bytes, sizeof(hello->nonce.bytes)));
    WIO_TRY(wio_buf_u8(&body, &hello->auth));
    WIO_TRY(wio_buf_u8(&body, &hello->role));
    WIO_TRY(wio_buf_u64(&body, &hello->client));
    WIO_TRY(wio_buf_u64(&body, &hello->pool));
    WIO_TRY(wio_buf_u64(&body, &hello->container));
    WIO_TRY(wio_buf_u64(&body, &hello->unix_ns));
    WIO_TRY(wio_buf_u64(&body, &hello->mono_ns));
    WIO_TRY(wio_buf_u32(&body, &hello->uid));
    WIO_TRY(wio_buf_u32(&body, &hello->gid));
    WIO_TRY(wio_buf_u32(&body, &hello->pid));
    WIO_TRY(get_features(&body, &hello->features));
    WIO_TRY(wio_wire_get_name(&body, hello->job, sizeof(hello->job)));
    WIO_TRY(wio_wire_get_name(&body, hello->project, sizeof(hello->project)));
    WIO_TRY(wio_wire_get_name(&body, hello->host, sizeof(hello->host)));
    WIO_TRY(wio_wire_get_name(&body, hello->executable, sizeof(hello->executable)));
    return at_end(&body, hello->auth < WIO_WIRE_AUTHS && hello->role < WIO_WIRE_ROLES &&
                             hello->client != 0);
}

/* ---- CHALLENGE, PROOF: R-WIRE-12 ------------------------------------------------------------ */

static enum wio_status get_credential(struct wio_buf *body, const uint8_t **text_out,
                                      uint32_t *bytes_out)
{
    const char *text = NULL;
    WIO_TRY(wio_wire_get_text(body, WIO_WIRE_CREDENTIAL_MAX, &text, bytes_out));
    *text_out = (const uint8_t *)text;
    return WIO_OK;
}

enum wio_status wio_wire_put_challenge(struct wio_blob *out,
                                       const struct wio_wire_challenge *challenge)
{
    struct wio_wire_header header = {.kind = WIO_WIRE_CHALLENGE};
    size_t at = 0;
    WIO_TRY(begin(out, &header, &at));
    WIO_TRY(wio_blob_put(out, challenge->nonce.bytes, sizeof(challenge->nonce.bytes)));
    WIO_TRY(wio_blob_u8(out, challenge->auth));
    WIO_TRY(put_features(out, &challenge->features));
    WIO_TRY(
        wio_wire_put_text(out, (const char *)challenge->credential, challenge->credential_bytes));
    wio_wire_end(out, at, &header, NULL, 0);
    return WIO_OK;
}

enum wio_status wio_wire_get_challenge(const struct wio_wire_header *header, struct wio_buf body,
                                       struct wio_wire_challenge *challenge_out)
{
    if (!is_plain(header, WIO_WIRE_CHALLENGE)) {
        return WIO_ERR_FORMAT;
    }
    WIO_TRY(wio_buf_copy(&body, challenge_out->nonce.bytes, sizeof(challenge_out->nonce.bytes)));
    WIO_TRY(wio_buf_u8(&body, &challenge_out->auth));
    WIO_TRY(get_features(&body, &challenge_out->features));
    WIO_TRY(get_credential(&body, &challenge_out->credential, &challenge_out->credential_bytes));
    return at_end(&body, challenge_out->auth < WIO_WIRE_AUTHS);
}

enum wio_status wio_wire_put_proof(struct wio_blob *out, const struct wio_wire_proof_text *proof)
{
    struct wio_wire_header header = {.kind = WIO_WIRE_PROOF};
    size_t at = 0;
    WIO_TRY(begin(out, &header, &at));
    WIO_TRY(wio_wire_put_text(out, (const char *)proof->credential, proof->credential_bytes));
    wio_wire_end(out, at, &header, NULL, 0);
    return WIO_OK;
}

enum wio_status wio_wire_get_proof(const struct wio_wire_header *header, struct wio_buf body,
                                   struct wio_wire_proof_text *proof_out)
{
    if (!is_plain(header, WIO_WIRE_PROOF)) {
        return WIO_ERR_FORMAT;
    }
    WIO_TRY(get_credential(&body, &proof_out->credential, &proof_out->credential_bytes));
    return at_end(&body, true);
}

/* ---- WELCOME: R-WIRE-13 -------------------------------------------------------------------- */

enum wio_status wio_wire_put_welcome(struct wio_blob *out, const struct wio_wire_welcome *welcome)
{
    struct wio_wire_header header = {.kind = WIO_WIRE_WELCOME};
    size_t at = 0;
    WIO_TRY(begin(out, &header, &at));
    WIO_TRY(wio_blob_u64(out, welcome->server));
    WIO_TRY(wio_blob_u64(out, welcome->unix_ns));
    WIO_TRY(wio_blob_u64(out, welcome->mono_ns));
    WIO_TRY(wio_blob_u64(out, welcome->lease_ns));
    WIO_TRY(wio_blob_u32(out, welcome->uid));
    WIO_TRY(wio_blob_u32(out, welcome->gid));
    WIO_TRY(wio_blob_u32(out, welcome->job));
    WIO_TRY(wio_blob_u32(out, welcome->frame_max));
    WIO_TRY(wio_blob_u8(out, welcome->proof));
    WIO_TRY(wio_blob_u8(out, welcome->is_known));
    wio_wire_end(out, at, &header, NULL, 0);
    return WIO_OK;
}

enum wio_status wio_wire_get_welcome(const struct wio_wire_header *header, struct wio_buf body,
                                     struct wio_wire_welcome *welcome_out)
{
    struct wio_wire_welcome *welcome = welcome_out;
    if (!is_plain(header, WIO_WIRE_WELCOME)) {
        return WIO_ERR_FORMAT;
    }
    WIO_TRY(wio_buf_u64(&body, &welcome->server));
    WIO_TRY(wio_buf_u64(&body, &welcome->unix_ns));
    WIO_TRY(wio_buf_u64(&body, &welcome->mono_ns));
    WIO_TRY(wio_buf_u64(&body, &welcome->lease_ns));
    WIO_TRY(wio_buf_u32(&body, &welcome->uid));
    WIO_TRY(wio_buf_u32(&body, &welcome->gid));
    WIO_TRY(wio_buf_u32(&body, &welcome->job));
    WIO_TRY(wio_buf_u32(&body, &welcome->frame_max));
    WIO_TRY(wio_buf_u8(&body, &welcome->proof));
    WIO_TRY(wio_buf_u8(&body, &welcome->is_known));
    return at_end(&body, welcome->proof < WIO_WIRE_PROOFS && welcome->is_known <= 1);
}

/* ---- DEFINE_JOB: R-WIRE-14 ----------------------------------------------------------------- */

enum wio_status wio_wire_put_job(struct wio_blob *out, const struct wio_wire_job *job)
{
    struct wio_wire_header header = {.kind = WIO_WIRE_DEFINE_JOB};
    size_t at = 0;
    WIO_TRY(begin(out, &header, &at));
    WIO_TRY(wio_blob_u32(out, job->job));
    WIO_TRY(wio_blob_u32(out, job->uid));
    WIO_TRY(wio_blob_u64(out, job->pool));
    WIO_TRY(wio_blob_u64(out, job->container));
    WIO_TRY(wio_wire_put_name(out, job->name));
    WIO_TRY(wio_wire_put_name(out, job->project));
    wio_wire_end(out, at, &header, NULL, 0);
    return WIO_OK;
}

enum wio_status wio_wire_get_job(const struct wio_wire_header *header, struct wio_buf body,
                                 struct wio_wire_job *job_out)
{
    if (!is_plain(header, WIO_WIRE_DEFINE_JOB)) {
        return WIO_ERR_FORMAT;
    }
    WIO_TRY(wio_buf_u32(&body, &job_out->job));
    WIO_TRY(wio_buf_u32(&body, &job_out->uid));
    WIO_TRY(wio_buf_u64(&body, &job_out->pool));
    WIO_TRY(wio_buf_u64(&body, &job_out->container));
    WIO_TRY(wio_wire_get_name(&body, job_out->name, sizeof(job_out->name)));
    WIO_TRY(wio_wire_get_name(&body, job_out->project, sizeof(job_out->project)));
    return at_end(&body, true);
}
