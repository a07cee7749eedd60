/* SPDX-License-Identifier: Apache-2.0 */
/* Stripe layouts of Lustre: any bytes, a text of printable characters or none. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "seal/lov.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[WIO_LOV_TEXT];

    memset(text, 1, sizeof(text));
    enum wio_status status = wio_lov_describe(data, size, true, text);
    if (memchr(text, '\0', sizeof(text)) == NULL || (status == WIO_OK) != (text[0] != '\0')) {
        abort();
    }
    for (const char *at = text; *at != '\0'; at++) {
        if (*at < ' ' || *at > '~') {
            abort();
        }
    }
    return 0;
}
