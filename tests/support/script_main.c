/* SPDX-License-Identifier: Apache-2.0 */
/* script DIR < SCRIPT: make a trace by hand (script.h) in the existing directory DIR. */
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "support/script.h"

int main(int argc, char **argv)
{
    struct wio_blob text = {0};
    size_t bytes;
    if (argc != 2) {
        return 2;
    }
    do {
        if (wio_blob_reserve(&text, 65536) != WIO_OK) {
            return 2;
        }
        bytes = fread(text.data + text.size, 1, 65535, stdin);
        text.size += bytes;
    } while (bytes > 0);
    text.data[text.size] = '\0';
    script_write((const char *)text.data, argv[1]);
    wio_blob_fini(&text);
    return 0;
}
