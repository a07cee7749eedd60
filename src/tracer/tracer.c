/* SPDX-License-Identifier: Apache-2.0 */
#include "tracer/tracer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/system/boot_id.h"
#include "tracer/serve.h"

#define NAME_DIGITS 16
#define SECRET_DIGITS 32
#define BACKLOG 128
#define FIRST_KEPT 100
#define LAST_CLOSED 1024 /* the recorder has few, and all are close-on-exec beyond */

/* ---- may it be done here? ---------------------------------------------------------------------
 */

/* A child that stands at the entry of a system call is what is tried; its errno, 0 = it can be
 * done. */
static int try_child(pid_t child)
{
    struct __ptrace_syscall_info info = {0};
    int status = 0;
    if (ptrace(PTRACE_SEIZE, child, NULL, (void *)(uintptr_t)PTRACE_O_TRACESYSGOOD) != 0 ||
        ptrace(PTRACE_INTERRUPT, child, NULL, NULL) != 0 ||
        waitpid(child, &status, __WALL) != child ||
        ptrace(PTRACE_GET_SYSCALL_INFO, child, (void *)sizeof(info), &info) <= 0) {
        return errno != 0 ? errno : EINVAL;
    }
    return 0;
}

enum wio_status wio_ptracer_probe(struct wio_error *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return wio_error_sys(err, NULL, "cannot try whether processes may be traced");
    }
    const pid_t child = fork();
    if (child == 0) {
        char byte;
        (void)close(ends[1]);
        ssize_t got = read(ends[0], &byte, 1);
        /* house: allow exit: this is the child that is traced for a try */
        _exit(got < 0);
    }
    (void)close(ends[0]);
    errno = 0;
    const int error = child > 0 ? try_child(child) : errno;
    (void)close(ends[1]);
    if (child > 0) {
        (void)kill(child, SIGKILL);
        (void)waitpid(child, NULL, __WALL);
    }
    if (error == 0) {
        return WIO_OK;
    }
    errno = error;
    return wio_error_sys(
        err, NULL, "cannot trace programs here (ptrace): %s",
        error == EIO || error == EINVAL
            ? "Linux 5.3 or newer is needed"
            : "a container or a security module forbids it (docker: --cap-add=SYS_PTRACE; "
              "/proc/sys/kernel/yama/ptrace_scope)");
}

/* ---- the process ------------------------------------------------------------------------------
 */

static bool make_digits(char *out, size_t digits)
{
    static const char hex[] = "0123456789abcdef";
    unsigned char bytes[SECRET_DIGITS];
    if (getrandom(bytes, digits, 0) != (ssize_t)digits) {
        return false;
    }
    for (size_t i = 0; i < digits; i++) {
        out[i] = hex[bytes[i] % 16];
    }
    out[digits] = '\0';
    return true;
}

static enum wio_status make_listener(struct wio_ptracer *tracer, int *listener_out,
                                     struct wio_error *err)
{
    char name[NAME_DIGITS + 1];
    char secret[SECRET_DIGITS + 1];
    struct sockaddr_un socket_name;
    if (!make_digits(name, NAME_DIGITS) || !make_digits(secret, SECRET_DIGITS)) {
        return wio_error_sys(err, NULL, "cannot get random numbers");
    }
    snprintf(tracer->address, sizeof(tracer->address), "whyio-%s:%s", name, secret);
    const socklen_t bytes = wio_tracer_socket_name(&socket_name, tracer->address);
    WIO_CLEANUP(wio_fd_cleanup) int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (const struct sockaddr *)&socket_name, bytes) != 0 ||
        listen(fd, BACKLOG) != 0) {
        return wio_error_sys(err, NULL, "cannot make a socket for the tracer");
    }
    *listener_out = fd;
    fd = -1;
    return WIO_OK;
}

static void find_host(struct tracer_settings *settings)
{
    struct utsname name = {0};
    (void)uname(&name);
    snprintf(settings->host, sizeof(settings->host), "%.63s",
             name.nodename[0] != '\0' ? name.nodename : "localhost");
    for (char *c = settings->host; *c != '\0'; c++) {
        *c = *c == '/' ? '_' : *c;
    }
    wio_boot_id(settings->boot_id);
}

/* What the recorder has open is none of the tracer's: pipes would stay open, locks held. */
static void let_go_of_descriptors(int kept[3])
{
    for (int i = 0; i < 3; i++) { /* upwards, out of the way */
        const int moved = fcntl(kept[i], F_DUPFD_CLOEXEC, FIRST_KEPT);
        kept[i] = moved >= 0 ? moved : kept[i];
    }
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd < 3 && null >= 0; fd++) {
        (void)dup2(null, fd);
    }
    for (int fd = 3; fd < LAST_CLOSED; fd++) {
        if (fd != kept[0] && fd != kept[1] && fd != kept[2]) {
            (void)close(fd);
        }
    }
}

static void raise_limits(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max; /* a ring for each process that is traced */
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static _Noreturn void run(const struct wio_ptracer_params *params, const struct wio_ptracer *tracer,
                          int kept[3])
{
    struct tracer_server server = {.secret = tracer->address + WIO_TRACER_NAME_BYTES};
    (void)setpgid(0, 0); /* signals of the terminal are for the command */
    raise_limits();
    let_go_of_descriptors(kept);
    server.listener = kept[0];
    server.control = kept[1];
    server.settings = (struct tracer_settings){.rings = kept[2],
                                               .capture_lib = params->capture_lib,
                                               .causal = params->causal,
                                               .losses = tracer->losses,
                                               .is_tsc = wio_clock_has_tsc()};
    find_host(&server.settings);
    tracer_serve(&server);
    /* house: allow exit: this is the process of the tracer */
    _exit(0);
}

/* The child has all signals blocked, from its begin on: the pipe ends it, and launchers send
 * signals to all processes of a job. */
static pid_t fork_deaf(void)
{
    sigset_t all;
    sigset_t former;
    sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, &former);
    const pid_t pid = fork();
    const int error = errno;
    if (pid != 0) {
        (void)sigprocmask(SIG_SETMASK, &former, NULL);
        errno = error;
    }
    return pid;
}

static struct tracer_losses *share_losses(void)
{
    void *memory = mmap(NULL, sizeof(struct tracer_losses), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

static void unshare_losses(struct wio_ptracer *tracer)
{
    if (tracer->losses != NULL) {
        (void)munmap(tracer->losses, sizeof(*tracer->losses));
        tracer->losses = NULL;
    }
}

enum wio_status wio_ptracer_start(const struct wio_ptracer_params *params,
                                  struct wio_ptracer *tracer_out, struct wio_error *err)
{
    int ends[2];
    *tracer_out = (struct wio_ptracer){.control = -1};
    WIO_CLEANUP(wio_fd_cleanup) int listener = -1;
    WIO_TRY(make_listener(tracer_out, &listener, err));
    WIO_CLEANUP(wio_fd_cleanup)
    int rings = open(params->rings, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (rings < 0) {
        return wio_error_sys(err, params->rings, "cannot open the directory of the rings");
    }
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return wio_error_sys(err, NULL, "cannot start the tracer");
    }
    WIO_CLEANUP(wio_fd_cleanup) int reader = ends[0];
    WIO_CLEANUP(wio_fd_cleanup) int writer = ends[1];
    tracer_out->losses = share_losses();
    const pid_t pid = tracer_out->losses != NULL ? fork_deaf() : -1;
    if (pid == 0) {
        int kept[3] = {listener, reader, rings};
        (void)listen(listener, BACKLOG); /* again: the kernel names the process that called it */
        (void)close(writer);
        run(params, tracer_out, kept);
    }
    if (pid < 0) {
        const enum wio_status status = wio_error_sys(err, NULL, "cannot start the tracer");
        unshare_losses(tracer_out);
        return status;
    }
    tracer_out->pid = pid;
    tracer_out->control = writer;
    writer = -1;
    return WIO_OK;
}

void wio_ptracer_stop(struct wio_ptracer *tracer, struct wio_ptracer_end *end_out)
{
    int status = 0;
    pid_t ended = 0;
    *end_out = (struct wio_ptracer_end){0};
    if (tracer->pid <= 0) {
        return;
    }
    wio_fd_cleanup(&tracer->control);
    do {
        ended = waitpid(tracer->pid, &status, 0);
    } while (ended < 0 && errno == EINTR);
    /* One that has been waited for elsewhere ended before the pipe was closed. */
    end_out->is_killed = ended != tracer->pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    end_out->no_ring = __atomic_load_n(&tracer->losses->no_ring, __ATOMIC_RELAXED);
    unshare_losses(tracer);
    tracer->pid = 0;
}

void wio_ptracer_cleanup(struct wio_ptracer *tracer)
{
    struct wio_ptracer_end ignored;
    wio_ptracer_stop(tracer, &ignored);
}
