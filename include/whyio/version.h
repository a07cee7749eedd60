/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The version of libwhyio. Below 1.0 another minor number is another soname (libwhyio.so.0.MINOR):
 * structures and the numbers of operations may differ. Another patch number changes neither.
 */
#ifndef WHYIO_VERSION_H
#define WHYIO_VERSION_H

#include <whyio/status.h>

WIO_BEGIN_DECLS

#define WIO_VERSION_MAJOR 0
#define WIO_VERSION_MINOR 1
#define WIO_VERSION_PATCH 0

/* "0.1.0", of the library that is loaded; the macros above are of the headers. Static. Any thread.
 */
const char *wio_version(void);

WIO_END_DECLS
#endif
