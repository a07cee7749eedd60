/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of an operation list: nothing outside the line is read or written, what is accepted is
 * within its bounds, and what is refused says where. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "predict/ops/ops_line.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *line = malloc(size > 0 ? size : 1);
    struct wio_ops_line out;
    struct wio_error err = WIO_ERROR_INIT;
    require(line != NULL);
    memcpy(line, size > 0 ? data : (const uint8_t *)"", size);
    if (wio_ops_line_parse(line, size, &out, &err) == WIO_OK) {
        require(out.file >= line && out.file + out.file_bytes <= line + size);
        require(out.op.offset + out.op.size <= (uint64_t)1 << 53);
        require(isfinite(out.op.delay_s) && out.op.delay_s >= 0);
    } else {
        require(err.offset <= size && err.message[0] != '\0');
    }
    free(line);
    return 0;
}
