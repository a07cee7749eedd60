/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The messages of the store as plain structs: what a client asks of a target or of the catalogue,
 * what it is answered, and what a server says unasked. `store/wire` turns them into bytes and back;
 * `store/server` and `store/client` know only these.
 *
 * One request struct and one reply struct carry all operations: the fields that an operation uses
 * stand beside it in enum wio_store_op ("request -> reply"); others are 0. Numbers of the
 * enumerations are on the wire: they are added to, never renumbered. Bytes (data, path, path2,
 * participants) are borrowed: valid as long as the message is handled; what is kept is copied.
 */
#ifndef WIO_STORE_MESSAGES_H
#define WIO_STORE_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "admit/ticket.h"
#include "lock/types.h"

/* Bounds that every side keeps; the decoder refuses what is above. */
#define WIO_STORE_DATA_MAX (4u << 20)   /* bytes of one READ or WRITE */
#define WIO_STORE_PATH_MAX 4096u        /* bytes of a path, without NUL */
#define WIO_STORE_PARTICIPANTS_MAX 256u /* targets of one transaction */
#define WIO_STORE_SEGMENTS_MAX 4096u    /* segments of one parafile */

enum wio_store_op {
    WIO_STORE_NONE = 0,

    /* Of a connection. PING renews the client's lease, as any request does. DEFINE_SOURCE: source,
     * path = text of the call site. */
    WIO_STORE_PING = 1,
    WIO_STORE_DEFINE_SOURCE = 2,
    /* The same with the job that requests of this `source` are made for: path2 = its name, any
     * bytes but NUL. By clients, where both sides have WIO_STORE_FEATURE_JOBS. */
    WIO_STORE_DEFINE_CALLER = 3,
    /* Statistics of jobs at this server: offset = cookie (0 first) -> data: rows, offset = next. */
    WIO_STORE_JOB_STATS = 4,
    /* .. and which of them to drop: mode (enum wio_store_job_clear), size = ns, path = name -> size
     * = how many were dropped. */
    WIO_STORE_JOB_CLEAR = 5,

    /* Of a target: each takes part in transaction `txn`, or is one by itself (FLAG_SINGLE).
     * Offsets are those of the segment. */
    WIO_STORE_READ = 16,     /* file segment offset size -> data, less at the segment's end */
    WIO_STORE_WRITE = 17,    /* file segment offset data -> size = bytes taken */
    WIO_STORE_TRUNCATE = 18, /* file segment size */
    WIO_STORE_SIZE = 19,     /* file segment -> size of the segment */
    WIO_STORE_DROP = 20,     /* file segment: its bytes and its name go */
    WIO_STORE_POINTER = 21,  /* file group whence offset (int64) -> offset before, size = after */

    /* Of a target, outside transactions: advisory locks, kept as long as the client's lease. */
    WIO_STORE_LOCK = 24,   /* file segment offset size mode */
    WIO_STORE_UNLOCK = 25, /* file segment offset size */
    WIO_STORE_STATFS = 26, /* -> stat.size = capacity, stat.used */

    /* Of a connection to a target: data = a grant of the catalogue, by which the client may use a
     * file (docs/STORE-PROTOCOL.md#grants). */
    WIO_STORE_SHOW = 27,

    /* Of a transaction at a participant. ABORT leaves a tombstone where nothing is known of the
     * transaction. PREPARE is FLAG_PREPARE without an operation. INQUIRE -> outcome, by another
     * target; with FLAG_STABLE that one is prepared, and what has not voted here never will.
     * FORGET: all participants have answered COMMIT or ABORT; nothing is asked any more. */
    WIO_STORE_COMMIT = 32,
    WIO_STORE_ABORT = 33,
    WIO_STORE_PREPARE = 34,
    WIO_STORE_INQUIRE = 35,
    WIO_STORE_FORGET = 36,

    /* Said by a server unasked: struct wio_store_push. */
    WIO_STORE_WOUND = 48,
    WIO_STORE_WINDOW = 49, /* window */

    /* Of the catalogue: names. `file` in a reply is the file's id, `stat` what it is, data a grant
     * where the table says so. */
    WIO_STORE_OPEN = 64,   /* path, open_flags, mode, segments, stripe_unit (0: default);
                              FLAG_NOFOLLOW -> stat, data */
    WIO_STORE_STAT = 65,   /* path; FLAG_NOFOLLOW -> stat (size 0: it is asked of the targets), data
                            */
    WIO_STORE_LIST = 66,   /* path, offset = cookie (0 first) -> data: entries, offset = next */
    WIO_STORE_MKDIR = 67,  /* path, mode -> stat */
    WIO_STORE_RMDIR = 68,  /* path */
    WIO_STORE_UNLINK = 69, /* path -> stat: the file that has no name any more; data */
    WIO_STORE_RENAME = 70, /* path, path2 -> stat of a file that was replaced, or file 0; data */
    WIO_STORE_SYMLINK = 71,  /* path = text of the link, path2 = its name -> stat */
    WIO_STORE_READLINK = 72, /* path -> data: text of the link */
    WIO_STORE_CHMOD = 73,    /* path, mode */
    WIO_STORE_CHOWN = 74,    /* path, uid, gid (UINT32_MAX: keep) */
    WIO_STORE_UTIMENS = 75,  /* path, atime_ns, mtime_ns (WIO_STORE_TIME_*) */
    WIO_STORE_TARGETS = 76   /* -> data: addresses of the targets, each ended by NUL */
};

enum wio_store_flag {
    WIO_STORE_FLAG_SINGLE = 1u << 0,   /* the operation is a transaction: it commits at once */
    WIO_STORE_FLAG_STABLE = 1u << 1,   /* durable when answered, not only atomic */
    WIO_STORE_FLAG_PREPARE = 1u << 2,  /* the last one here: the answer is the vote; stable */
    WIO_STORE_FLAG_REJECT = 1u << 3,   /* refuse rather than queue where it cannot start at once */
    WIO_STORE_FLAG_NOFOLLOW = 1u << 4, /* of a symbolic link itself */
    WIO_STORE_FLAG_INCREMENT = 1u << 5 /* WRITE: 8 bytes, added to what is there (little endian);
                                        * -> offset = the number before */
};

/* Further flags of requests in transactions. */
#define WIO_STORE_FLAG_BEGIN (1u << 6) /* the first of this attempt at this target */
#define WIO_STORE_FLAG_TRY (1u << 7)   /* ABORT: only if it has not voted; -> outcome */
/* The last operation: what the transaction has done here, which is no other target's too, commits
 * with it, or is aborted. Not of READ and SIZE. */
#define WIO_STORE_FLAG_COMMIT (1u << 8)

/* The message has what admission adds to it: struct wio_store_asks, or of a reply struct
 * wio_store_told. Where both sides have the features of it (docs/STORE-PROTOCOL.md#admission). */
#define WIO_STORE_FLAG_ADMIT (1u << 9)

/* Blockers name bytes of segments, or what stands beside them: bits of the range's segment. */
#define WIO_STORE_LOCK_SIZE (1u << 30)    /* the size of the segment */
#define WIO_STORE_LOCK_POINTER (1u << 31) /* shared pointers of the file; `from` is the group */

enum wio_store_open_flag {
    WIO_STORE_OPEN_CREATE = 1u << 0,
    WIO_STORE_OPEN_EXCL = 1u << 1,
    WIO_STORE_OPEN_TRUNC = 1u << 2,
    WIO_STORE_OPEN_READ = 1u << 3,
    WIO_STORE_OPEN_WRITE = 1u << 4
};

/* POINTER: what `offset` is added to. */
enum wio_store_whence { WIO_STORE_WHENCE_SET = 0, WIO_STORE_WHENCE_ADD = 1 };

#define WIO_STORE_TIME_OMIT INT64_MIN /* UTIMENS: keep .. */
#define WIO_STORE_TIME_NOW INT64_MAX  /* .. or the server's clock */

/* Of the features of class 0: kinds 3 to 5 are understood. */
#define WIO_STORE_FEATURE_JOBS 1u
/* .. FLAG_COMMIT is. */
#define WIO_STORE_FEATURE_LAST 2u

/* JOB_CLEAR */
enum wio_store_job_clear {
    WIO_STORE_JOB_CLEAR_ALL = 0,
    WIO_STORE_JOB_CLEAR_ONE = 1, /* the job named */
    WIO_STORE_JOB_CLEAR_OLD = 2  /* without a sample for `size` nanoseconds */
};

enum wio_store_result {
    WIO_STORE_OK = 0,
    WIO_STORE_REFUSED = 1,  /* by the lock manager: reason and blockers say why; try again */
    WIO_STORE_ABORTED = 2,  /* the transaction is no more here: begin it again */
    WIO_STORE_BUSY = 3,     /* full or overloaded: again after retry_ns */
    WIO_STORE_NO = 4,       /* a vote: not to be committed */
    WIO_STORE_BAD = 5,      /* not a request that this server understands */
    WIO_STORE_DENIED = 6,   /* EACCES */
    WIO_STORE_NO_ENTRY = 7, /* ENOENT */
    WIO_STORE_EXISTS = 8,
    WIO_STORE_NOT_DIR = 9,
    WIO_STORE_IS_DIR = 10,
    WIO_STORE_NOT_EMPTY = 11,
    WIO_STORE_LOOP = 12,
    WIO_STORE_NAME_LONG = 13,
    WIO_STORE_NO_SPACE = 14,
    WIO_STORE_IO = 15,        /* the storage failed */
    WIO_STORE_STALE = 16,     /* the file's generation has passed: it was removed */
    WIO_STORE_TOO_BIG = 17,   /* EFBIG, or more than a transaction may keep */
    WIO_STORE_NO_LEASE = 18,  /* the client's lease has ended: it has to connect anew */
    WIO_STORE_NOT_OWNER = 19, /* EPERM: the owner's to do */
    WIO_STORE_INVALID = 20,   /* EINVAL: not with this file, these names */
    WIO_STORE_IN_USE = 21,    /* EBUSY */
    /* Said by no server: a client's own session has given up a request that was refused. EBUSY */
    WIO_STORE_OVERLOADED = 22
};

/* INQUIRE: what a participant knows of a transaction. */
enum wio_store_outcome {
    WIO_STORE_OUTCOME_UNKNOWN = 0, /* nothing is known */
    WIO_STORE_OUTCOME_ACTIVE = 1,  /* has not voted yet */
    WIO_STORE_OUTCOME_PREPARED = 2,
    WIO_STORE_OUTCOME_COMMITTED = 3,
    WIO_STORE_OUTCOME_ABORTED = 4
};

/* Of files, directories and links, as the catalogue has them; times in ns since 1970. */
struct wio_store_stat {
    uint64_t file; /* id; 0: none */
    uint64_t generation;
    uint64_t size;
    uint64_t used;
    uint32_t mode; /* with the type, as st_mode */
    uint32_t uid;
    uint32_t gid;
    uint32_t links;
    uint32_t segments;
    uint32_t stripe_unit;
    int64_t atime_ns;
    int64_t mtime_ns;
    int64_t ctime_ns;
};

#define WIO_STORE_ASKS_HOLDS 1u /* the transaction holds locks at other targets */

/* FLAG_ADMIT of a request: src/admit/admit.h has what the members are. */
struct wio_store_asks {
    uint64_t remaining_ns; /* until its deadline; 0: unknown */
    uint64_t demand_ns;
    uint16_t demand;
    uint16_t flags; /* WIO_STORE_ASKS_HOLDS */
    struct wio_ticket ticket;
};

/* .. of a reply. `reason` is set where admission has refused: the request has had no effect. */
struct wio_store_told {
    uint8_t reason; /* enum wio_admit_reason */
    bool has_window;
    uint16_t window;
    uint16_t hint; /* ms */
    struct wio_ticket ticket;
};

struct wio_store_request {
    /* the envelope: of every request */
    uint16_t op;     /* enum wio_store_op */
    uint16_t flags;  /* enum wio_store_flag */
    uint16_t hint;   /* what the application said of this access; 0: nothing */
    uint64_t number; /* with the client's id: a request that comes again has the same */
    uint32_t source; /* call site, by DEFINE_SOURCE; 0: unknown */
    uint32_t job;    /* not on the wire: the server's number of the job that it is for; 0: none */
    uint64_t transfer_ns; /* not on the wire: from its first bytes at the server to its last */
    struct wio_txn txn; /* number 0: none. txn.client is the connection's, whatever the wire says */
    /* where */
    uint64_t file;
    uint64_t generation;
    uint32_t segment;
    uint32_t group; /* POINTER: of the ranks that share it */
    uint64_t offset;
    uint64_t size;
    uint8_t whence; /* POINTER */
    uint8_t mode;   /* LOCK: enum wio_lock_mode */
    bool is_first;  /* not on the wire: its transaction, if it has one, holds no lock yet */
    /* bytes */
    const uint8_t *data;
    uint32_t data_size;
    const char *path; /* not ended by NUL */
    uint32_t path_size;
    const char *path2;
    uint32_t path2_size;
    /* FLAG_PREPARE, PREPARE: indices of all targets of the transaction, this one too */
    const uint16_t *participants;
    uint32_t participant_count;
    /* catalogue */
    uint32_t open_flags;
    uint32_t file_mode;
    uint32_t uid;
    uint32_t gid;
    uint32_t segments;
    uint32_t stripe_unit;
    int64_t atime_ns;
    int64_t mtime_ns;
    struct wio_store_asks asks; /* FLAG_ADMIT */
    /* not on the wire: of a client's session */
    uint64_t deadline_ns; /* of the caller, by the session's clock; 0: none */
};

struct wio_store_reply {
    uint16_t op;          /* of the request */
    uint16_t result;      /* enum wio_store_result */
    uint16_t reason;      /* enum wio_lock_reason */
    uint16_t outcome;     /* INQUIRE */
    uint64_t number;      /* of the request */
    struct wio_txn txn;   /* with the attempt that this answers */
    uint32_t queue_depth; /* requests that wait for locks or storage here */
    uint64_t retry_ns;    /* BUSY, REFUSED: not before so long; 0: at once */
    /* the server's clock: came whole, had its locks, was done, was handed to the connection */
    uint64_t received_ns;
    uint64_t locked_ns;
    uint64_t done_ns;
    uint64_t sent_ns;
    uint64_t offset;
    uint64_t size;
    const uint8_t *data;
    uint32_t data_size;
    struct wio_store_stat stat;
    /* of the wait or the refusal; count 0: there was none */
    struct wio_lock_blockers blockers;
    bool has_told;
    struct wio_store_told told;
};

/* WOUND: the transaction stands in the way of an older one and should end, if it is still in this
 * attempt and its outcome is not decided. WINDOW: so many requests the client may have in flight.
 * Not answered. */
struct wio_store_push {
    uint16_t op;
    struct wio_txn txn;              /* to end */
    struct wio_lock_blocker because; /* WOUND: the older request: its transaction, job, .. */
    uint16_t window;                 /* WINDOW */
};

/* What a connection has proved of its other end: HELLO and authentication are the wire's. */
struct wio_store_peer {
    uint64_t client;
    uint32_t job;
    uint32_t uid;
    uint32_t gid;
};

#endif
