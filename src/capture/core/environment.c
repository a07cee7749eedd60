/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/core/environment.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/system/proc_text.h"
#include "capture/core/raw.h"

/* Where the kernel put the arguments, and the environment behind them; the loader's. */
extern void *__libc_stack_end;
static char **early_environ; /* of what stands there, while we are configured before libc */

/* The texts of the arguments, one behind the other; NULL where that is not certain. They lie there
 * in a forked child, too. */
static const char *arguments;
static size_t arguments_bytes;

static void find_arguments(char *const *entries, long count)
{
    const char *end = count > 0 ? entries[0] : NULL;
    for (long i = 0; i < count; i++) {
        if (entries[i] == NULL || entries[i] != end) {
            return;
        }
        end += strlen(end) + 1;
    }
    if (end != NULL) {
        arguments = entries[0];
        arguments_bytes = (size_t)(end - arguments);
    }
}

/* Before libc's own constructor has run (.preinit_array) `environ` is not set yet. */
void cap_environ_find(void)
{
    const long *stack = __libc_stack_end;
    if (stack == NULL) {
        return;
    }
    if (environ == NULL) {
        early_environ = (char **)(uintptr_t)(stack + *stack + 2);
    }
    find_arguments((char *const *)(const void *)(stack + 1), *stack);
}

void cap_environ_forget(void)
{
    early_environ = NULL;
}

char **cap_environ_entries(void)
{
    return environ != NULL ? environ : early_environ;
}

const char *cap_getenv(const char *name)
{
    size_t length = strlen(name);
    for (char **entry = cap_environ_entries(); entry != NULL && *entry != NULL; entry++) {
        if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=') {
            return *entry + length + 1;
        }
    }
    return NULL;
}

bool cap_env_is_on(const char *name)
{
    const char *text = cap_getenv(name);
    return text != NULL && strcmp(text, "1") == 0;
}

size_t cap_read_small(const char *path, char *text, size_t size)
{
    long fd = raw_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    size_t used = 0;
    if (fd >= 0) {
        long got;
        while (used + 1 < size && (got = raw_read((int)fd, text + used, size - 1 - used)) > 0) {
            used += (size_t)got;
        }
        (void)raw_close((int)fd);
    }
    text[used] = '\0';
    return used;
}

/* By one read: the kernel gives the line as a whole. */
uint64_t cap_start_of(const char *path)
{
    char text[1024];
    uint64_t start = 0;
    long fd = raw_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    long got = fd >= 0 ? raw_read((int)fd, text, sizeof(text)) : -1;
    if (fd >= 0) {
        (void)raw_close((int)fd);
    }
    return got > 0 && wio_proc_stat_start(text, (size_t)got, &start) ? start : 0;
}

/* A program that writes over its arguments to change its title may join the last one to what lies
 * behind it. */
size_t cap_process_arguments(char *text, size_t size)
{
    if (arguments != NULL && arguments[arguments_bytes - 1] == '\0') {
        size_t bytes = arguments_bytes < size ? arguments_bytes : size - 1;
        memcpy(text, arguments, bytes);
        text[bytes] = '\0';
        return bytes;
    }
    return cap_read_small("/proc/self/cmdline", text, size);
}
