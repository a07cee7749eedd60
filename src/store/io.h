/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seam between the store and the world: one table of functions for time, timers, connections,
 * files and work that blocks. The store's servers, catalogue and clients do nothing to the world
 * but through it. Two implementations: src/store/net (libuv, the kernel) and tests/sim (one
 * thread, virtual time, faults by a seed).
 *
 * A `struct wio_io` is the world of one process: its clock, its directory, its connections. All
 * functions are called from the thread of its loop (but for `run` of struct wio_io_work), and all
 * callbacks come from the loop, never from within a function of the table: what is called may
 * call any function of the table, also one that ends what called it.
 *
 *     void *room(void *context, size_t *size_out)     where the next bytes are to go
 *     void came(void *context, size_t bytes)          so many were stored there
 *
 * The implementation reads straight into the owner's memory: a connection that has proven nothing
 * is given little, and no bytes lie anywhere that its owner does not count.
 *
 * Writes to files are in the page cache when `file_write` returns: visible to every later read,
 * and lost, wholly or in any part of 512 bytes, by a crash before a flush that was begun later has
 * ended well. A flush that failed says nothing about what it wrote; a later one that succeeds does
 * not mend it (fsync(2), NOTES).
 */
#ifndef WIO_STORE_IO_H
#define WIO_STORE_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

struct wio_io;
struct wio_io_timer;
struct wio_io_listener;
struct wio_io_conn;
struct wio_io_file;

/* What the kernel says of the other end of a connection, not what that end says. */
struct wio_io_peer {
    bool is_local; /* a Unix socket, or both ends on the loopback interface */
    bool has_uid;  /* the next two are known (SO_PEERCRED, sock_diag) */
    uint32_t uid;
    uint32_t gid;
};

/* What the owner of a connection is told. */
struct wio_io_handler {
    /* The other end has accepted; of connections that `connect` made. */
    void (*opened)(void *context);
    /* At least one byte of room; what is there must stay until `came` or `conn_close`. NULL: there
     * is no memory, which ends the connection (`closed`). */
    void *(*room)(void *context, size_t *size_out);
    void (*came)(void *context, size_t bytes);
    /* Nothing is unsent any more, after `conn_unsent` was not 0. */
    void (*drained)(void *context);
    /* It is over: WIO_END by the other end, WIO_ERR_IO by a failure. The last call; the owner still
     * has to call `conn_close`. */
    void (*closed)(void *context, enum wio_status why);
};

/* A connection came. The callback ends with conn_attach or conn_close of it. */
typedef void wio_io_accepted(void *context, struct wio_io_conn *conn,
                             const struct wio_io_peer *peer);
/* A flush or a rename that lasts ended: WIO_OK, or WIO_ERR_IO with the errno. */
typedef void wio_io_done(void *context, enum wio_status status, int sys_errno);

struct wio_io_bytes {
    const void *data;
    size_t size;
};

enum {
    WIO_IO_BYTES_MAX = 8, /* parts of one conn_send or file_write */
    WIO_IO_NAME_MAX = 512 /* of a file's name with its NUL */
};

enum {
    WIO_IO_CREATE = 1,    /* make it where it is not there */
    WIO_IO_EXCLUSIVE = 2, /* .. and fail where it is: EEXIST */
    WIO_IO_READ_ONLY = 4
};

/* Something that blocks, in a thread of its own. The owner keeps it until `done`. */
struct wio_io_work {
    void (*run)(struct wio_io_work *work);  /* in another thread: touches nothing but `work` */
    void (*done)(struct wio_io_work *work); /* on the loop, afterwards */
    void *reserved[2];                      /* the implementation's */
};

struct wio_io_space {
    uint64_t total_bytes;
    uint64_t free_bytes;
    uint64_t file_bytes_max; /* the longest file that the file system takes; 0: no bound is known */
};

/* A name of `list`; false ends the listing. */
typedef bool wio_io_each(void *context, const char *name);

struct wio_io_ops {
    /* ---- time and chance ---- */
    uint64_t (*now_ns)(struct wio_io *io);  /* never goes back (CLOCK_MONOTONIC) */
    uint64_t (*unix_ns)(struct wio_io *io); /* may jump (CLOCK_REALTIME) */
    /* Bytes that cannot be guessed; in the simulator they follow from the seed. */
    void (*random)(struct wio_io *io, void *bytes, size_t size);

    /* ---- timers: millisecond resolution, never early ---- */
    /* NULL where there is no memory. */
    struct wio_io_timer *(*timer_create)(struct wio_io *io, void (*fire)(void *context),
                                         void *context);
    /* Fire once, `after_ns` from now; replaces what was set before. 0: as soon as the loop turns.
     */
    void (*timer_set)(struct wio_io_timer *timer, uint64_t after_ns);
    void (*timer_stop)(struct wio_io_timer *timer);
    void (*timer_destroy)(struct wio_io_timer *timer); /* NULL is allowed */

    /* ---- connections: a stream of bytes each way, in order ---- */
    /* Addresses are texts: "unix:PATH", "HOST:PORT", "[V6]:PORT" (src/store/link/address.h). */
    enum wio_status (*listen)(struct wio_io *io, const char *address, wio_io_accepted *accepted,
                              void *context, struct wio_io_listener **listener_out,
                              struct wio_error *err);
    /* Where it listens, with the port that the system chose for port 0. */
    const char *(*listener_address)(struct wio_io_listener *listener);
    void (*listener_close)(struct wio_io_listener *listener); /* NULL is allowed */
    /* `opened` or `closed` follows. A failure here concerns the address or memory alone. */
    enum wio_status (*connect)(struct wio_io *io, const char *address,
                               const struct wio_io_handler *handler, void *context,
                               struct wio_io_conn **conn_out, struct wio_error *err);
    void (*conn_attach)(struct wio_io_conn *conn, const struct wio_io_handler *handler,
                        void *context);
    /* Takes all of it: what the kernel does not take at once is copied and sent later. An
     * error says that the connection is of no use any more (`closed` follows). `count` is at most
     * WIO_IO_BYTES_MAX. */
    enum wio_status (*conn_send)(struct wio_io_conn *conn, const struct wio_io_bytes *parts,
                                 size_t count);
    /* Bytes that were copied and not yet sent: what the owner bounds. */
    size_t (*conn_unsent)(struct wio_io_conn *conn);
    /* Read no more until it is resumed; bytes stay in the kernel, and so with the sender. */
    void (*conn_pause)(struct wio_io_conn *conn, bool is_paused);
    /* No callback comes afterwards. What is unsent is dropped. NULL is allowed. */
    void (*conn_close)(struct wio_io_conn *conn);

    /* ---- files: names below the process's own directory, "a/b", never ".." ---- */
    enum wio_status (*file_open)(struct wio_io *io, const char *name, unsigned flags,
                                 struct wio_io_file **file_out, struct wio_error *err);
    void (*file_close)(struct wio_io_file *file); /* NULL is allowed; not while it is flushed */
    enum wio_status (*file_size)(struct wio_io_file *file, uint64_t *bytes_out,
                                 struct wio_error *err);
    /* Up to `size` bytes; fewer only where the file ends. Holes read as zeros. */
    enum wio_status (*file_read)(struct wio_io_file *file, uint64_t offset, void *data, size_t size,
                                 size_t *got_out, struct wio_error *err);
    /* All or an error (ENOSPC, EIO: sys_errno of `err`), after which any part may be written. */
    enum wio_status (*file_write)(struct wio_io_file *file, uint64_t offset,
                                  const struct wio_io_bytes *parts, size_t count,
                                  struct wio_error *err);
    enum wio_status (*file_truncate)(struct wio_io_file *file, uint64_t bytes,
                                     struct wio_error *err);
    /* The first `bytes` have their blocks, and the file at least that size: writes there need no
     * further metadata at a flush. */
    enum wio_status (*file_allocate)(struct wio_io_file *file, uint64_t bytes,
                                     struct wio_error *err);
    /* Data and size of all that was written before this call (fdatasync), off the loop. Several
     * at once are allowed. WIO_ERR_NOMEM: not begun. */
    enum wio_status (*file_flush)(struct wio_io_file *file, wio_io_done *done, void *context);
    /* The same, waiting for it: at start and where a library wants it so. */
    enum wio_status (*file_sync)(struct wio_io_file *file, struct wio_error *err);

    /* ---- names; durable after dir_sync of their directory ---- */
    enum wio_status (*make_dir)(struct wio_io *io, const char *name, struct wio_error *err);
    /* A file or an empty directory. ENOENT is an error like others. */
    enum wio_status (*remove)(struct wio_io *io, const char *name, struct wio_error *err);
    enum wio_status (*rename)(struct wio_io *io, const char *from, const char *to,
                              struct wio_error *err);
    /* "" is the process's own directory. In no order; not "." and "..". */
    enum wio_status (*list)(struct wio_io *io, const char *dir, wio_io_each *each, void *context,
                            struct wio_error *err);
    enum wio_status (*dir_sync)(struct wio_io *io, const char *dir, struct wio_error *err);
    enum wio_status (*space)(struct wio_io *io, struct wio_io_space *space_out,
                             struct wio_error *err);

    /* ---- what blocks ---- */
    enum wio_status (*work)(struct wio_io *io, struct wio_io_work *work);

    /* ---- more of files ---- */
    /* Bytes of the blocks that the file has on its device (st_blocks), holes not counted. NULL
     * where an implementation cannot tell: then a file's size counts. */
    enum wio_status (*file_used)(struct wio_io_file *file, uint64_t *bytes_out,
                                 struct wio_error *err);
    /* file_sync, and what is read from now on is what the device has: after a flush that failed,
     * maybe of an earlier process, the cache may hold what the device never got. NULL where an
     * implementation has no such cache. */
    enum wio_status (*file_settle)(struct wio_io_file *file, struct wio_error *err);

    /* ---- more of connections ---- */
    /* Why the connection that was tried last was not made, as a text that stays; NULL: it was made,
     * or none was tried. *is_final_out: another try will not do better. NULL where an
     * implementation cannot tell. */
    const char *(*connect_failure)(struct wio_io *io, bool *is_final_out);
};

/* The first member of an implementation's own structure. */
struct wio_io {
    const struct wio_io_ops *ops;
};

#endif
