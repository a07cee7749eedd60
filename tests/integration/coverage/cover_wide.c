/* SPDX-License-Identifier: Apache-2.0 */
/* stdio with wide characters, in the C locale: a byte each. */
#include <limits.h>
#include <wchar.h>

#include "cover_stdio.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define LINES 12
#define LINE_BYTES 5

static wchar_t room[256];

/* Where a wide stream stands is known only to its converter: no offset. */
static void expect(const struct place *place, const char *symbol, long bytes)
{
    RECORD(symbol, bytes, 0, "fd=%d path=%s size=%ld", place->fd, place->path, bytes);
}

static void list_out(const char *symbol, const struct place *out, const wchar_t *format, ...)
{
    va_list list;
    va_start(list, format);
    if (strcmp(symbol, "vwprintf") == 0) {
        CALL(INT, symbol, P(format), P(list));
    } else if (strcmp(symbol, "__vwprintf_chk") == 0) {
        CALL(INT, symbol, 1, P(format), P(list));
    } else if (strcmp(symbol, "vfwprintf") == 0) {
        CALL(INT, symbol, P(out->stream), P(format), P(list));
    } else {
        CALL(INT, symbol, P(out->stream), 1, P(format), P(list));
    }
    va_end(list);
    expect(out, symbol, 5);
}

/* glibc converts into a small buffer and writes each piece: MB_LEN_MAX bytes. */
static void flush(const struct place *out, long bytes)
{
    CALL(INT, "fflush", P(out->stream));
    for (long at = 0; at < bytes; at += MB_LEN_MAX) {
        long piece = bytes - at < MB_LEN_MAX ? bytes - at : MB_LEN_MAX;
        RECORD("write", piece, 0, "fd=%d path=%s offset=%ld size=%ld", out->fd, out->path, at,
               piece);
    }
    RECORD("fflush", 0, 0, "fd=%d path=%s", out->fd, out->path);
}

static void writing(void)
{
    static const char *const putters[] = {"fputwc", "fputwc_unlocked", "putwc", "putwc_unlocked"};
    static const char *const texts[] = {"fputws", "fputws_unlocked"};
    struct place out = place_open("wide.txt", "w");
    (void)fwide(out.stream, 1);
    for (size_t i = 0; i < COUNT(putters); i++) {
        CALL(UNSIGNED, putters[i], 'x', P(out.stream));
        expect(&out, putters[i], 1);
    }
    for (size_t i = 0; i < COUNT(texts); i++) {
        CALL(INT, texts[i], P(L"line\n"), P(out.stream));
        expect(&out, texts[i], 5);
    }
    CALL(INT, "fwprintf", P(out.stream), P(L"%d\n"), 1234);
    expect(&out, "fwprintf", 5);
    CALL(INT, "__fwprintf_chk", P(out.stream), 1, P(L"%d\n"), 1234);
    expect(&out, "__fwprintf_chk", 5);
    list_out("vfwprintf", &out, L"%d\n", 1234);
    list_out("__vfwprintf_chk", &out, L"%d\n", 1234);
    flush(&out, 34);
    place_close(&out);
}

static struct place take_over(FILE *stream, const char *name, const char *mode)
{
    struct place place = {.path = in_dir(name), .stream = stream, .fd = fileno(stream)};
    int flags = mode[0] == 'w' ? O_WRONLY | O_CREAT | O_TRUNC : O_RDONLY;
    CALL(LONG, "freopen", P(place.path), P(mode), P(stream));
    RECORD("freopen", place.fd, 0, "path=%s a0=%d a1=438", place.path, flags);
    RECORD("open", place.fd, 0, "path=%s a0=%d a1=438", place.path, flags);
    place_buffer(&place);
    (void)fwide(stream, 1);
    return place;
}

static void standard_out(void)
{
    struct place out = take_over(stdout, "wide-stdout.txt", "w");
    CALL(UNSIGNED, "putwchar", 'x');
    expect(&out, "putwchar", 1);
    CALL(UNSIGNED, "putwchar_unlocked", 'x');
    expect(&out, "putwchar_unlocked", 1);
    CALL(INT, "wprintf", P(L"%d\n"), 1234);
    expect(&out, "wprintf", 5);
    CALL(INT, "__wprintf_chk", 1, P(L"%d\n"), 1234);
    expect(&out, "__wprintf_chk", 5);
    list_out("vwprintf", &out, L"%d\n", 1234);
    list_out("__vwprintf_chk", &out, L"%d\n", 1234);
    flush(&out, 22);
}

static void make_lines(const char *name)
{
    static char lines[LINES * LINE_BYTES + 1];
    for (int i = 0; i < LINES; i++) {
        (void)snprintf(lines + (size_t)i * LINE_BYTES, LINE_BYTES + 1, "%04d\n", i);
    }
    raw_write_file(in_dir(name), lines);
}

static void filled(const struct place *in)
{
    RECORD("read", LINES * LINE_BYTES, 0, "fd=%d path=%s offset=0 size=*", in->fd, in->path);
}

/* What they take is in characters that were converted before: no size. */
static void expect_scanned(const struct place *in, const char *symbol)
{
    RECORD(symbol, 0, 0, "fd=%d path=%s", in->fd, in->path);
}

static void list_in(const char *symbol, const struct place *in, const wchar_t *format, ...)
{
    va_list list;
    va_start(list, format);
    if (strstr(symbol, "vfwscanf") != NULL) {
        CALL(INT, symbol, P(in->stream), P(format), P(list));
    } else {
        CALL(INT, symbol, P(format), P(list));
    }
    va_end(list);
    expect_scanned(in, symbol);
}

static void scanned(const struct place *in)
{
    static const char *const direct[] = {"fwscanf", "__isoc99_fwscanf", "__isoc23_fwscanf"};
    static const char *const listed[] = {"vfwscanf", "__isoc99_vfwscanf", "__isoc23_vfwscanf"};
    int number;
    for (size_t i = 0; i < COUNT(direct); i++) {
        if (is_there(direct[i])) {
            CALL(INT, direct[i], P(in->stream), P(L"%d"), P(&number));
            expect_scanned(in, direct[i]);
        }
        if (is_there(listed[i])) {
            list_in(listed[i], in, L"%d", &number);
        }
    }
}

static void scanned_from_standard_in(const struct place *in)
{
    static const char *const direct[] = {"wscanf", "__isoc99_wscanf", "__isoc23_wscanf"};
    static const char *const listed[] = {"vwscanf", "__isoc99_vwscanf", "__isoc23_vwscanf"};
    int number;
    for (size_t i = 0; i < COUNT(direct); i++) {
        if (is_there(direct[i])) {
            CALL(INT, direct[i], P(L"%d"), P(&number));
            expect_scanned(in, direct[i]);
        }
        if (is_there(listed[i])) {
            list_in(listed[i], in, L"%d", &number);
        }
    }
}

static void reading(void)
{
    static const char *const getters[] = {"fgetwc", "fgetwc_unlocked", "getwc", "getwc_unlocked"};
    static const char *const checked[] = {"__fgetws_chk", "__fgetws_unlocked_chk"};
    static const char *const plain[] = {"fgetws", "fgetws_unlocked"};
    make_lines("wide-in.txt");
    struct place in = place_open("wide-in.txt", "r");
    (void)fwide(in.stream, 1);
    for (size_t i = 0; i < COUNT(getters); i++) {
        CALL(UNSIGNED, getters[i], P(in.stream));
        if (i == 0) {
            filled(&in);
        }
        expect(&in, getters[i], 1);
    }
    CALL(UNSIGNED, "ungetwc", 'u', P(in.stream));
    expect(&in, "ungetwc", 1);
    CALL(UNSIGNED, "fgetwc", P(in.stream));
    expect(&in, "fgetwc", 1);
    CALL(LONG, "fgetws", P(room), 100, P(in.stream));
    expect(&in, "fgetws", 1);
    for (size_t i = 0; i < COUNT(plain); i++) {
        CALL(LONG, plain[i], P(room), 100, P(in.stream));
        expect(&in, plain[i], LINE_BYTES);
        CALL(LONG, checked[i], P(room), COUNT(room), 100, P(in.stream));
        expect(&in, checked[i], LINE_BYTES);
    }
    scanned(&in);
    place_close(&in);
}

static void standard_in(void)
{
    make_lines("wide-stdin.txt");
    struct place in = take_over(stdin, "wide-stdin.txt", "r");
    CALL0(UNSIGNED, "getwchar");
    filled(&in);
    expect(&in, "getwchar", 1);
    CALL0(UNSIGNED, "getwchar_unlocked");
    expect(&in, "getwchar_unlocked", 1);
    scanned_from_standard_in(&in);
    CALL(INT, "fclose", P(stdin));
    RECORD("close", 0, 0, "fd=0 path=%s", in.path);
    RECORD("fclose", 0, 0, "fd=0 path=%s", in.path);
}

COVER_MAIN(writing, standard_out, reading, standard_in)
