/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What libc does inside itself to the working directory and to descriptors: inner MODE. Afterwards
 * relative paths and descriptors must still be called by their right names.
 */
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <glob.h>
#include <grp.h>
#include <pty.h>
#include <pwd.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utmp.h>
#include <wordexp.h>

extern char **environ;

static void fail(const char *what)
{
    perror(what);
    _exit(90);
}

/* Make a file here; the test knows where here is. */
static void touch(const char *name)
{
    int fd = open(name, O_WRONLY | O_CREAT, 0600);
    if (fd < 0 || write(fd, "x", 1) != 1 || close(fd) != 0) {
        fail(name);
    }
}

static void make_tree(void)
{
    if (mkdir("tree", 0700) != 0 || mkdir("tree/a", 0700) != 0 || mkdir("tree/b", 0700) != 0) {
        fail("mkdir");
    }
    touch("tree/a/one");
    touch("tree/b/two");
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *where)
{
    (void)st;
    if (type == FTW_F && strncmp(path + where->base, "seen", 4) != 0) {
        char name[64];
        snprintf(name, sizeof(name), "seen.%s", path + where->base);
        touch(name);
    }
    return 0;
}

static void do_nftw(void)
{
    make_tree();
    touch("before");
    if (nftw("tree", visit, 8, FTW_CHDIR | FTW_PHYS) != 0) {
        fail("nftw");
    }
    touch("after");
}

static void do_fts(void)
{
    char *roots[] = {(char[]){"tree"}, NULL};
    make_tree();
    touch("before");
    FTS *walk = fts_open(roots, FTS_PHYSICAL, NULL);
    FTSENT *entry;
    while (walk != NULL && (entry = fts_read(walk)) != NULL) {
        if (entry->fts_info == FTS_F && strncmp(entry->fts_name, "seen", 4) != 0) {
            char name[64];
            snprintf(name, sizeof(name), "seen.%s", entry->fts_name);
            touch(name);
        }
    }
    fts_close(walk);
    touch("after");
}

static void do_daemon(void)
{
    char here[4096];
    touch("before");
    if (getcwd(here, sizeof(here)) == NULL) {
        fail("getcwd");
    }
    pid_t child = fork();
    if (child == 0) {
        if (daemon(0, 0) != 0) {
            fail("daemon");
        }
        struct stat st;
        (void)stat("relative", &st); /* of the root directory */
        (void)write(1, "lost", 4);   /* into /dev/null */
        if (chdir(here) != 0) {
            fail("chdir");
        }
        touch("done.tmp");
        _exit(rename("done.tmp", "done") == 0 ? 0 : 90);
    }
    waitpid(child, NULL, 0);
    for (int i = 0; i < 500 && access("done", F_OK) != 0; i++) {
        usleep(10000);
    }
    touch("after");
}

static void do_terminal(void)
{
    int master = -1;
    int slave = -1;
    int file = open("file", O_WRONLY | O_CREAT, 0600);
    if (file < 0 || close(file) != 0 || openpty(&master, &slave, NULL, NULL, NULL) != 0) {
        fail("openpty");
    }
    (void)write(slave, "s", 1);
    pid_t child = fork();
    if (child == 0) {
        (void)write(1, "", 0);
        if (login_tty(slave) != 0) {
            fail("login_tty");
        }
        (void)write(1, "t", 1); /* the terminal, not what 1 was before */
        _exit(0);
    }
    waitpid(child, NULL, 0);
    child = forkpty(&master, NULL, NULL, NULL);
    if (child == 0) {
        (void)write(1, "u", 1);
        _exit(0);
    }
    char text[8];
    (void)read(master, text, 1);
    waitpid(child, NULL, 0);
}

static void spawn(const char *program, posix_spawn_file_actions_t *actions, int by_name)
{
    char *argv[] = {(char *)(uintptr_t)program, (char[]){"-c"}, (char[]){"echo x > spawned"}, NULL};
    pid_t child;
    int error = by_name ? posix_spawnp(&child, program, actions, NULL, argv, environ)
                        : posix_spawn(&child, program, actions, NULL, argv, environ);
    if (error == 0) {
        waitpid(child, NULL, 0);
    }
}

static void do_spawn(void)
{
    posix_spawn_file_actions_t actions;
    make_tree();
    if (symlink("/bin/sh", "tree/a/shell") != 0) {
        fail("symlink");
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "tree/a/one", O_RDONLY, 0);
    spawn("sh", &actions, 1);
    spawn("tree/a/shell", &actions, 0);
    posix_spawn_file_actions_addchdir_np(&actions, "tree/a");
    spawn("./shell", &actions, 0); /* in tree/a */
    posix_spawn_file_actions_destroy(&actions);
    touch("after");
}

static void do_streams(void)
{
    FILE *file = fopen("first", "w");
    if (file == NULL || freopen(NULL, "a", file) == NULL) {
        fail("freopen");
    }
    fputs("hello", file);
    fclose(file);
    file = tmpfile();
    fputs("temporary", file);
    fclose(file);
    file = popen("cat > piped", "w");
    fputs("to cat", file);
    pclose(file);
    if (system("echo x > by_system") != 0) {
        fail("system");
    }
    touch("after");
}

static void do_lists(void)
{
    glob_t found;
    wordexp_t words;
    make_tree();
    (void)getpwnam("root");
    (void)getgrnam("daemon");
    (void)getpwuid(1);
    if (glob("tree/*/*", 0, NULL, &found) == 0) {
        globfree(&found);
    }
    if (wordexp("$(echo tree/*) ~root", &words, 0) == 0) {
        wordfree(&words);
    }
    int master = posix_openpt(O_RDWR | O_NOCTTY); /* numbers that libc had for itself before */
    (void)write(master, "m", 1);
    setpwent();
    (void)getpwent();
    endpwent();
    touch("after");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } modes[] = {{"nftw", do_nftw},         {"fts", do_fts},     {"daemon", do_daemon},
                 {"terminal", do_terminal}, {"spawn", do_spawn}, {"streams", do_streams},
                 {"lists", do_lists}};
    for (size_t i = 0; argc == 2 && i < sizeof(modes) / sizeof(modes[0]); i++) {
        if (strcmp(argv[1], modes[i].name) == 0) {
            modes[i].run();
            return 0;
        }
    }
    return 91;
}
