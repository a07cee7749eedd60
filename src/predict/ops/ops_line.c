/* SPDX-License-Identifier: Apache-2.0 */
#include "predict/ops/ops_line.h"

#include <ctype.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "predict/ops/scan.h"

#define SHOWN_MAX 40 /* characters of a wrong value */

enum key { KEY_FILE, KEY_OFFSET, KEY_SIZE, KEY_DELAY, KEY_METHOD, KEY_RANDOM, KEY_OTHER };

static const char *const key_names[] = {"file", "offset", "size", "delay_s", "method", "random"};

static enum key find_key(const char *text, size_t bytes)
{
    unsigned key = 0;
    while (key < KEY_OTHER &&
           (strlen(key_names[key]) != bytes || memcmp(key_names[key], text, bytes) != 0)) {
        key++;
    }
    return (enum key)key;
}

/* The value that begins here is not of the kind that `name` has: say what stands there. */
static enum wio_status refuse_kind(const struct wio_scan *scan, const char *name, const char *kind)
{
    const char *stop = scan->at;
    while (stop < scan->end && stop - scan->at < SHOWN_MAX && strchr(",}] \t\r", *stop) == NULL) {
        stop++;
    }
    return wio_error_set(scan->err, WIO_ERR_FORMAT, NULL, (uint64_t)(scan->at - scan->begin),
                         "expected \"%s\" to be %s, found %.*s", name, kind, (int)(stop - scan->at),
                         scan->at);
}

static enum wio_status take_number(struct wio_scan *scan, const char *name,
                                   struct wio_scan_number *out)
{
    wio_scan_blanks(scan);
    if (wio_scan_number(scan, out) != WIO_OK) {
        return refuse_kind(scan, name, "a number");
    }
    return WIO_OK;
}

static enum wio_status take_file(struct wio_scan *scan, struct wio_ops_line *out)
{
    if (wio_scan_peek(scan) == '"') {
        return wio_scan_text(scan, &out->file, &out->file_bytes);
    }
    struct wio_scan_number number;
    out->file = scan->at;
    if (wio_scan_number(scan, &number) != WIO_OK) {
        return refuse_kind(scan, "file", "a text or a number");
    }
    out->file_bytes = (size_t)(scan->at - out->file);
    return WIO_OK;
}

static enum wio_status take_whole(struct wio_scan *scan, const char *name, uint64_t *out)
{
    struct wio_scan_number number;
    wio_scan_blanks(scan);
    char *start = scan->at;
    WIO_TRY(take_number(scan, name, &number));
    if (!number.is_whole) {
        return wio_error_set(scan->err, WIO_ERR_FORMAT, NULL, (uint64_t)(start - scan->begin),
                             "expected \"%s\" to be a whole number of bytes from 0 to 2^53, "
                             "found %.*s",
                             name, (int)(scan->at - start), start);
    }
    *out = number.whole;
    return WIO_OK;
}

static enum wio_status take_delay(struct wio_scan *scan, double *out)
{
    struct wio_scan_number number;
    wio_scan_blanks(scan);
    char *start = scan->at;
    WIO_TRY(take_number(scan, "delay_s", &number));
    if (!(number.value >= 0 && number.value <= WIO_MODEL_DELAY_MAX_S)) {
        return wio_error_set(scan->err, WIO_ERR_FORMAT, NULL, (uint64_t)(start - scan->begin),
                             "expected \"delay_s\" to be seconds from 0 to %g, found %.*s",
                             WIO_MODEL_DELAY_MAX_S, (int)(scan->at - start), start);
    }
    *out = number.value;
    return WIO_OK;
}

static enum wio_status take_method(struct wio_scan *scan, enum wio_model_method *out)
{
    static const char *const names[WIO_MODEL_METHOD_COUNT] = {
        [WIO_MODEL_WRITE] = "write",       [WIO_MODEL_DIRECT] = "direct",
        [WIO_MODEL_SYNC] = "sync",         [WIO_MODEL_FWRITE] = "fwrite",
        [WIO_MODEL_FFLUSH] = "fflush",     [WIO_MODEL_FSYNC] = "fsync",
        [WIO_MODEL_READ] = "read",         [WIO_MODEL_READ_DIRECT] = "read_direct",
        [WIO_MODEL_TRUNCATE] = "truncate", [WIO_MODEL_DIRECT_NOSYNC] = "direct_nosync",
        [WIO_MODEL_SYNCFS] = "syncfs",     [WIO_MODEL_WRITE_OUT] = "write_out",
        [WIO_MODEL_FORGET] = "forget",     [WIO_MODEL_FDATASYNC] = "fdatasync",
    };
    const char *text;
    size_t bytes;
    wio_scan_blanks(scan);
    char *start = scan->at;
    if (wio_scan_peek(scan) != '"') {
        return refuse_kind(scan, "method", "a text in quotes");
    }
    WIO_TRY(wio_scan_text(scan, &text, &bytes));
    for (unsigned i = 0; i < WIO_MODEL_METHOD_COUNT; i++) {
        if (strlen(names[i]) == bytes && memcmp(names[i], text, bytes) == 0) {
            *out = (enum wio_model_method)i;
            return WIO_OK;
        }
    }
    return wio_error_set(scan->err, WIO_ERR_FORMAT, NULL, (uint64_t)(start - scan->begin),
                         "expected \"method\" to be write, direct, direct_nosync, sync, fwrite, "
                         "fflush, fsync, fdatasync, syncfs, read, "
                         "read_direct, truncate, write_out or forget, found \"%.*s\"",
                         (int)(bytes < SHOWN_MAX ? bytes : SHOWN_MAX), text);
}

static enum wio_status take_random(struct wio_scan *scan, enum wio_model_random *out)
{
    wio_scan_blanks(scan);
    if (wio_scan_word(scan, "true")) {
        *out = WIO_MODEL_RANDOM_YES;
        return WIO_OK;
    }
    *out = WIO_MODEL_RANDOM_NO;
    return wio_scan_word(scan, "false")
               ? WIO_OK
               : wio_scan_expected(scan, "\"random\" to be true, false or null");
}

static enum wio_status take_value(struct wio_scan *scan, enum key key, struct wio_ops_line *out)
{
    switch (key) {
    case KEY_FILE:
        return take_file(scan, out);
    case KEY_OFFSET:
        return take_whole(scan, "offset", &out->op.offset);
    case KEY_SIZE:
        return take_whole(scan, "size", &out->op.size);
    case KEY_DELAY:
        return take_delay(scan, &out->op.delay_s);
    case KEY_METHOD:
        return take_method(scan, &out->op.method);
    case KEY_RANDOM:
        return take_random(scan, &out->op.random);
    case KEY_OTHER:
    default:
        return wio_scan_skip(scan);
    }
}

#define MISSPELT_MAX 16   /* longer ones are other words */
#define MISSPELT_BEGIN 4  /* as many letters alike are no chance .. */
#define MISSPELT_WRONG 2u /* .. nor are so few wrong ones */

/* Without one of these keys a line is right, but says something else. */
static void note_misspelt(const char *name, size_t bytes, struct wio_ops_line *out)
{
    static const char *const optional[] = {"delay_s", "method", "random"};
    char text[MISSPELT_MAX];
    if (bytes == 0 || bytes >= sizeof(text) || strchr("dDmMrR", name[0]) == NULL) {
        return;
    }
    for (size_t i = 0; i < bytes; i++) {
        text[i] = (char)tolower((unsigned char)name[i]);
    }
    text[bytes] = '\0';
    for (size_t i = 0; i < WIO_ARRAY_SIZE(optional); i++) {
        if (strncmp(text, optional[i], MISSPELT_BEGIN) == 0 ||
            wio_text_distance(text, optional[i]) <= MISSPELT_WRONG) {
            out->misspelt = name;
            out->misspelt_bytes = bytes;
            out->meant = optional[i];
        }
    }
}

/* One member; sets the bit of its key in *seen unless it is null. */
static enum wio_status take_member(struct wio_scan *scan, struct wio_ops_line *out, unsigned *seen)
{
    const char *name;
    size_t bytes;
    WIO_TRY(wio_scan_text(scan, &name, &bytes));
    enum key key = find_key(name, bytes);
    if (!wio_scan_take(scan, ':')) {
        return wio_scan_expected(scan, "':'");
    }
    if (wio_scan_peek(scan) == 'n' && wio_scan_word(scan, "null")) {
        return WIO_OK;
    }
    if (key != KEY_OTHER && (*seen & 1u << key) != 0) {
        return wio_error_set(scan->err, WIO_ERR_FORMAT, NULL, (uint64_t)(scan->at - scan->begin),
                             "expected each key once, found \"%s\" again", key_names[key]);
    }
    *seen |= 1u << key;
    if (key == KEY_OTHER) {
        note_misspelt(name, bytes, out);
    }
    return take_value(scan, key, out);
}

static enum wio_status check_wanted(const struct wio_scan *scan, const struct wio_ops_line *line,
                                    unsigned seen)
{
    bool is_cut = line->op.method == WIO_MODEL_TRUNCATE;
    bool is_flush = !is_cut && wio_model_flow(line->op.method) == WIO_MODEL_MOVES_NOTHING;
    if ((seen & 1u << KEY_FILE) == 0) {
        return wio_scan_expected(scan, "\"file\": it is missing");
    }
    if (!is_flush && (seen & 1u << KEY_OFFSET) == 0) {
        return wio_scan_expected(scan, "\"offset\": it is missing");
    }
    if (!is_flush && !is_cut && (seen & 1u << KEY_SIZE) == 0) {
        return wio_scan_expected(scan, "\"size\": it is missing");
    }
    if (line->op.size > WIO_SCAN_WHOLE_MAX - line->op.offset) {
        return wio_scan_expected(scan, "\"offset\" and \"size\" within 2^53 bytes");
    }
    return WIO_OK;
}

enum wio_status wio_ops_line_parse(char *line, size_t bytes, struct wio_ops_line *out,
                                   struct wio_error *err)
{
    struct wio_scan scan = {line, line, line + bytes, err};
    unsigned seen = 0;
    *out = (struct wio_ops_line){.op = {.method = WIO_MODEL_WRITE}};
    if (!wio_scan_take(&scan, '{')) {
        return wio_scan_expected(&scan, "'{': one JSON object per line");
    }
    if (!wio_scan_take(&scan, '}')) {
        do {
            WIO_TRY(take_member(&scan, out, &seen));
        } while (wio_scan_take(&scan, ','));
        if (!wio_scan_take(&scan, '}')) {
            return wio_scan_expected(&scan, "',' or '}'");
        }
    }
    wio_scan_blanks(&scan);
    if (scan.at != scan.end) {
        return wio_scan_expected(&scan, "the end of the line behind '}'");
    }
    return check_wanted(&scan, out, seen);
}
