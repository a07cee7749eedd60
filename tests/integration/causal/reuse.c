/* SPDX-License-Identifier: Apache-2.0 */
/* Names and memory that are used again for something else: `reuse SCENE`. See scene.h. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>

#include "scene.h"

/* ---- names ------------------------------------------------------------------------------------
 */

static int open_name(const char *name, int flags)
{
    int fd = open(name, flags | O_CLOEXEC, 0600);
    check(fd >= 0, "open");
    return fd;
}

static void write_late(int unused)
{
    (void)unused;
    nap();
    mark("writing");
    put(open_name("name", O_WRONLY | O_CREAT), 10);
    mark("child goes on");
}

/* What was a FIFO is a file: its reader sleeps until it has been written. */
static void fifo_to_file(void)
{
    check(mkfifo("name", 0600) == 0, "mkfifo");
    close(open_name("name", O_RDWR));
    check(unlink("name") == 0, "unlink");
    close(open_name("name", O_WRONLY | O_CREAT));
    pid_t pid = child(write_late, -1);
    nap();
    nap();
    nap();
    int fd = open_name("name", O_RDONLY);
    char byte;
    check(read(fd, &byte, 1) >= 0, "read");
    mark("read");
    wait_for(pid);
}

/* What was a file becomes a FIFO, which is there when the run ends. */
static void file_to_fifo(void)
{
    pid_t pid = child(write_late, -1);
    nap();
    nap();
    nap();
    int fd = open_name("name", O_RDONLY | O_CREAT);
    char byte;
    check(read(fd, &byte, 1) >= 0, "read");
    mark("read");
    wait_for(pid);
    check(unlink("name") == 0 && mkfifo("name", 0600) == 0, "mkfifo");
}

static void open_other(int unused)
{
    (void)unused;
    nap();
    mark("opening");
    int fd = open_name("other", O_WRONLY);
    mark("between");
    nap();
    mark("writing");
    put(fd, 10);
    mark("child goes on");
}

/* One FIFO, two names, and then none. */
static void two_names(void)
{
    check(mkfifo("name", 0600) == 0 && link("name", "other") == 0, "link");
    pid_t pid = child(open_other, -1);
    int fd = open_name("name", O_RDONLY);
    mark("opened");
    check(unlink("name") == 0 && unlink("other") == 0, "unlink");
    get(fd, 10);
    mark("read");
    wait_for(pid);
}

static void lock_late(int unused)
{
    (void)unused;
    await_secret(1);
    int fd = open_name("lock", O_RDWR | O_CREAT);
    check(flock(fd, LOCK_EX) == 0, "flock");
    mark("has the new one");
    check(flock(fd, LOCK_UN) == 0, "flock");
}

/* The file of a lock is removed: the process that makes it anew does not wait. */
static void lock_removed(void)
{
    pid_t pid = child(lock_late, -1);
    int fd = open_name("lock", O_RDWR | O_CREAT);
    check(flock(fd, LOCK_EX) == 0, "flock");
    mark("has the old one");
    check(unlink("lock") == 0, "unlink");
    check(flock(fd, LOCK_UN) == 0, "flock");
    tell_secret();
    wait_for(pid);
    close(fd);
    put(open_name("end", O_WRONLY | O_CREAT), 1);
}

static void remove_late(int unused)
{
    (void)unused;
    await_secret(1);
    nap();
    mark("removing");
    check(unlink("lock") == 0, "unlink");
    mark("child goes on");
}

/* The file itself is the lock: a process that does not get it tries again. */
static void lock_file(void)
{
    close(open_name("lock", O_WRONLY | O_CREAT | O_EXCL));
    pid_t pid = child(remove_late, -1);
    int fd = open("lock", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    while (fd < 0) {
        tell_secret();
        (void)usleep(1000);
        fd = open("lock", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    }
    mark("locked");
    close(fd);
    wait_for(pid);
}

/* ---- memory -----------------------------------------------------------------------------------
 */

static pthread_mutex_t mutex;

static void lock_and_do(const char *before, const char *after)
{
    mark(before);
    check(pthread_mutex_lock(&mutex) == 0, "pthread_mutex_lock");
    mark(after);
    check(pthread_mutex_unlock(&mutex) == 0, "pthread_mutex_unlock");
}

static void *do_first(void *unused)
{
    lock_and_do("before", "first");
    tell_secret();
    return unused;
}

static void *do_second_later(void *unused)
{
    await_secret(2);
    nap();
    lock_and_do("before second", "second");
    return unused;
}

static void *do_second(void *unused)
{
    nap();
    nap();
    lock_and_do("before second", "second");
    return unused;
}

/* A mutex that is in use cannot be ended: it stays the same one. */
static void mutex_kept(void)
{
    pthread_t thread;
    mark("first");
    check(pthread_mutex_lock(&mutex) == 0, "pthread_mutex_lock");
    check(pthread_create(&thread, NULL, do_second, NULL) == 0, "pthread_create");
    for (unsigned i = 0; i < 4; i++) {
        nap(); /* it waits meanwhile */
    }
    check(pthread_mutex_destroy(&mutex) == EBUSY, "pthread_mutex_destroy");
    mark("unlocking");
    check(pthread_mutex_unlock(&mutex) == 0, "pthread_mutex_unlock");
    check(pthread_join(thread, NULL) == 0, "pthread_join");
}

/* The second thread locks another mutex, at the same address, that was made long before. */
static void mutex_anew(void)
{
    pthread_t threads[2];
    check(pthread_mutex_init(&mutex, NULL) == 0, "pthread_mutex_init");
    for (size_t i = 0; i < 2; i++) {
        check(pthread_create(&threads[i], NULL, i == 0 ? do_first : do_second_later, NULL) == 0,
              "pthread_create");
    }
    await_secret(1);
    check(pthread_mutex_destroy(&mutex) == 0, "pthread_mutex_destroy");
    check(pthread_mutex_init(&mutex, NULL) == 0, "pthread_mutex_init");
    tell_secret();
    for (size_t i = 0; i < 2; i++) {
        check(pthread_join(threads[i], NULL) == 0, "pthread_join");
    }
}

int main(int argc, char **argv)
{
    static const struct scene scenes[] = {
        {"fifo-to-file", fifo_to_file}, {"file-to-fifo", file_to_fifo}, {"two-names", two_names},
        {"lock-removed", lock_removed}, {"lock-file", lock_file},       {"mutex-anew", mutex_anew},
        {"mutex-kept", mutex_kept},
    };
    return run_scene(scenes, sizeof(scenes) / sizeof(scenes[0]), argc, argv);
}
