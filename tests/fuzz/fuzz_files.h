/* SPDX-License-Identifier: Apache-2.0 */
/* A trace directory of one file for fuzz targets, in memory where there is /dev/shm. */
#ifndef WIO_TESTS_FUZZ_FILES_H
#define WIO_TESTS_FUZZ_FILES_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"

static char fuzz_dir[64];
static char fuzz_file[128];

static void fuzz_remove(void)
{
    (void)!wio_io_remove_tree(fuzz_dir, NULL);
}

/* Make it once; `name` may lie in raw/. */
static void fuzz_make(const char *name)
{
    if (fuzz_dir[0] != '\0') {
        return;
    }
    (void)snprintf(fuzz_dir, sizeof(fuzz_dir), "%s/whyio-fuzz-XXXXXX",
                   access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (mkdtemp(fuzz_dir) == NULL) {
        perror("fuzz: cannot make a directory");
        abort();
    }
    (void)snprintf(fuzz_file, sizeof(fuzz_file), "%s/raw", fuzz_dir);
    (void)mkdir(fuzz_file, 0700);
    (void)snprintf(fuzz_file, sizeof(fuzz_file), "%s/%s", fuzz_dir, name);
    (void)atexit(fuzz_remove);
}

static void fuzz_write(const void *bytes, size_t size)
{
    int fd = open(fuzz_file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, bytes, size) != (ssize_t)size || close(fd) != 0) {
        perror("fuzz: cannot write");
        abort();
    }
}

#endif
