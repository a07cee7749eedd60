/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What servers and clients of a store write into a trace about transactions
 * (FORMAT.md#transactions): rows in the order of their time, and the tables that they refer to.
 *
 * Writing, in a segment that is being made:
 *
 *     wio_txn_writer_create(segment, &writer, &err)
 *     wio_txn_writer_origin(writer, &origin, &id, &err)     .. once for each call site
 *     wio_txn_writer_put(writer, &row, &err)                .. rows, rising times
 *     wio_txn_writer_finish(writer, &err)                   before wio_segment_finish
 *
 * Reading: wio_txn_cursor_next gives the rows of all segments of a trace, merged by time. Memory is
 * one block of rows for each segment, and the tables.
 *
 * Numbers of operations, results, reasons, outcomes, modes and roles are those of the store's
 * protocol (docs/STORE-PROTOCOL.md). Thread safety: one thread per writer and per cursor.
 */
#ifndef WIO_TRACE_TXN_TXN_H
#define WIO_TRACE_TXN_TXN_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/segment.h>
#include <whyio/trace.h>

/* R-TXN-1. Values are in traces: added to, never renumbered. */
enum wio_txn_kind {
    WIO_TXN_ARRIVE = 1,  /* server: a request cannot be answered at once; blockers: of its wait */
    WIO_TXN_ANSWER = 2,  /* server: a request was answered; blockers: of its wait or refusal */
    WIO_TXN_RELEASE = 3, /* server: the attempt is over here, its locks are free; outcome */
    WIO_TXN_WOUND = 4,   /* server: the client is asked to end the attempt; blockers: the reason */
    WIO_TXN_BEGIN = 5,   /* client: an attempt begins */
    WIO_TXN_CALL = 6,    /* client: a request was answered, or given up (WIO_TXN_NO_ANSWER) */
    WIO_TXN_END = 7,     /* client: the attempt is over; outcome */
    WIO_TXN_KINDS
};

/* Numbers of the store's protocol that readers of rows go by. */
enum wio_txn_result {
    WIO_TXN_OK = 0,
    WIO_TXN_REFUSED = 1, /* by the lock manager */
    WIO_TXN_ABORTED = 2, /* the transaction is no more there */
    WIO_TXN_BUSY = 3,
    WIO_TXN_VOTED_NO = 4
};
/* Flags of a request. */
enum wio_txn_flag {
    WIO_TXN_SINGLE = 1,  /* the operation is its transaction */
    WIO_TXN_COMMIT = 256 /* the operation is the last of its transaction, which commits with it */
};
enum wio_txn_op { WIO_TXN_READ = 16, WIO_TXN_WRITE = 17 };
enum wio_txn_outcome { WIO_TXN_COMMITTED = 3, WIO_TXN_ENDED_ABORTED = 4 };

/* Result of a CALL that was given up: no answer came in time. */
#define WIO_TXN_NO_ANSWER 65535u
/* `server` of rows that are of no server. */
#define WIO_TXN_NO_SERVER UINT32_MAX
#define WIO_TXN_BLOCKERS 8u

/* An attempt of a transaction: client and number name the transaction for ever. */
struct wio_txn_name {
    uint64_t client;
    uint64_t number;
    uint64_t birth_ns; /* of its first attempt, by the client's clock: its age */
    uint32_t attempt;  /* from 1 */
};

/* Bytes [from, to) of a segment of a file; bits 30 and 31 of `segment`: R-WIRE-10. */
struct wio_txn_range {
    uint64_t file;
    uint64_t from;
    uint64_t to;
    uint32_t segment;
};

struct wio_txn_blocker {
    struct wio_txn_name txn;
    struct wio_txn_range range;
    uint32_t origin;
    uint8_t mode;
    uint8_t role;
};

struct wio_txn_row {
    uint64_t t_ns; /* when it was written: of an ANSWER the moment of sending, of an ARRIVE that of
                      receiving; since the segment's base (writing), the trace's start (reading) */
    struct wio_txn_name txn;
    struct wio_txn_range range; /* to = 0: none */
    uint64_t bytes;             /* moved */
    /* Where the time of an ANSWER went, from the request's arrival to t_ns, which is their sum:
     * waiting to be admitted, for locks, for log and storage, being worked on. Of a CALL: 0, 0, the
     * server's part as its reply told it, and what is left of the client's (network, answers that
     * wait). Others: 0. */
    uint64_t queue_ns;
    uint64_t lock_ns;
    uint64_t storage_ns;
    uint64_t run_ns;
    uint64_t transfer_ns; /* ANSWER: before these, from the first bytes of the request to its last
                             ones; 0: it came at once, or was not measured */
    const struct wio_txn_blocker *blockers; /* blocker_listed of them */
    uint32_t origin; /* whose request it is: the id of an origin; 0 unknown */
    uint32_t server;
    uint32_t queue_depth;
    uint32_t blocker_count;  /* true number */
    uint32_t blocker_listed; /* at most WIO_TXN_BLOCKERS, at most blocker_count */
    uint16_t op;
    uint16_t result;
    uint16_t reason;
    uint16_t outcome;
    uint16_t flags; /* of the request */
    uint8_t kind;   /* enum wio_txn_kind */
    uint8_t mode;   /* of the lock that the request needs */
};

/* Where requests come from. Application: (job, exe). */
struct wio_txn_origin {
    const char *job;
    const char *exe;
    const char *host;
    const char *place; /* "function (file:line)", "module+0x1234"; "" unknown */
};

struct wio_txn_server {
    const char *name; /* its address */
    uint32_t server;
    bool is_catalogue;
};

/* A parafile: byte b of it lies as STORE-PROTOCOL.md says. */
struct wio_txn_file {
    uint64_t file;
    const char *path;
    uint32_t segments;
    uint32_t stripe_unit;
};

struct wio_txn_writer;
struct wio_txn_cursor;

/* For one segment, which must live longer. */
WIO_MUST_CHECK enum wio_status wio_txn_writer_create(struct wio_segment *segment,
                                                     struct wio_txn_writer **writer_out,
                                                     struct wio_error *err);
/* Also after a failure; NULL is allowed. What was not finished is not written. */
void wio_txn_writer_destroy(struct wio_txn_writer *writer);
/* Ids from 1; the same for the same texts. NULL texts count as "". */
WIO_MUST_CHECK enum wio_status wio_txn_writer_origin(struct wio_txn_writer *writer,
                                                     const struct wio_txn_origin *origin,
                                                     uint32_t *id_out, struct wio_error *err);
WIO_MUST_CHECK enum wio_status wio_txn_writer_server(struct wio_txn_writer *writer,
                                                     const struct wio_txn_server *server,
                                                     struct wio_error *err);
/* Of a file that is told twice the last row counts. */
WIO_MUST_CHECK enum wio_status wio_txn_writer_file(struct wio_txn_writer *writer,
                                                   const struct wio_txn_file *file,
                                                   struct wio_error *err);
/* WIO_ERR_INTERNAL where row->t_ns is less than that of the row before. */
WIO_MUST_CHECK enum wio_status wio_txn_writer_put(struct wio_txn_writer *writer,
                                                  const struct wio_txn_row *row,
                                                  struct wio_error *err);
/* The rows that are left, and the tables. */
WIO_MUST_CHECK enum wio_status wio_txn_writer_finish(struct wio_txn_writer *writer,
                                                     struct wio_error *err);

/* Does a segment have rows of transactions? */
bool wio_trace_has_transactions(const struct wio_trace *trace);
WIO_MUST_CHECK enum wio_status wio_txn_cursor_create(const struct wio_trace *trace,
                                                     struct wio_txn_cursor **cursor_out,
                                                     struct wio_error *err);
void wio_txn_cursor_destroy(struct wio_txn_cursor *cursor);
/* WIO_OK and the next row, valid until the next call; WIO_END behind the last. */
WIO_MUST_CHECK enum wio_status wio_txn_cursor_next(struct wio_txn_cursor *cursor,
                                                   const struct wio_txn_row **row_out,
                                                   struct wio_error *err);
/* Tables of all segments; texts live as long as the trace. Origins are numbered through: ids below
 * the count, 0 is the unknown one. */
uint32_t wio_txn_origin_count(const struct wio_txn_cursor *cursor);
const struct wio_txn_origin *wio_txn_cursor_origin(const struct wio_txn_cursor *cursor,
                                                   uint32_t id);
/* NULL where nothing is known of it. */
const struct wio_txn_server *wio_txn_cursor_server(const struct wio_txn_cursor *cursor,
                                                   uint32_t server);
const struct wio_txn_file *wio_txn_cursor_file(const struct wio_txn_cursor *cursor, uint64_t file);

#endif
