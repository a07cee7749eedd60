/* SPDX-License-Identifier: Apache-2.0 */
/* The state of paths, looked up while sealing (FORMAT.md#files). */
#include "seal/seal.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sealed_fixture.h"

/* FORMAT.md#files: links on the way, where they lead, what is not there any more. */
static void files_are_looked_at(void **state)
{
    struct fixture *fixture = *state;
    struct ring_builder ring;
    char path[400];
    begin_process(&ring);
    (void)snprintf(path, sizeof(path), "%s/real", fixture->dir);
    assert_int_equal(mkdir(path, 0755), 0);
    (void)snprintf(path, sizeof(path), "%s/link", fixture->dir);
    assert_int_equal(symlink("real", path), 0);
    (void)snprintf(path, sizeof(path), "%s/real/file", fixture->dir);
    wio_test_write(path, "12345", 5);
    assert_int_equal(chmod(path, 0640), 0);
    (void)snprintf(path, sizeof(path), "%s/link/file", fixture->dir);
    ring_string(&ring, 0, 1, 0, path);
    ring_string(&ring, 0, 2, 0, "/nowhere/at/all");
    struct wio_slot_event *event = ring_event(&ring, 0, "read");
    event->path = 1;
    event->fd = 3;
    event->size = 5;
    event->result = 5;
    ring_event(&ring, 0, "stat")->path = 2;
    ring_save(&ring, raw_dir(fixture), "a.ring");
    struct sealed sealed = open_all(fixture->dir);
    unsigned found = 0;
    for (uint32_t i = 0; i < wio_trace_file_count(sealed.trace); i++) {
        const struct wio_file_info *file = wio_trace_file(sealed.trace, i);
        const char *name = wio_trace_string(sealed.trace, file->path, NULL);
        if (strcmp(name, path) == 0) {
            assert_int_equal(file->type, WIO_FILE_REGULAR);
            assert_int_equal(file->size, 5);
            assert_int_equal(file->mode, 0640);
            assert_int_equal(file->uses, WIO_USE_FILE | WIO_USE_NAMED);
            found |= 1;
        } else if (strcmp(name, "/nowhere/at/all") == 0) {
            assert_int_equal(file->type, WIO_FILE_NONE);
            found |= 2;
        } else if (file->type == WIO_FILE_SYMLINK && strstr(name, "/link") != NULL) {
            assert_string_equal(wio_trace_string(sealed.trace, file->target, NULL), "real");
            found |= 4;
        } else if (file->type == WIO_FILE_DIRECTORY && strstr(name, "/real") != NULL) {
            found |= 8; /* where the link leads */
        }
    }
    assert_int_equal(found, 15);
    struct wio_trace_info info;
    wio_trace_get_info(sealed.trace, &info);
    assert_int_equal(info.files, 1);
    assert_int_equal(info.bytes_read, 5);
    close_all(&sealed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
        TEST(files_are_looked_at),
    };
    return WIO_RUN(tests);
}
