/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "progress.h"

#define A_LITTLE_MORE_THAN_A_SECOND_NS UINT64_C(1050000000)

/* What goes to stderr between the two calls. */
struct catcher {
    int saved;
    FILE *file;
};

static void catch_stderr(struct catcher *catcher)
{
    (void)fflush(stderr);
    catcher->saved = dup(STDERR_FILENO);
    catcher->file = tmpfile();
    assert_non_null(catcher->file);
    assert_int_equal(dup2(fileno(catcher->file), STDERR_FILENO), STDERR_FILENO);
}

static void release_stderr(struct catcher *catcher, char *text, size_t size)
{
    (void)fflush(stderr);
    assert_int_equal(dup2(catcher->saved, STDERR_FILENO), STDERR_FILENO);
    (void)close(catcher->saved);
    rewind(catcher->file);
    text[fread(text, 1, size - 1, catcher->file)] = '\0';
    (void)fclose(catcher->file);
}

/* Half of the work in the first second, a bit more a moment later. */
static void work(const struct cmd_options *options, uint64_t total, const char *unit, char *text,
                 size_t size)
{
    struct catcher catcher;
    struct cmd_progress progress;
    catch_stderr(&catcher);
    cmd_progress_init(&progress, "sealing", options);
    cmd_progress_update(&progress, 0, total, unit);
    cmd_progress_update(&progress, 1000, total, unit);
    wio_clock_sleep_ns(A_LITTLE_MORE_THAN_A_SECOND_NS);
    cmd_progress_update(&progress, 5000, total, unit);
    cmd_progress_update(&progress, 5001, total, unit);
    cmd_progress_end(&progress);
    cmd_progress_end(&progress);
    release_stderr(&catcher, text, size);
}

static void a_bar_appears_after_a_second(void **state)
{
    (void)state;
    char text[4096];
    assert_int_equal(setenv("WHYIO_PROGRESS", "on", 1), 0);
    work(&(struct cmd_options){0}, 10000, "events", text, sizeof(text));
    assert_non_null(strstr(text, "sealing [==========>         ]  50 %"));
    assert_non_null(strstr(text, "5,000 events"));
    assert_non_null(strstr(text, "events/s"));
    assert_non_null(strstr(text, "1 s left"));
    /* Drawn once: the second report came too soon; then wiped once. */
    assert_int_equal(strncmp(text, "\rsealing", 8), 0);
    assert_null(strstr(text + 1, "\rsealing"));
    assert_string_equal(text + strlen(text) - 4, "\r\033[K");
}

static void an_unknown_total_shows_what_is_done(void **state)
{
    (void)state;
    char text[4096];
    assert_int_equal(setenv("WHYIO_PROGRESS", "on", 1), 0);
    work(&(struct cmd_options){0}, 0, "bytes", text, sizeof(text));
    assert_non_null(strstr(text, "sealing  4.88 KiB  "));
    assert_null(strstr(text, "%"));
}

static void quiet_and_off_show_nothing(void **state)
{
    (void)state;
    char text[4096];
    assert_int_equal(setenv("WHYIO_PROGRESS", "on", 1), 0);
    struct cmd_progress progress;
    cmd_progress_init(&progress, "sealing", &(struct cmd_options){.quiet = true});
    assert_false(progress.enabled);
    assert_int_equal(setenv("WHYIO_PROGRESS", "off", 1), 0);
    cmd_progress_init(&progress, "sealing", &(struct cmd_options){0});
    assert_false(progress.enabled);
    /* Not a terminal: nothing, without being told. */
    struct catcher catcher;
    assert_int_equal(unsetenv("WHYIO_PROGRESS"), 0);
    catch_stderr(&catcher);
    cmd_progress_init(&progress, "sealing", &(struct cmd_options){0});
    release_stderr(&catcher, text, sizeof(text));
    assert_false(progress.enabled);
    assert_string_equal(text, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bar_appears_after_a_second),
        cmocka_unit_test(an_unknown_total_shows_what_is_done),
        cmocka_unit_test(quiet_and_off_show_nothing),
    };
    return WIO_RUN(tests);
}
