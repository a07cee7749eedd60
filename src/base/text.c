/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fmt.h"

/* K, M .. and the power of two, -1 where it is no unit. The whole of `unit` must match. */
static int unit_shift(const char *unit)
{
    static const char letters[] = "KMGTPE";
    if (unit[0] == '\0' || strcmp(unit, "B") == 0) {
        return 0;
    }
    const char *letter = strchr(letters, toupper((unsigned char)unit[0]));
    if (letter == NULL) {
        return -1;
    }
    if (unit[1] != '\0' && strcmp(unit + 1, "iB") != 0 && strcmp(unit + 1, "B") != 0) {
        return -1;
    }
    return 10 * (int)(letter - letters + 1);
}

enum wio_status wio_parse_size(const char *text, uint64_t *bytes_out)
{
    uint64_t value = 0;
    if (!wio_scan_u64(&text, &value)) {
        return WIO_ERR_USAGE;
    }
    int shift = unit_shift(text);
    if (shift < 0 || (value << shift) >> shift != value) {
        return WIO_ERR_USAGE;
    }
    *bytes_out = value << shift;
    return WIO_OK;
}

enum wio_status wio_parse_u64(const char *text, uint64_t *out)
{
    uint64_t value = 0;
    if (!wio_scan_u64(&text, &value) || *text != '\0') {
        return WIO_ERR_USAGE;
    }
    *out = value;
    return WIO_OK;
}

/* A finite number at *text, decimal (no "0x10", no "nan"); moves *text behind it. */
static bool scan_double(const char **text, double *out)
{
    const char *at = *text + (**text == '-' || **text == '+' ? 1 : 0);
    bool starts_like_number =
        isdigit((unsigned char)at[0]) || (at[0] == '.' && isdigit((unsigned char)at[1]));
    if (!starts_like_number || (at[0] == '0' && (at[1] == 'x' || at[1] == 'X'))) {
        return false;
    }
    char *end = NULL;
    double value = strtod(*text, &end);
    if (end == *text || !isfinite(value)) {
        return false;
    }
    *text = end;
    *out = value;
    return true;
}

enum wio_status wio_parse_double(const char *text, double *out)
{
    double value = 0;
    if (!scan_double(&text, &value) || *text != '\0') {
        return WIO_ERR_USAGE;
    }
    *out = value;
    return WIO_OK;
}

enum wio_status wio_parse_time(const char *text, uint64_t *ns_out)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"", 1e9},  {"ns", 1},   {"us", 1e3},   {"ms", 1e6},
                 {"s", 1e9}, {"m", 60e9}, {"min", 60e9}, {"h", 3600e9}};
    double value = 0;
    if (!scan_double(&text, &value) || value < 0) {
        return WIO_ERR_USAGE;
    }
    for (size_t i = 0; i < WIO_ARRAY_SIZE(units); i++) {
        if (strcmp(text, units[i].unit) == 0) {
            double ns = value * units[i].ns;
            if (ns >= 18446744073709551615.0) {
                return WIO_ERR_USAGE;
            }
            *ns_out = (uint64_t)(ns + 0.5);
            return WIO_OK;
        }
    }
    return WIO_ERR_USAGE;
}

/* Three significant digits: "1.50", "12.3", "105". */
static void print_scaled(char *text, double value, const char *unit)
{
    int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    (void)snprintf(text, WIO_TEXT_MAX, "%.*f %s", decimals, value, unit);
}

static void print_bytes(char *text, double bytes, const char *const units[7])
{
    int i = 0;
    while (bytes >= 1023.5 && i < 6) {
        bytes /= 1024;
        i++;
    }
    print_scaled(text, bytes, units[i]);
}

char *wio_format_size(char *text, uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (bytes < 1024) {
        (void)snprintf(text, WIO_TEXT_MAX, "%" PRIu64 " B", bytes);
    } else {
        print_bytes(text, (double)bytes, units);
    }
    return text;
}

char *wio_format_rate(char *text, double bytes_per_s)
{
    static const char *const units[] = {"B/s",   "KiB/s", "MiB/s", "GiB/s",
                                        "TiB/s", "PiB/s", "EiB/s"};
    if (!isfinite(bytes_per_s) || bytes_per_s < 0) {
        (void)snprintf(text, WIO_TEXT_MAX, "- B/s");
    } else {
        print_bytes(text, bytes_per_s, units);
    }
    return text;
}

static void format_long_time(char *text, uint64_t seconds)
{
    if (seconds < 3600) {
        (void)snprintf(text, WIO_TEXT_MAX, "%" PRIu64 " min %02" PRIu64 " s", seconds / 60,
                       seconds % 60);
    } else {
        (void)snprintf(text, WIO_TEXT_MAX, "%" PRIu64 " h %02" PRIu64 " min", seconds / 3600,
                       seconds % 3600 / 60);
    }
}

char *wio_format_time(char *text, uint64_t ns)
{
    if (ns < 1000) {
        (void)snprintf(text, WIO_TEXT_MAX, "%" PRIu64 " ns", ns);
    } else if (ns < 999500) {
        print_scaled(text, (double)ns / 1e3, "us");
    } else if (ns < 999500000) {
        print_scaled(text, (double)ns / 1e6, "ms");
    } else if (ns < 99500000000ull) {
        print_scaled(text, (double)ns / 1e9, "s");
    } else {
        format_long_time(text, ns / 1000000000 + (ns % 1000000000 >= 500000000 ? 1 : 0));
    }
    return text;
}

char *wio_format_count(char *text, uint64_t count)
{
    char digits[24];
    size_t length = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, count);
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) {
            text[used++] = ',';
        }
        text[used++] = digits[i];
    }
    text[used] = '\0';
    return text;
}

#define WORD_MAX 63

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
    unsigned low = a < b ? a : b;
    return low < c ? low : c;
}

/* rows[i][j]: cost from the first i letters of a to the first j of b; three rows are enough. */
static void next_row(const char *a, const char *b, size_t i, const unsigned *before,
                     const unsigned *above, unsigned *row)
{
    row[0] = (unsigned)i;
    for (size_t j = 1; b[j - 1] != '\0'; j++) {
        unsigned change = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
        row[j] = min3(above[j] + 1, row[j - 1] + 1, change);
        bool is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
        if (is_swap && before[j - 2] + 1 < row[j]) {
            row[j] = before[j - 2] + 1;
        }
    }
}

unsigned wio_text_distance(const char *a, const char *b)
{
    unsigned rows[3][WORD_MAX + 1];
    size_t a_bytes = strlen(a);
    size_t b_bytes = strlen(b);
    if (a_bytes > WORD_MAX || b_bytes > WORD_MAX) {
        return strcmp(a, b) == 0 ? 0 : (unsigned)(a_bytes > b_bytes ? a_bytes : b_bytes);
    }
    memset(rows, 0, sizeof(rows));
    for (size_t j = 0; j <= b_bytes; j++) {
        rows[0][j] = (unsigned)j;
    }
    for (size_t i = 1; i <= a_bytes; i++) {
        next_row(a, b, i, rows[(i + 1) % 3], rows[(i - 1) % 3], rows[i % 3]);
    }
    return rows[a_bytes % 3][b_bytes];
}

bool wio_text_ends_with(const char *text, const char *end)
{
    size_t length = strlen(text);
    size_t end_length = strlen(end);
    return length > end_length && strcmp(text + length - end_length, end) == 0;
}
