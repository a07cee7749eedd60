/* SPDX-License-Identifier: Apache-2.0 */
#include "record/library.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

#define LIBRARY_NAME "libwhyio-capture.so"

/* Relative ones start from the directory of the running program. */
static const char *const places[] = {
    ".",
    "../../src/capture",
    "src/capture",
    "../lib/whyio",
    WIO_LIBRARY_DIR_RELATIVE,
    WIO_LIBRARY_DIR,
};

static enum wio_status check_name(char path[PATH_MAX], struct wio_error *err)
{
    if (strpbrk(path, " :\t\n") != NULL) {
        return wio_error_set(err, WIO_ERR_UNSUPPORTED, path, WIO_ERROR_NO_OFFSET,
                             "LD_PRELOAD cannot name a path with blanks or colons: copy the "
                             "library elsewhere and set WHYIO_CAPTURE_LIB");
    }
    return WIO_OK;
}

static bool find_below(const char *program_dir, const char *place, char path_out[PATH_MAX])
{
    char path[PATH_MAX];
    int size = snprintf(path, sizeof(path), "%s%s%s/%s", place[0] == '/' ? "" : program_dir,
                        place[0] == '/' ? "" : "/", place, LIBRARY_NAME);
    return size < PATH_MAX && access(path, R_OK) == 0 && realpath(path, path_out) != NULL;
}

enum wio_status wio_library_find(const char *given, char path_out[PATH_MAX], struct wio_error *err)
{
    if (given != NULL) {
        if (access(given, R_OK) != 0 || realpath(given, path_out) == NULL) {
            return wio_error_sys(err, given, "cannot read the capture library");
        }
        return check_name(path_out, err);
    }
    char program[PATH_MAX] = "";
    ssize_t size = readlink("/proc/self/exe", program, sizeof(program) - 1);
    if (size <= 0) {
        return wio_error_sys(err, "/proc/self/exe", "cannot tell where whyio is");
    }
    *strrchr(program, '/') = '\0';
    for (size_t i = 0; i < WIO_ARRAY_SIZE(places); i++) {
        if (find_below(program, places[i], path_out)) {
            return check_name(path_out, err);
        }
    }
    return wio_error_set(err, WIO_ERR_IO, program, WIO_ERROR_NO_OFFSET,
                         "cannot find " LIBRARY_NAME " here or in '" WIO_LIBRARY_DIR
                         "': set WHYIO_CAPTURE_LIB to its path");
}
