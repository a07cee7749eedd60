/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan makes of a trace: the tree before the run, families, shared descriptors, phases. */
#include "support/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <whyio/trace.h>

#include "base/cleanup.h"
#include "replay/initial/plan.h"
#include "support/script_open.h"

static struct wio_trace *trace;
static struct rp_plan *plan;

static void make_plan(const char *script)
{
    struct wio_error err = WIO_ERROR_INIT;
    trace = script_open(script);
    assert_ok(rp_plan_create(trace, false, &plan, &err), &err);
}

static int drop_plan(void **state)
{
    (void)state;
    rp_plan_destroy(plan);
    wio_trace_close(trace);
    plan = NULL;
    trace = NULL;
    return 0;
}

/* The file that has to be made at this path before the run, NULL if none. */
static const struct rp_file *initial(const char *path)
{
    const struct rp_space *space = &plan->observer.space;
    for (uint32_t i = 0; i < space->file_count; i++) {
        const struct rp_file *file = &space->files[i];
        if (file->origin == RP_ORIGIN_INITIAL &&
            strcmp(wio_strtab_get(&space->texts, file->path, NULL), path) == 0) {
            return file;
        }
    }
    return NULL;
}

static uint32_t string_of(const char *path)
{
    for (uint32_t i = 0; i < wio_trace_string_count(trace) + 1; i++) {
        if (strcmp(wio_trace_string(trace, i, NULL), path) == 0) {
            return i;
        }
    }
    fail_msg("no path %s", path);
    return 0;
}

static void opened_files_were_there(void **state)
{
    (void)state;
    make_plan("open path=/a/in res=3\n"
              "read fd=3 path=/a/in off=0 size=100 res=40\n"
              "open path=/a/out a0=0x241 a1=0644 res=4\n" /* O_CREAT | O_TRUNC | O_WRONLY */
              "write fd=4 path=/a/out off=0 size=50\n"
              "open path=/a/missing err=2\n"
              "open path=/b/new a0=0xc1 res=5\n"); /* O_CREAT | O_EXCL */
    assert_non_null(initial("/a/in"));
    assert_int_equal(initial("/a/in")->size, 40); /* the short read tells */
    assert_int_equal(rp_extents_bytes(&initial("/a/in")->reads), 40);
    assert_null(initial("/a/out"));
    assert_null(initial("/a/missing"));
    assert_null(initial("/b/new"));
    assert_non_null(initial("/a"));
    assert_int_equal(initial("/a")->type, WIO_FILE_DIRECTORY);
    assert_non_null(initial("/b"));
}

static void sizes_come_from_many_places(void **state)
{
    (void)state;
    make_plan("file /table regular mode=0600 size=777\n"
              "file /grown regular size=5000\n"
              "stat path=/stated a1=0100640 a2=1234\n"
              "open path=/sought res=3\n"
              "lseek fd=3 path=/sought off=-10 a0=2 res=90\n"
              "open path=/appended a0=0x401 res=4\n"
              "pread fd=3 path=/sought off=0 size=10\n"
              "open path=/table res=5\n"
              "open path=/least res=6\n"
              "pread fd=6 path=/least off=4096 size=4096\n"
              "open path=/grown a0=2 res=7\n"
              "pwrite fd=7 path=/grown off=0 size=5000\n"
              "pread fd=7 path=/grown off=0 size=5000\n");
    assert_int_equal(initial("/stated")->size, 1234);
    assert_int_equal(initial("/stated")->mode, 0640);
    assert_int_equal(initial("/sought")->size, 100);
    assert_int_equal(initial("/table")->size, 777);
    assert_int_equal(initial("/table")->mode, 0600);
    assert_int_equal(initial("/least")->size, 8192);
    assert_int_equal(initial("/grown")->size, 0); /* all of it was written in the run */
}

static void o_creat_is_decided_by_what_follows(void **state)
{
    (void)state;
    make_plan("open path=/was a0=0x42 res=3\n"
              "pread fd=3 path=/was off=0 size=100\n"
              "open path=/made a0=0x42 res=4\n"
              "pwrite fd=4 path=/made off=0 size=100\n"
              "pread fd=4 path=/made off=0 size=100\n"
              "open path=/known a0=0x42 res=5\n"
              "fstat fd=5 path=/known a1=0100644 a2=10\n"
              "open path=/empty a0=0x42 res=6\n"
              "fstat fd=6 path=/empty a1=0100644 a2=0\n");
    assert_non_null(initial("/was"));
    assert_int_equal(initial("/was")->size, 100);
    assert_null(initial("/made"));
    assert_non_null(initial("/known"));
    assert_int_equal(initial("/known")->size, 10);
    assert_null(initial("/empty"));
}

static void names_are_followed(void **state)
{
    (void)state;
    make_plan("open path=/d/a res=3\n"
              "rename path=/d/a path2=/d/b\n"
              "stat path=/d/b a1=0100644 a2=70\n"
              "stat path=/d/a err=2\n"
              "rename path=/d path2=/e\n"
              "stat path=/e/c a1=0100600 a2=5\n"
              "unlink path=/e/c\n"
              "mkdir path=/new a0=0755\n"
              "stat path=/new/x err=2\n"
              "open path=/new/x a0=0x41 res=4\n"
              "link path=/e/b path2=/e/b2\n"
              "rmdir path=/full err=39\n");
    assert_non_null(initial("/d/a"));
    assert_int_equal(initial("/d/a")->size, 70);
    assert_null(initial("/d/b"));
    assert_null(initial("/e"));
    assert_non_null(initial("/d/c")); /* it lay in the directory before that was renamed */
    assert_null(initial("/new"));
    assert_null(initial("/new/x"));
    assert_true(initial("/full")->is_not_empty);
}

static void links_are_followed(void **state)
{
    (void)state;
    make_plan("file /lib symlink target=usr/lib\n"
              "file /abs symlink target=/data/x\n"
              "open path=/lib/a res=3\n"
              "pread fd=3 path=/lib/a off=0 size=10\n"
              "open path=/usr/lib/a res=4\n"
              "pread fd=4 path=/usr/lib/a off=10 size=10\n"
              "open path=/abs res=5\n"
              "readlink path=/seen path2=/target size=99 res=7\n");
    assert_non_null(initial("/usr/lib/a"));
    assert_int_equal(rp_extents_bytes(&initial("/usr/lib/a")->reads), 20);
    assert_int_equal(initial("/lib")->type, WIO_FILE_SYMLINK);
    assert_non_null(initial("/data/x"));
    assert_int_equal(initial("/seen")->type, WIO_FILE_SYMLINK);
    assert_string_equal(wio_strtab_get(&plan->observer.space.texts, initial("/seen")->target, NULL),
                        "/target");
}

static void what_acts_on_a_link_needs_no_target(void **state)
{
    (void)state;
    make_plan("file /link symlink target=/far/gone\n"
              "chown path=/link a0=1 a1=1 a2=0x100\n" /* AT_SYMLINK_NOFOLLOW */
              "lchown path=/link a0=1 a1=1\n"
              "chmod path=/link a0=0600 a1=0x100 err=95\n"
              "lchmod path=/link a0=0600 err=95\n"
              "access path=/link a0=0 a1=0x100\n"
              "utimens path=/link a0=1 a2=2 size=256 res=0\n"
              "utimens path=/link a0=1 a2=2\n"
              "lutimes path=/link a0=1 a2=2\n");
    assert_int_equal(initial("/link")->type, WIO_FILE_SYMLINK);
    assert_null(initial("/far/gone"));
    assert_null(initial("/far"));
}

static void what_follows_a_link_needs_its_target(void **state)
{
    (void)state;
    static const char *const events[] = {
        "chown path=/link a0=1 a1=1 a2=0\n", "chmod path=/link a0=0600 a1=0\n",
        "access path=/link a0=0 a1=0\n",     "utimens path=/link a0=1 a2=2 size=0 res=0\n",
        "utimes path=/link a0=1 a2=2\n",     "stat path=/link a1=0100600 a2=0\n"};
    for (size_t i = 0; i < WIO_ARRAY_SIZE(events); i++) {
        char script[256];
        (void)snprintf(script, sizeof(script), "file /link symlink target=/far/there\n%s",
                       events[i]);
        make_plan(script);
        assert_non_null(initial("/far/there"));
        (void)drop_plan(NULL);
    }
}

static void entries_were_there(void **state)
{
    (void)state;
    make_plan("opendir path=/dir res=3\n"
              "readdir fd=3 path=/dir path2=. a0=4 res=1\n"
              "readdir fd=3 path=/dir path2=f a0=8 res=1\n"
              "readdir fd=3 path=/dir path2=sub a0=4 res=1\n"
              "readdir fd=3 path=/dir path2=../../x a0=8 res=1\n"
              "readdir fd=3 path=/dir res=0\n");
    assert_int_equal(initial("/dir/f")->type, WIO_FILE_REGULAR);
    assert_int_equal(initial("/dir/sub")->type, WIO_FILE_DIRECTORY);
    assert_null(initial("/x"));
    assert_null(initial("/dir/."));
}

static void specials_are_skipped(void **state)
{
    (void)state;
    make_plan("file /run/fifo fifo\n"
              "open path=/run/fifo res=3\n"
              "mkfifo path=/f a0=0600\n"
              "open path=/f res=4\n"
              "stat path=/run/s a1=0140777 a2=0\n");
    assert_null(initial("/run/fifo"));
    assert_null(initial("/f"));
}

static void a_name_is_what_it_is_at_the_time(void **state)
{
    (void)state;
    make_plan("file /x fifo\n"
              "file /old fifo\n"
              "open t=1000 path=/x a0=0x42 res=3\n"
              "pread t=2000 fd=3 path=/x off=0 size=10\n"
              "unlink t=3000 path=/x\n"
              "mkfifo t=4000 path=/x a0=0600\n"
              "unlink t=5000 path=/old\n"
              "open t=6000 path=/old a0=0x41 res=4\n"
              "mkfifo t=7000 path=/f a0=0600\n"
              "rename t=8000 path=/f path2=/g\n"
              "open t=9000 path=/f a0=0xc1 res=5\n"
              "rename t=10000 path=/f path2=/g\n");
    const struct rp_observer *observer = &plan->observer;
    const uint8_t pipe = RP_KIND_OF_SKIP(PIPE);
    const struct {
        uint32_t string; /* of the trace */
        uint64_t t_ns;
        uint8_t kind;
    } wanted[] = {
        {string_of("/x"), 2500, RP_KIND_FILE}, {string_of("/x"), 4000, pipe},
        {string_of("/old"), 1000, pipe},       {string_of("/old"), 6000, RP_KIND_FILE},
        {string_of("/g"), 9999, pipe},         {string_of("/g"), 10000, RP_KIND_FILE},
        {string_of("/f"), 8000, pipe},         {string_of("/f"), 9000, RP_KIND_FILE},
        {string_of("/f"), 1000, RP_KIND_FILE},
    };
    for (size_t i = 0; i < WIO_ARRAY_SIZE(wanted); i++) {
        assert_int_equal(rp_observer_kind(observer, wanted[i].string, wanted[i].t_ns),
                         wanted[i].kind);
    }
    assert_int_equal(initial("/x")->size, 10);
    assert_null(initial("/old"));
    assert_null(initial("/g"));
}

/* O_TMPFILE, then linkat: the link is not performed, what is done with its file afterwards is. */
static void a_file_gets_its_name_by_proc(void **state)
{
    (void)state;
    make_plan("link t=1000 path=/proc/self/fd/5 path2=/d/out a0=0x400\n" /* AT_SYMLINK_FOLLOW */
              "open t=2000 path=/d/out res=6\n"
              "pread t=3000 fd=6 path=/d/out off=0 size=10\n");
    assert_int_equal(rp_observer_kind(&plan->observer, string_of("/d/out"), 2000), RP_KIND_FILE);
    assert_non_null(initial("/d/out"));
    assert_int_equal(initial("/d/out")->size, 10);
}

/* What keeps a directory from being removed is put there, unless it is known. */
static void only_what_was_not_seen_is_put_into_a_directory(void **state)
{
    (void)state;
    make_plan("rmdir path=/unseen err=39\n"
              "open path=/seen/a res=3\n"
              "rmdir path=/seen err=39\n"
              "rmdir path=/later err=39\n"
              "unlink path=/later/b\n"
              "rmdir path=/later\n"
              "mkdir path=/new a0=0755\n"
              "rename path=/new path2=/unseen err=17\n");
    assert_true(initial("/unseen")->is_not_empty);
    assert_false(initial("/seen")->is_not_empty);
    assert_false(initial("/later")->is_not_empty);
    assert_non_null(initial("/later/b"));
}

/* Rings of links, names above the root, renames into themselves: no crash, no endless loop. */
static void lies_do_no_harm(void **state)
{
    (void)state;
    make_plan("file /l1 symlink target=l2\n"
              "file /l2 symlink target=/l1\n"
              "open path=/l1/x res=3\n"
              "open path=/../../etc/x res=4\n"
              "mkdir path=/d/e\n"
              "rename path=/d path2=/d/e/f\n"
              "rename path=/d/e path2=/d\n"
              "rename path=/d path2=/d\n"
              "rename path=/ path2=/x\n"
              "unlink path=/\n"
              "pread fd=1000000000 path=/y off=9223372036854775807 size=9223372036854775807\n"
              "pwrite fd=-7 path=/z off=9223372036854775807 size=9223372036854775807\n");
    assert_non_null(initial("/etc/x"));
    assert_true(plan->fds <= RP_FDS_MAX);
    assert_true(plan->max_bytes <= UINT64_C(0x7ffff000));
}

static void families(void **state)
{
    (void)state;
    make_plan("process 10\nprocess 11 parent=0 start=3000\nprocess 11 parent=1 start=5000\n"
              "process 12 parent=2 start=7500\nprocess 20 start=100\n"
              "stream 0 10\nstream 1 11\nstream 2 11\nstream 3 12\nstream 4 20\n"
              "stream 0 99 token=7\n"
              "fork stream=0 t=2000 res=11\n"
              "close stream=1 t=4000 fd=9 path=/x\n"
              "system stream=2 t=6000 dur=5000 res=0\n"
              "close stream=3 t=8000 fd=9 path=/x\n"
              "pthread_create stream=0 t=9000 a0=7\n"
              "wait stream=0 t=10000 dur=9000 res=11\n"
              "close stream=4 t=200 fd=9 path=/x\n"
              "close stream=5 t=9500 fd=9 path=/x\n");
    const struct rp_family *family = &plan->family;
    assert_int_equal(family->group_count, 4);
    assert_int_equal(family->images[1].next, 2); /* exec */
    uint32_t child = rp_family_born(family, 0, 0);
    assert_int_equal(child, family->images[1].group);
    /* seq goes on over exec */
    assert_int_equal(rp_family_born(family, 2, 1), family->images[3].group);
    assert_true(family->groups[family->images[0].group].is_root);
    assert_true(family->groups[family->images[4].group].is_root);
    assert_false(family->groups[child].is_root);
    assert_true(family->streams[5].is_created);
    assert_int_equal(rp_family_ended(family, 0, 11, 19000), child);
    assert_int_equal(rp_family_ended(family, 0, 11, 5000), RP_NONE); /* it lived longer */
}

/* A process that is its own grandparent, and one that fork gave its own number: the one that stands
 * first has no parent. */
static void circles_are_cut(void **state)
{
    (void)state;
    make_plan("process 10 parent=1\nprocess 11 parent=0\n"
              "stream 0 10\nstream 1 11\n"
              "fork stream=0 t=1000 res=11\n"
              "fork stream=1 t=1000 res=10\n");
    const struct rp_family *family = &plan->family;
    assert_int_equal(family->group_count, 2);
    assert_true(family->groups[family->images[0].group].is_root);
    assert_false(family->groups[family->images[1].group].is_root);
    assert_int_equal(rp_family_born(family, 0, 0), family->images[1].group);
    assert_int_equal(rp_family_born(family, 1, 0), RP_NONE);
}

static void finds_shared_descriptors(void **state)
{
    (void)state;
    make_plan("process 10\nstream 0 10\nstream 0 11 token=7\n"
              "open stream=0 t=1000 path=/a res=3\n"
              "pread stream=0 t=2000 fd=3 path=/a off=0 size=10\n"
              "pread stream=1 t=3000 fd=3 path=/a off=0 size=10\n"
              "close stream=0 t=4000 fd=3 path=/a\n"
              "open stream=1 t=5000 path=/b res=3\n"
              "pread stream=1 t=6000 fd=3 path=/b off=0 size=10\n"
              "close stream=1 t=7000 fd=3 path=/b\n");
    const struct rp_shared *shared = &plan->shared;
    assert_int_equal(shared->count, 1);
    assert_int_equal(shared->items[0].opener, 0);
    assert_int_equal(shared->items[0].uses, 2);
    assert_int_equal(shared->items[0].close_ns, 4000);
    assert_int_equal(rp_shared_find(shared, 0, 3, 3000), 0);
    assert_int_equal(rp_shared_find(shared, 0, 3, 500), RP_NONE);
    assert_int_equal(rp_shared_find(shared, 0, 3, 6000), RP_NONE);
    assert_int_equal(rp_shared_find(shared, 0, 4, 3000), RP_NONE);
}

static void cuts_at_pauses(void **state)
{
    (void)state;
    make_plan("close t=1000000 fd=3 path=/x\n"
              "close t=2000000 fd=3 path=/x\n"
              "close t=80000000 fd=3 path=/x\n"
              "close t=81000000 dur=60000000 fd=3 path=/x\n"
              "close t=142000000 fd=3 path=/x\n");
    assert_int_equal(plan->pauses.count, 1); /* a long operation is no pause */
    assert_int_equal(rp_pauses_phase(&plan->pauses, 2000000), 0);
    assert_int_equal(rp_pauses_phase(&plan->pauses, 80000000), 1);
}

int main(void)
{
#define PLAN_TEST(name) cmocka_unit_test_teardown(name, drop_plan)
    const struct CMUnitTest tests[] = {
        PLAN_TEST(opened_files_were_there),
        PLAN_TEST(sizes_come_from_many_places),
        PLAN_TEST(o_creat_is_decided_by_what_follows),
        PLAN_TEST(names_are_followed),
        PLAN_TEST(links_are_followed),
        PLAN_TEST(what_acts_on_a_link_needs_no_target),
        PLAN_TEST(what_follows_a_link_needs_its_target),
        PLAN_TEST(entries_were_there),
        PLAN_TEST(specials_are_skipped),
        PLAN_TEST(a_name_is_what_it_is_at_the_time),
        PLAN_TEST(a_file_gets_its_name_by_proc),
        PLAN_TEST(only_what_was_not_seen_is_put_into_a_directory),
        PLAN_TEST(lies_do_no_harm),
        PLAN_TEST(families),
        PLAN_TEST(circles_are_cut),
        PLAN_TEST(finds_shared_descriptors),
        PLAN_TEST(cuts_at_pauses),
    };
    return WIO_RUN(tests);
}
