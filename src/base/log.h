/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages for developers, silent by default (WHYIO_LOG). Not for errors of the user: those are
 * struct wio_error. Write `#define WIO_LOG_TAG "trace/reader"` before the include.
 */
#ifndef WIO_BASE_LOG_H
#define WIO_BASE_LOG_H

#include <whyio/status.h>

enum wio_log_level {
    WIO_LOG_OFF,
    WIO_LOG_ERROR,
    WIO_LOG_WARN,
    WIO_LOG_INFO,
    WIO_LOG_DEBUG,
    WIO_LOG_TRACE
};

enum wio_log_level wio_log_level(void);
void wio_log_write(enum wio_log_level level, const char *tag, const char *fmt, ...)
    WIO_PRINTF(3, 4);

#define WIO_LOG(level, ...)                                                                        \
    do {                                                                                           \
        if ((level) <= wio_log_level()) {                                                          \
            wio_log_write((level), WIO_LOG_TAG, __VA_ARGS__);                                      \
        }                                                                                          \
    } while (0)

#endif
