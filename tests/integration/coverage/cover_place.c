/* SPDX-License-Identifier: Apache-2.0 */
#include "cover_stdio.h"

#define BUFFER_BYTES 4096

void place_buffer(const struct place *place)
{
    static char buffers[32][BUFFER_BYTES];
    static unsigned used;
    /* A buffer of our own: libc would look at the file first, to choose a size. */
    CALL(INT, "setvbuf", P(place->stream), P(buffers[used++]), _IOFBF, BUFFER_BYTES);
    EXPECT("fd=%d path=%s size=%d a0=%d", place->fd, place->path, BUFFER_BYTES, _IOFBF);
}

struct place place_open(const char *name, const char *mode)
{
    struct place place = {.path = in_dir(name)};
    int flags = mode[0] == 'w' ? O_CREAT | O_TRUNC : 0;
    int access = strchr(mode, '+') != NULL ? O_RDWR : mode[0] == 'w' ? O_WRONLY : O_RDONLY;
    place.stream = (FILE *)CALL(LONG, "fopen", P(place.path), P(mode));
    place.fd = fileno(place.stream);
    RECORD("fopen", place.fd, 0, "path=%s a0=%d a1=438", place.path, flags | access);
    RECORD("open", place.fd, 0, "path=%s a0=%d a1=438", place.path, flags | access);
    place_buffer(&place);
    return place;
}

void place_expect(struct place *place, const char *symbol, long bytes)
{
    RECORD(symbol, bytes, 0, "fd=%d path=%s offset=%ld size=%ld", place->fd, place->path, place->at,
           bytes);
    place->at += bytes;
}

void place_flush(struct place *place, long bytes)
{
    CALL(INT, "fflush", P(place->stream));
    RECORD("write", bytes, 0, "fd=%d path=%s offset=%ld size=%ld", place->fd, place->path,
           place->at - bytes, bytes);
    RECORD("fflush", 0, 0, "fd=%d path=%s", place->fd, place->path);
}

void place_filled(struct place *place, long bytes)
{
    RECORD("read", bytes, 0, "fd=%d path=%s offset=%ld size=%d", place->fd, place->path, place->at,
           BUFFER_BYTES);
}

void place_close(struct place *place)
{
    CALL(INT, "fclose", P(place->stream));
    RECORD("close", 0, 0, "fd=%d path=%s", place->fd, place->path);
    RECORD("fclose", 0, 0, "fd=%d path=%s", place->fd, place->path);
}

bool is_there(const char *symbol)
{
    void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    bool found = libc != NULL && dlsym(libc, symbol) != NULL;
    if (!found) {
        RECORD(symbol, 0, 0, "absent=1");
    }
    return found;
}
