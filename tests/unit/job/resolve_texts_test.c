/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <stdlib.h>
#include <string.h>

#include "job/resolve.h"

#define TEXT(literal)                                                                              \
    (struct wio_job_text)                                                                          \
    {                                                                                              \
        "" literal, sizeof(literal) - 1, false                                                     \
    }

static struct wio_job_settings mode(const char *text)
{
    struct wio_job_settings settings = {.mode = WIO_JOB_MODE_BATCH};
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(wio_job_settings_mode(&settings, text, &err), &err);
    return settings;
}

static const char *resolve(const struct wio_job_settings *settings,
                           const struct wio_job_texts *texts, bool is_failed)
{
    static struct wio_job_resolved resolved;
    wio_job_resolve_texts(settings, texts, &resolved);
    assert_int_equal(resolved.is_failed, is_failed);
    assert_int_equal(strlen(resolved.name), resolved.bytes);
    return resolved.name;
}

/* One row: environment and control group in, job out; blanks stand for NUL. */
static void batch_systems(void **state)
{
    (void)state;
    static const char *const rows[][3] = {
        {"A=1 SLURM_JOB_ID=12 ", "0::/\n", "12"},
        {"PBS_JOBID=7.server SLURM_JOB_ID=12 ", "0::/\n", "12"},
        {"PBS_JOBID=7.server ", "0::/\n", "7.server"},
        {"FLUX_JOB_ID=f23 ", "0::/\n", "f23"},
        {"PMIX_NAMESPACE=prte-9@1 LSB_JOBID=5 ", "0::/\n", "5"},
        {"PMIX_NAMESPACE=prte-9@1 ", "0::/\n", "prte-9@1"},
        {"SLURM_JOB_ID= PBS_JOBID=4 ", "0::/\n", "4"},
        {"XSLURM_JOB_ID=1 SLURM_JOB_IDS=2 SLURM_JOB_ID ", "0::/\n", ""},
        {"SLURM_JOB_ID=12 ", "0::/system.slice/slurmstepd.scope/job_42/step_0/user/task_0\n", "42"},
        {"SLURM_JOB_ID=12 ", "0::/system.slice/n1_slurmstepd.scope/job_43/step_extern\n", "43"},
        {"SLURM_JOB_ID=12 ", "5:cpu:/\n3:memory:/slurm/uid_0/job_8/step_batch\n0::/\n", "8"},
        {"SLURM_JOB_ID=12 ", "0::/pbs_jobs.service/jobid/9.server\n", "9.server"},
        /* what users make below their own slice proves nothing */
        {"SLURM_JOB_ID=12 ", "0::/user.slice/user-7.slice/user@7.service/slurm/job_99/step_0\n",
         "12"},
    };
    const struct wio_job_settings settings = mode("batch");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char *environ = strdup(rows[i][0]);
        const size_t bytes = strlen(environ);
        for (size_t at = 0; at < bytes; at++) {
            environ[at] = environ[at] == ' ' ? '\0' : environ[at];
        }
        const struct wio_job_texts texts = {.environ = {environ, bytes, false},
                                            .cgroup = {rows[i][1], strlen(rows[i][1]), false}};
        assert_string_equal(resolve(&settings, &texts, false), rows[i][2]);
        free(environ);
    }
}

static void look_alikes_are_not_the_variable(void **state)
{
    (void)state;
    const struct wio_job_settings settings = mode("USER");
    struct wio_job_texts texts = {.environ = TEXT("USERTEST=a\0MYUSER=b\0USER\0X=USER=c\0")};
    assert_string_equal(resolve(&settings, &texts, false), "");
    texts.environ = TEXT("USERTEST=a\0USER=first\0USER=second\0");
    assert_string_equal(resolve(&settings, &texts, false), "first");
    texts.environ = TEXT("USER=not ended");
    assert_string_equal(resolve(&settings, &texts, false), "not ended");
    texts.environ.is_cut = true;
    assert_string_equal(resolve(&settings, &texts, false), "");
}

static void what_is_missing_is_a_failure(void **state)
{
    (void)state;
    const struct wio_job_settings batch = mode("batch");
    const struct wio_job_settings user = mode("USER");
    const struct wio_job_settings procname = mode("procname_uid");
    struct wio_job_texts texts = {.cgroup = TEXT("0::/\n")};
    assert_string_equal(resolve(&batch, &texts, true), "");
    assert_string_equal(resolve(&user, &texts, true), "");
    assert_string_equal(resolve(&procname, &texts, true), "");
    texts.cgroup = TEXT("0::/slurm/uid_0/job_8\n");
    assert_string_equal(resolve(&batch, &texts, false), "8");
    texts.cgroup = (struct wio_job_text){NULL, 0, false};
    texts.environ = TEXT("A=1\0");
    assert_string_equal(resolve(&batch, &texts, true), "");
    texts.cgroup = (struct wio_job_text){"0::/slurm/job_8", 15, true};
    assert_string_equal(resolve(&batch, &texts, false), ""); /* may be job_81 */
}

static void ids_are_whole_or_none(void **state)
{
    (void)state;
    static char environ[WIO_JOB_BYTES + 8] = "J=";
    struct wio_job_settings settings = mode("J");
    struct wio_job_resolved resolved;
    memset(environ + 2, 'x', WIO_JOB_BYTES + 1);
    struct wio_job_texts texts = {.environ = {environ, WIO_JOB_BYTES + 2, false}};
    wio_job_resolve_texts(&settings, &texts, &resolved);
    assert_int_equal(resolved.bytes, WIO_JOB_BYTES);
    texts.environ.bytes++;
    wio_job_resolve_texts(&settings, &texts, &resolved);
    assert_int_equal(resolved.bytes, 0);
    assert_true(resolved.is_refused);
    assert_false(resolved.is_failed);
}

static void names_by_format(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"%e.%u", "a b.1000"},    {"%j@%H", "12@node7"}, {"%h", "node7.cluster"},
        {"%g-%p-%%", "100-42-%"}, {"plain", "plain"},
    };
    struct wio_job_texts texts = {.environ = TEXT("SLURM_JOB_ID=12\0"),
                                  .cgroup = TEXT("0::/\n"),
                                  .facts = {.program = "a b",
                                            .program_bytes = 3,
                                            .host = "node7.cluster",
                                            .host_bytes = 13,
                                            .pid = 42,
                                            .uid = 1000,
                                            .gid = 100}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct wio_job_settings settings = mode("batch");
        assert_ok(wio_job_settings_format(&settings, rows[i][0], NULL), NULL);
        assert_string_equal(resolve(&settings, &texts, false), rows[i][1]);
    }
    struct wio_job_settings with_job = mode("batch");
    assert_ok(wio_job_settings_format(&with_job, "%j.%e", NULL), NULL);
    texts.environ = TEXT("A=1\0");
    assert_string_equal(resolve(&with_job, &texts, false), ""); /* not ".a b" */
    assert_status(wio_job_settings_format(&with_job, "%x", NULL), WIO_ERR_USAGE, NULL);
    assert_status(wio_job_settings_format(&with_job, "a%", NULL), WIO_ERR_USAGE, NULL);
    assert_int_equal(wio_job_resolve_needs(&with_job),
                     WIO_JOB_NEED_ENVIRON | WIO_JOB_NEED_CGROUP | WIO_JOB_NEED_PROGRAM);
}

static void modes_have_names(void **state)
{
    (void)state;
    struct wio_job_settings settings = mode("disable");
    assert_true(wio_job_settings_is_whole(&settings));
    settings = mode("nodelocal");
    assert_true(wio_job_settings_is_whole(&settings));
    assert_ok(wio_job_settings_format(&settings, "%H", NULL), NULL);
    assert_true(wio_job_settings_is_whole(&settings));
    assert_ok(wio_job_settings_format(&settings, "%e", NULL), NULL);
    assert_false(wio_job_settings_is_whole(&settings));
    settings = mode("session");
    const struct wio_job_texts texts = {.session = TEXT("of the session")};
    assert_string_equal(resolve(&settings, &texts, false), "of the session");
    assert_status(wio_job_settings_mode(&settings, "2X", NULL), WIO_ERR_USAGE, NULL);
    assert_status(wio_job_settings_mode(&settings, "A=B", NULL), WIO_ERR_USAGE, NULL);
    assert_status(wio_job_settings_mode(&settings, "", NULL), WIO_ERR_USAGE, NULL);
}

static void patterns_of_the_user(void **state)
{
    (void)state;
    static const char *const rows[][3] = {
        {"cgroup:*pod%j.slice*", "/kubepods/pod4711.slice/x", "4711"},
        {"cgroup:/a/%j", "/a/b/c", NULL},
        {"cgroup:*/%j/*", "/a/b/c", "a"},
        {"J:job-%j", "job-12 x", "12 x"},
        {"J:%j", "whole", "whole"},
        {"J:*%j*", "ab", "ab"},
        {"J:%%%j%%", "%7%", "7"},
        {"J:a%jb", "ab", NULL},
        {"J:a%jb", "axbxb", "xbx"},
        {"J:x%j", "y1", NULL},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct wio_job_pattern pattern;
        size_t bytes = 0;
        assert_ok(wio_job_pattern_parse(rows[i][0], &pattern, NULL), NULL);
        const char *id = wio_job_pattern_find(&pattern, rows[i][1], strlen(rows[i][1]), &bytes);
        assert_int_equal(id != NULL, rows[i][2] != NULL);
        if (id != NULL) {
            assert_int_equal(bytes, strlen(rows[i][2]));
            assert_memory_equal(id, rows[i][2], bytes);
        }
    }
    static const char *const wrong[] = {"%j",     ":%j",    "J:",    "J:x",
                                        "J:%j%j", "J:%x%j", "J:%j%", "A=B:%j"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct wio_job_pattern pattern;
        assert_status(wio_job_pattern_parse(wrong[i], &pattern, NULL), WIO_ERR_USAGE, NULL);
    }
}

/* Asterisks without end take a bounded time: 4,096 bytes times 127. */
static void patterns_are_bounded(void **state)
{
    (void)state;
    static char text[WIO_JOB_BYTES];
    struct wio_job_pattern pattern;
    size_t bytes;
    memset(text, 'a', sizeof(text));
    assert_ok(wio_job_pattern_parse("J:*a*a*a*a*a*a*a*a*a*a*a*b%j*a*a*a*a*a*b", &pattern, NULL),
              NULL);
    assert_null(wio_job_pattern_find(&pattern, text, sizeof(text), &bytes));
    assert_ok(wio_job_pattern_parse("J:*%j", &pattern, NULL), NULL);
    assert_ptr_equal(wio_job_pattern_find(&pattern, text, sizeof(text), &bytes), text);
    assert_int_equal(bytes, sizeof(text));
}

static void a_pattern_is_asked_first(void **state)
{
    (void)state;
    struct wio_job_settings settings = mode("batch");
    assert_ok(wio_job_pattern_parse("MINE:job-%j", &settings.pattern, NULL), NULL);
    settings.has_pattern = true;
    struct wio_job_texts texts = {.environ = TEXT("SLURM_JOB_ID=1\0MINE=job-2\0"),
                                  .cgroup = TEXT("0::/slurm/job_3/step_0\n")};
    assert_false(wio_job_resolve_is_in_cgroup(&settings, &texts.cgroup));
    assert_string_equal(resolve(&settings, &texts, false), "2");
    texts.environ = TEXT("SLURM_JOB_ID=1\0MINE=other\0");
    assert_string_equal(resolve(&settings, &texts, false), "3");
    assert_ok(wio_job_pattern_parse("cgroup:*/step_%j", &settings.pattern, NULL), NULL);
    assert_true(wio_job_resolve_is_in_cgroup(&settings, &texts.cgroup));
    assert_string_equal(resolve(&settings, &texts, false), "0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batch_systems),
        cmocka_unit_test(look_alikes_are_not_the_variable),
        cmocka_unit_test(what_is_missing_is_a_failure),
        cmocka_unit_test(ids_are_whole_or_none),
        cmocka_unit_test(names_by_format),
        cmocka_unit_test(modes_have_names),
        cmocka_unit_test(patterns_of_the_user),
        cmocka_unit_test(patterns_are_bounded),
        cmocka_unit_test(a_pattern_is_asked_first),
    };
    return WIO_RUN(tests);
}
