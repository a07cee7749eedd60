/* SPDX-License-Identifier: Apache-2.0 */
#include "messages.h"

#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/io.h"
#include "report/line.h"

enum { BUFFER_BYTES = 8192, ESCAPE_BYTES = 4 };

/* At most BUFFER_BYTES of whole lines, or of what is flushed. */
static size_t escape(const char *text, size_t size, char *out)
{
    static const char hex[] = "0123456789abcdef";
    size_t used = 0;
    for (size_t at = 0; at < size;) {
        size_t plain = text[at] == '\n' ? 1 : wio_plain_bytes(text + at, size - at);
        for (size_t i = 0; i < plain; i++) {
            out[used++] = text[at + i];
        }
        at += plain;
        if (plain == 0) {
            unsigned char byte = (unsigned char)text[at++];
            const char escaped[ESCAPE_BYTES] = {'\\', 'x', hex[byte >> 4], hex[byte & 15]};
            for (size_t i = 0; i < ESCAPE_BYTES; i++) {
                out[used++] = escaped[i];
            }
        }
    }
    return used;
}

static ssize_t put(void *cookie, const char *text, size_t size)
{
    char out[ESCAPE_BYTES * BUFFER_BYTES];
    (void)cookie;
    for (size_t at = 0; at < size; at += BUFFER_BYTES) {
        size_t piece = size - at < BUFFER_BYTES ? size - at : BUFFER_BYTES;
        size_t bytes = escape(text + at, piece, out);
        if (wio_io_write(STDERR_FILENO, "stderr", out, bytes, NULL) != WIO_OK) {
            return 0;
        }
    }
    return (ssize_t)size;
}

void messages_begin(void)
{
    static char buffer[BUFFER_BYTES];
    FILE *escaped = fopencookie(NULL, "w", (cookie_io_functions_t){.write = put});
    if (escaped != NULL) {
        (void)setvbuf(escaped, buffer, _IOLBF, sizeof(buffer));
        stderr = escaped;
    }
}
