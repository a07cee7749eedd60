/* SPDX-License-Identifier: Apache-2.0 */
/* Stores into mapped files: pages MODE. The test knows which pages each mode writes. */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 16, TAIL = 100 }; /* the file: 16 pages and 100 bytes */

static void *check(void *address)
{
    if (address == MAP_FAILED) {
        perror("mmap");
        exit(90);
    }
    return address;
}

static char *map_file(const char *name, int *fd_out)
{
    int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || ftruncate(fd, PAGES * PAGE + TAIL) != 0) {
        perror(name);
        exit(90);
    }
    char *map = check(mmap(NULL, (PAGES + 1) * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
    *fd_out = fd;
    return map;
}

static void store(char *map, int page)
{
    ((volatile char *)map)[page * PAGE + 7] = (char)page;
}

/* Loads alone write nothing; what was reported is not reported again. */
static void do_sync(void)
{
    int fd;
    char *map = map_file("sync.dat", &fd);
    volatile char seen = 0;
    for (int i = 0; i < PAGES; i++) {
        seen += map[i * PAGE];
    }
    (void)seen; /* it is the loads that matter */
    store(map, 0);
    store(map, 1);
    store(map, 5);
    msync(map, (PAGES + 1) * PAGE, MS_SYNC);
    store(map, 2);
    store(map, 9);
    msync(map, 4 * PAGE, MS_ASYNC); /* 2, not 9 */
    store(map, PAGES);              /* the last page: 100 bytes */
    close(fd);
    munmap(map, (PAGES + 1) * PAGE);
}

static void do_end(void)
{
    int fd;
    store(map_file("end.dat", &fd), 3);
    close(fd);
}

static void do_remap(void)
{
    int fd;
    char *map = map_file("remap.dat", &fd);
    store(map, 4);
    char *room = check(mmap(NULL, 64 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    map = check(
        mremap(map, (PAGES + 1) * PAGE, (PAGES + 1) * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, room));
    store(map, 6);
    check(mmap(map, 8 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
    store(map, 10);
}

/* A child writes into what it inherited; the parent goes on. */
static void do_fork(void)
{
    int fd;
    char *map = map_file("fork.dat", &fd);
    store(map, 1);
    pid_t child = fork();
    if (child == 0) {
        store(map, 11);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    store(map, 12);
}

static char *shared_map;

static void *store_one(void *page)
{
    store(shared_map, (int)(long)page);
    msync(shared_map, (PAGES + 1) * PAGE, MS_ASYNC);
    return NULL;
}

static void do_threads(void)
{
    int fd;
    pthread_t threads[8];
    shared_map = map_file("threads.dat", &fd);
    for (long i = 0; i < 8; i++) {
        pthread_create(&threads[i], NULL, store_one, (void *)(2 * i));
    }
    for (int i = 0; i < 8; i++) {
        pthread_join(threads[i], NULL);
    }
}

/* Every descriptor is closed; dup2 goes over all numbers. */
static void do_close(void)
{
    int fd;
    char *map = map_file("close.dat", &fd);
    store(map, 3);
    for (int i = 900; i < 1010; i++) {
        dup2(2, i);
    }
    for (int i = 3; i < 1024; i++) {
        close(i);
    }
    close_range(3, ~0u, 0);
    closefrom(3);
    store(map, 4);
}

static void do_exec(void)
{
    int fd;
    store(map_file("exec.dat", &fd), 8);
    execl("/bin/true", "true", (char *)NULL);
}

/* The program's own userfaultfd comes first for the program. */
static void do_own(void)
{
    int fd;
    char *map = map_file("own.dat", &fd);
    int own = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
    struct uffdio_api api = {.api = UFFD_API, .features = 1u << 12 | 1u << 13 | 1u << 15};
    struct uffdio_register all = {
        {(unsigned long)map, (PAGES + 1) * PAGE}, UFFDIO_REGISTER_MODE_WP, 0};
    store(map, 2);
    if (own >= 0 && ioctl(own, UFFDIO_API, &api) == 0) {
        printf("own registration: %d\n", ioctl(own, UFFDIO_REGISTER, &all));
    }
    store(map, 3); /* of memory that only the program uses */
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } modes[] = {{"sync", do_sync}, {"end", do_end},         {"remap", do_remap},
                 {"fork", do_fork}, {"threads", do_threads}, {"close", do_close},
                 {"exec", do_exec}, {"own", do_own}};
    for (size_t i = 0; argc == 2 && i < sizeof(modes) / sizeof(modes[0]); i++) {
        if (strcmp(argv[1], modes[i].name) == 0) {
            modes[i].run();
            return 0;
        }
    }
    return 91;
}
