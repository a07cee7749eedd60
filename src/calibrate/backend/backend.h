/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What measuring needs of a machine: a clock, a few files, memory. files.h is the real one; tests
 * put a simulated machine behind it, whose parameters are known.
 *
 * Times are seconds that the call itself took. One thread uses a rig.
 */
#ifndef WIO_CALIBRATE_BACKEND_BACKEND_H
#define WIO_CALIBRATE_BACKEND_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

enum wio_rig_file {
    WIO_RIG_BASE,   /* stays as long as it has once become */
    WIO_RIG_FRESH,  /* new pages in the page cache */
    WIO_RIG_APPEND, /* grows by synchronous writes */
    WIO_RIG_BYPASS, /* is written over past the page cache */
    WIO_RIG_AHEAD,  /* is written back while others are used */
    WIO_RIG_COPIES, /* the first of those with pieces of one size each */
    WIO_RIG_COPIES_LAST = WIO_RIG_COPIES + 3,
    WIO_RIG_FILE_COUNT
};
#define WIO_RIG_COPIES_COUNT (WIO_RIG_COPIES_LAST - WIO_RIG_COPIES + 1)

/* As of enum wio_model_method. */
enum wio_rig_way {
    WIO_RIG_CACHED,
    WIO_RIG_SYNC,   /* O_SYNC */
    WIO_RIG_DIRECT, /* O_DIRECT | O_SYNC */
    WIO_RIG_DIRECT_NOSYNC,
    WIO_RIG_WAY_COUNT
};

/* Metadata operations: names as in `whyio dump`; create is an open that makes the file. */
#define WIO_RIG_META_LIST(X)                                                                       \
    X(create)                                                                                      \
    X(ftruncate)                                                                                   \
    X(fstat)                                                                                       \
    X(lseek)                                                                                       \
    X(close)                                                                                       \
    X(open)                                                                                        \
    X(stat)                                                                                        \
    X(lstat)                                                                                       \
    X(access)                                                                                      \
    X(chmod)                                                                                       \
    X(utimens)                                                                                     \
    X(truncate)                                                                                    \
    X(rename)                                                                                      \
    X(link)                                                                                        \
    X(symlink)                                                                                     \
    X(readlink)                                                                                    \
    X(opendir)                                                                                     \
    X(readdir)                                                                                     \
    X(closedir)                                                                                    \
    X(unlink)                                                                                      \
    X(mkdir)                                                                                       \
    X(rmdir)

enum wio_rig_meta {
#define WIO_RIG_META_ENUM(name) WIO_RIG_META_##name,
    WIO_RIG_META_LIST(WIO_RIG_META_ENUM)
#undef WIO_RIG_META_ENUM
        WIO_RIG_META_COUNT
};

/* "open". */
const char *wio_rig_meta_name(enum wio_rig_meta meta);

struct wio_rig_io {
    enum wio_rig_file file; /* made where it is not there */
    enum wio_rig_way way;
    uint64_t offset; /* bytes; DIRECT: multiples of 4096 */
    uint64_t size;   /* at most WIO_RIG_IO_MOST */
    bool from_huge;  /* out of memory that lies in huge pages, where the system gives such */
};
#define WIO_RIG_IO_MOST (UINT64_C(64) << 20)

/* New files, all open at the same time, and writes of 4 KiB into each. */
struct wio_rig_many {
    size_t files;
    size_t writes;
    uint64_t clock_ns; /* the rig's: what asking for the time takes */
};

struct wio_rig {
    void *context;
    double (*now_s)(void *context);
    void (*rest)(void *context, double seconds);
    /* WIO_ERR_UNSUPPORTED: this way is refused there. */
    enum wio_status (*write)(void *context, const struct wio_rig_io *io, double *seconds_out,
                             struct wio_error *err);
    /* The next writes come out of other memory, of at least so many bytes: what an allocation
     * gives a program. */
    enum wio_status (*renew_memory)(void *context, uint64_t bytes, struct wio_error *err);
    /* Through the page cache, whatever io->way says. */
    enum wio_status (*read)(void *context, const struct wio_rig_io *io, double *seconds_out,
                            struct wio_error *err);
    enum wio_status (*fsync)(void *context, enum wio_rig_file file, double *seconds_out,
                             struct wio_error *err);
    /* What is dirty of it is never written. */
    enum wio_status (*remove)(void *context, enum wio_rig_file file, struct wio_error *err);
    /* After an fsync: its pages leave memory, where the file system can do that. */
    enum wio_status (*drop)(void *context, enum wio_rig_file file, double *seconds_out,
                            struct wio_error *err);
    /* Let the file be written back meanwhile; end waits until it is. */
    enum wio_status (*flush_begin)(void *context, enum wio_rig_file file, struct wio_error *err);
    bool (*is_flushing)(void *context);
    enum wio_status (*flush_end)(void *context, enum wio_rig_file file, struct wio_error *err);
    /* Copy so many bytes (at most WIO_RIG_IO_MOST / 2) from memory to memory, other ones than
     * before as long as there are any. */
    double (*copy)(void *context, uint64_t bytes);
    /* So many calls of fwrite that stay in the stream's buffer. */
    enum wio_status (*fwrite)(void *context, unsigned calls, double *seconds_out,
                              struct wio_error *err);
    /* So many new streams of a file, all open at the same time: what the first fwrite into each of
     * them takes, which finds no buffer yet. */
    enum wio_status (*streams)(void *context, size_t count, double *seconds_out,
                               struct wio_error *err);
    /* What each write took, file by file; the files are gone afterwards. */
    enum wio_status (*many)(void *context, const struct wio_rig_many *many, double *seconds_out,
                            struct wio_error *err);
    /* Bytes written to the device ever, by all processes; NaN where there is no counter. */
    double (*device_bytes)(void *context);
    /* One of each; NaN where it is not possible there. */
    enum wio_status (*meta)(void *context, double seconds_out[WIO_RIG_META_COUNT],
                            struct wio_error *err);
};

#endif
