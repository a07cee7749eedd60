/* SPDX-License-Identifier: Apache-2.0 */
/* Traces made by hand (support/script.h) on a machine whose costs are easy to see: the naive model,
 * 1 byte a microsecond, so that sizes are microseconds. */
#include "support/unit.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <whyio/trace.h>

#include "predict/predict.h"
#include "support/script.h"

#define HOST                                                                                       \
    "{\"bw_mem\": 1e6, \"bw_ramdisk\": 1e6, \"bw_reduced\": 1e6, \"bw_dev\": 1e6, "                \
    "\"bw_rdev\": 1e6, \"sc_w\": 0, \"sc_sw\": 0, \"c_sk\": 0, \"bs\": 4096, \"bf\": 4096, "       \
    "\"limit_bg\": 1e12, \"limit_hard\": 2e12, \"dirty_expire\": 30}"
#define TWO "process 10 rank=0\nprocess 20 rank=1\nstream 0 10\nstream 1 20\n"
#define US 1000 /* ns */

static struct wio_predict_params params;
static struct wio_predict_result result;
static double ends_s[64]; /* of the operations, in the order of their end */

static enum wio_status note(void *arg, uint64_t index, const struct wio_model_result *op,
                            struct wio_error *err)
{
    (void)arg;
    (void)err;
    assert_true(index < 64);
    ends_s[index] = op->time_s;
    return WIO_OK;
}

static int begin(void **state)
{
    (void)state;
    static char host[4096];
    char *path = wio_test_path("host.json");
    wio_test_write(path, HOST, strlen(HOST));
    (void)snprintf(host, sizeof(host), "%s", path);
    free(path);
    params = wio_predict_params_default();
    params.host = host;
    params.model = WIO_MODEL_NAIVE;
    params.per_op = note;
    return 0;
}

static int end(void **state)
{
    (void)state;
    wio_predict_result_fini(&result);
    return 0;
}

/* With keep_events it is written to `written`, too. */
static const char *written;

static void write_result(const struct wio_trace *trace)
{
    static char dir[4096];
    struct wio_error err = WIO_ERROR_INIT;
    char path[5000];
    char *fresh = wio_test_path("predicted");
    (void)snprintf(dir, sizeof(dir), "%s", fresh);
    free(fresh);
    assert_int_equal(mkdir(dir, 0777), 0);
    (void)snprintf(path, sizeof(path), "%s/p.seg", dir);
    assert_ok(wio_predict_write(trace, &result, path, &err), &err);
    written = dir;
}

static enum wio_status try_predict(const char *script, struct wio_error *err)
{
    static unsigned count;
    struct wio_trace *trace;
    char name[32];
    (void)snprintf(name, sizeof(name), "trace%u", count++);
    char *dir = wio_test_path(name);
    assert_int_equal(mkdir(dir, 0777), 0);
    script_write(script, dir);
    assert_ok(wio_trace_open(dir, &trace, err), err);
    enum wio_status status = wio_predict_trace(trace, &params, &result, err);
    if (status == WIO_OK && params.keep_events) {
        write_result(trace);
    }
    wio_trace_close(trace);
    free(dir);
    return status;
}

static void predict(const char *script)
{
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(try_predict(script, &err), &err);
}

static void assert_us(double seconds, double us)
{
    if (fabs(seconds * 1e6 - us) > 0.01) {
        fail_msg("%.3f us, expected %.3f us", seconds * 1e6, us);
    }
}

/* Gaps stay, durations are the model's. */
static void computing_stays_as_recorded(void **state)
{
    (void)state;
    predict("process 10 rank=0\nstream 0 10\n"
            "pwrite t=100000 dur=5000 fd=3 path=/a off=0 size=50\n"
            "pwrite t=125000 dur=5000 fd=3 path=/a off=50 size=1\n"
            "pread t=131000 dur=500000 fd=3 path=/a off=0 size=10\n");
    assert_us(ends_s[0], 100 + 50);
    assert_us(ends_s[1], 150 + 20 + 1);
    assert_us(ends_s[2], 171 + 1 + 10);
    assert_int_equal(result.all.ops, 3);
    assert_int_equal(result.all.bytes_written, 51);
    assert_int_equal(result.all.bytes_read, 10);
    assert_us(result.all.io_s, 61);
    assert_us(result.all.compute_s, 21);
    assert_us(result.all.total_s, 82);
    assert_us(result.all.traced_s, 531);
    assert_int_equal(result.rank_count, 1);
    assert_int_equal(result.ranks[0].rank, 0);
}

/* What no model knows takes its recorded time. */
static void metadata_takes_its_recorded_time(void **state)
{
    (void)state;
    predict("open t=10000 dur=7000 path=/a a0=0x41 res=3\n"
            "pwrite t=17000 dur=1000 fd=3 path=/a off=0 size=3\n"
            "write t=20000 dur=4000 fd=1 path=pipe:[7] size=9\n"
            "close t=30000 dur=2000 fd=3 path=/a\n");
    assert_int_equal(result.all.ops, 1);
    assert_us(ends_s[0], 17 + 3);
    assert_us(result.all.total_s, 7 + 3 + 12 + 2);
}

/* Rank 1 computes 5 us after the message, wherever that comes. */
static void a_message_is_waited_for(void **state)
{
    (void)state;
    static const char script[] = TWO "pwrite stream=0 t=1000 dur=9000 fd=3 path=/a off=0 size=%d\n"
                                     "MPI_Send stream=0 t=12000 dur=500\n"
                                     "MPI_Recv stream=1 t=2000 dur=11000\n"
                                     "pwrite stream=1 t=18000 dur=100 fd=3 path=/b off=0 size=4\n"
                                     "edge 0:0 1:0\n";
    char text[1024];
    (void)snprintf(text, sizeof(text), script, 100);
    predict(text);
    /* the send begins 2 us behind the write; 1 us later the receive ends */
    assert_us(ends_s[0], 1 + 100);
    assert_us(ends_s[1], 101 + 2 + 1 + 5 + 4);
    assert_true(result.ranks[1].wait_s >= 0);
    wio_predict_result_fini(&result);
    (void)snprintf(text, sizeof(text), script, 1);
    predict(text);
    assert_us(ends_s[1], 2 + 2 + 1 + 5 + 4);
}

static void a_barrier_waits_for_the_last(void **state)
{
    (void)state;
    predict(TWO "pwrite stream=0 t=1000 dur=1000 fd=3 path=/a off=0 size=70\n"
                "MPI_Barrier stream=0 t=2000 dur=1000\n"
                "pwrite stream=0 t=3000 dur=1000 fd=3 path=/a off=70 size=1\n"
                "MPI_Barrier stream=1 t=500 dur=2500\n"
                "pwrite stream=1 t=3000 dur=1000 fd=3 path=/b off=0 size=1\n"
                "collective 0:1 1:0\n");
    assert_us(ends_s[0], 71);
    assert_us(ends_s[1], 71 + 1 + 1);
    assert_us(ends_s[2], 71 + 1 + 2); /* naive: one after the other */
}

/* Thread 1 has the lock while it writes, thread 0 writes after it. */
static void a_lock_is_held_while_it_is_held(void **state)
{
    (void)state;
    predict("process 10\nstream 0 10\nstream 0 11\n"
            "pthread_mutex_lock stream=0 t=1000 dur=0 a0=0x7000\n"
            "pwrite stream=0 t=2000 dur=1000 fd=3 path=/a off=0 size=50\n"
            "pthread_mutex_unlock stream=0 t=3000 dur=0 a0=0x7000\n"
            "pthread_mutex_lock stream=1 t=1500 dur=1600 a0=0x7000\n"
            "pwrite stream=1 t=3100 dur=1000 fd=3 path=/a off=50 size=20\n"
            "pthread_mutex_unlock stream=1 t=4200 dur=0 a0=0x7000\n"
            "edge 0:1 1:0 class=mutex evidence=thread object=1\n");
    assert_us(ends_s[0], 2 + 50);
    assert_true(ends_s[1] * 1e6 >= 52 + 20 && ends_s[1] * 1e6 <= 52 + 20 + 1.7);
}

/* The child begins when it is forked, and not when it was forked in the trace. */
static void a_child_begins_behind_its_fork(void **state)
{
    (void)state;
    predict("process 10\nprocess 20 parent=0\nstream 0 10\nstream 1 20\n"
            "pwrite stream=0 t=1000 dur=1000 fd=3 path=/a off=0 size=90\n"
            "fork stream=0 t=3000 dur=200 res=20\n"
            "pwrite stream=1 t=5000 dur=1000 fd=3 path=/b off=0 size=5\n"
            "edge 0:0 1:0 evidence=process\n");
    assert_us(ends_s[0], 91);
    assert_us(ends_s[1], 91 + 1 + 2 + 5);
}

static void the_writes_of_stdio_count_once(void **state)
{
    (void)state;
    params.model = WIO_MODEL_CAWL;
    predict("fwrite t=1000 dur=2000 fd=3 path=/a off=0 size=5000 res=5000\n"
            "write t=1100 dur=1000 fd=3 path=/a off=0 size=4096 caused\n"
            "fclose t=9000 dur=1000 fd=3 path=/a\n"
            "write t=9100 dur=500 fd=3 path=/a off=4096 size=904 caused\n");
    assert_int_equal(result.all.ops, 2);
    assert_int_equal(result.all.bytes_written, 5000);
}

static void open_flags_and_what_ifs_decide_how_it_is_written(void **state)
{
    (void)state;
    static const char script[] = "open t=1000 dur=0 path=/a a0=0x4041 res=3\n" /* O_DIRECT */
                                 "dup t=1500 dur=0 fd=3 path=/a res=5\n"
                                 "pwrite t=2000 dur=1000 fd=5 path=/a off=0 size=4096\n";
    params.model = WIO_MODEL_KERNEL;
    predict(script);
    assert_us(ends_s[0], 2 + 4096);
    assert_true(result.dirty_bytes_max == 0);
    wio_predict_result_fini(&result);
    params.whatif.direct = WIO_PREDICT_OFF;
    params.whatif.sync = WIO_PREDICT_OFF;
    predict(script);
    assert_true(result.dirty_bytes_max == 4096);
}

/* Requests go on while the thread computes; it ends its wait when they have. */
static void requests_run_beside_their_thread(void **state)
{
    (void)state;
    predict("uring_write t=1000 dur=30000 fd=3 path=/a off=0 size=40 async\n"
            "io_uring_enter t=1000 dur=100 res=1\n"
            "io_uring_enter t=21000 dur=10000 res=0\n"
            "pread t=32000 dur=100 fd=3 path=/a off=0 size=1\n");
    assert_us(ends_s[0], 1 + 40);
    assert_us(ends_s[1], 41 + 1 + 1);
    wio_predict_result_fini(&result);
    predict("uring_write t=1000 dur=30000 fd=3 path=/a off=0 size=5 async\n"
            "io_uring_enter t=1000 dur=100 res=1\n"
            "io_uring_enter t=21000 dur=10000 res=0\n"
            "pread t=32000 dur=100 fd=3 path=/a off=0 size=1\n");
    assert_us(ends_s[0], 1 + 5);
    assert_us(ends_s[1], 21 + 1 + 1); /* there was nothing to wait for */
}

/* Who looks for a file again and again finds it when it is there, however often that was. */
static void looks_for_a_file_end_when_it_is_there(void **state)
{
    (void)state;
    predict(TWO "pwrite stream=0 t=1000 dur=80000 fd=3 path=/x off=0 size=5\n"
                "open stream=0 t=90000 dur=1000 path=/a a0=0x41 res=3\n"
                "access stream=1 t=1000 dur=1000 path=/a err=2\n"
                "nanosleep stream=1 t=2000 dur=48000\n"
                "access stream=1 t=50000 dur=1000 path=/a err=2\n"
                "nanosleep stream=1 t=51000 dur=48000\n"
                "access stream=1 t=99000 dur=1000 path=/a\n"
                "pwrite stream=1 t=101000 dur=1000 fd=4 path=/b off=0 size=7\n"
                "edge 0:1 1:4 evidence=poll\n"
                "poll-loop 1:0 4\n");
    /* made 10 us behind the write: found by the look that would begin at 50 us */
    assert_us(ends_s[1], 50 + 1 + 1 + 7);
}

/* Copies of the job have files of their own and meet in collectives. */
static void more_ranks_share_the_machine(void **state)
{
    (void)state;
    static const char script[] = TWO "pwrite stream=0 t=1000 dur=1000 fd=3 path=/a off=0 size=10\n"
                                     "MPI_Barrier stream=0 t=2000 dur=1000\n"
                                     "pwrite stream=0 t=3000 dur=1000 fd=3 path=/a off=10 size=1\n"
                                     "MPI_Barrier stream=1 t=500 dur=2500\n"
                                     "collective 0:1 1:0\n";
    params.whatif.ranks = 6;
    predict(script);
    assert_int_equal(result.all.ops, 6);
    assert_int_equal(result.rank_count, 3); /* 0, 2 and 4 do I/O */
    assert_int_equal(result.ranks[2].rank, 4);
    assert_us(ends_s[2], 1 + 3 * 10); /* naive: one after the other */
    assert_us(ends_s[3], 31 + 1 + 1); /* nobody before the last is there */
    wio_predict_result_fini(&result);
    struct wio_error err = WIO_ERROR_INIT;
    params.whatif.ranks = 3;
    assert_status(try_predict(script, &err), WIO_ERR_USAGE, &err);
    assert_non_null(strstr(err.message, "multiple of the 2"));
}

/* The prediction as a trace: the same events when they would have been. */
static void a_prediction_is_a_trace(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_trace *copy;
    struct wio_cursor *cursor;
    const struct wio_event *event;
    params.keep_events = true;
    predict(TWO "pwrite stream=0 t=1000 dur=9000 fd=3 path=/a off=0 size=100\n"
                "MPI_Send stream=0 t=12000 dur=500\n"
                "MPI_Recv stream=1 t=2000 dur=11000\n"
                "pwrite stream=1 t=18000 dur=100 fd=3 path=/b off=0 size=4\n"
                "edge 0:0 1:0\n");
    assert_ok(wio_trace_open(written, &copy, &err), &err);
    assert_ok(wio_cursor_create(copy, NULL, &cursor, &err), &err);
    static const struct {
        uint64_t t_us;
        uint64_t dur_us;
        const char *path;
    } want[] = {{1, 100, "/a"}, {2, 102, ""}, {103, 0, ""}, {109, 4, "/b"}};
    for (size_t i = 0; i < 4; i++) {
        assert_ok(wio_cursor_next(cursor, &event, &err), &err);
        assert_int_equal(event->t_ns / US, want[i].t_us);
        assert_int_equal(event->dur_ns / US, want[i].dur_us);
        assert_string_equal(wio_trace_string(copy, event->path, NULL), want[i].path);
    }
    assert_int_equal(wio_cursor_next(cursor, &event, &err), WIO_END);
    wio_cursor_destroy(cursor);
    wio_trace_close(copy);
}

static void a_trace_of_nothing_takes_no_time(void **state)
{
    (void)state;
    predict("process 10\nstream 0 10\nedges\n");
    assert_int_equal(result.all.ops, 0);
    assert_int_equal(result.rank_count, 0);
    assert_us(result.all.total_s, 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(computing_stays_as_recorded),
        TEST(metadata_takes_its_recorded_time),
        TEST(a_message_is_waited_for),
        TEST(a_barrier_waits_for_the_last),
        TEST(a_lock_is_held_while_it_is_held),
        TEST(a_child_begins_behind_its_fork),
        TEST(the_writes_of_stdio_count_once),
        TEST(open_flags_and_what_ifs_decide_how_it_is_written),
        TEST(requests_run_beside_their_thread),
        TEST(looks_for_a_file_end_when_it_is_there),
        TEST(more_ranks_share_the_machine),
        TEST(a_prediction_is_a_trace),
        TEST(a_trace_of_nothing_takes_no_time),
    };
    return WIO_RUN(tests);
}
