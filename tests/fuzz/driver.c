/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzz target without a fuzzer: every file below the directories and files that are given
 * goes through it once, then each of them cut short at a number of places and with single bytes
 * changed. This is what normal and sanitizer builds run; a crash names its input.
 *
 *     fuzz_x tests/data/corpus/x
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t runs;

/* A copy of exactly this size, so that a read past the end is seen by the sanitizer. */
static void run(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);
    if (copy == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    if (size > 0) {
        memcpy(copy, data, size);
    }
    (void)LLVMFuzzerTestOneInput(copy, size);
    free(copy);
    runs++;
}

static void run_changed(uint8_t *data, size_t size)
{
    size_t step = size / 64 + 1;
    for (size_t i = 0; i < size; i += step) {
        run(data, i);
        for (unsigned bit = 0; bit < 8; bit += 3) {
            data[i] ^= (uint8_t)(1u << bit);
            run(data, size);
            data[i] ^= (uint8_t)(1u << bit);
        }
    }
}

static void run_file(const char *path)
{
    struct wio_blob blob = {0};
    struct wio_error err = WIO_ERROR_INIT;
    if (wio_io_read_file(path, 64u << 20, &blob, &err) != WIO_OK) {
        fprintf(stderr, "%s: %s\n", path, err.message);
        exit(1);
    }
    fprintf(stderr, "%s: %zu bytes\n", path, blob.size);
    run(blob.data, blob.size);
    run_changed(blob.data, blob.size);
    wio_blob_fini(&blob);
}

static void run_directory(const char *path)
{
    struct dirent **names = NULL;
    int count = scandir(path, &names, NULL, alphasort);
    if (count < 0) {
        perror(path);
        exit(1);
    }
    for (int i = 0; i < count; i++) {
        char file[4096];
        snprintf(file, sizeof(file), "%s/%s", path, names[i]->d_name);
        struct stat st;
        if (stat(file, &st) == 0 && S_ISREG(st.st_mode)) {
            run_file(file);
        }
        free(names[i]);
    }
    free(names);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        struct stat st;
        if (stat(argv[i], &st) != 0) {
            perror(argv[i]);
            return 1;
        }
        if (S_ISDIR(st.st_mode)) {
            run_directory(argv[i]);
        } else {
            run_file(argv[i]);
        }
    }
    if (runs == 0) {
        fprintf(stderr, "no inputs: give the corpus directory\n");
        return 1;
    }
    printf("%zu runs\n", runs);
    return 0;
}
