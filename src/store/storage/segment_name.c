/* SPDX-License-Identifier: Apache-2.0 */
#include "store/storage/segment_name.h"

#include <string.h>

#include "base/fmt.h"

enum { FILE_DIGITS = 16, SEGMENT_DIGITS = 3 };

void segment_dir_name(char name[SEGMENT_NAME_BYTES], unsigned dir)
{
    struct wio_fmt fmt = wio_fmt_of(name, SEGMENT_NAME_BYTES);
    wio_fmt_str(&fmt, "data/");
    wio_fmt_hex(&fmt, dir, 2);
}

void segment_name(char name[SEGMENT_NAME_BYTES], struct wio_segment_id id)
{
    struct wio_fmt fmt = wio_fmt_of(name, SEGMENT_NAME_BYTES);
    wio_fmt_str(&fmt, "data/");
    wio_fmt_hex(&fmt, segment_dir(id.file), 2);
    wio_fmt_str(&fmt, "/");
    wio_fmt_hex(&fmt, id.file, FILE_DIGITS);
    wio_fmt_str(&fmt, ".");
    wio_fmt_hex(&fmt, id.segment, SEGMENT_DIGITS);
}

static bool parse_hex(const char *text, size_t digits, uint64_t *out)
{
    static const char hex[] = "0123456789abcdef";
    *out = 0;
    for (size_t i = 0; i < digits; i++) {
        const char *digit = text[i] != '\0' ? strchr(hex, text[i]) : NULL;
        if (digit == NULL) {
            return false;
        }
        *out = *out << 4 | (uint64_t)(digit - hex);
    }
    return true;
}

bool segment_name_parse(const char *name, unsigned dir, struct wio_segment_id *id_out)
{
    uint64_t segment = 0;
    if (strlen(name) != FILE_DIGITS + 1 + SEGMENT_DIGITS || name[FILE_DIGITS] != '.' ||
        !parse_hex(name, FILE_DIGITS, &id_out->file) ||
        !parse_hex(name + FILE_DIGITS + 1, SEGMENT_DIGITS, &segment)) {
        return false;
    }
    id_out->segment = (uint32_t)segment;
    return segment_dir(id_out->file) == dir;
}
