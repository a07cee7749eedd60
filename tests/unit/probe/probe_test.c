/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "children.h"
#include "probe/probe.h"

static struct wio_probe *make_with(struct wio_probe_params *params, const char *mode)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_probe *probe;
    assert_ok(wio_job_settings_mode(&params->settings, mode, &err), &err);
    assert_ok(wio_probe_create(params, &probe, &err), &err);
    return probe;
}

static struct wio_probe *make(const char *mode)
{
    struct wio_probe_params params = {.policy = wio_job_policy_exit()};
    return make_with(&params, mode);
}

static struct wio_job_hit look(struct wio_probe *probe, pid_t pid)
{
    wio_probe_drain(probe);
    return wio_probe_job(probe, (uint32_t)pid, wio_probe_now_ms());
}

/* The name of the job, once it is known. */
static const char *resolve(struct wio_probe *probe, pid_t pid)
{
    (void)look(probe, pid);
    wio_probe_settle(probe);
    const struct wio_job_hit hit = look(probe, pid);
    assert_int_not_equal(hit.answer, WIO_JOB_UNKNOWN);
    return wio_probe_text(probe, hit.job, NULL);
}

static struct wio_probe_counts counts(struct wio_probe *probe)
{
    struct wio_probe_counts now;
    wio_probe_get_counts(probe, &now);
    return now;
}

static pid_t start_with(const char *variable)
{
    char *text = strdup(variable);
    char *environment[] = {(char[]){"A=1"}, (char[]){"USERTEST=wrong"}, text, (char[]){"Z=1"},
                           NULL};
    const pid_t pid = child_start(environment);
    free(text);
    assert_true(pid > 0);
    return pid;
}

static void a_job_is_found_beside(void **state)
{
    (void)state;
    struct wio_probe *probe = make("USER");
    const pid_t pid = start_with("USER=right");
    assert_int_equal(look(probe, pid).answer, WIO_JOB_UNKNOWN);
    assert_string_equal(resolve(probe, pid), "right");
    assert_int_equal(look(probe, pid).answer, WIO_JOB_KNOWN);
    assert_string_equal(wio_probe_text(probe, look(probe, 0).job, NULL), "kernel");
    child_end(pid);
    assert_int_equal(look(probe, pid).answer, WIO_JOB_UNKNOWN);
    wio_probe_settle(probe);
    assert_int_equal(counts(probe).ended, 1);
    assert_int_equal(counts(probe).gone, 1); /* asked for by the look after its end */
    assert_int_equal(counts(probe).threads, 0);
    wio_probe_destroy(probe);
}

static void look_alikes_are_others(void **state)
{
    (void)state;
    struct wio_probe *probe = make("USER");
    const pid_t pid = start_with("MYUSER=wrong");
    assert_string_equal(resolve(probe, pid), "");
    assert_int_equal(look(probe, pid).answer, WIO_JOB_KNOWN);
    child_end(pid);
    wio_probe_destroy(probe);
}

static void odd_names_are_whole(void **state)
{
    (void)state;
    struct wio_probe *probe = make("JOB");
    char variable[WIO_JOB_BYTES + 8];
    static const char *const odd[] = {"JOB=a b:c\"d'e\\f", "JOB=caf\xc3\xa9 \xff\x01", "JOB=a\nb",
                                      "JOB=x=y"};
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        const pid_t pid = start_with(odd[i]);
        assert_string_equal(resolve(probe, pid), odd[i] + 4);
        child_end(pid);
    }
    memset(variable, 'n', sizeof(variable));
    memcpy(variable, "JOB=", 4);
    variable[4 + WIO_JOB_BYTES] = '\0';
    const pid_t longest = start_with(variable);
    assert_string_equal(resolve(probe, longest), variable + 4);
    child_end(longest);
    variable[4 + WIO_JOB_BYTES] = 'n';
    variable[5 + WIO_JOB_BYTES] = '\0';
    const pid_t longer = start_with(variable);
    assert_string_equal(resolve(probe, longer), ""); /* and not cut */
    assert_int_equal(counts(probe).refused, 1);
    child_end(longer);
    wio_probe_destroy(probe);
}

/* Behind a mebibyte of others. */
static void a_large_environment_is_read_whole(void **state)
{
    (void)state;
    enum { LARGE = 120000, MANY = 9 };
    char *environment[MANY + 2] = {NULL};
    for (int i = 0; i < MANY; i++) {
        environment[i] = malloc(LARGE);
        assert_non_null(environment[i]);
        memset(environment[i], 'x', LARGE);
        (void)snprintf(environment[i], LARGE, "SLURM_JOB_ID_%d=", i);
        environment[i][strlen(environment[i])] = 'x';
        environment[i][LARGE - 1] = '\0';
    }
    environment[MANY] = (char[]){"SLURM_JOB_ID=4711"};
    struct wio_probe *probe = make("SLURM_JOB_ID");
    const pid_t pid = child_start(environment);
    assert_true(pid > 0);
    assert_string_equal(resolve(probe, pid), "4711");
    child_end(pid);
    wio_probe_destroy(probe);
    for (int i = 0; i < MANY; i++) {
        free(environment[i]);
    }
}

/* In a process of another user: that of root cannot be read. Gives 0 where all is as it should
 * be. */
static int look_as_another_user(pid_t pid)
{
    if (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0) {
        return 1;
    }
    struct wio_probe *probe = make("USER");
    (void)look(probe, pid);
    wio_probe_settle(probe);
    const struct wio_job_hit hit = wio_probe_job(probe, (uint32_t)pid, 0);
    const struct wio_probe_counts now = counts(probe);
    const struct wio_job_hit later =
        wio_probe_job(probe, (uint32_t)pid, wio_probe_now_ms() + 10); /* tried again by then */
    wio_probe_settle(probe);
    const bool is_right = hit.answer != WIO_JOB_UNKNOWN && hit.job == WIO_JOB_NONE &&
                          now.failed == 1 && later.answer == WIO_JOB_OLD &&
                          counts(probe).failed == 2;
    wio_probe_destroy(probe);
    return is_right ? 0 : 2;
}

static void what_cannot_be_read_is_tried_again(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        return; /* this user cannot become another one */
    }
    const pid_t pid = start_with("USER=right");
    const pid_t child = fork();
    if (child == 0) {
        _exit(look_as_another_user(pid));
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    child_end(pid);
}

struct worker {
    pthread_t thread;
    uint32_t tid;
    sem_t is_there;
    sem_t may_end;
};

static void *work(void *argument)
{
    struct worker *worker = argument;
    worker->tid = (uint32_t)syscall(SYS_gettid);
    (void)sem_post(&worker->is_there);
    while (sem_wait(&worker->may_end) != 0) {
    }
    return NULL;
}

static void start_worker(struct worker *worker)
{
    (void)sem_init(&worker->is_there, 0, 0);
    (void)sem_init(&worker->may_end, 0, 0);
    assert_int_equal(pthread_create(&worker->thread, NULL, work, worker), 0);
    while (sem_wait(&worker->is_there) != 0) {
    }
}

/* Until the kernel has it out of /proc: pthread_join returns before. */
static void end_worker(struct worker *worker)
{
    (void)sem_post(&worker->may_end);
    assert_int_equal(pthread_join(worker->thread, NULL), 0);
    while (syscall(SYS_tgkill, getpid(), worker->tid, 0) == 0) {
        (void)usleep(1000);
    }
}

static void threads_of(bool is_old_kernel)
{
    struct wio_probe_params params = {.policy = wio_job_policy_exit(),
                                      .is_old_kernel = is_old_kernel};
    assert_ok(wio_job_settings_format(&params.settings, "p%p", NULL), NULL);
    struct wio_probe *probe = make_with(&params, "procname_uid");
    struct worker worker;
    char own[32];
    (void)snprintf(own, sizeof(own), "p%d", getpid());
    start_worker(&worker);
    assert_string_equal(resolve(probe, (pid_t)worker.tid), own);
    assert_int_equal(look(probe, (pid_t)worker.tid).answer, WIO_JOB_KNOWN);
    assert_int_equal(look(probe, getpid()).answer, WIO_JOB_KNOWN); /* found on the way */
    assert_int_equal(counts(probe).resolved, 1);
    assert_int_equal(counts(probe).threads, 2);
    assert_string_equal(wio_probe_text(probe, wio_probe_own(probe), NULL), own);
    end_worker(&worker);
    assert_int_equal(look(probe, (pid_t)worker.tid).answer, WIO_JOB_UNKNOWN);
    assert_int_equal(look(probe, getpid()).answer, WIO_JOB_KNOWN);
    wio_probe_settle(probe);
    assert_int_equal(counts(probe).threads, 1);
    wio_probe_destroy(probe);
}

static void threads_belong_to_their_process(void **state)
{
    (void)state;
    threads_of(false);
}

static void threads_are_checked_on_old_kernels(void **state)
{
    (void)state;
    threads_of(true);
}

static void wait_for(void *context, uint32_t tid)
{
    (void)tid;
    while (sem_wait(context) != 0) {
    }
}

static void a_blocked_resolver_blocks_no_look(void **state)
{
    (void)state;
    sem_t may_go;
    (void)sem_init(&may_go, 0, 0);
    struct wio_probe_params params = {
        .policy = wio_job_policy_exit(), .before_read = wait_for, .context = &may_go};
    struct wio_probe *probe = make_with(&params, "USER");
    const pid_t first = start_with("USER=first");
    const pid_t second = start_with("USER=second");
    (void)sem_post(&may_go);
    assert_string_equal(resolve(probe, first), "first");
    for (uint32_t i = 0; i < 100000; i++) { /* more than the queue takes */
        assert_int_equal(look(probe, i % 2 == 0 ? second : (pid_t)(4000000 + i)).answer,
                         WIO_JOB_UNKNOWN);
        assert_int_equal(look(probe, first).answer, WIO_JOB_KNOWN);
    }
    assert_true(counts(probe).dropped > 0);
    child_end(first); /* ends are taken while it is blocked */
    assert_int_equal(look(probe, first).answer, WIO_JOB_UNKNOWN);
    for (int i = 0; i < 10; i++) {
        (void)sem_post(&may_go);
    }
    wio_probe_settle(probe);
    assert_string_equal(resolve(probe, second), "second");
    child_end(second);
    for (int i = 0; i < 10; i++) {
        (void)sem_post(&may_go);
    }
    wio_probe_destroy(probe);
}

/* The process ends after it was read: nothing is kept, whatever it said. */
static void end_now(void *context, uint32_t tid)
{
    pid_t *victim = context;
    if (*victim == (pid_t)tid) {
        child_end(*victim);
        *victim = 0;
    }
}

static void an_end_while_it_is_read_is_seen(void **state)
{
    (void)state;
    pid_t victim = start_with("USER=right");
    const pid_t pid = victim;
    struct wio_probe_params params = {
        .policy = wio_job_policy_exit(), .before_keep = end_now, .context = &victim};
    struct wio_probe *probe = make_with(&params, "USER");
    (void)look(probe, pid);
    wio_probe_settle(probe);
    assert_int_equal(victim, 0);
    assert_int_equal(look(probe, pid).answer, WIO_JOB_UNKNOWN);
    wio_probe_settle(probe);
    assert_int_equal(counts(probe).threads, 0);
    assert_true(counts(probe).gone >= 1);
    wio_probe_destroy(probe);
}

static void control(struct wio_probe *probe, const char *line, size_t purged)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_job_control_result result;
    assert_ok(wio_probe_control(probe, line, strlen(line), &result, &err), &err);
    assert_int_equal(result.purged, purged);
}

static void the_control_purges_a_job(void **state)
{
    (void)state;
    struct wio_probe *probe = make("USER");
    const pid_t a = start_with("USER=a b");
    const pid_t b = start_with("USER=b");
    assert_string_equal(resolve(probe, a), "a b");
    assert_string_equal(resolve(probe, b), "b");
    control(probe, "unheard of\n", 0);
    control(probe, "\"a\\x20b\"\n", 1);
    assert_int_equal(look(probe, a).answer, WIO_JOB_UNKNOWN);
    assert_int_equal(look(probe, b).answer, WIO_JOB_KNOWN);
    child_end(a);
    child_end(b);
    wio_probe_destroy(probe);
}

static void the_control_names_the_node(void **state)
{
    (void)state;
    struct wio_probe *probe = make("nodelocal");
    assert_int_equal(look(probe, 12345).answer, WIO_JOB_KNOWN);
    assert_int_equal(look(probe, 12345).job, WIO_JOB_NONE);
    control(probe, "4711\n", 0);
    assert_string_equal(wio_probe_text(probe, look(probe, 12345).job, NULL), "4711");
    assert_string_equal(wio_probe_text(probe, wio_probe_own(probe), NULL), "4711");
    control(probe, "%e-%p", 0);
    char name[32];
    const pid_t pid = start_with("A=1");
    (void)snprintf(name, sizeof(name), "sleep-%d", pid);
    assert_string_equal(resolve(probe, pid), name);
    child_end(pid);
    wio_probe_destroy(probe);
}

static void procname_uid(void **state)
{
    (void)state;
    struct wio_probe *probe = make("procname_uid");
    char name[32];
    const pid_t pid = start_with("A=1");
    (void)snprintf(name, sizeof(name), "sleep.%u", getuid());
    assert_string_equal(resolve(probe, pid), name);
    child_end(pid);
    wio_probe_destroy(probe);
}

static void a_session_has_a_name(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_probe *probe = make("session");
    const pid_t leader = fork();
    if (leader == 0) {
        (void)setsid();
        (void)pause();
        _exit(0);
    }
    while (getsid(leader) != leader) {
        (void)usleep(1000);
    }
    assert_string_equal(resolve(probe, leader), "");
    assert_ok(wio_probe_session(probe, (uint32_t)leader, "of the session", 14, &err), &err);
    assert_string_equal(resolve(probe, leader), "of the session");
    child_end(leader);
    assert_status(wio_probe_session(probe, (uint32_t)leader, "x", 1, NULL), WIO_ERR_IO, NULL);
    wio_probe_destroy(probe);
}

static void without_descriptors_a_job_stays_unknown(void **state)
{
    (void)state;
    struct wio_probe *probe = make("USER");
    const pid_t pid = start_with("USER=right");
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    const struct rlimit none = {3, limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    (void)look(probe, pid);
    wio_probe_settle(probe);
    const struct wio_job_hit hit = look(probe, pid);
    wio_probe_settle(probe);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(hit.answer, WIO_JOB_UNKNOWN);
    assert_true(counts(probe).unwatched >= 2);
    assert_string_equal(resolve(probe, pid), "right");
    child_end(pid);
    wio_probe_destroy(probe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_is_found_beside),
        cmocka_unit_test(look_alikes_are_others),
        cmocka_unit_test(odd_names_are_whole),
        cmocka_unit_test(a_large_environment_is_read_whole),
        cmocka_unit_test(what_cannot_be_read_is_tried_again),
        cmocka_unit_test(threads_belong_to_their_process),
        cmocka_unit_test(threads_are_checked_on_old_kernels),
        cmocka_unit_test(a_blocked_resolver_blocks_no_look),
        cmocka_unit_test(an_end_while_it_is_read_is_seen),
        cmocka_unit_test(the_control_purges_a_job),
        cmocka_unit_test(the_control_names_the_node),
        cmocka_unit_test(procname_uid),
        cmocka_unit_test(a_session_has_a_name),
        cmocka_unit_test(without_descriptors_a_job_stays_unknown),
    };
    if (syscall(SYS_pidfd_open, getpid(), 0) < 0 && errno == ENOSYS) {
        wio_test_skip("no pidfds here (Linux 5.3)");
    }
    return WIO_RUN(tests);
}
