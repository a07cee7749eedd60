/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting by means of files: looking for a name until it is there, and locks of files. */
#include "medium.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int sent[MAX_ACTORS][MAX_ACTORS];
static int received[MAX_ACTORS][MAX_ACTORS];
static _Thread_local int locked = -1;

static void send_file(int from, int to, struct note note)
{
    char unready[64];
    char ready[64];
    int number = sent[from][to]++;
    (void)snprintf(unready, sizeof(unready), "unready.%d.%d.%d", from, to, number);
    (void)snprintf(ready, sizeof(ready), "ready.%d.%d.%d", from, to, number);
    int fd = open(unready, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    check(fd >= 0, unready);
    check(write(fd, &note, sizeof(note)) == sizeof(note), unready);
    check(close(fd) == 0, unready);
    check(rename(unready, ready) == 0, ready);
}

static struct note recv_file(int from, int to)
{
    char ready[64];
    struct stat st;
    struct note note;
    (void)snprintf(ready, sizeof(ready), "ready.%d.%d.%d", from, to, received[from][to]++);
    bool is_early = stat(ready, &st) == 0;
    while (!is_early && stat(ready, &st) != 0) {
        (void)usleep(1000);
    }
    int fd = open(ready, O_RDONLY | O_CLOEXEC);
    check(fd >= 0 && read(fd, &note, sizeof(note)) == sizeof(note), ready);
    close(fd);
    note.is_early = is_early;
    return note;
}

static void connect_files(int from, int to)
{
    sent[from][to] = received[from][to] = 0;
}

static void prepare_lock(int all)
{
    (void)all;
    int fd = open("lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    check(fd >= 0, "lock");
    close(fd);
}

static void lock_file(void)
{
    locked = open("lock", O_RDWR | O_CLOEXEC);
    check(locked >= 0 && flock(locked, LOCK_EX) == 0, "flock");
}

static void unlock_file(void)
{
    check(flock(locked, LOCK_UN) == 0, "flock");
    close(locked);
}

static void lock_range(void)
{
    struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 7, .l_len = 11};
    locked = open("lock", O_RDWR | O_CLOEXEC);
    check(locked >= 0 && fcntl(locked, F_SETLKW, &range) == 0, "fcntl");
}

static void unlock_range(void)
{
    struct flock range = {.l_type = F_UNLCK, .l_whence = SEEK_SET, .l_start = 7, .l_len = 11};
    check(fcntl(locked, F_SETLK, &range) == 0, "fcntl");
    close(locked);
}

const struct medium media_file = {.name = "file",
                                  .connect = connect_files,
                                  .send = send_file,
                                  .recv = recv_file,
                                  .has_naps = true};
const struct medium media_flock = {
    .name = "flock", .prepare = prepare_lock, .lock = lock_file, .unlock = unlock_file};
const struct medium media_fcntl = {
    .name = "fcntl", .prepare = prepare_lock, .lock = lock_range, .unlock = unlock_range};
