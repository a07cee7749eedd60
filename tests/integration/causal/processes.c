/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that start other programs and wait for them: `processes SCENE`. See scene.h. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include "scene.h"

extern char **environ;

/* ---- what is started: scenes too --------------------------------------------------------------
 */

static void say_late(void)
{
    nap();
    mark("child");
    check(write(STDOUT_FILENO, "x\n", 2) == 2, "write");
}

static void hear(void)
{
    char line[8];
    check(read(STDIN_FILENO, line, sizeof(line)) > 0, "read");
    mark("child");
    nap();
    mark("child ends");
}

static void fail(void)
{
    mark("child");
    exit(3);
}

static void end_soon(void)
{
    mark("child");
}

/* ---- starting it ------------------------------------------------------------------------------
 */

static char *program(void)
{
    static char path[512];
    check(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0, "readlink");
    return path;
}

static const char *command(const char *scene)
{
    static char text[600];
    (void)snprintf(text, sizeof(text), "%s %s", program(), scene);
    return text;
}

static void by_system(void)
{
    mark("before");
    check(system(command("say-late")) == 0, "system");
    mark("after");
}

static void by_system_failing(void)
{
    mark("before");
    check(WEXITSTATUS(system(command("fail"))) == 3, "system");
    mark("after");
}

static void by_popen(void)
{
    char line[8];
    mark("before");
    FILE *stream = popen(command("say-late"), "r");
    check(stream != NULL, "popen");
    mark("meanwhile");
    check(fgets(line, sizeof(line), stream) != NULL, "fgets");
    mark("line");
    check(pclose(stream) == 0, "pclose");
    mark("after");
}

/* Two at a time; the one that was started first is waited for last. */
static void by_popen_to_write(void)
{
    mark("before");
    FILE *first = popen(command("hear"), "w");
    FILE *second = popen("cat >/dev/null", "w");
    check(first != NULL && second != NULL, "popen");
    nap();
    mark("meanwhile");
    check(fputs("x\n", first) >= 0 && fflush(first) == 0, "fflush");
    mark("goes on");
    check(pclose(second) == 0, "pclose");
    check(pclose(first) == 0, "pclose");
    mark("after");
}

static char say_late_name[] = "say-late";
static char end_soon_name[] = "end-soon";

static pid_t spawn(char *scene, const posix_spawn_file_actions_t *actions)
{
    pid_t pid = -1;
    char *const argv[] = {program(), scene, NULL};
    check(posix_spawn(&pid, argv[0], actions, NULL, argv, environ) == 0, "posix_spawn");
    return pid;
}

static void by_spawn(void)
{
    int ends[2];
    char line[8];
    posix_spawn_file_actions_t actions;
    check(pipe2(ends, O_CLOEXEC) == 0, "pipe2");
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    mark("before");
    pid_t pid = spawn(say_late_name, &actions);
    mark("meanwhile");
    close(ends[1]);
    check(read(ends[0], line, sizeof(line)) == 2, "read");
    mark("line");
    check(read(ends[0], line, sizeof(line)) == 0, "read");
    mark("at end");
    wait_for(pid);
    mark("after");
}

static void close_late(int fd)
{
    nap();
    nap();
    mark("closing");
    close(fd);
}

/* What exec closes the program that is spawned does not have: no process waits for its end. */
static void by_spawn_without_pipe(void)
{
    int ends[2];
    char byte;
    check(pipe2(ends, O_CLOEXEC) == 0, "pipe2");
    pid_t other = child(close_late, ends[1]);
    pid_t pid = spawn(end_soon_name, NULL);
    close(ends[1]);
    check(read(ends[0], &byte, 1) == 0, "read");
    mark("at end");
    wait_for(other);
    wait_for(pid);
}

static void by_vfork(void)
{
    const char *path = program();
    mark("before");
    pid_t pid = vfork();
    if (pid == 0) {
        (void)execl(path, path, "say-late", NULL);
        _exit(9);
    }
    mark("meanwhile");
    wait_for(pid);
    mark("after");
}

/* ---- ends -------------------------------------------------------------------------------------
 */

static void die_late(int unused)
{
    (void)unused;
    nap();
    mark("dying");
}

/* The signal says whose end it tells. */
static void by_signal_of_child(void)
{
    sigset_t set;
    int signal;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGCHLD);
    check(sigprocmask(SIG_BLOCK, &set, NULL) == 0, "sigprocmask");
    pid_t pid = child(die_late, -1);
    check(sigwait(&set, &signal) == 0, "sigwait");
    mark("told");
    wait_for(pid);
}

static void live_on(int unused)
{
    (void)unused;
    mark("victim");
    (void)pause();
}

static void kill_late(int pid)
{
    nap();
    mark("killing");
    check(kill(pid, SIGKILL) == 0, "kill");
    mark("child goes on");
}

static void by_kill(void)
{
    pid_t victim = child(live_on, -1);
    pid_t pid = child(kill_late, victim);
    wait_for(victim);
    mark("after");
    wait_for(pid);
}

int main(int argc, char **argv)
{
    static const struct scene scenes[] = {
        {"say-late", say_late}, {"hear", hear},
        {"fail", fail},         {"end-soon", end_soon},
        {"system", by_system},  {"system-failing", by_system_failing},
        {"popen", by_popen},    {"popen-to-write", by_popen_to_write},
        {"spawn", by_spawn},    {"spawn-without-pipe", by_spawn_without_pipe},
        {"vfork", by_vfork},    {"signal-of-child", by_signal_of_child},
        {"kill", by_kill},
    };
    return run_scene(scenes, sizeof(scenes) / sizeof(scenes[0]), argc, argv);
}
