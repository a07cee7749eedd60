/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random but repeatable use of stdio: `stdio_random DIR SEED STEPS`. Prints nothing; leaves some
 * streams open at its end on purpose, so that exit() has something to flush.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#define STREAMS 4
#define NAMES 5
#define BUFFER_BYTES 70000
#define READING 1
#define WRITING 2

struct slot {
    FILE *stream;
    char *own_buffer;
    int direction; /* READING, WRITING or 0: ISO C wants a seek or flush in between */
};

static struct slot slots[STREAMS];
static char data[BUFFER_BYTES];
static const char *directory;
static uint64_t state;

static unsigned pick(unsigned below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)((state >> 11) % below);
}

/* Mostly small, sometimes around the size of a buffer, seldom much larger. */
static size_t pick_size(void)
{
    switch (pick(6)) {
    case 0:
        return 4090 + pick(12);
    case 1:
        return pick(20000);
    case 2:
        return pick(10) == 0 ? pick(BUFFER_BYTES) : pick(900);
    default:
        return pick(200);
    }
}

static void make_path(char *path, size_t bytes)
{
    snprintf(path, bytes, "%s/f%u", directory, pick(NAMES));
}

static void close_slot(struct slot *slot)
{
    if (slot->stream != NULL) {
        fclose(slot->stream);
    }
    free(slot->own_buffer);
    slot->stream = NULL;
    slot->own_buffer = NULL;
    slot->direction = 0;
}

static void choose_buffer(struct slot *slot)
{
    static const int modes[] = {_IOFBF, _IOLBF, _IONBF};
    if (pick(3) != 0) {
        return;
    }
    int mode = modes[pick(3)];
    size_t bytes = 1 + pick(9000);
    slot->own_buffer = malloc(bytes);
    setvbuf(slot->stream, mode == _IONBF ? NULL : slot->own_buffer, mode, bytes);
}

static void open_slot(struct slot *slot)
{
    static const char *const modes[] = {"r", "r+", "w", "w+", "a", "a+", "rb", "r+", "w+", "q"};
    char path[4096];
    close_slot(slot);
    make_path(path, sizeof(path));
    slot->stream = fopen(path, modes[pick(sizeof(modes) / sizeof(modes[0]))]);
    if (slot->stream != NULL) {
        choose_buffer(slot);
    }
}

static void reopen_slot(struct slot *slot)
{
    static const char *const modes[] = {"r", "r+", "w+", "a"};
    char path[4096];
    make_path(path, sizeof(path));
    slot->stream = freopen(path, modes[pick(4)], slot->stream);
    slot->direction = 0;
}

static void read_some(FILE *stream)
{
    static char *line;
    static size_t line_bytes;
    size_t bytes = pick_size();
    switch (pick(8)) {
    case 0:
        fgets(data, (int)(bytes + 2), stream);
        break;
    case 1:
        getline(&line, &line_bytes, stream);
        break;
    case 2:
        for (unsigned i = 0; i < bytes % 300; i++) {
            if (fgetc(stream) == EOF) {
                break;
            }
        }
        break;
    case 3:
        for (unsigned i = 0; i < bytes; i++) {
            if (getc_unlocked(stream) == EOF) {
                break;
            }
        }
        break;
    case 4:
        ungetc('u', stream);
        break;
    case 5:
        fread(data, 1 + bytes / 16, 16, stream);
        break;
    default:
        fread(data, 1, bytes, stream);
        break;
    }
}

static void write_some(FILE *stream)
{
    size_t bytes = pick_size();
    switch (pick(8)) {
    case 0:
        fputs("a line of text\n", stream);
        break;
    case 1:
        fprintf(stream, "%u numbers %s\n%d", pick(100000), "in a line", (int)bytes);
        break;
    case 2:
        for (unsigned i = 0; i < bytes % 300; i++) {
            putc(i % 61 == 0 ? '\n' : 'c', stream);
        }
        break;
    case 3:
        for (unsigned i = 0; i < bytes; i++) {
            putc_unlocked('p', stream);
        }
        break;
    case 4:
        fwrite(data, 1 + bytes / 8, 8, stream);
        break;
    default:
        fwrite(data, 1, bytes, stream);
        break;
    }
}

static void move_about(FILE *stream)
{
    fpos_t place;
    switch (pick(9)) {
    case 0:
        fseek(stream, (long)pick(60000), SEEK_SET);
        break;
    case 1:
        fseek(stream, (long)pick(500) - 250, SEEK_CUR);
        break;
    case 2:
        fseeko(stream, -(off_t)pick(5000), SEEK_END);
        break;
    case 3:
        rewind(stream);
        break;
    case 4:
        ftell(stream);
        break;
    case 5:
        if (fgetpos(stream, &place) == 0) {
            fsetpos(stream, &place);
        }
        break;
    case 6:
        fflush(NULL);
        break;
    default:
        fflush(stream);
        break;
    }
}

static void turn_to(struct slot *slot, int direction)
{
    if (slot->direction != 0 && slot->direction != direction) {
        fseeko(slot->stream, pick(4) == 0 ? (off_t)pick(9000) : 0,
               pick(2) == 0 ? SEEK_CUR : SEEK_SET);
    }
    slot->direction = direction;
}

static void step(void)
{
    struct slot *slot = &slots[pick(STREAMS)];
    if (slot->stream == NULL || pick(60) == 0) {
        open_slot(slot);
        return;
    }
    switch (pick(40)) {
    case 0:
        reopen_slot(slot);
        break;
    case 1:
    case 2:
    case 3:
    case 4:
    case 5:
    case 6:
    case 7:
        move_about(slot->stream);
        break;
    case 8:
        dprintf(fileno(slot->stream), "straight to %u", pick(1000));
        break;
    case 9:
        clearerr(slot->stream);
        break;
    default:
        if (pick(5) == 0 || slot->direction == 0) {
            turn_to(slot, READING + (int)pick(2));
        }
        if (slot->direction == READING) {
            read_some(slot->stream);
        } else {
            write_some(slot->stream);
        }
        break;
    }
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        return 2;
    }
    directory = argv[1];
    state = strtoull(argv[2], NULL, 10) * 0x9e3779b97f4a7c15u + 1;
    for (size_t i = 0; i < sizeof(data); i++) {
        data[i] = i % 83 == 0 ? '\n' : (char)('a' + i % 26);
    }
    for (unsigned long left = strtoul(argv[3], NULL, 10); left > 0; left--) {
        step();
    }
    close_slot(&slots[0]);
    return 0;
}
