/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stripe layout of a file on Lustre as text, FORMAT.md R-FILE-1 and R-FILE-2: from its extended
 * attribute `lustre.lov` (struct lov_user_md of version 1 or 3, or a composite layout of these),
 * which are bytes of the file system's and may be anything.
 *
 *     "stripe_count=4 stripe_size=1048576 pool=flash"
 *     "from=0 to=67108864 stripe_count=1 stripe_size=1048576; from=67108864 to=eof .."
 *
 * Thread safety: nothing is shared between calls.
 */
#ifndef WIO_SEAL_LOV_H
#define WIO_SEAL_LOV_H

#include <stdbool.h>
#include <stddef.h>

#include <whyio/status.h>

#define WIO_LOV_TEXT 1024u
#define WIO_LOV_COMPONENTS 12u /* those behind are "; .." */

/* `text` has room for WIO_LOV_TEXT bytes. Names of pools only where `has_names`.
 * WIO_ERR_UNSUPPORTED: another kind of layout; WIO_ERR_TRUNCATED, WIO_ERR_FORMAT: it is none. The
 * text is empty then. */
WIO_MUST_CHECK enum wio_status wio_lov_describe(const void *bytes, size_t size, bool has_names,
                                                char *text);
/* The same for a file; "" where it has no such layout, or none that is known. */
void wio_lov_of_file(const char *path, bool has_names, char *text);

#endif
