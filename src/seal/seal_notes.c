/* SPDX-License-Identifier: Apache-2.0 */
/* What sealing reports: progress, and lines in META: what was damaged (faults), and what could not
 * be recorded and why (remarks). */
#include <errno.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "seal/seal_internal.h"

/* Each list is one text of META: of a machine that lost its power with a hundred thousand processes
 * it must not become more than a block holds. */
#define NOTES_MAX_BYTES (1u << 20)

/* A line end in a name would make two lines of one. */
static void make_one_line(char *line)
{
    for (char *end = line; (end = strchr(end, '\n')) != NULL;) {
        *end = ' ';
    }
}

static void put_line(struct wio_seal_notes *notes, const char *line)
{
    /* Without memory for the note the ring is still left out: nothing better can be done. */
    if (wio_blob_put(&notes->lines, line, strlen(line)) == WIO_OK) {
        (void)!wio_blob_u8(&notes->lines, '\n');
    }
}

static void add_note(struct wio_seal_notes *notes, const char *line, const char *more)
{
    if (notes->lines.size < NOTES_MAX_BYTES) {
        put_line(notes, line);
        return;
    }
    if (!notes->has_more) {
        put_line(notes, more);
    }
    notes->has_more = true;
}

void wio_seal_fault(struct wio_seal *seal, const struct wio_error *fault)
{
    char line[2048];
    struct wio_error told = *fault;
    const char *slash = strrchr(fault->file, '/');
    if (seal->is_hiding && slash != NULL) {
        (void)snprintf(told.file, sizeof(told.file), "%s", slash + 1);
    }
    wio_error_format(&told, line, sizeof(line));
    make_one_line(line);
    add_note(&seal->faults, line, "there is more damage than is listed");
}

/* What many processes met is one remark. */
void wio_seal_remark(struct wio_seal *seal, const char *format, ...)
{
    char line[2048];
    uint32_t id = 0;
    uint32_t count = seal->remarked.count;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    make_one_line(line);
    if (wio_strtab_add(&seal->remarked, line, strlen(line), &id) == WIO_OK && id > count) {
        add_note(&seal->remarks, line, "there is more than is listed");
    }
}

void wio_seal_user(uint32_t uid, char text_out[WIO_USER_BYTES])
{
    char room[1024];
    struct passwd entry;
    struct passwd *found = NULL;
    if (getpwuid_r((uid_t)uid, &entry, room, sizeof(room), &found) == 0 && found != NULL) {
        (void)snprintf(text_out, WIO_USER_BYTES, "user '%.32s' (%u)", found->pw_name, uid);
    } else {
        (void)snprintf(text_out, WIO_USER_BYTES, "user %u", uid);
    }
}

/* The program of an image, as its remark names it. */
static void name_program(const struct wio_seal *seal, const struct wio_seal_ring *ring, char *text,
                         size_t size)
{
    (void)snprintf(text, size, "process %d", ring->header.pid);
    if (!seal->is_hiding && ring->exe.size > 0) {
        (void)snprintf(text, size, "'%.*s'", (int)strnlen((char *)ring->exe.data, ring->exe.size),
                       ring->exe.data);
    }
}

void wio_seal_name_ring(const struct wio_seal *seal, const struct wio_seal_ring *ring,
                        struct wio_error *fault)
{
    char user[WIO_USER_BYTES];
    char name[512];
    wio_seal_user(ring->owner, user);
    name_program(seal, ring, name, sizeof(name));
    wio_error_add(fault, "the ring is of %s, %s", user, name);
}

void wio_seal_remark_refused(struct wio_seal *seal, const struct wio_seal_ring *ring,
                             const struct wio_seal_ring *program)
{
    char user[WIO_USER_BYTES];
    char name[512];
    char reason[128];
    if (ring->header.refused_user == 0) {
        return;
    }
    name_program(seal, program, name, sizeof(name));
    wio_seal_user(ring->header.refused_user - 1, user);
    const char *text = strerror_r(ring->header.refused_error, reason, sizeof(reason));
    wio_seal_remark(seal,
                    "%s may not make rings in '%.*s' (%s): what %s starts as that user is not "
                    "recorded",
                    user, seal->is_hiding ? 3 : (int)(ring->name - ring->path - 1),
                    seal->is_hiding ? "raw" : ring->path, text, name);
}

void wio_seal_progress(struct wio_seal *seal, uint64_t bytes)
{
    seal->done_bytes += bytes;
    if (seal->done_bytes > seal->total_bytes) {
        seal->done_bytes = seal->total_bytes;
    }
    if (seal->params->progress != NULL) {
        seal->params->progress(seal->params->progress_arg, seal->done_bytes, seal->total_bytes,
                               "B");
    }
}
