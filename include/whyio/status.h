/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Status and error: the one error idiom of whyio.
 *
 * Every function that can fail returns an enum wio_status and is declared WIO_MUST_CHECK.
 * Functions that read input or touch the outside world also take a caller-owned
 * struct wio_error *err as their last parameter (may be NULL). The first function that decides
 * that something is wrong fills it; callers on the way up may append one cause each. Only
 * tools/ prints it.
 *
 * Thread safety: all functions may be called by any thread; a struct wio_error belongs to one
 * thread at a time. None allocates memory.
 */
#ifndef WHYIO_STATUS_H
#define WHYIO_STATUS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Around the declarations of each public header: C linkage for C++, and exported from a shared
 * library whose other functions are hidden.
 */
#ifdef __cplusplus
/* clang-format off */
#define WIO_BEGIN_DECLS extern "C" { _Pragma("GCC visibility push(default)")
/* clang-format on */
#define WIO_END_DECLS                                                                              \
    _Pragma("GCC visibility pop")                                                                  \
    }
#else
#define WIO_BEGIN_DECLS _Pragma("GCC visibility push(default)")
#define WIO_END_DECLS _Pragma("GCC visibility pop")
#endif

WIO_BEGIN_DECLS

#define WIO_MUST_CHECK __attribute__((warn_unused_result))
#define WIO_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/* name, value, text, exit status of the tool */
#define WIO_STATUS_LIST(X)                                                                         \
    X(WIO_OK, 0, "ok", 0)                                                                          \
    X(WIO_END, 1, "no more items", 0)                                                              \
    X(WIO_ERR_USAGE, -1, "wrong usage", 2)                                                         \
    X(WIO_ERR_IO, -2, "input or output failed", 3)                                                 \
    X(WIO_ERR_FORMAT, -3, "not in the expected format", 3)                                         \
    X(WIO_ERR_TRUNCATED, -4, "cut short", 3)                                                       \
    X(WIO_ERR_UNSUPPORTED, -5, "not supported", 3)                                                 \
    X(WIO_ERR_NOMEM, -6, "out of memory", 4)                                                       \
    X(WIO_ERR_BUSY, -7, "busy", 3)                                                                 \
    X(WIO_ERR_INTERNAL, -8, "internal error", 4)

enum wio_status {
#define WIO_STATUS_ENUM(name, value, text, exit_status) name = value,
    WIO_STATUS_LIST(WIO_STATUS_ENUM)
#undef WIO_STATUS_ENUM
};

#define WIO_ERROR_NO_OFFSET UINT64_MAX

/*
 * What went wrong, where. Fixed size, no allocation, no ownership: declare it on the stack as
 * `struct wio_error err = WIO_ERROR_INIT;`.
 */
struct wio_error {
    enum wio_status status;
    int sys_errno;      /* 0 where no system call failed */
    uint64_t offset;    /* byte offset in `file`, WIO_ERROR_NO_OFFSET where it has no meaning */
    char file[512];     /* "" where no file is concerned */
    char message[1024]; /* what failed and what was expected; causes appended after "; " */
};

#define WIO_ERROR_INIT                                                                             \
    {                                                                                              \
        WIO_OK, 0, WIO_ERROR_NO_OFFSET, {0},                                                       \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }

/* Text of a status ("cut short"), static, never NULL; "unknown status" for other numbers. */
const char *wio_status_text(enum wio_status status);

/* Exit status of the tool for a status (0, 2, 3 or 4); 4 for other numbers. */
int wio_status_exit(enum wio_status status);

/*
 * Fill `err` (if not NULL) and return `status`, so that a caller can write
 * `return wio_error_set(err, WIO_ERR_FORMAT, path, offset, "expected magic ...")`.
 * `file` may be NULL. sys_errno becomes 0.
 */
enum wio_status wio_error_set(struct wio_error *err, enum wio_status status, const char *file,
                              uint64_t offset, const char *fmt, ...) WIO_PRINTF(5, 6);

/* The same for a failed system call: WIO_ERR_NOMEM where errno is ENOMEM, else WIO_ERR_IO. Keeps
 * errno, also in sys_errno, and appends its text. */
enum wio_status wio_error_sys(struct wio_error *err, const char *file, const char *fmt, ...)
    WIO_PRINTF(3, 4);

/* Give the caller an error that was kept aside (`err` may be NULL): its status. */
enum wio_status wio_error_pass(struct wio_error *err, const struct wio_error *cause);

/* Append one cause: "; while reading rank 3". Keeps status, file and offset; what does not fit is
 * cut. NULL: nothing is done. */
void wio_error_add(struct wio_error *err, const char *fmt, ...) WIO_PRINTF(2, 3);

/*
 * One line for a person: "'DIR/a.seg' at byte 4096: expected block magic WBLK, found 00000000".
 * Always NUL-terminated; cut at `size`. `err` must not be NULL; size 0: nothing is written.
 */
void wio_error_format(const struct wio_error *err, char *text, unsigned long size);

WIO_END_DECLS
#endif
