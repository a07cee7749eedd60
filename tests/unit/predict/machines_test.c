/* SPDX-License-Identifier: Apache-2.0 */
/* What a trace's operations cost on machines that say more: metadata, several devices and hosts. */
#include "support/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "try.h"

#define FILES                                                                                      \
    "open t=10000 dur=7000 path=/a a0=0x41 res=3\n" /* O_CREAT */                                  \
    "pwrite t=17000 dur=1000 fd=3 path=/a off=0 size=3\n"                                          \
    "close t=20000 dur=2000 fd=3 path=/a\n"                                                        \
    "open t=30000 dur=5000 path=/a a0=0x41 res=3\n" /* is there */                                 \
    "unlink t=40000 dur=4000 path=/a\n"                                                            \
    "open t=50000 dur=3000 path=/a a0=0 err=2\n"

static void metadata_costs_what_the_machine_says(void **state)
{
    (void)state;
    try.params.host = try_host("meta.json", ", \"meta\": {\"open\": 1e-5, \"create\": 2e-5, "
                                            "\"unlink\": 5e-5}");
    predict(FILES);
    const struct wio_predict_result *result = &try.result;
    assert_int_equal(result->all.ops, 1);
    assert_int_equal(result->metadata_count, 2);
    assert_string_equal(result->metadata[0].op, "unlink"); /* the longest */
    assert_us(result->metadata[0].time_s, 50);
    assert_int_equal(result->metadata[1].count, 2);
    assert_us(result->metadata[1].time_s, 20 + 10);
    /* one that the machine does not know, and one that failed */
    assert_int_equal(result->kept_count, 2);
    assert_string_equal(result->kept[0].op, "open");
    assert_us(result->kept[0].time_s, 3);
    assert_string_equal(result->kept[1].op, "close");
    assert_us(result->kept[1].time_s, 2);
    assert_us(result->all.kept_s, 2 + 3);
    assert_us(result->all.modelled_s, 3 + 50 + 20 + 10);
    assert_us(result->all.io_s, 5 + 83);
    /* gaps: 2 us behind the write, 8, 5 and 6 us */
    assert_us(result->all.compute_s, 2 + 8 + 5 + 6);
    assert_us(result->all.total_s, 88 + 21);
    assert_us(result->all.traced_s, 43);
}

static void without_a_number_it_takes_its_recorded_time(void **state)
{
    (void)state;
    predict(FILES);
    assert_int_equal(try.result.metadata_count, 0);
    assert_us(try.result.all.kept_s, 7 + 2 + 5 + 4 + 3);
    assert_us(try.result.all.modelled_s, 3);
    assert_us(try.result.all.total_s, 24 + 21);
}

/* What is not on storage was not measured there. */
static void other_files_keep_their_time(void **state)
{
    (void)state;
    try.params.host = try_host("meta.json", ", \"meta\": {\"open\": 1, \"stat\": 1}");
    predict("open t=10000 dur=7000 path=/proc/self/maps a0=0 res=3\n"
            "stat t=20000 dur=1000 path=/dev/null\n");
    assert_us(try.result.all.kept_s, 8);
    assert_int_equal(try.result.metadata_count, 0);
}

/* fclose: what the stream still has, then the close. */
static void closing_a_stream_costs_both(void **state)
{
    (void)state;
    try.params.host = try_host("meta.json", ", \"meta\": {\"close\": 1e-5}");
    try.params.model = WIO_MODEL_KERNEL;
    predict("fwrite t=1000 dur=2000 fd=3 path=/a off=0 size=100 res=100\n"
            "fclose t=9000 dur=1000 fd=3 path=/a\n");
    assert_int_equal(try.result.all.ops, 2);
    assert_us(try.result.all.io_s, 100 + 10);
    assert_int_equal(try.result.metadata[0].count, 1);
    assert_us(try.result.metadata[0].time_s, 10);
}

/* Data of files that are removed, cut or replaced is not written; a new file of the same name has
 * nothing in memory, a renamed one has. */
static void removed_data_is_dropped(void **state)
{
    (void)state;
    static const char *const ends[] = {
        "unlink t=20000 dur=1000 path=/a\n", "truncate t=20000 dur=1000 path=/a size=0 res=0\n",
        "open t=20000 dur=1000 path=/a a0=0x201 res=4\n", /* O_TRUNC */
        "stat t=20000 dur=1000 path=/b\nrename t=22000 dur=1000 path=/b path2=/a\n"};
    try.params.model = WIO_MODEL_KERNEL;
    for (size_t i = 0; i < 4; i++) {
        char script[1024];
        (void)snprintf(script, sizeof(script),
                       "open t=1000 dur=1000 path=/a a0=0x41 res=3\n"
                       "pwrite t=10000 dur=1000 fd=3 path=/a off=0 size=40960\n"
                       "%sfsync t=30000 dur=1000 fd=3 path=/a res=0\n",
                       ends[i]);
        predict(script);
        assert_us(try.result.all.modelled_s, 40960); /* and nothing for the fsync */
    }
    predict("pwrite t=10000 dur=1000 fd=3 path=/a off=0 size=4096\n"
            "rename t=20000 dur=1000 path=/a path2=/b\n"
            "pread t=30000 dur=1000 fd=3 path=/b off=0 size=4096\n"
            "pread t=40000 dur=1000 fd=3 path=/a off=0 size=4096\n");
    /* copied; copied; read from the device, 4 pages at once, and copied */
    assert_us(try.result.all.modelled_s, 4096 + 4096 + 4 * 4096 + 4096);
}

/* What is in memory of the files of a directory stays there under its new name, and through links.
 */
static void a_renamed_directory_takes_its_data_along(void **state)
{
    (void)state;
    static const char *const ways[] = {
        "rename t=20000 dur=1000 path=/d path2=/e\npread t=30000 dur=1000 fd=4 path=/e/a",
        "rename t=20000 dur=1000 path=/d/a path2=/d/b\nrename t=21000 dur=1000 path=/d path2=/e\n"
        "open t=22000 dur=1000 path=/e/b a0=0 res=4\npread t=30000 dur=1000 fd=4 path=/e/b",
        "link t=20000 dur=1000 path=/d/a path2=/b\nopen t=22000 dur=1000 path=/b a0=0 res=4\npread "
        "t=30000 dur=1000 fd=4 path=/b",
        "symlink t=20000 dur=1000 path=/s path2=/d\nopen t=22000 dur=1000 path=/s/a a0=0 "
        "res=4\npread t=30000 dur=1000 fd=4 path=/s/a"};
    try.params.model = WIO_MODEL_KERNEL;
    for (size_t i = 0; i < 4; i++) {
        char script[1024];
        (void)snprintf(script, sizeof(script),
                       "open t=1000 dur=1000 path=/d/a a0=0x41 res=3\n"
                       "pwrite t=10000 dur=1000 fd=3 path=/d/a off=0 size=4096\n"
                       "%s off=0 size=4096\n",
                       ways[i]);
        predict(script);
        assert_us(try.result.all.modelled_s, 4096 + 4096);
    }
}

/* What is behind a descriptor decides how it is written: an exec closes some, close_range others.
 */
static void flags_are_those_of_the_open_file(void **state)
{
    (void)state;
    static const struct {
        const char *script; /* up to the write, by another image */
        bool is_sync;
    } cases[] = {
        {"open t=1000 dur=1000 path=/a a0=0x101001 res=3\nexecve t=9000 dur=1000 path=/x\n", true},
        {"open t=1000 dur=1000 path=/a a0=0x181001 res=3\nexecve t=9000 dur=1000 path=/x\n", false},
        {"open t=1000 dur=1000 path=/a a0=0x101001 res=3\n"
         "close_range t=2000 dur=1000 a0=3 a1=9\nexecve t=9000 dur=1000 path=/x\n",
         false},
        {"open t=1000 dur=1000 path=/a a0=0x101001 res=3\n"
         "close_range t=2000 dur=1000 a0=3 a1=9 a2=4\nexecve t=9000 dur=1000 path=/x\n",
         false},
        {"open t=1000 dur=1000 path=/a a0=0x181001 res=3\n"
         "fcntl t=2000 dur=1000 fd=3 path=/a a0=2 a1=0\nexecve t=9000 dur=1000 path=/x\n",
         true}};
    try.params.model = WIO_MODEL_KERNEL;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char script[1024];
        (void)snprintf(script, sizeof(script),
                       "process 10\nprocess 10 parent=0 start=9500\nstream 0 10\nstream 1 10\n%s"
                       "pwrite stream=1 t=40000 dur=1000 fd=3 path=/a off=0 size=4096\n",
                       cases[i].script);
        predict(script);
        assert_true((try.result.all.modelled_s > 4097e-6) == cases[i].is_sync);
    }
}

/* Three files, each in place of the one before; `opens`, `writes` and `closes` with the time, of
 * the second with its size, are lines of a script. */
static void replace_twice(const char *opens, const char *writes, const char *closes)
{
    static const int sizes[] = {40960, 81920, 40960};
    char script[2048] = "";
    for (int i = 0; i < 3; i++) {
        char *end = script + strlen(script);
        (void)snprintf(end, sizeof(script) - (size_t)(end - script),
                       "%s t=%d dur=10000 a0=0x241 res=3\n" /* O_TRUNC | O_CREAT */
                       "%s t=%d dur=1000 off=0 size=%d res=%d\n"
                       "%s t=%d dur=1000 res=0\n",
                       opens, 100000 * i + 10000, writes, 100000 * i + 20000, sizes[i], sizes[i],
                       closes, 100000 * i + 30000);
    }
    predict(script);
}

/* What took the place of other data is handed to the device at once (MODEL.md#replaced). Nothing
 * was there for the first file to replace; the second one takes the device 81920 us, and the call
 * that replaces it waits for the rest of that. */
static void what_replaces_a_file_is_handed_to_the_device(void **state)
{
    (void)state;
    const double copied = 40960 + 81920 + 40960;
    try.params.host =
        try_host("meta.json", ", \"meta\": {\"open\": 0, \"create\": 0, \"close\": 0, "
                              "\"rename\": 0}");
    try.params.model = WIO_MODEL_KERNEL;
    replace_twice("open path=/a", "pwrite fd=3 path=/a", "close fd=3 path=/a");
    assert_int_equal(try.result.all.ops, 3);
    assert_us(try.result.all.io_s, copied + 81920 - 79);
    assert_us(try.result.all.modelled_s, copied + 81920 - 79);
    replace_twice("fopen path=/a", "fwrite fd=3 path=/a", "fclose fd=3 path=/a");
    assert_int_equal(try.result.all.ops, 6);
    assert_us(try.result.all.io_s, copied + 81920 - 79);
    /* the third file is copied before the rename */
    replace_twice("open path=/b", "pwrite fd=3 path=/b", "rename path=/b path2=/a");
    assert_us(try.result.all.io_s, copied + 81920 - 79 - 40960 - 9);
    /* a file of its own each time replaces none */
    replace_twice("open path=/b", "pwrite fd=3 path=/b", "unlink path=/b");
    assert_us(try.result.all.modelled_s, copied);
}

/* The close does that: no call of the program's own is made. */
static void handing_over_is_no_call(void **state)
{
    (void)state;
    try.params.host = try_host("meta.json", ", \"c_call\": 5e-5, \"meta\": {\"open\": 0, "
                                            "\"close\": 0, \"rename\": 0}");
    try.params.model = WIO_MODEL_KERNEL;
    predict("open t=10000 dur=1000 path=/a a0=0x201 res=3\n"
            "pwrite t=20000 dur=1000 fd=3 path=/a off=0 size=40960 res=40960\n"
            "close t=30000 dur=1000 fd=3 path=/a res=0\n");
    assert_us(try.result.all.modelled_s, 50 + 40960);
    assert_us(try.result.all.io_s, 50 + 40960);
}

/* The close behind it carries the old name. */
static void a_rename_hands_over_before_the_close(void **state)
{
    (void)state;
    try.params.host = try_host("meta.json", ", \"meta\": {\"open\": 0, \"close\": 0, "
                                            "\"rename\": 0}");
    try.params.model = WIO_MODEL_KERNEL;
    predict("open t=10000 dur=1000 path=/a a0=0x201 res=3\n"
            "pwrite t=20000 dur=1000 fd=3 path=/a off=0 size=81920 res=81920\n"
            "rename t=30000 dur=1000 path=/a path2=/b\n"
            "close t=40000 dur=1000 fd=3 path=/a res=0\n"
            "open t=50000 dur=1000 path=/b a0=0x201 res=3\n");
    assert_us(try.result.all.modelled_s, 81920 + 81920 - 18);
}

/* That it was there before the trace began shows where the open could not have made it, or where
 * a call looked. The call that cuts it again waits for what was handed out at the close. */
static void a_file_may_be_older_than_the_trace(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        const char *flags;
        double waits;
    } cases[] = {{"", "0x241", 0},
                 {"", "0x201", 81920 - 9},
                 {"access t=1000 dur=1000 path=/a res=0\n", "0x241", 81920 - 9},
                 {"access t=1000 dur=1000 path=/a res=-1 err=2\n", "0x241", 0}};
    try.params.host = try_host("meta.json", ", \"meta\": {\"open\": 0, \"create\": 0, "
                                            "\"close\": 0, \"access\": 0}");
    try.params.model = WIO_MODEL_KERNEL;
    for (size_t i = 0; i < 4; i++) {
        char script[1024];
        (void)snprintf(script, sizeof(script),
                       "%sopen t=10000 dur=1000 path=/a a0=%s res=3\n"
                       "pwrite t=20000 dur=1000 fd=3 path=/a off=0 size=81920 res=81920\n"
                       "close t=30000 dur=1000 fd=3 path=/a res=0\n"
                       "open t=40000 dur=1000 path=/a a0=0x201 res=3\n",
                       cases[i].line, cases[i].flags);
        predict(script);
        assert_us(try.result.all.modelled_s, 81920 + cases[i].waits);
    }
}

/* What is read of a file that was made in the trace is a hole where no call wrote; of another
 * host's writes nothing is known. */
static void new_files_have_holes(void **state)
{
    (void)state;
    static const char *const opens[] = {"mkstemp", "open", "open", "open"};
    static const char *const flags[] = {"0xc2", "0xc1", "0x41", "0x201"};
    try.params.model = WIO_MODEL_KERNEL;
    for (size_t i = 0; i < 4; i++) {
        char script[1024];
        (void)snprintf(script, sizeof(script),
                       "%s t=10000 dur=1000 path=/a a0=%s res=3\n"
                       "ftruncate t=20000 dur=1000 fd=3 path=/a size=409600 res=0\n"
                       "pread t=30000 dur=1000 fd=3 path=/a off=0 size=409600\n",
                       opens[i], flags[i]);
        predict(script);
        /* 0x41: it may have been there; the device reads while it is copied */
        assert_true((try.result.all.modelled_s > 409700e-6) == (i == 2));
    }
    predict("process 10 rank=0 host=n1\nprocess 20 rank=1 host=n2\nstream 0 10\nstream 1 20\n"
            "open stream=0 t=10000 dur=1000 path=/a a0=0xc1 res=3\n"
            "pwrite stream=1 t=20000 dur=1000 fd=3 path=/a off=0 size=409600\n"
            "pread stream=0 t=30000 dur=1000 fd=3 path=/a off=0 size=409600\n");
    assert_true(try.result.all.modelled_s > 2 * 409700e-6);
}

/* A file may be longer than a model counts; what is written there takes its recorded time. */
static void lengths_may_be_absurd(void **state)
{
    (void)state;
    try.params.model = WIO_MODEL_KERNEL;
    predict("ftruncate t=10000 dur=1000 fd=3 path=/a size=9223372036854775807 res=0\n"
            "pwrite t=20000 dur=1000 fd=3 path=/a off=0 size=4096\n");
    assert_int_equal(try.result.all.bytes_written, 4096);
    predict("pwrite t=1000 dur=1000 fd=3 path=/far off=9007199254740992 size=1\n");
    assert_us(try.result.all.kept_s, 1);
}

/* What the recorder's group let the program have goes with it; an unlimited one, too. */
static void the_memory_group_of_the_run_bounds_it(void **state)
{
    (void)state;
    static const char writes[] = "pwrite t=1000 dur=1 fd=3 path=/a off=0 size=4194304\n"
                                 "pwrite t=2000 dur=1 fd=3 path=/a off=4194304 size=4194304\n";
    static const char limited[] = "machine memory_group_version 1\n"
                                  "machine memory_group_limit 3145728\n"
                                  "machine memory_group_usage 2097152\n"
                                  "machine memory_group_file 1048576\n";
    char script[1024];
    try.params.model = WIO_MODEL_KERNEL;
    predict(writes); /* an old trace, a machine without a group */
    double free_dirty = try.result.dirty_bytes_max;
    assert_true(free_dirty == 8388608);
    (void)snprintf(script, sizeof(script), "%s%s", limited, writes);
    predict(script);
    assert_true(try.result.dirty_bytes_max <= 4194304); /* 2 MiB, and the folio at hand */
    try.params.host = try_host("group.json", ", \"group_limit\": 2097152, \"group_version\": 1");
    predict(writes); /* an old trace: as the machine's description says */
    assert_true(try.result.dirty_bytes_max <= 4194304);
    (void)snprintf(script, sizeof(script), "machine memory_total 1000000000\n%s", writes);
    predict(script); /* the recorded job had no limit */
    assert_true(try.result.dirty_bytes_max == free_dirty);
}

static void a_short_read_ends_the_file(void **state)
{
    (void)state;
    try.params.model = WIO_MODEL_KERNEL;
    predict("pread t=10000 dur=1000 fd=3 path=/a off=0 size=100000 res=100\n");
    assert_us(try.result.all.modelled_s, 4096 + 100);
}

static void files_are_on_the_device_of_their_path(void **state)
{
    (void)state;
    static const enum wio_model_kind kinds[] = {WIO_MODEL_NAIVE, WIO_MODEL_CAWL, WIO_MODEL_KERNEL};
    try.params.host = try_host("devices.json", ", \"devices\": [{\"path\": \"/fast\", "
                                               "\"bw_dev\": 1e7, \"meta\": {\"stat\": 1e-3}}]");
    try.params.whatif.direct = WIO_PREDICT_ON;
    for (size_t i = 0; i < 3; i++) {
        try.params.model = kinds[i];
        predict(TWO "pwrite stream=0 t=1000 dur=9000 fd=3 path=/fast/a off=0 size=1000\n"
                    "stat stream=0 t=10000 dur=1000 path=/fast/a\n"
                    "stat stream=0 t=11000 dur=1000 path=/faster\n"
                    "pwrite stream=1 t=1000 dur=9000 fd=3 path=/slow off=0 size=1000\n");
        assert_us(try.ends_s[0], 1 + 100);
        assert_us(try.ends_s[1], 1 + 1000); /* at the same time */
        assert_us(try.result.metadata[0].time_s, 1000);
        assert_us(try.result.all.kept_s, 1);
    }
}

/* sync(2): all at the same time, so it takes as long as the slowest; nothing is left to do behind.
 */
static void a_sync_is_of_all_devices(void **state)
{
    (void)state;
    static const char script[] = "pwrite t=10000 dur=1000 fd=3 path=/fast/a off=0 size=40960\n"
                                 "pwrite t=20000 dur=1000 fd=4 path=/slow off=0 size=%d\n"
                                 "sync t=30000 dur=1000\n"
                                 "fsync t=40000 dur=1000 fd=3 path=/fast/a res=0\n"
                                 "fsync t=50000 dur=1000 fd=4 path=/slow res=0\n";
    char text[1024];
    try.params.host = try_host("devices.json", ", \"devices\": [{\"path\": \"/fast\", "
                                               "\"bw_dev\": 1e7}]");
    try.params.model = WIO_MODEL_KERNEL;
    for (int slow = 0; slow <= 8192; slow += 8192) {
        (void)snprintf(text, sizeof(text), script, slow);
        predict(text);
        assert_int_equal(try.result.all.ops, 5);
        /* copied, then written by the slower one; nothing is left for the fsyncs */
        assert_us(try.result.all.modelled_s, 40960 + slow + (slow > 4096 ? slow : 4096));
    }
    try.params.model = WIO_MODEL_CAWL; /* one device after the other */
    predict(text);
    assert_int_equal(try.result.all.ops, 5);
}

static void each_host_has_its_machine(void **state)
{
    (void)state;
    static const char script[] = "process 10 rank=0 host=n1\nprocess 20 rank=1 host=n2\n"
                                 "process 30 rank=2 host=n3\n"
                                 "stream 0 10\nstream 1 20\nstream 2 30\n"
                                 "pwrite stream=0 t=1000 dur=9 fd=3 path=/a off=0 size=1000\n"
                                 "pwrite stream=1 t=1000 dur=9 fd=3 path=/a off=0 size=1000\n"
                                 "pwrite stream=2 t=1000 dur=9 fd=3 path=/a off=0 size=1000\n";
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_predict_host named[2] = {
        {"n2", try_host("n2.json", ", \"devices\": [{\"path\": \"/\", \"bw_dev\": 1e8}]")}};
    try.params.whatif.direct = WIO_PREDICT_ON;
    try.params.named_hosts = named;
    try.params.named_host_count = 1;
    predict(script);
    assert_us(try.ends_s[0], 1 + 10);
    assert_us(try.ends_s[1], 1 + 1000);
    assert_us(try.ends_s[2], 1 + 1000);
    try.params.host = NULL;
    assert_status(try_predict(script, &err), WIO_ERR_USAGE, &err);
    assert_non_null(strstr(err.message, "'n1'"));
    try.params.host = named[0].file;
    named[1] = (struct wio_predict_host){"n9", named[0].file};
    try.params.named_host_count = 2;
    assert_status(try_predict(script, &err), WIO_ERR_USAGE, &err);
    assert_non_null(strstr(err.message, "'n9'"));
    named[1] = (struct wio_predict_host){"n3", try_host("bad.json", ", \"hz\": -1")};
    assert_status(try_predict(script, &err), WIO_ERR_FORMAT, &err);
    assert_non_null(strstr(err.message, "'hz'"));
    assert_non_null(strstr(err.message, "host 'n3'"));
}

/* Values that one model alone cannot work with are the file's fault, too. */
static void each_model_checks_the_file(void **state)
{
    (void)state;
    static const char script[] = "process 10\nstream 0 10\n"
                                 "pwrite t=1000 dur=9 fd=3 path=/a off=0 size=1000\n";
    static const char *const cases[][2] = {
        {", \"hz\": 0", "parameter 'hz' must be"},
        {", \"balance_step\": 0", "parameter 'balance_step' must be"},
        {", \"balance_step\": 2e9", "parameter 'balance_step' must be"},
        {", \"write_bw0\": 0", "parameter 'write_bw0' must be"},
        {", \"devices\": [{\"path\": \"/d\", \"request_max\": 0}]",
         "device '/d': parameter 'request_max' must be"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wio_error err = WIO_ERROR_INIT;
        try.params.host = try_host("refused.json", cases[i][0]);
        try.params.model = WIO_MODEL_KERNEL;
        assert_status(try_predict(script, &err), WIO_ERR_FORMAT, &err);
        assert_string_equal(err.file, try.params.host);
        assert_non_null(strstr(err.message, cases[i][1]));
        try.params.model = WIO_MODEL_NAIVE;
        predict(script);
    }
}

/* Sums of the same times in another order differ in their last digits. */
static void lists_may_change_devices_at_any_time(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    char *path = wio_test_path("ops.jsonl");
    FILE *list = fopen(path, "w");
    assert_non_null(list);
    for (unsigned i = 0; i < 1000; i++) {
        (void)fprintf(
            list, "{\"file\": \"/%s/a\", \"offset\": %u, \"size\": %u, \"delay_s\": %s}\n",
            i / 3 % 2 == 1 ? "fast" : "slow", i, i * 7919 % 9973, i % 3 == 0 ? "0.1" : "0");
    }
    assert_int_equal(fclose(list), 0);
    try.params.host = try_host("devices.json", ", \"devices\": [{\"path\": \"/fast\"}]");
    try.params.model = WIO_MODEL_CAWL;
    try.params.per_op = NULL;
    assert_ok(wio_predict_ops(path, &try.params, &try.result, &err), &err);
    assert_int_equal(try.result.all.ops, 1000);
    free(path);
}

/* exec: the thread goes on in the image that it made. */
static void images_follow_each_other(void **state)
{
    (void)state;
    predict("process 10\nprocess 10 parent=0\nprocess 10 parent=1\n"
            "stream 0 10\nstream 1 10\nstream 2 10\n"
            "pwrite stream=0 t=1000 dur=1000 fd=3 path=/a off=0 size=50\n"
            "pwrite stream=1 t=5000 dur=1000 fd=3 path=/a off=0 size=5\n"
            "pwrite stream=2 t=9000 dur=1000 fd=3 path=/a off=0 size=5\n");
    assert_us(try.ends_s[0], 51);
    assert_us(try.ends_s[1], 51 + 3 + 5);
    assert_us(try.ends_s[2], 59 + 3 + 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TRY(metadata_costs_what_the_machine_says),
        TRY(without_a_number_it_takes_its_recorded_time),
        TRY(other_files_keep_their_time),
        TRY(closing_a_stream_costs_both),
        TRY(removed_data_is_dropped),
        TRY(a_renamed_directory_takes_its_data_along),
        TRY(flags_are_those_of_the_open_file),
        TRY(what_replaces_a_file_is_handed_to_the_device),
        TRY(handing_over_is_no_call),
        TRY(a_rename_hands_over_before_the_close),
        TRY(a_file_may_be_older_than_the_trace),
        TRY(new_files_have_holes),
        TRY(lengths_may_be_absurd),
        TRY(the_memory_group_of_the_run_bounds_it),
        TRY(a_short_read_ends_the_file),
        TRY(files_are_on_the_device_of_their_path),
        TRY(a_sync_is_of_all_devices),
        TRY(each_host_has_its_machine),
        TRY(each_model_checks_the_file),
        TRY(lists_may_change_devices_at_any_time),
        TRY(images_follow_each_other),
    };
    return WIO_RUN(tests);
}
