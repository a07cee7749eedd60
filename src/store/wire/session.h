/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The messages that make a connection one between two known programs
 * (docs/STORE-PROTOCOL.md#session), before any other:
 *
 *     client               server
 *     HELLO        ->                    a nonce; the caller's name, not proven
 *                  <-      CHALLENGE     a nonce; what the server can do; its credential
 *     PROOF        ->                    the client's credential
 *                  <-      WELCOME       how the client is known, and the connection's limits
 *
 * and DEFINE_JOB, by which a server names the job of a blocker, once per connection and job.
 * Which keys and tags go with them: src/store/link. Pure.
 */
#ifndef WIO_STORE_WIRE_SESSION_H
#define WIO_STORE_WIRE_SESSION_H

#include "store/wire/header.h"

/* Kinds beside enum wio_store_op. */
enum wio_wire_session {
    WIO_WIRE_HELLO = 8,
    WIO_WIRE_CHALLENGE = 9,
    WIO_WIRE_PROOF = 10,
    WIO_WIRE_WELCOME = 11,
    WIO_WIRE_DEFINE_JOB = 12
};

enum {
    WIO_WIRE_NONCE_BYTES = 32,
    WIO_WIRE_JOB_BYTES = 128, /* of texts, with their NUL */
    WIO_WIRE_PROJECT_BYTES = 64,
    WIO_WIRE_HOST_BYTES = 72,
    WIO_WIRE_EXECUTABLE_BYTES = 256,
    WIO_WIRE_CREDENTIAL_MAX = 4096, /* of a MUNGE credential */
    WIO_WIRE_HELLO_MAX = 1024,      /* the longest bodies that a stranger may send */
    WIO_WIRE_PROOF_MAX = WIO_WIRE_CREDENTIAL_MAX + 2
};

/* How programs prove their identity to each other. */
enum wio_wire_auth {
    WIO_WIRE_AUTH_OPEN,  /* not at all: loopback and Unix sockets */
    WIO_WIRE_AUTH_KEY,   /* both have the key */
    WIO_WIRE_AUTH_MUNGE, /* by credentials of the host's munged(8) */
    WIO_WIRE_AUTHS
};

/* What is known of a client's uid and gid. */
enum wio_wire_proof {
    WIO_WIRE_PROOF_NONE,   /* nothing: uid 65534 */
    WIO_WIRE_PROOF_KEY,    /* .. and has the key */
    WIO_WIRE_PROOF_KERNEL, /* of the process at the other end of a Unix socket */
    WIO_WIRE_PROOF_MUNGE,
    WIO_WIRE_PROOFS
};

/* What a client is: a target that inquires of another one is its client, too. */
enum wio_wire_role { WIO_WIRE_ROLE_CLIENT, WIO_WIRE_ROLE_TARGET, WIO_WIRE_ROLES };

/* A bit of class c is a feature of the messages c * 16 .. c * 16 + 15. A side uses what both have.
 */
struct wio_wire_features {
    uint32_t bits[WIO_WIRE_CLASSES];
};

struct wio_wire_nonce {
    uint8_t bytes[WIO_WIRE_NONCE_BYTES];
};

struct wio_wire_hello {
    struct wio_wire_nonce nonce;
    uint8_t auth;       /* enum wio_wire_auth */
    uint8_t role;       /* enum wio_wire_role */
    uint64_t client;    /* random; the same over all connections of one client, never 0 */
    uint64_t pool;      /* 0: none */
    uint64_t container; /* 0: none */
    uint64_t unix_ns;   /* the client's clocks, at one moment */
    uint64_t mono_ns;
    uint32_t uid;
    uint32_t gid;
    uint32_t pid;
    struct wio_wire_features features;
    char job[WIO_WIRE_JOB_BYTES]; /* "": none */
    char project[WIO_WIRE_PROJECT_BYTES];
    char host[WIO_WIRE_HOST_BYTES];
    char executable[WIO_WIRE_EXECUTABLE_BYTES];
};

struct wio_wire_challenge {
    struct wio_wire_nonce nonce;
    uint8_t auth;
    struct wio_wire_features features;
    const uint8_t *credential; /* borrowed; MUNGE's */
    uint32_t credential_bytes; /* 0: none */
};

struct wio_wire_proof_text {
    const uint8_t *credential; /* borrowed */
    uint32_t credential_bytes;
};

struct wio_wire_welcome {
    uint64_t server;  /* random, made when the server started: another one has forgotten leases */
    uint64_t unix_ns; /* the server's clocks, at one moment */
    uint64_t mono_ns;
    uint64_t lease_ns; /* a client that is silent for so long is taken for dead */
    uint32_t uid;      /* as the server has it */
    uint32_t gid;
    uint32_t job;       /* the number that blockers of this job have */
    uint32_t frame_max; /* bytes of a body, either way */
    uint8_t proof;      /* enum wio_wire_proof */
    uint8_t is_known;   /* 1: the server remembers this client's requests; 0: it never had any, or
                           has forgotten them with the lease */
};

/* DEFINE_JOB, by a server. */
struct wio_wire_job {
    uint32_t job;
    uint32_t uid;
    uint64_t pool;
    uint64_t container;
    char name[WIO_WIRE_JOB_BYTES];
    char project[WIO_WIRE_PROJECT_BYTES];
};

/* Append a whole message. WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status wio_wire_put_hello(struct wio_blob *out,
                                                  const struct wio_wire_hello *hello);
WIO_MUST_CHECK enum wio_status wio_wire_put_challenge(struct wio_blob *out,
                                                      const struct wio_wire_challenge *challenge);
WIO_MUST_CHECK enum wio_status wio_wire_put_proof(struct wio_blob *out,
                                                  const struct wio_wire_proof_text *proof);
WIO_MUST_CHECK enum wio_status wio_wire_put_welcome(struct wio_blob *out,
                                                    const struct wio_wire_welcome *welcome);
WIO_MUST_CHECK enum wio_status wio_wire_put_job(struct wio_blob *out,
                                                const struct wio_wire_job *job);

/* Read a whole body of the header's kind. WIO_ERR_FORMAT or WIO_ERR_TRUNCATED: numbers that are
 * none of their field's, texts with control characters, bytes behind the end. */
WIO_MUST_CHECK enum wio_status wio_wire_get_hello(const struct wio_wire_header *header,
                                                  struct wio_buf body,
                                                  struct wio_wire_hello *hello_out);
WIO_MUST_CHECK enum wio_status wio_wire_get_challenge(const struct wio_wire_header *header,
                                                      struct wio_buf body,
                                                      struct wio_wire_challenge *challenge_out);
WIO_MUST_CHECK enum wio_status wio_wire_get_proof(const struct wio_wire_header *header,
                                                  struct wio_buf body,
                                                  struct wio_wire_proof_text *proof_out);
WIO_MUST_CHECK enum wio_status wio_wire_get_welcome(const struct wio_wire_header *header,
                                                    struct wio_buf body,
                                                    struct wio_wire_welcome *welcome_out);
WIO_MUST_CHECK enum wio_status wio_wire_get_job(const struct wio_wire_header *header,
                                                struct wio_buf body, struct wio_wire_job *job_out);

#endif
