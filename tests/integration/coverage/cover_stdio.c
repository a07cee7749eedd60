/* SPDX-License-Identifier: Apache-2.0 */
/* stdio with bytes. */
#include <stdio_ext.h>
#include <unistd.h>

#include "cover_stdio.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static char text[64] = "0123456789abcdefghijklmnopqrstuvwxyz";
static char room[256];

/* ---- opening and closing ----------------------------------------------------------------------
 */

static void opening(void)
{
    static const char *const names[] = {"fopen", "fopen64"};
    const char *path = in_dir("open.txt");
    for (size_t i = 0; i < COUNT(names); i++) {
        long stream = CALL(LONG, names[i], P(path), P("w+"));
        int fd = fileno((FILE *)stream);
        RECORD(names[i], fd, 0, "path=%s a0=%d a1=438", path, O_RDWR | O_CREAT | O_TRUNC);
        RECORD("open", fd, 0, "path=%s a0=%d a1=438", path, O_RDWR | O_CREAT | O_TRUNC);
        CALL(INT, "fclose", stream);
        RECORD("close", 0, 0, "fd=%d path=%s", fd, path);
        RECORD("fclose", 0, 0, "fd=%d path=%s", fd, path);
    }
    CALL(LONG, "fopen", P("/nonexistent/x"), P("r"));
    RECORD("fopen", -1, ENOENT, "path=/nonexistent/x a0=0 a1=438");
    RECORD("open", -1, ENOENT, "path=/nonexistent/x a0=0 a1=438");
    CALL(LONG, "fopen", P(path), P("?"));
    RECORD("fopen", -1, EINVAL, "path=%s a0=-1 a1=438", path);
}

/* An appending stream looks for its end at once. */
static void appending(void)
{
    const char *path = in_dir("append.txt");
    const int flags = O_WRONLY | O_CREAT | O_APPEND;
    raw_write_file(path, "five!");
    long stream = CALL(LONG, "fopen", P(path), P("a"));
    int fd = fileno((FILE *)stream);
    RECORD("lseek", 5, 0, "fd=%d path=%s offset=0 a0=2", fd, path);
    RECORD("fopen", fd, 0, "path=%s a0=%d a1=438", path, flags);
    RECORD("open", fd, 0, "path=%s a0=%d a1=438", path, flags);
    CALL(LONG, "fwrite", P(text), 1, 4, stream);
    RECORD("fstat", 0, 0, "fd=%d path=%s a1=* a2=5 a3=1", fd, path);
    RECORD("fwrite", 4, 0, "fd=%d path=%s size=4", fd, path);
    CALL(INT, "fclose", stream);
    RECORD("write", 4, 0, "fd=%d path=%s offset=5 size=4", fd, path);
    RECORD("close", 0, 0, "fd=%d path=%s", fd, path);
    RECORD("fclose", 0, 0, "fd=%d path=%s", fd, path);
}

static void reopening(void)
{
    static const char *const names[] = {"freopen", "freopen64"};
    const char *path = in_dir("again.txt");
    struct place place = place_open("first.txt", "w");
    for (size_t i = 0; i < COUNT(names); i++) {
        CALL(LONG, names[i], P(path), P("w"), P(place.stream));
        RECORD(names[i], place.fd, 0, "path=%s a0=%d a1=438", path, O_WRONLY | O_CREAT | O_TRUNC);
        RECORD("open", place.fd, 0, "path=%s a0=%d a1=438", path, O_WRONLY | O_CREAT | O_TRUNC);
    }
    place.path = path;
    CALL(LONG, "freopen", P("/nonexistent/x"), P("r"), P(place.stream));
    RECORD("freopen", -1, ENOENT, "path=/nonexistent/x a0=0 a1=438");
    RECORD("open", -1, ENOENT, "path=/nonexistent/x a0=0 a1=438");
    RECORD("close", 0, 0, "fd=%d path=%s", place.fd, path);
}

static void over_descriptor(void)
{
    const char *path = in_dir("again.txt");
    int fd = raw_open(path, O_RDONLY);
    long stream = CALL(LONG, "fdopen", fd, P("r"));
    RECORD("fdopen", fd, 0, "fd=%d path=%s a0=0 a1=0", fd, path);
    CALL(INT, "fclose", stream);
    RECORD("close", 0, 0, "fd=%d path=%s", fd, path);
    RECORD("fclose", 0, 0, "fd=%d path=%s", fd, path);
    CALL(LONG, "fdopen", 99, P("r"));
    RECORD("fdopen", -1, EBADF, "fd=99 a0=0 a1=0");
}

static void nameless(void)
{
    static const char *const names[] = {"tmpfile", "tmpfile64"};
    for (size_t i = 0; i < COUNT(names); i++) {
        long stream = CALL0(LONG, names[i]);
        int fd = fileno((FILE *)stream);
        RECORD(names[i], fd, 0, "path=* a0=%d a1=384", O_RDWR | O_CREAT | O_EXCL);
        RECORD("open", fd, 0, "path=* a0=* a1=384");
        CALL(INT, "fclose", stream);
        RECORD("close", 0, 0, "fd=%d path=*", fd);
        RECORD("fclose", 0, 0, "fd=%d path=*", fd);
    }
}

static void piping(void)
{
    long stream = CALL(LONG, "popen", P("exit$IFS$1'3'"), P("r"));
    int fd = fileno((FILE *)stream);
    RECORD("popen", fd, 0, "path=* path2=exit$IFS$1'3' a0=0");
    CALL(INT, "pclose", stream);
    RECORD("close", 0, 0, "fd=%d path=*", fd);
    RECORD("pclose", 3 << 8, 0, "fd=%d path=*", fd);
}

/* ---- writing ----------------------------------------------------------------------------------
 */

static void blocks_out(struct place *out)
{
    static const char *const names[] = {"fwrite", "fwrite_unlocked"};
    for (size_t i = 0; i < COUNT(names); i++) {
        CALL(LONG, names[i], P(text), 2, 10, P(out->stream));
        place_expect(out, names[i], 20);
    }
    CALL(INT, "putw", 5, P(out->stream));
    place_expect(out, "putw", 4);
}

static void texts_out(struct place *out)
{
    static const char *const names[] = {"fputs", "fputs_unlocked"};
    for (size_t i = 0; i < COUNT(names); i++) {
        CALL(INT, names[i], P("a line\n"), P(out->stream));
        place_expect(out, names[i], 7);
    }
}

static void characters_out(struct place *out)
{
    static const char *const names[] = {"fputc", "fputc_unlocked", "putc", "putc_unlocked",
                                        "_IO_putc"};
    for (size_t i = 0; i < COUNT(names); i++) {
        CALL(INT, names[i], 'x', P(out->stream));
        place_expect(out, names[i], 1);
    }
    /* Called by putc_unlocked where the buffer has no room; here it has. */
    CALL(INT, "__overflow", P(out->stream), 'x');
    place_expect(out, "__overflow", 1);
}

static void call_with_list(const char *symbol, struct place *out, const char *format, ...)
{
    va_list list;
    bool is_checked = strstr(symbol, "_chk") != NULL;
    va_start(list, format);
    if (is_checked) {
        CALL(INT, symbol, P(out->stream), 1, P(format), P(list));
    } else {
        CALL(INT, symbol, P(out->stream), P(format), P(list));
    }
    va_end(list);
}

static void formatted_out(struct place *out)
{
    CALL(INT, "fprintf", P(out->stream), P("%d\n"), 1234);
    place_expect(out, "fprintf", 5);
    CALL(INT, "__fprintf_chk", P(out->stream), 1, P("%d\n"), 1234);
    place_expect(out, "__fprintf_chk", 5);
    call_with_list("vfprintf", out, "%d\n", 12345);
    place_expect(out, "vfprintf", 6);
    call_with_list("__vfprintf_chk", out, "%d\n", 12345);
    place_expect(out, "__vfprintf_chk", 6);
}

static void writing(void)
{
    struct place out = place_open("out.txt", "w");
    blocks_out(&out);
    texts_out(&out);
    characters_out(&out);
    formatted_out(&out);
    place_flush(&out, out.at);
    CALL(LONG, "fwrite", P(text), 1, 3, P(out.stream));
    place_expect(&out, "fwrite", 3);
    CALL(INT, "fflush_unlocked", P(out.stream));
    RECORD("write", 3, 0, "fd=%d path=%s offset=%ld size=3", out.fd, out.path, out.at - 3);
    RECORD("fflush_unlocked", 0, 0, "fd=%d path=%s", out.fd, out.path);
    CALL(INT, "fflush", 0);
    EXPECT("a0=*");
    CALL(NOTHING, "_flushlbf", 0);
    EXPECT("a0=*");
    place_close(&out);
}

/* A stream that may not be written: an error without a system call. */
static void refused(void)
{
    struct place in = place_open("out.txt", "r");
    CALL(LONG, "fwrite", P(text), 1, 5, P(in.stream));
    RECORD("fwrite", 0, 0, "fd=%d path=%s offset=0 size=5 errno=%d", in.fd, in.path, EBADF);
    CALL(INT, "fputc", 'x', P(in.stream));
    RECORD("fputc", -1, EBADF, "fd=%d path=%s offset=0 size=1", in.fd, in.path);
    place_close(&in);
}

/* ---- reading ----------------------------------------------------------------------------------
 */

#define LINES 24
#define LINE_BYTES 10

static void make_lines(const char *name)
{
    static char lines[LINES * LINE_BYTES + 1];
    for (int i = 0; i < LINES; i++) {
        (void)snprintf(lines + (size_t)i * LINE_BYTES, LINE_BYTES + 1, "%04d word\n", i);
    }
    raw_write_file(in_dir(name), lines);
}

static void blocks_in(struct place *in)
{
    CALL(LONG, "fread", P(room), 2, 5, P(in->stream));
    place_filled(in, LINES * LINE_BYTES);
    place_expect(in, "fread", 10);
    CALL(LONG, "fread_unlocked", P(room), 2, 5, P(in->stream));
    place_expect(in, "fread_unlocked", 10);
    CALL(LONG, "__fread_chk", P(room), sizeof(room), 2, 5, P(in->stream));
    place_expect(in, "__fread_chk", 10);
    CALL(LONG, "__fread_unlocked_chk", P(room), sizeof(room), 2, 5, P(in->stream));
    place_expect(in, "__fread_unlocked_chk", 10);
}

static void expect_line(struct place *in, const char *symbol, long asked)
{
    RECORD(symbol, LINE_BYTES, 0, "fd=%d path=%s offset=%ld size=%ld", in->fd, in->path, in->at,
           asked);
    in->at += LINE_BYTES;
}

static void lines_in(struct place *in)
{
    char *line = NULL;
    size_t bytes = 0;
    CALL(LONG, "fgets", P(room), 100, P(in->stream));
    expect_line(in, "fgets", 99);
    CALL(LONG, "fgets_unlocked", P(room), 100, P(in->stream));
    expect_line(in, "fgets_unlocked", 99);
    CALL(LONG, "__fgets_chk", P(room), sizeof(room), 100, P(in->stream));
    expect_line(in, "__fgets_chk", 99);
    CALL(LONG, "__fgets_unlocked_chk", P(room), sizeof(room), 100, P(in->stream));
    expect_line(in, "__fgets_unlocked_chk", 99);
    CALL(LONG, "getline", P(&line), P(&bytes), P(in->stream));
    expect_line(in, "getline", LINE_BYTES);
    CALL(LONG, "getdelim", P(&line), P(&bytes), '\n', P(in->stream));
    expect_line(in, "getdelim", LINE_BYTES);
    CALL(LONG, "__getdelim", P(&line), P(&bytes), '\n', P(in->stream));
    expect_line(in, "__getdelim", LINE_BYTES);
    free(line);
}

static void characters_in(struct place *in)
{
    static const char *const names[] = {"fgetc",         "fgetc_unlocked", "getc",
                                        "getc_unlocked", "_IO_getc",       "__uflow"};
    for (size_t i = 0; i < COUNT(names); i++) {
        CALL(INT, names[i], P(in->stream));
        place_expect(in, names[i], 1);
    }
    CALL(INT, "ungetc", 'u', P(in->stream));
    RECORD("ungetc", 1, 0, "fd=%d path=%s offset=%ld size=1", in->fd, in->path, in->at);
    in->at--;
    CALL(INT, "fgetc", P(in->stream));
    place_expect(in, "fgetc", 1);
    CALL(INT, "getw", P(in->stream));
    place_expect(in, "getw", 4);
}

static void scan_with_list(const char *symbol, struct place *in, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    CALL(INT, symbol, P(in->stream), P(format), P(list));
    va_end(list);
}

/* One line of "0000 word\n": the number, the word and the newline. */
static void scanned(struct place *in)
{
    static const char *const direct[] = {"fscanf", "__isoc99_fscanf", "__isoc23_fscanf"};
    static const char *const listed[] = {"vfscanf", "__isoc99_vfscanf", "__isoc23_vfscanf"};
    int number;
    for (size_t i = 0; i < COUNT(direct); i++) {
        if (is_there(direct[i])) {
            CALL(INT, direct[i], P(in->stream), P("%d %255s%*c"), P(&number), P(room));
            place_expect(in, direct[i], LINE_BYTES);
        }
        if (is_there(listed[i])) {
            scan_with_list(listed[i], in, "%d %255s%*c", &number, room);
            place_expect(in, listed[i], LINE_BYTES);
        }
    }
}

static void at_the_end(struct place *in)
{
    long left = LINES * LINE_BYTES - in->at;
    CALL(LONG, "fread", P(room), 3, 85, P(in->stream));
    RECORD("read", 0, 0, "fd=%d path=%s offset=%d size=4096", in->fd, in->path, LINES * LINE_BYTES);
    RECORD("fread", left, 0, "fd=%d path=%s offset=%ld size=255", in->fd, in->path, in->at);
    in->at += left;
    CALL(INT, "fgetc", P(in->stream)); /* the end was seen: libc asks no more */
    RECORD("fgetc", 0, 0, "fd=%d path=%s offset=%ld size=1", in->fd, in->path, in->at);
}

static void reading(void)
{
    make_lines("in.txt");
    struct place in = place_open("in.txt", "r");
    blocks_in(&in);
    lines_in(&in);
    characters_in(&in);
    CALL(LONG, "fgets", P(room), 100, P(in.stream)); /* to the next line */
    long rest = LINE_BYTES - in.at % LINE_BYTES;
    RECORD("fgets", rest, 0, "fd=%d path=%s offset=%ld size=99", in.fd, in.path, in.at);
    in.at += rest;
    scanned(&in);
    at_the_end(&in);
    place_close(&in);
}

/* ---- moving -----------------------------------------------------------------------------------
 */

/* libc goes to the begin of the block and reads what is before the place that it wants: only that
 * where the buffer was empty. */
static void expect_seek(const struct place *in, const char *symbol, long offset, long bytes)
{
    RECORD("lseek", 0, 0, "fd=%d path=%s offset=0 a0=0", in->fd, in->path);
    RECORD("read", bytes, 0, "fd=%d path=%s offset=0 size=*", in->fd, in->path);
    RECORD(symbol, 0, 0, "fd=%d path=%s offset=%ld a0=0", in->fd, in->path, offset);
}

/* Within the buffer it only makes sure that the descriptor stands at the buffer's end. */
static void expect_near(const struct place *in, const char *symbol, long offset, int whence)
{
    RECORD("lseek", LINES * LINE_BYTES, 0, "fd=%d path=%s offset=%d a0=0", in->fd, in->path,
           LINES * LINE_BYTES);
    RECORD(symbol, 0, 0, "fd=%d path=%s offset=%ld a0=%d", in->fd, in->path, offset, whence);
}

static void telling(const struct place *in, long at)
{
    static const char *const names[] = {"ftell", "ftello", "ftello64"};
    static const char *const getters[] = {"fgetpos", "fgetpos64"};
    static const char *const setters[] = {"fsetpos", "fsetpos64"};
    fpos_t place;
    for (size_t i = 0; i < COUNT(names); i++) {
        CALL(LONG, names[i], P(in->stream));
        RECORD(names[i], at, 0, "fd=%d path=%s offset=%ld", in->fd, in->path, at);
    }
    for (size_t i = 0; i < COUNT(getters); i++) {
        CALL(INT, getters[i], P(in->stream), P(&place));
        RECORD(getters[i], at, 0, "fd=%d path=%s offset=%ld", in->fd, in->path, at);
        CALL(INT, setters[i], P(in->stream), P(&place));
        expect_near(in, setters[i], at, SEEK_SET);
    }
}

static void moving(void)
{
    make_lines("move.txt");
    struct place in = place_open("move.txt", "r");
    CALL(INT, "fseek", P(in.stream), 20, SEEK_SET);
    expect_seek(&in, "fseek", 20, 20);
    CALL(INT, "fseeko", P(in.stream), 30, SEEK_SET);
    expect_seek(&in, "fseeko", 30, LINES * LINE_BYTES);
    CALL(INT, "fseeko64", P(in.stream), 10, SEEK_CUR);
    expect_near(&in, "fseeko64", 10, SEEK_CUR);
    telling(&in, 40);
    CALL(INT, "fseek", P(in.stream), -1, SEEK_SET);
    RECORD("lseek", -1, EINVAL, "fd=%d path=%s offset=-4096 a0=0", in.fd, in.path);
    RECORD("fseek", -1, EINVAL, "fd=%d path=%s offset=-1 a0=0", in.fd, in.path);
    CALL(NOTHING, "rewind", P(in.stream));
    expect_near(&in, "rewind", 0, SEEK_SET);
    place_close(&in);
}

static void buffers(void)
{
    struct place out = place_open("buffer.txt", "w");
    CALL(NOTHING, "setbuf", P(out.stream), 0);
    EXPECT("fd=%d path=%s size=0 a0=%d", out.fd, out.path, _IONBF);
    CALL(LONG, "fwrite", P(text), 1, 5, P(out.stream));
    RECORD("write", 5, 0, "fd=%d path=%s offset=0 size=5", out.fd, out.path);
    place_expect(&out, "fwrite", 5);
    CALL(NOTHING, "setbuffer", P(out.stream), P(room), 100);
    EXPECT("fd=%d path=%s size=100 a0=%d", out.fd, out.path, _IOFBF);
    CALL(NOTHING, "setlinebuf", P(out.stream));
    EXPECT("fd=%d path=%s size=0 a0=%d", out.fd, out.path, _IOLBF);
    CALL(INT, "fputs", P("line\n"), P(out.stream));
    RECORD("write", 5, 0, "fd=%d path=%s offset=5 size=5", out.fd, out.path);
    place_expect(&out, "fputs", 5);
    place_close(&out);
}

/* ---- the standard streams ---------------------------------------------------------------------
 */

static struct place take_over(FILE *stream, const char *name, const char *mode)
{
    struct place place = {.path = in_dir(name), .stream = stream, .fd = fileno(stream)};
    int flags = mode[0] == 'w' ? O_WRONLY | O_CREAT | O_TRUNC : O_RDONLY;
    CALL(LONG, "freopen", P(place.path), P(mode), P(stream));
    RECORD("freopen", place.fd, 0, "path=%s a0=%d a1=438", place.path, flags);
    RECORD("open", place.fd, 0, "path=%s a0=%d a1=438", place.path, flags);
    place_buffer(&place);
    return place;
}

static void list_out(struct place *out, const char *symbol, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    if (strstr(symbol, "_chk") != NULL) {
        CALL(INT, symbol, 1, P(format), P(list));
    } else {
        CALL(INT, symbol, P(format), P(list));
    }
    va_end(list);
    place_expect(out, symbol, 5);
}

static void standard_out(void)
{
    struct place out = take_over(stdout, "stdout.txt", "w");
    CALL(INT, "puts", P("a line"));
    place_expect(&out, "puts", 7);
    CALL(INT, "putchar", 'x');
    place_expect(&out, "putchar", 1);
    CALL(INT, "putchar_unlocked", 'x');
    place_expect(&out, "putchar_unlocked", 1);
    CALL(INT, "printf", P("%d\n"), 1234);
    place_expect(&out, "printf", 5);
    CALL(INT, "__printf_chk", 1, P("%d\n"), 1234);
    place_expect(&out, "__printf_chk", 5);
    list_out(&out, "vprintf", "%d\n", 1234);
    list_out(&out, "__vprintf_chk", "%d\n", 1234);
    place_flush(&out, out.at);
}

static void list_in(struct place *in, const char *symbol, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    CALL(INT, symbol, P(format), P(list));
    va_end(list);
    place_expect(in, symbol, LINE_BYTES);
}

static struct place input;

static void standard_in(void)
{
    static const char *const direct[] = {"scanf", "__isoc99_scanf", "__isoc23_scanf"};
    static const char *const listed[] = {"vscanf", "__isoc99_vscanf", "__isoc23_vscanf"};
    int number;
    make_lines("stdin.txt");
    struct place in = take_over(stdin, "stdin.txt", "r");
    CALL0(INT, "getchar");
    place_filled(&in, LINES * LINE_BYTES);
    place_expect(&in, "getchar", 1);
    CALL0(INT, "getchar_unlocked");
    place_expect(&in, "getchar_unlocked", 1);
    CALL(LONG, "gets", P(room));
    place_expect(&in, "gets", 8);
    CALL(LONG, "__gets_chk", P(room), sizeof(room));
    place_expect(&in, "__gets_chk", 10);
    for (size_t i = 0; i < COUNT(direct); i++) {
        if (is_there(direct[i])) {
            CALL(INT, direct[i], P("%d %255s%*c"), P(&number), P(room));
            place_expect(&in, direct[i], LINE_BYTES);
        }
        if (is_there(listed[i])) {
            list_in(&in, listed[i], "%d %255s%*c", &number, room);
        }
    }
    input = in;
}

static void list_to(int fd, const char *symbol, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    if (strstr(symbol, "_chk") != NULL) {
        CALL(INT, symbol, fd, 1, P(format), P(list));
    } else {
        CALL(INT, symbol, fd, P(format), P(list));
    }
    va_end(list);
}

/* dprintf's inner stream asks where it is before it writes. */
static void expect_dprintf(int fd, const char *path, const char *symbol, long at)
{
    RECORD("fstat", 0, 0, "fd=%d path=%s a1=* a2=%ld a3=1", fd, path, at);
    RECORD("lseek", at, 0, "fd=%d path=%s offset=0 a0=1", fd, path);
    RECORD("write", 5, 0, "fd=%d path=%s offset=%ld size=5", fd, path, at);
    RECORD(symbol, 5, 0, "fd=%d path=%s offset=%s size=5", fd, path, "*");
}

static void to_descriptor(void)
{
    const char *path = in_dir("direct.txt");
    int fd = raw_open(path, O_WRONLY | O_CREAT);
    CALL(INT, "dprintf", fd, P("%d\n"), 1234);
    expect_dprintf(fd, path, "dprintf", 0);
    CALL(INT, "__dprintf_chk", fd, 1, P("%d\n"), 1234);
    expect_dprintf(fd, path, "__dprintf_chk", 5);
    list_to(fd, "vdprintf", "%d\n", 1234);
    expect_dprintf(fd, path, "vdprintf", 10);
    list_to(fd, "__vdprintf_chk", "%d\n", 1234);
    expect_dprintf(fd, path, "__vdprintf_chk", 15);
    cover_close(fd, path);
}

static void errors(void)
{
    struct place err = take_over(stderr, "stderr.txt", "w");
    CALL(NOTHING, "setbuf", P(stderr), 0);
    EXPECT("fd=%d path=%s size=0 a0=%d", err.fd, err.path, _IONBF);
    errno = ENOENT;
    CALL(NOTHING, "perror", P("oh"));
    RECORD("write", 12, 0, "fd=%d path=%s offset=0 size=12", err.fd, err.path);
    place_expect(&err, "perror", 12);
    CALL0(INT, "fcloseall");
    /* What stdin read ahead is given back to the file. */
    RECORD("lseek", input.at, 0, "fd=0 path=%s offset=%ld a0=1", input.path,
           input.at - LINES * LINE_BYTES);
    RECORD("fcloseall", 0, 0, "a0=*");
}

COVER_MAIN(opening, appending, reopening, over_descriptor, nameless, piping, writing, refused,
           reading, moving, buffers, standard_out, standard_in, to_descriptor, errors)
