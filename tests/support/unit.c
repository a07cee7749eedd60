/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"

static bool is_in_memory;
static char directory[256];
static pid_t directory_owner;

void wio_test_begin(void)
{
    cmocka_set_message_output(CM_OUTPUT_TAP);
}

const char *wio_test_name(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash == NULL ? file : slash + 1;
}

void wio_test_skip(const char *reason)
{
    fprintf(stderr, "skipped: %s\n", reason);
    printf("1..0 # SKIP %s\n", reason);
    exit(0); /* in TAP a plan of no tests is the skip; 77 would be an error on top of it */
}

/* Children of a forking test end by exit() too, but the directory is not theirs. */
static void remove_directory(void)
{
    if (getpid() == directory_owner && wio_io_remove_tree(directory, NULL) != WIO_OK) {
        fprintf(stderr, "cannot remove %s\n", directory);
    }
}

/* A test that is stopped (by Meson after its time, by a person) tidies up, too. */
static void end_by_signal(int number)
{
    remove_directory();
    (void)signal(number, SIG_DFL);
    (void)raise(number); /* is blocked here: comes when we return */
}

static void remove_when_stopped(void)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        struct sigaction old;
        const struct sigaction action = {.sa_handler = end_by_signal};
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL) {
            (void)sigaction(numbers[i], &action, NULL);
        }
    }
}

void wio_test_in_memory(void)
{
    is_in_memory = access("/dev/shm", W_OK) == 0;
}

const char *wio_test_dir(void)
{
    if (directory[0] != '\0') {
        return directory;
    }
    const char *parent = is_in_memory ? "/dev/shm" : getenv("TMPDIR");
    snprintf(directory, sizeof(directory), "%s/whyio-test.XXXXXX",
             parent != NULL ? parent : "/tmp");
    if (mkdtemp(directory) == NULL) {
        fail_msg("cannot make %s: %s", directory, strerror(errno));
    }
    directory_owner = getpid();
    (void)atexit(remove_directory);
    remove_when_stopped();
    return directory;
}

char *wio_test_path(const char *name)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s", wio_test_dir(), name) < 0) {
        fail_msg("out of memory");
    }
    return path;
}

void wio_test_write(const char *path, const void *data, size_t bytes)
{
    FILE *out = fopen(path, "we");
    if (out == NULL || fwrite(data, 1, bytes, out) != bytes || fclose(out) != 0) {
        fail_msg("cannot write %s: %s", path, strerror(errno));
    }
}

uint64_t wio_test_random(uint64_t *state)
{
    uint64_t value = *state += 0x9e3779b97f4a7c15ull;
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9ull;
    value = (value ^ value >> 27) * 0x94d049bb133111ebull;
    return value ^ value >> 31;
}

void wio_assert_status(enum wio_status got, enum wio_status want, const struct wio_error *err,
                       const char *expr, const char *file, int line)
{
    if (got == want) {
        return;
    }
    char text[2048] = "";
    if (err != NULL) {
        wio_error_format(err, text, sizeof(text));
    }
    print_error("%s: %s (%d), expected %s (%d); %s\n", expr, wio_status_text(got), (int)got,
                wio_status_text(want), (int)want, text);
    _fail(file, line);
}
