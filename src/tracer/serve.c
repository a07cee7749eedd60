/* SPDX-License-Identifier: Apache-2.0 */
#include "tracer/serve.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "ring/trace_request.h"
#include "tracer/proc.h"
#include "tracer/session.h"

#define SESSIONS_MAX 4096u
#define STACK_BYTES ((size_t)512 * 1024)
#define REQUEST_WAIT_S 5
#define LEAVE_NS UINT64_C(5000000000)
#define LEAVE_SLICE_NS UINT64_C(2000000)
#define FULL_SLICE_NS UINT64_C(2000000)

struct client {
    struct tracer_server *server;
    int connection;
};

/* Each byte counts: how many are right does not show in the time. */
static bool is_secret(const char *text, const char *secret)
{
    unsigned differing = 0;
    for (size_t i = 0; i < WIO_TRACER_SECRET_BYTES; i++) {
        differing |= (unsigned char)text[i] ^ (unsigned char)secret[i];
    }
    return differing == 0;
}

/* Which thread asks: its process by the kernel's word. 0, or an errno. */
static int read_request(const struct client *client, int32_t *pid_out, int32_t *tid_out,
                        enum wio_trace_kind *kind_out)
{
    const struct timeval patience = {.tv_sec = REQUEST_WAIT_S};
    struct wio_trace_request asked;
    struct ucred peer = {0};
    socklen_t size = sizeof(peer);
    (void)setsockopt(client->connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    if (recv(client->connection, &asked, sizeof(asked), 0) != (ssize_t)sizeof(asked) ||
        !is_secret(asked.secret, client->server->secret)) {
        return EACCES;
    }
    if (getsockopt(client->connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
        peer.pid <= 0) {
        return ESRCH;
    }
    *kind_out = asked.kind == WIO_TRACE_SPAWN ? WIO_TRACE_SPAWN : WIO_TRACE_EXEC;
    *pid_out = peer.pid;
    *tid_out = asked.tid != 0 ? asked.tid : peer.pid;
    return tracer_proc_is_thread(*pid_out, *tid_out) ? 0 : ESRCH;
}

static void serve_client(const struct client *client)
{
    int32_t pid = 0;
    int32_t tid = 0;
    enum wio_trace_kind kind = WIO_TRACE_EXEC;
    struct tracer_session session;
    tracer_session_init(&session, &client->server->settings);
    int32_t answer = read_request(client, &pid, &tid, &kind);
    if (answer == 0) {
        answer = tracer_session_seize(&session, pid, tid, kind);
    }
    (void)send(client->connection, &answer, sizeof(answer), MSG_NOSIGNAL);
    (void)close(client->connection);
    tracer_session_follow(&session);
    tracer_session_fini(&session);
}

static void *run_client(void *arg)
{
    struct client *client = arg;
    struct tracer_server *server = client->server;
    serve_client(client);
    free(client);
    (void)__atomic_fetch_sub(&server->sessions, 1, __ATOMIC_RELEASE);
    return NULL;
}

static bool start_client(struct tracer_server *server, int connection)
{
    pthread_t thread;
    pthread_attr_t attributes;
    struct client *client = malloc(sizeof(*client));
    if (client == NULL || pthread_attr_init(&attributes) != 0) {
        free(client);
        return false;
    }
    *client = (struct client){server, connection};
    (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
    (void)__atomic_fetch_add(&server->sessions, 1, __ATOMIC_ACQUIRE);
    const bool is_made = pthread_create(&thread, &attributes, run_client, client) == 0;
    (void)pthread_attr_destroy(&attributes);
    if (!is_made) {
        (void)__atomic_fetch_sub(&server->sessions, 1, __ATOMIC_RELEASE);
        free(client);
    }
    return is_made;
}

static void accept_client(struct tracer_server *server)
{
    const int connection = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC);
    if (connection < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) {
            wio_clock_sleep_ns(FULL_SLICE_NS); /* it stays ready: until a session has ended */
        }
        return;
    }
    if (__atomic_load_n(&server->sessions, __ATOMIC_RELAXED) >= SESSIONS_MAX ||
        !start_client(server, connection)) {
        (void)close(connection);
    }
}

static void do_nothing(int signal)
{
    (void)signal;
}

/* Out of waitpid(2): a signal that comes before it is without effect, so they are sent again. */
static void wake_sessions(void)
{
    WIO_CLEANUP(wio_dir_cleanup) DIR *tasks = opendir("/proc/self/task");
    const pid_t own = (pid_t)syscall(SYS_gettid);
    const struct dirent *entry;
    while (tasks != NULL && (entry = readdir(tasks)) != NULL) {
        const pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (tid > 0 && tid != own) {
            (void)syscall(SYS_tgkill, getpid(), tid, SIGUSR1);
        }
    }
}

static void leave(struct tracer_server *server)
{
    const uint64_t end_ns = wio_clock_mono_ns() + LEAVE_NS;
    __atomic_store_n(&server->stopping, true, __ATOMIC_RELEASE);
    while (__atomic_load_n(&server->sessions, __ATOMIC_ACQUIRE) > 0 &&
           wio_clock_mono_ns() < end_ns) {
        wake_sessions();
        wio_clock_sleep_ns(LEAVE_SLICE_NS);
    }
}

void tracer_serve(struct tracer_server *server)
{
    const struct sigaction wake = {.sa_handler = do_nothing}; /* without SA_RESTART */
    struct pollfd waited[] = {{.fd = server->listener, .events = POLLIN},
                              {.fd = server->control, .events = POLLIN}};
    sigset_t woken;
    sigemptyset(&woken);
    sigaddset(&woken, SIGUSR1);
    (void)sigaction(SIGUSR1, &wake, NULL);
    (void)sigprocmask(SIG_UNBLOCK, &woken, NULL);
    server->settings.stopping = &server->stopping;
    while (waited[1].revents == 0) {
        if (poll(waited, WIO_ARRAY_SIZE(waited), -1) > 0 && waited[0].revents != 0) {
            accept_client(server);
        }
    }
    leave(server);
}
