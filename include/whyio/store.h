/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client of the store (whyio-serve(1)): files that are striped over the targets of a store, and
 * in which every operation is a transaction.
 *
 *     struct wio_store_params params = {.struct_size = sizeof(params)};
 *     struct wio_store *store;
 *     struct wio_store_file *file;
 *     struct wio_store_open_params how = {.struct_size = sizeof(how), .flags = O_RDWR | O_CREAT,
 *                                         .mode = 0644};
 *     if (wio_store_connect(&params, &store, &err) != WIO_OK) ..
 *     if (wio_store_file_open(store, "/out", &how, &file, &err) != WIO_OK) ..
 *     if (wio_store_pwrite(file, NULL, data, size, offset, &err) != WIO_OK) ..
 *     wio_store_file_close(file);
 *     wio_store_disconnect(store);
 *
 * A parafile has a fixed number of segments, segment s at target s modulo the number of targets.
 * Linear views deal units of `stripe_unit` bytes to the segments in turn. Each read or write, of
 * any number of segments, happens as a whole and at one moment for all clients; a transaction
 * (wio_store_begin) makes one of several. Volatile files are atomic and isolated; stable ones are
 * also durable when a call returns.
 *
 * Errors. Each function gives an enum wio_status. Where the store refused or failed, it is
 * WIO_ERR_IO and err->sys_errno is what the call of POSIX of that name would set; WIO_ERR_BUSY:
 *     ETIMEDOUT  the time-out of the call has passed, before the outcome is known
 *     EBUSY      a server is overloaded and has refused it, or would not do it in time; nothing has
 *                happened. The library waits and sends again before it gives up.
 *     EAGAIN     a transaction of several operations was ended by another one's locks
 *                (wio_store_restart); an advisory lock is held by another client
 * The message names what was in the way; wio_store_blockers has it as numbers and texts.
 *
 * Time. No call takes longer than its time-out (30 s, or params.timeout_ns), whatever happens to
 * servers and network, except that wio_store_list has it for each part of a long list, that closing
 * a written file takes up to 2 s, and that a lock or unlock that fails may take 0.5 s longer, and
 * 10 ms for each segment, to give back what it has. What was under way then is ended by the library
 * on its own; of a commit or a single write it is not known whether it happened.
 *
 * Threads. A store and its files may be used by many threads at once, a transaction by one at a
 * time. Connections are served by the threads that call, and by a thread of the library's own
 * while none does. A thread is not cancelled (pthread_cancel) within a call. After fork() the child
 * may use none of it. Buffers are the caller's again when a call returns, also after a time-out.
 *
 * Structures with struct_size: the caller sets it to the structure's sizeof.
 */
#ifndef WHYIO_STORE_H
#define WHYIO_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

WIO_BEGIN_DECLS

struct wio_store;      /* a connection of this process to a store */
struct wio_store_file; /* an open parafile */
struct wio_store_txn;  /* a transaction of several operations */

/* ---- connections --------------------------------------------------------------------------- */

struct wio_store_params {
    size_t struct_size;
    /* unix:PATH, HOST:PORT, [V6]:PORT or @FILE, which holds an address in its first line and the
     * key in its second. NULL: WHYIO_SERVER. */
    const char *address;
    const char *key_file; /* 64 hexadecimal digits; NULL: WHYIO_STORE_KEY, or the store has none */
    bool is_munge;        /* by credentials of munged(8), for the server's user alone: */
    uint32_t server_uid;
    uint64_t timeout_ns; /* of each call; 0: 30 s */
    /* What the store knows this process by: any bytes, at most 4,096. NULL: WHYIO_JOB, else the
     * variable that WHYIO_JOB_ENV names, else the batch system's (docs/JOBS.md). "": none. */
    const char *job;
    const char *project; /* NULL: none */
};

/* Waits until the catalogue has answered. The caller owns *store_out. WIO_ERR_USAGE: no address,
 * or one that is none; WIO_ERR_IO: it cannot be reached, or another key; WIO_ERR_UNSUPPORTED. */
WIO_MUST_CHECK enum wio_status wio_store_connect(const struct wio_store_params *params,
                                                 struct wio_store **store_out,
                                                 struct wio_error *err);
/* Files and transactions must have been closed. What is under way is dropped. NULL is allowed. */
void wio_store_disconnect(struct wio_store *store);

/* Since it was connected. */
struct wio_store_info {
    size_t struct_size;
    uint32_t targets;
    uint64_t committed;   /* transactions, single operations too */
    uint64_t failed;      /* .. that ended for good without */
    uint64_t attempts;    /* .. that were begun again, with the age that they had */
    uint64_t wounds;      /* attempts that an older transaction ended */
    uint64_t refused;     /* operations that a server refused */
    uint64_t leases_lost; /* the advisory locks at one target, and what was under way there */
    uint64_t overloads;   /* requests that a server refused for load: most are sent again */
    uint64_t held_back;   /* requests that waited in this process before they were sent */
};
/* Counts of this connection; info_out->struct_size is set by the caller. Zeros where they cannot be
 * had within the time-out. */
void wio_store_get_info(struct wio_store *store, struct wio_store_info *info_out);

/* ---- parafiles ----------------------------------------------------------------------------- */

enum wio_view {
    WIO_VIEW_GLOBAL,      /* linear; one pointer for all that opened it with the same group */
    WIO_VIEW_INDEPENDENT, /* linear; a pointer for each */
    WIO_VIEW_SEGMENTED    /* the bytes of one segment; a pointer for each */
};

struct wio_store_open_params {
    size_t struct_size;
    int flags;     /* open(2): O_RDONLY, O_WRONLY, O_RDWR, with O_CREAT, O_EXCL, O_TRUNC, O_APPEND,
                      O_NOFOLLOW */
    uint32_t mode; /* of a new file; no umask is applied */
    enum wio_view view;
    uint32_t segment;     /* WIO_VIEW_SEGMENTED */
    uint32_t group;       /* WIO_VIEW_GLOBAL */
    uint32_t segments;    /* of a new file; 0: one for each target */
    uint32_t stripe_unit; /* of a new file, bytes; 0: 1 MiB */
    bool is_stable;       /* what is written through it is durable when a call returns */
    uint16_t hint;        /* passed to the servers with each access; 0: none */
    const char *source;   /* call site, by which others see what holds their locks; NULL: none */
    uint64_t timeout_ns;  /* of each call with this file; 0: the store's */
    bool is_time_own;     /* the caller sets the time of what it wrote; else closing does */
};

/* ENOENT, EEXIST, EACCES, EISDIR and others as open(2). The caller owns *file_out. */
WIO_MUST_CHECK enum wio_status wio_store_file_open(struct wio_store *store, const char *path,
                                                   const struct wio_store_open_params *params,
                                                   struct wio_store_file **file_out,
                                                   struct wio_error *err);
/* No transaction may use it any more. NULL is allowed. */
void wio_store_file_close(struct wio_store_file *file);

struct wio_store_layout {
    size_t struct_size;
    uint64_t file; /* its number, never used again in this store */
    uint32_t segments;
    uint32_t stripe_unit;
    uint32_t targets;
};
/* How the file lies on the targets, which never changes. layout_out->struct_size is set by the
 * caller. Asks no server. */
void wio_store_file_layout(const struct wio_store_file *file, struct wio_store_layout *layout_out);

/*
 * One read: *got_out bytes, fewer than `size` only at the end of the file (of the segment, in the
 * segmented view). `txn` NULL: a transaction by itself. Bytes that were never written are 0.
 */
WIO_MUST_CHECK enum wio_status wio_store_pread(struct wio_store_file *file,
                                               struct wio_store_txn *txn, void *data, size_t size,
                                               uint64_t offset, size_t *got_out,
                                               struct wio_error *err);
/* One write: all of it or nothing. EFBIG: more than the servers keep for one transaction. */
WIO_MUST_CHECK enum wio_status wio_store_pwrite(struct wio_store_file *file,
                                                struct wio_store_txn *txn, const void *data,
                                                size_t size, uint64_t offset,
                                                struct wio_error *err);
/* At the pointer of the view, which moves by what was read or written. In the global view pointer
 * and bytes are one transaction: no two of a group get the same bytes. A pointer of a view of one's
 * own moves at once, whatever becomes of `txn`. */
WIO_MUST_CHECK enum wio_status wio_store_read(struct wio_store_file *file,
                                              struct wio_store_txn *txn, void *data, size_t size,
                                              size_t *got_out, struct wio_error *err);
WIO_MUST_CHECK enum wio_status wio_store_write(struct wio_store_file *file,
                                               struct wio_store_txn *txn, const void *data,
                                               size_t size, struct wio_error *err);
/* lseek(2): `whence` is SEEK_SET, SEEK_CUR or SEEK_END. offset_out may be NULL. */
WIO_MUST_CHECK enum wio_status wio_store_seek(struct wio_store_file *file,
                                              struct wio_store_txn *txn, int64_t offset, int whence,
                                              uint64_t *offset_out, struct wio_error *err);
/* Add to the 8 bytes (little endian) at `offset`; *before_out (may be NULL) is the number that was
 * there. EINVAL: they do not lie in one stripe unit (in the segmented view they may lie anywhere);
 * EBADF: the file was not opened for reading and writing. */
WIO_MUST_CHECK enum wio_status wio_store_add(struct wio_store_file *file, struct wio_store_txn *txn,
                                             uint64_t offset, int64_t delta, int64_t *before_out,
                                             struct wio_error *err);
/* Of the whole file, in each view. */
WIO_MUST_CHECK enum wio_status wio_store_truncate(struct wio_store_file *file,
                                                  struct wio_store_txn *txn, uint64_t size,
                                                  struct wio_error *err);
/* Of the file, or of the segment in the segmented view. */
WIO_MUST_CHECK enum wio_status wio_store_size(struct wio_store_file *file,
                                              struct wio_store_txn *txn, uint64_t *size_out,
                                              struct wio_error *err);

/* ---- transactions of several operations ---------------------------------------------------- */

struct wio_store_txn_params {
    size_t struct_size;
    bool is_stable;      /* durable when it has committed, whatever the files were opened as */
    uint64_t timeout_ns; /* from here to the commit, all attempts together; 0: the store's */
};

/*
 * Reads and writes with it see its own writes and no other's, and others see none of it, until
 * wio_store_commit. `params` may be NULL. The caller ends it with wio_store_end, whatever happened.
 *
 * Of its last write the library may send nothing before the next call with it: locks are taken
 * then, and what fails (ENOSPC, ..) that call tells, or the commit.
 *
 * WIO_ERR_BUSY with EAGAIN, by any call with it: an older transaction needs its locks, or a server
 * refused it; nothing of this attempt has happened. wio_store_restart begins the next attempt,
 * which keeps its age, so that it comes to be the oldest.
 */
WIO_MUST_CHECK enum wio_status wio_store_begin(struct wio_store *store,
                                               const struct wio_store_txn_params *params,
                                               struct wio_store_txn **txn_out,
                                               struct wio_error *err);
WIO_MUST_CHECK enum wio_status wio_store_restart(struct wio_store_txn *txn, struct wio_error *err);
/* Afterwards only wio_store_end. */
WIO_MUST_CHECK enum wio_status wio_store_commit(struct wio_store_txn *txn, struct wio_error *err);
/* Undoes what was not committed, and frees it. NULL is allowed. */
void wio_store_end(struct wio_store_txn *txn);

/* One attempt. Any error that is returned ends the transaction, but EAGAIN (WIO_ERR_BUSY). */
typedef enum wio_status wio_store_body(struct wio_store_txn *txn, void *context,
                                       struct wio_error *err);
/* Begin, call `body`, commit: again and again with the age kept, until it has committed, failed, or
 * the time-out has passed. */
WIO_MUST_CHECK enum wio_status wio_store_transact(struct wio_store *store,
                                                  const struct wio_store_txn_params *params,
                                                  wio_store_body *body, void *context,
                                                  struct wio_error *err);

/* ---- what was in the way ------------------------------------------------------------------- */

#define WIO_STORE_BLOCKERS 8

/* A transaction that held, or waited earlier for, what was asked for. */
struct wio_store_blocker {
    uint64_t client;
    uint64_t number;   /* of the transaction at that client */
    uint64_t birth_ns; /* its age: ns since 1970, by its client's clock */
    uint32_t attempt;
    uint32_t segment;
    uint64_t file;
    uint64_t from; /* bytes [from, to) of the segment */
    uint64_t to;
    bool is_size;     /* of the size of the segment, not of bytes */
    bool is_pointer;  /* of the shared pointer of group `from` */
    const char *mode; /* "shared", "exclusive", "increment"; static, as is the next: */
    const char *role; /* "holder", "queued", "prepared", "dead" */
    char job[128];    /* "": unknown */
    char source[256]; /* "": unknown */
};

struct wio_store_blockers {
    size_t struct_size;
    uint32_t count;  /* true number */
    uint32_t listed; /* of them below */
    struct wio_store_blocker list[WIO_STORE_BLOCKERS];
};

/* Of the last refusal or wound of the transaction, or, with txn NULL, of the last one of a single
 * operation or lock on the file by any thread. */
void wio_store_blockers(struct wio_store_file *file, struct wio_store_txn *txn,
                        struct wio_store_blockers *blockers_out);

/* ---- names --------------------------------------------------------------------------------- */

/* As struct stat; times in ns since 1970. */
struct wio_store_attr {
    size_t struct_size;
    uint64_t file;
    uint64_t size; /* of a regular file: as its targets have it */
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

#define WIO_STORE_NOFOLLOW 1u /* of a symbolic link itself */
#define WIO_STORE_NO_SIZE 2u  /* size 0: the targets are not asked */

/* Paths begin at the root of the store, with or without "/"; symbolic links on the way are
 * followed, those at the end by the calls that have WIO_STORE_NOFOLLOW, unless it is set. Errors
 * are those of the calls of POSIX; ENAMETOOLONG: a path has more than 4,096 bytes. Flags that a
 * call does not name are ignored.
 *
 * stat(2), with WIO_STORE_NOFOLLOW, lstat(2). attr_out->struct_size is set by the caller; after an
 * error the rest is undefined.
 */
WIO_MUST_CHECK enum wio_status wio_store_stat(struct wio_store *store, const char *path,
                                              unsigned flags, struct wio_store_attr *attr_out,
                                              struct wio_error *err);
/* An entry of a directory, lent for the call; attr->size is 0. False ends the listing. */
typedef bool wio_store_each(void *context, const char *name, const struct wio_store_attr *attr);
/* In the order in which they were made. `each` may call no function with this store. */
WIO_MUST_CHECK enum wio_status wio_store_list(struct wio_store *store, const char *path,
                                              wio_store_each *each, void *context,
                                              struct wio_error *err);
/* As mkdir(2): EEXIST, ENOENT .. No umask is applied. */
WIO_MUST_CHECK enum wio_status wio_store_mkdir(struct wio_store *store, const char *path,
                                               uint32_t mode, struct wio_error *err);
/* As rmdir(2): ENOTEMPTY, ENOTDIR .. */
WIO_MUST_CHECK enum wio_status wio_store_rmdir(struct wio_store *store, const char *path,
                                               struct wio_error *err);
/* The name goes, then the bytes: a client that still has the file open reads nothing. */
WIO_MUST_CHECK enum wio_status wio_store_unlink(struct wio_store *store, const char *path,
                                                struct wio_error *err);
/* Atomic, also over a file that is there. */
WIO_MUST_CHECK enum wio_status wio_store_rename(struct wio_store *store, const char *from,
                                                const char *to, struct wio_error *err);
/* As symlink(2): `path` becomes a link with the text `target`, which need not exist. */
WIO_MUST_CHECK enum wio_status wio_store_symlink(struct wio_store *store, const char *target,
                                                 const char *path, struct wio_error *err);
/* Ended by NUL; ERANGE: it is longer than size - 1. */
WIO_MUST_CHECK enum wio_status wio_store_readlink(struct wio_store *store, const char *path,
                                                  char *text, size_t size, struct wio_error *err);
/* As chmod(2): the low 12 bits of `mode`; follows links. */
WIO_MUST_CHECK enum wio_status wio_store_chmod(struct wio_store *store, const char *path,
                                               uint32_t mode, struct wio_error *err);
/* As chown(2); UINT32_MAX keeps. Flag: WIO_STORE_NOFOLLOW. */
WIO_MUST_CHECK enum wio_status wio_store_chown(struct wio_store *store, const char *path,
                                               uint32_t uid, uint32_t gid, unsigned flags,
                                               struct wio_error *err);

#define WIO_STORE_KEEP_TIME INT64_MIN /* UTIMENS: keep .. */
#define WIO_STORE_NOW INT64_MAX       /* .. or the server's clock */
/* As utimensat(2); times in ns since 1970. Flag: WIO_STORE_NOFOLLOW. */
WIO_MUST_CHECK enum wio_status wio_store_utimens(struct wio_store *store, const char *path,
                                                 int64_t atime_ns, int64_t mtime_ns, unsigned flags,
                                                 struct wio_error *err);

struct wio_store_space {
    size_t struct_size;
    uint32_t targets;
    uint64_t total_bytes; /* that the store may use */
    uint64_t used_bytes;
};
/* Sums over the targets, which are asked one after the other. space_out->struct_size is set by the
 * caller; after an error the rest is as it was. */
WIO_MUST_CHECK enum wio_status
wio_store_statfs(struct wio_store *store, struct wio_store_space *space_out, struct wio_error *err);

/* ---- jobs ---------------------------------------------------------------------------------- */

/*
 * For programs that do for others what these ask for, as a file system does: the number of a job by
 * its name of 1 to 4,096 bytes, any but NUL. The same name has the same number as long as the store
 * is connected. WIO_ERR_USAGE: no name; WIO_ERR_NOMEM, also where there are a million of them.
 */
WIO_MUST_CHECK enum wio_status wio_store_job(struct wio_store *store, const char *job, size_t bytes,
                                             uint32_t *number_out, struct wio_error *err);
/* The calls of this thread with this store are made for the job of that number from now on, until
 * the next call of this function by the thread; 0: for that of the process. Costs no more than two
 * stores to memory. With another store calls are made for the job of the process. */
void wio_store_act_for(struct wio_store *store, uint32_t job);

/* One operation of one job, as one server has counted it (names and units of Lustre's job_stats):
 * lent for the call. */
struct wio_store_job_op {
    size_t struct_size;
    uint32_t server; /* index of the target; UINT32_MAX: the catalogue */
    const char *job; /* not ended by NUL; no bytes: none, or not known */
    size_t job_bytes;
    uint64_t first_ns; /* of the job's first sample at the server, ns since 1970 */
    uint64_t last_ns;
    uint64_t errors; /* of the job at the server, of all operations: told with each */
    uint32_t op;     /* UINT32_MAX: the job has none that succeeded, what follows is 0 */
    uint64_t samples;
    uint64_t least;
    uint64_t greatest;
    uint64_t sum;
    uint64_t squares[2];     /* sum of squares: low, high 64 bits */
    const uint64_t *buckets; /* samples in (2^(n-1), 2^n], the first one for n = bucket_first */
    uint32_t bucket_first;
    uint32_t bucket_count;
};
/* False ends it. May call no function with this store. */
typedef bool wio_store_each_job(void *context, const struct wio_store_job_op *op);
/* What each job has done since the servers began, or its statistics were dropped.
 * WIO_ERR_UNSUPPORTED: a server is older and counts none. */
WIO_MUST_CHECK enum wio_status wio_store_job_stats(struct wio_store *store,
                                                   wio_store_each_job *each, void *context,
                                                   struct wio_error *err);

enum wio_store_drop {
    WIO_STORE_DROP_ALL,
    WIO_STORE_DROP_JOB, /* of one job */
    WIO_STORE_DROP_OLD  /* of jobs without a sample for `age_ns` */
};
struct wio_store_drop_params {
    size_t struct_size;
    enum wio_store_drop what;
    const char *job; /* DROP_JOB */
    size_t job_bytes;
    uint64_t age_ns; /* DROP_OLD */
};
/* EACCES: only the user of the servers and user 0 may. *dropped_out: jobs, counted at each server.
 */
WIO_MUST_CHECK enum wio_status wio_store_job_drop(struct wio_store *store,
                                                  const struct wio_store_drop_params *params,
                                                  uint64_t *dropped_out, struct wio_error *err);

/* ---- advisory locks ------------------------------------------------------------------------ */

/*
 * Of bytes of the view, for this process, against locks of other clients; reads and writes do not
 * look at them. A lock takes the place of what this process has there. It is a lease: it lasts
 * until wio_store_unlock, the disconnection, or until a target has not heard of this process for
 * two seconds (info.leases_lost counts). size 0: to the end, however far that is. is_waiting: up to
 * the file's time-out; else EAGAIN where it is held. The locks of one client do not conflict.
 */
WIO_MUST_CHECK enum wio_status wio_store_lock(struct wio_store_file *file, uint64_t offset,
                                              uint64_t size, bool is_exclusive, bool is_waiting,
                                              struct wio_error *err);
/* What this process has of the range; a part that it does not have is no error. EINVAL: the range
 * is none of a file. After another error the rest was given back all the same, and what could not
 * be ends with the lease. */
WIO_MUST_CHECK enum wio_status wio_store_unlock(struct wio_store_file *file, uint64_t offset,
                                                uint64_t size, struct wio_error *err);

WIO_END_DECLS
#endif
