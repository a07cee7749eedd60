/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Job names as text on one line, as Lustre writes them: letters, digits and . @ - _ : / as they
 * are; where there is anything else, or a colon, or an @ in front, the name is in double quotes and
 * every other byte is \xHH. Here a name is quoted also where a YAML reader would take it for
 * something else than a text (a number stays a number, as in Lustre's output), and where it is
 * empty.
 */
#ifndef WIO_JOB_QUOTE_H
#define WIO_JOB_QUOTE_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the longest text, with its quotes, of a name of `bytes`; no NUL is written. */
#define WIO_JOB_QUOTED_BYTES(bytes) (4 * (bytes) + 2)

/* Writes at most WIO_JOB_QUOTED_BYTES(bytes); gives how many. */
size_t wio_job_quote(const char *name, size_t bytes, char *text_out);

/* The name of a text that may be quoted; one that is not is taken as it is, a line end behind it is
 * not part of it. false where there is a quote or an escape that is no \xHH, where it is empty, has
 * a NUL or more than `size` bytes. `name_out` may be `text`. */
bool wio_job_unquote(const char *text, size_t bytes, char *name_out, size_t size,
                     size_t *bytes_out);

#endif
