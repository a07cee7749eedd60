/* SPDX-License-Identifier: Apache-2.0 */
#include "throttle/hosts/inflight_bytes.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/io.h"

enum { LINE_BYTES = 512, PATH_BYTES = 64 };

/* Sockets with bytes in flight, of any process. */
struct sending {
    uint64_t *inodes;
    uint32_t count;
    uint32_t room;
};

static void sending_fini(struct sending *sending)
{
    free(sending->inodes);
}

static void close_file(FILE **file)
{
    if (*file != NULL) {
        (void)fclose(*file);
    }
}

/* "  0: 0100007F:1F90 0100007F:D2A4 01 00000010:00000000 tr:when retrnsmt uid timeout inode ..":
 * the first of the two queues counts unacknowledged bytes. Timer 4 probes a receiver without room;
 * all that was sent is acknowledged then, and the rest waits on this host. */
uint64_t wio_flight_parse(const char *line)
{
    enum { QUEUES = 4, TIMER = 5, INODE = 9, WINDOW_PROBE = 4 };
    uint64_t waiting = 0;
    const char *at = line;
    for (unsigned field = 0; *at != '\0'; field++) {
        at += strspn(at, " \t\n");
        if (field == QUEUES) {
            waiting = strtoull(at, NULL, 16);
        } else if (field == TIMER && strtoul(at, NULL, 16) == WINDOW_PROBE) {
            return 0;
        } else if (field == INODE) {
            return waiting > 0 ? strtoull(at, NULL, 10) : 0;
        }
        at += strcspn(at, " \t\n");
    }
    return 0;
}

static enum wio_status add(struct sending *sending, uint64_t inode)
{
    void *inodes = sending->inodes;
    WIO_TRY(wio_make_room(&inodes, sizeof(*sending->inodes), &sending->room, sending->count + 1));
    sending->inodes = inodes;
    sending->inodes[sending->count++] = inode;
    return WIO_OK;
}

static enum wio_status read_table(int32_t tid, const char *name, struct sending *sending)
{
    char path[PATH_BYTES];
    char line[LINE_BYTES];
    snprintf(path, sizeof(path), "/proc/%d/net/%s", (int)tid, name);
    WIO_CLEANUP(close_file) FILE *file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        uint64_t inode = wio_flight_parse(line);
        if (inode != 0) {
            WIO_TRY(add(sending, inode));
        }
    }
    return WIO_OK;
}

/* Does this descriptor lead to one of the sockets? */
static bool is_sending(int directory, const char *name, const struct sending *sending)
{
    static const char prefix[] = "socket:[";
    char target[PATH_BYTES];
    ssize_t size = readlinkat(directory, name, target, sizeof(target) - 1);
    if (size <= 0) {
        return false;
    }
    target[size] = '\0';
    if (strncmp(target, prefix, sizeof(prefix) - 1) != 0) {
        return false;
    }
    uint64_t inode = strtoull(target + sizeof(prefix) - 1, NULL, 10);
    for (uint32_t i = 0; i < sending->count; i++) {
        if (sending->inodes[i] == inode) {
            return true;
        }
    }
    return false;
}

bool wio_flight_has_bytes(int32_t tid)
{
    struct sending sending WIO_CLEANUP(sending_fini) = {0};
    char path[PATH_BYTES];
    if (read_table(tid, "tcp", &sending) != WIO_OK || read_table(tid, "tcp6", &sending) != WIO_OK) {
        return true; /* out of memory: not known */
    }
    if (sending.count == 0) {
        return false;
    }
    snprintf(path, sizeof(path), "/proc/%d/fd", (int)tid);
    WIO_CLEANUP(wio_dir_cleanup) DIR *directory = opendir(path);
    const struct dirent *entry;
    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        if (is_sending(dirfd(directory), entry->d_name, &sending)) {
            return true;
        }
    }
    return false;
}
