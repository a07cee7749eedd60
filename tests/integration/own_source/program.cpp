/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a file by its own calls and by libraries' in several ways: `PROGRAM SCENE`. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

#include "library.h"

#define KEEP __attribute__((noinline))
#define END_OF_CALL() __asm__ volatile("" ::: "memory")

static int fd;
static char data[64];

KEEP static void own_write()
{
    (void)!pwrite(fd, data, sizeof(data), 0);
    END_OF_CALL();
}

KEEP static void often()
{
    (void)H5Dwrite(fd, data, sizeof(data));
    END_OF_CALL();
}

/* Through one more frame: the same call site of the library, deeper on the stack. */
KEEP static void seldom()
{
    char copy[2 * sizeof(data)];
    memcpy(copy, data, sizeof(data));
    memcpy(copy + sizeof(data), data, sizeof(data));
    (void)H5Dwrite(fd, copy, sizeof(copy));
    END_OF_CALL();
}

KEEP static void dive(int depth)
{
    if (depth > 0) {
        dive(depth - 1);
    } else {
        often();
    }
    END_OF_CALL();
}

KEEP static void store()
{
    std::ofstream stream("streamed", std::ios::binary);
    stream.write(data, sizeof(data));
    stream.flush();
    END_OF_CALL();
}

KEEP static int compare(const void *first, const void *second)
{
    own_write();
    return *static_cast<const char *>(first) - *static_cast<const char *>(second);
}

KEEP static void in_thread()
{
    (void)H5Dwrite(fd, data, sizeof(data) / 2);
    END_OF_CALL();
}

int main(int argc, char **argv)
{
    const char *scene = argc > 1 ? argv[1] : "";
    fd = open("file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (strcmp(scene, "own") == 0) {
        own_write();
    } else if (strcmp(scene, "library") == 0) {
        for (int i = 0; i < 10000; i++) {
            often();
            if (i % 1000 == 999) {
                seldom();
            }
        }
    } else if (strcmp(scene, "deep") == 0) {
        dive(40);
    } else if (strcmp(scene, "stream") == 0) {
        store();
    } else if (strcmp(scene, "callback") == 0) {
        char letters[] = "dcba";
        qsort(letters, 4, 1, compare);
    } else if (strcmp(scene, "thread") == 0) {
        std::thread thread(in_thread);
        thread.join();
        often();
    } else {
        return 2;
    }
    return 0;
}
