/* SPDX-License-Identifier: Apache-2.0 */
/* Credentials of a real munged(8), started with a key and a socket of the test's own. */
#include "support/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "store/link/munge_credentials.h"

static struct wio_munge munge;
static pid_t daemon_pid;
static char options[5][300];

static const char *find_munged(void)
{
    static const char *const places[] = {"/usr/sbin/munged", "/usr/local/sbin/munged"};
    for (unsigned i = 0; i < 2; i++) {
        if (access(places[i], X_OK) == 0) {
            return places[i];
        }
    }
    return NULL;
}

static void make_options(void)
{
    static const char *const names[] = {"socket", "key-file", "log-file", "pid-file", "seed-file"};
    static uint8_t key[128];
    for (unsigned i = 0; i < 5; i++) {
        snprintf(options[i], sizeof(options[i]), "--%s=%s/munge.%s", names[i], wio_test_dir(),
                 names[i]);
    }
    for (unsigned i = 0; i < sizeof(key); i++) {
        key[i] = (uint8_t)(i * 7);
    }
    wio_test_write(strchr(options[1], '=') + 1, key, sizeof(key));
    assert_int_equal(chmod(strchr(options[1], '=') + 1, 0600), 0);
}

static void start_daemon(const char *program)
{
    make_options();
    daemon_pid = fork();
    if (daemon_pid == 0) {
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        (void)dup2(null, STDOUT_FILENO);
        (void)dup2(null, STDERR_FILENO);
        execl(program, "munged", "--foreground", "--force", options[0], options[1], options[2],
              options[3], options[4], (char *)NULL);
        _exit(127);
    }
}

static void stop_daemon(void)
{
    (void)kill(daemon_pid, SIGTERM);
    (void)waitpid(daemon_pid, NULL, 0);
}

static enum wio_status make(uint32_t uid, char text[WIO_WIRE_CREDENTIAL_MAX])
{
    return munge.credentials.make(munge.credentials.context, "some payload", 12, uid, text, NULL);
}

/* False: it ends, or does not answer. */
static bool is_ready(void)
{
    char text[WIO_WIRE_CREDENTIAL_MAX];
    for (unsigned i = 0; i < 2000; i++) {
        if (make(geteuid(), text) == WIO_OK) {
            return true;
        }
        if (waitpid(daemon_pid, NULL, WNOHANG) != 0) {
            return false;
        }
        wio_clock_sleep_ns(10000000);
    }
    return false;
}

static enum wio_status read_back(const char *text, char *payload, size_t bytes, uint32_t *uid)
{
    uint32_t gid = 0;
    return munge.credentials.read(munge.credentials.context, text, payload, bytes, uid, &gid, NULL);
}

static void a_credential_names_its_user(void **state)
{
    (void)state;
    char text[WIO_WIRE_CREDENTIAL_MAX];
    char payload[13] = "";
    uint32_t uid = UINT32_MAX;
    assert_int_equal(make(geteuid(), text), WIO_OK);
    assert_null(strstr(text, "some payload"));
    assert_int_equal(read_back(text, payload, 12, &uid), WIO_OK);
    assert_string_equal(payload, "some payload");
    assert_int_equal(uid, geteuid());
    /* munged itself refuses one that comes a second time. */
    assert_int_equal(read_back(text, payload, 12, &uid), WIO_ERR_IO);
}

static void others_credentials_are_refused(void **state)
{
    (void)state;
    char text[WIO_WIRE_CREDENTIAL_MAX];
    char payload[13] = "";
    uint32_t uid = UINT32_MAX;
    assert_int_equal(make(geteuid() + 1, text), WIO_OK);
    assert_int_equal(read_back(text, payload, 12, &uid), WIO_ERR_IO);
    assert_int_equal(make(geteuid(), text), WIO_OK);
    assert_int_equal(read_back(text, payload, 11, &uid), WIO_ERR_FORMAT);
    assert_int_equal(make(geteuid(), text), WIO_OK);
    text[20] = text[20] == 'A' ? 'B' : 'A';
    assert_int_equal(read_back(text, payload, 12, &uid), WIO_ERR_IO);
    assert_int_equal(read_back("no credential", payload, 12, &uid), WIO_ERR_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_credential_names_its_user),
        cmocka_unit_test(others_credentials_are_refused),
    };
    char socket[300];
    const char *program = find_munged();
    if (program == NULL) {
        wio_test_skip("no munged here");
    }
    snprintf(socket, sizeof(socket), "%s/munge.socket", wio_test_dir());
    if (wio_munge_init(&munge, socket, NULL) != WIO_OK) {
        wio_test_skip("no libmunge, or a long path");
    }
    start_daemon(program);
    if (!is_ready()) {
        stop_daemon();
        wio_test_skip("munged does not start here");
    }
    int failed = WIO_RUN(tests);
    stop_daemon();
    return failed;
}
