/* SPDX-License-Identifier: Apache-2.0 */
#include "store/serve/meeting.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "store/serve/remains.h"

#define PATIENCE_NS UINT64_C(60000000000)
#define LOOK_NS 20000000

enum { TEXT_MAX = 1024, HEX_BYTES = 2 * WIO_LINK_KEY_BYTES + 1, NAME_BYTES = PATH_MAX + 32 };

static void hex_of(const struct wio_link_key *key, char text[HEX_BYTES])
{
    for (unsigned i = 0; i < WIO_LINK_KEY_BYTES; i++) {
        (void)snprintf(text + (size_t)2 * i, 3, "%02x", key->bytes[i]);
    }
}

static void name_of(const struct serve_meeting *meeting, const char *end, char name[NAME_BYTES])
{
    (void)snprintf(name, NAME_BYTES, "%s.%s", meeting->path, end);
}

/* ---- files --------------------------------------------------------------------------------- */

/* There as a whole, or not at all. */
static enum wio_status put(const struct serve_meeting *meeting, const char *end, const char *text,
                           struct wio_error *err)
{
    char name[NAME_BYTES];
    char by[NAME_BYTES + 16];
    name_of(meeting, end, name);
    (void)snprintf(by, sizeof(by), "%s.%u.new", name, meeting->job.rank);
    (void)unlink(by); /* of a process that was killed */
    WIO_CLEANUP(wio_fd_cleanup)
    int fd = open(by, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (fd < 0) {
        return wio_error_sys(err, by, "cannot make the file");
    }
    enum wio_status status = wio_io_write(fd, by, text, strlen(text), err);
    if (status == WIO_OK && link(by, name) != 0) {
        status = errno == EEXIST
                     ? wio_error_set(err, WIO_ERR_BUSY, name, WIO_ERROR_NO_OFFSET,
                                     "another store of this job is there, or one was killed and "
                                     "left it: remove it then")
                     : wio_error_sys(err, name, "cannot make the file");
    }
    if (status == WIO_OK) {
        serve_remains_add(meeting->remains, name);
    }
    (void)unlink(by);
    return status;
}

static enum wio_status await(const struct serve_meeting *meeting, const char *end,
                             struct wio_blob *text, struct wio_error *err)
{
    char name[NAME_BYTES];
    const struct timespec pause = {.tv_nsec = LOOK_NS};
    uint64_t until_ns = wio_clock_mono_ns() + PATIENCE_NS;
    name_of(meeting, end, name);
    while (access(name, F_OK) != 0) {
        if (wio_clock_mono_ns() > until_ns) {
            return wio_error_set(err, WIO_ERR_IO, name, WIO_ERROR_NO_OFFSET,
                                 "expected this file of another rank within a minute: is --job-dir "
                                 "a directory that all nodes share?");
        }
        (void)nanosleep(&pause, NULL);
    }
    wio_blob_clear(text);
    WIO_TRY(wio_io_read_private(name, TEXT_MAX, text, err));
    return wio_blob_u8(text, 0) == WIO_OK
               ? WIO_OK
               : wio_error_set(err, WIO_ERR_NOMEM, name, WIO_ERROR_NO_OFFSET, "out of memory");
}

static void drop(const struct serve_meeting *meeting, const char *end)
{
    char name[NAME_BYTES];
    name_of(meeting, end, name);
    (void)unlink(name);
}

/* ---- the meeting --------------------------------------------------------------------------- */

static enum wio_status make_keys(struct serve_meeting *meeting, struct wio_io *io,
                                 struct wio_error *err)
{
    char key[HEX_BYTES];
    char servers[HEX_BYTES];
    char run[HEX_BYTES];
    char text[3 * HEX_BYTES + 3];
    io->ops->random(io, meeting->run.bytes, sizeof(meeting->run.bytes));
    io->ops->random(io, meeting->key.bytes, sizeof(meeting->key.bytes));
    io->ops->random(io, meeting->servers_key.bytes, sizeof(meeting->servers_key.bytes));
    hex_of(&meeting->key, key);
    hex_of(&meeting->servers_key, servers);
    hex_of(&meeting->run, run);
    (void)snprintf(text, sizeof(text), "%s\n%s\n%s\n", key, servers, run);
    WIO_TRY(put(meeting, "servers", text, err));
    meeting->has_servers = true;
    return WIO_OK;
}

static enum wio_status read_keys(struct serve_meeting *meeting, struct wio_error *err)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob text = {0};
    WIO_TRY(await(meeting, "servers", &text, err));
    struct wio_link_key *keys[] = {&meeting->key, &meeting->servers_key, &meeting->run};
    char *at = (char *)text.data;
    for (size_t i = 0; i < WIO_ARRAY_SIZE(keys); i++) {
        char *line = strsep(&at, "\n");
        if (line == NULL) {
            return wio_error_set(err, WIO_ERR_FORMAT, meeting->path, WIO_ERROR_NO_OFFSET,
                                 "expected three keys in the file '.servers'");
        }
        WIO_TRY(wio_link_key_parse(line, keys[i], err));
    }
    return WIO_OK;
}

enum wio_status serve_meeting_begin(struct serve_meeting *meeting, struct wio_io *io,
                                    const struct wio_serve_job *job, int remains,
                                    struct wio_error *err)
{
    char dir[PATH_MAX];
    *meeting = (struct serve_meeting){.job = *job, .remains = remains};
    if (realpath(job->dir, dir) == NULL) {
        return wio_error_sys(err, job->dir, "cannot use --job-dir");
    }
    if (snprintf(meeting->path, sizeof(meeting->path), "%s/%s", dir, job->name) >=
        (int)sizeof(meeting->path)) {
        errno = ENAMETOOLONG;
        return wio_error_sys(err, job->dir, "cannot use --job-dir");
    }
    return job->rank == 0 ? make_keys(meeting, io, err) : read_keys(meeting, err);
}

/* What a rank of this run said; a file of an earlier one has another first line. */
static enum wio_status take_address(const struct serve_meeting *meeting, const char *end,
                                    const char *run, char *text,
                                    char address_out[WIO_LINK_ADDRESS_BYTES], struct wio_error *err)
{
    char name[NAME_BYTES];
    const char *line = strsep(&text, "\n");
    if (line == NULL || text == NULL || strcmp(line, run) != 0) {
        name_of(meeting, end, name);
        return wio_error_set(err, WIO_ERR_BUSY, name, WIO_ERROR_NO_OFFSET,
                             "this file is of another run of the job, which was killed: remove it");
    }
    (void)snprintf(address_out, WIO_LINK_ADDRESS_BYTES, "%s", text);
    return WIO_OK;
}

enum wio_status serve_meeting_exchange(struct serve_meeting *meeting, const char *own,
                                       char addresses_out[][WIO_LINK_ADDRESS_BYTES],
                                       struct wio_error *err)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob text = {0};
    char end[16];
    char run[HEX_BYTES];
    char said[HEX_BYTES + WIO_LINK_ADDRESS_BYTES + 1];
    hex_of(&meeting->run, run);
    (void)snprintf(end, sizeof(end), "%u", meeting->job.rank);
    (void)snprintf(said, sizeof(said), "%s\n%s", run, own);
    WIO_TRY(put(meeting, end, said, err));
    meeting->has_rank = true;
    for (unsigned i = 0; i < meeting->job.size; i++) {
        (void)snprintf(end, sizeof(end), "%u", i);
        WIO_TRY(await(meeting, end, &text, err));
        WIO_TRY(take_address(meeting, end, run, (char *)text.data, addresses_out[i], err));
    }
    return WIO_OK;
}

enum wio_status serve_meeting_publish(const struct serve_meeting *meeting, const char *address,
                                      struct wio_error *err)
{
    char key[HEX_BYTES];
    char text[WIO_LINK_ADDRESS_BYTES + HEX_BYTES + 2];
    hex_of(&meeting->key, key);
    (void)snprintf(text, sizeof(text), "%s\n%s\n", address, key);
    return put(meeting, "store", text, err);
}

void serve_meeting_end(struct serve_meeting *meeting)
{
    char end[16];
    if (meeting->path[0] == '\0') {
        return;
    }
    (void)snprintf(end, sizeof(end), "%u", meeting->job.rank);
    if (meeting->has_rank) {
        drop(meeting, end);
    }
    if (meeting->has_servers) {
        drop(meeting, "store");
        drop(meeting, "servers");
    }
    serve_remains_forget(meeting->remains);
    wio_link_key_forget(&meeting->key);
    wio_link_key_forget(&meeting->servers_key);
}
