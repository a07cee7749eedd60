/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The environment of programs that are about to be executed. What `whyio record` put into ours is
 * kept from the start and put back where the program dropped it. No allocation from the program's
 * heap: also called in vfork's child.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fmt.h"
#include "capture/core/environment.h"
#include "capture/core/process.h"
#include "capture/core/raw.h"
#include "capture/process/exec.h"

#define KEPT_MAX 24
#define PRELOAD "LD_PRELOAD"

static char kept_text[3 * CAP_PATH_MAX];
static const char *kept[KEPT_MAX]; /* "WHYIO_X=..." */
static unsigned kept_count;

/* Instead of memory from the kernel, where we may ask for none any more (seccomp.c): room for 900
 * entries. */
static char spare[8192] __attribute__((aligned(16)));
static uint32_t spare_is_used; /* atomic */

static bool is_variable(const char *entry, const char *name, size_t length)
{
    return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

/* The part of LD_PRELOAD that is us: the entry whose name says so. */
static void remember_library(const char *preload)
{
    size_t length;
    for (const char *at = preload + strspn(preload, ": "); *at != '\0';
         at += length, at += strspn(at, ": ")) {
        length = strcspn(at, ": ");
        const char *name = memrchr(at, '/', length);
        name = name != NULL ? name + 1 : at;
        if (strncmp(name, "libwhyio-capture", 16) == 0 && length < sizeof(cap_process.library)) {
            memcpy(cap_process.library, at, length);
            cap_process.library[length] = '\0';
            return;
        }
    }
}

void cap_exec_remember(void)
{
    struct wio_fmt text = wio_fmt_of(kept_text, sizeof(kept_text));
    for (char **entry = cap_environ_entries(); entry != NULL && *entry != NULL; entry++) {
        if (is_variable(*entry, PRELOAD, sizeof(PRELOAD) - 1)) {
            remember_library(*entry + sizeof(PRELOAD));
        } else if (strncmp(*entry, "WHYIO_", 6) == 0 && kept_count < KEPT_MAX) {
            const char *start = kept_text + text.used;
            wio_fmt_bytes(&text, *entry, strlen(*entry) + 1);
            if (text.is_cut) {
                return;
            }
            kept[kept_count++] = start;
        }
    }
}

/* Is our library one of the entries of a LD_PRELOAD value? */
static const char *find_library(const char *preload)
{
    size_t length = strlen(cap_process.library);
    for (const char *at = preload; (at = strstr(at, cap_process.library)) != NULL; at += length) {
        bool begins = at == preload || at[-1] == ':' || at[-1] == ' ';
        bool ends = at[length] == '\0' || at[length] == ':' || at[length] == ' ';
        if (begins && ends) {
            return at;
        }
    }
    return NULL;
}

static const char *value_of(char *const *entries, const char *name, size_t length)
{
    for (; entries != NULL && *entries != NULL; entries++) {
        if (is_variable(*entries, name, length)) {
            return *entries + length + 1;
        }
    }
    return NULL;
}

static bool has_kept(char *const *given, const char *entry)
{
    return value_of(given, entry, strcspn(entry, "=")) != NULL;
}

/* Our library would do harm there. */
static bool is_without(enum cap_target target)
{
    return target == CAP_TARGET_FOREIGN || target == CAP_TARGET_FILTERED;
}

static bool is_complete(char *const *given, enum cap_target target)
{
    const char *preload = value_of(given, PRELOAD, sizeof(PRELOAD) - 1);
    bool has_library = preload != NULL && find_library(preload) != NULL;
    if (has_library == is_without(target)) {
        return false;
    }
    for (unsigned i = 0; i < kept_count; i++) {
        if (!has_kept(given, kept[i])) {
            return false;
        }
    }
    return true;
}

/* "LD_PRELOAD=ours:theirs", or theirs without ours. False where nothing would be left. */
static bool write_preload(struct wio_fmt *text, const char *theirs, enum cap_target target)
{
    wio_fmt_str(text, PRELOAD "=");
    if (!is_without(target)) {
        wio_fmt_str(text, cap_process.library);
        if (theirs != NULL && theirs[0] != '\0') {
            wio_fmt_str(text, ":");
            wio_fmt_str(text, theirs);
        }
    } else {
        const char *ours = find_library(theirs);
        const char *rest = ours + strlen(cap_process.library);
        rest += strspn(rest, ": ");
        wio_fmt_bytes(text, theirs, (size_t)(ours - theirs));
        wio_fmt_str(text, rest);
        if (text->text[sizeof(PRELOAD)] == '\0') {
            return false;
        }
    }
    wio_fmt_bytes(text, "", 1);
    return true;
}

/* Fill `out` (room for all) with the given entries, corrected. */
static void compose(char *const *given, enum cap_target target, char **out, struct wio_fmt *text)
{
    const char *preload = value_of(given, PRELOAD, sizeof(PRELOAD) - 1);
    bool has_library = preload != NULL && find_library(preload) != NULL;
    bool is_changed = has_library == is_without(target);
    size_t count = 0;
    if (is_changed && write_preload(text, preload, target)) {
        out[count++] = text->text;
    }
    for (; given != NULL && *given != NULL; given++) {
        if (!is_changed || !is_variable(*given, PRELOAD, sizeof(PRELOAD) - 1)) {
            out[count++] = *given;
        }
    }
    for (unsigned i = 0; i < kept_count; i++) {
        if (value_of(out, kept[i], strcspn(kept[i], "=")) == NULL) {
            out[count++] = kept_text + (kept[i] - kept_text);
        }
    }
}

static char *take_memory(size_t bytes)
{
    uint32_t is_free = 0;
    char *map = raw_mmap(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map != NULL || bytes > sizeof(spare) ||
        !__atomic_compare_exchange_n(&spare_is_used, &is_free, 1, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED)) {
        return map;
    }
    memset(spare, 0, bytes);
    return spare;
}

static void give_back(void *map, size_t bytes)
{
    if (map == spare) {
        __atomic_store_n(&spare_is_used, 0, __ATOMIC_RELEASE);
    } else if (map != NULL) {
        (void)raw_munmap(map, bytes);
    }
}

void cap_environment_init(struct cap_environment *environment, char *const *given,
                          enum cap_target target)
{
    *environment = (struct cap_environment){.entries = given};
    bool is_bad = given != NULL && !cap_is_confined && !cap_is_readable((const char *)given);
    if (is_bad || cap_process.library[0] == '\0' || is_complete(given, target)) {
        return;
    }
    size_t count = 0;
    while (given != NULL && given[count] != NULL) {
        count++;
    }
    const char *preload = value_of(given, PRELOAD, sizeof(PRELOAD) - 1);
    size_t text_bytes =
        sizeof(PRELOAD) + strlen(cap_process.library) + 3 + (preload != NULL ? strlen(preload) : 0);
    size_t list_bytes = (count + 2 + KEPT_MAX) * sizeof(char *);
    char *map = take_memory(list_bytes + text_bytes);
    if (map == NULL) {
        return;
    }
    struct wio_fmt text = wio_fmt_of(map + list_bytes, text_bytes);
    environment->map = map;
    environment->map_bytes = list_bytes + text_bytes;
    compose(given, target, (char **)(void *)map, &text);
    environment->entries = (char *const *)(void *)map;
}

void cap_environment_fini(struct cap_environment *environment)
{
    give_back(environment->map, environment->map_bytes);
    environment->map = NULL;
}

void cap_exec_leave(struct cap_thread *self, const struct cap_environment *environment)
{
    cap_exec_tidy(self); /* a child of this child's is long gone */
    self->process.left = environment->map;
    self->process.left_bytes = environment->map_bytes;
}

void cap_exec_tidy(struct cap_thread *self)
{
    give_back(self->process.left, self->process.left_bytes);
    self->process.left = NULL;
}

bool cap_exec_ask_tracer(enum cap_target target, enum wio_trace_kind kind)
{
    static const char name[] = WIO_TRACER_VARIABLE "=";
    const int32_t tid = raw_gettid();
    if (target != CAP_TARGET_STATIC || cap_is_confined) {
        return false;
    }
    for (unsigned i = 0; i < kept_count; i++) {
        if (strncmp(kept[i], name, sizeof(name) - 1) == 0) {
            return wio_trace_request(kept[i] + sizeof(name) - 1, kind,
                                     tid != raw_getpid() ? tid : 0) == 0;
        }
    }
    return false;
}

void cap_exec_count(enum cap_target target)
{
    static const uint8_t kinds[] = {
        [CAP_TARGET_STATIC] = WIO_UNSEEN_STATIC_EXEC,
        [CAP_TARGET_FOREIGN] = WIO_UNSEEN_FOREIGN_EXEC,
        [CAP_TARGET_SECURE] = WIO_UNSEEN_SETUID_EXEC,
        [CAP_TARGET_FILTERED] = WIO_UNSEEN_FILTERED_EXEC,
    };
    if (target != CAP_TARGET_GOOD) {
        cap_unseen(kinds[target]);
        return;
    }
    cap_ring_note_user();
    cap_ring_check_access();
}

void cap_environ_init(struct cap_environ *swapped)
{
    const enum cap_target shell = cap_is_confined ? CAP_TARGET_FILTERED : CAP_TARGET_GOOD;
    swapped->before = environ;
    cap_exec_count(shell);
    cap_environment_init(&swapped->environment, environ, shell);
    if (swapped->environment.map != NULL) {
        environ = (char **)swapped->environment.map;
    }
}

/* Where the array was replaced meanwhile, the new one holds our text: then it stays. */
void cap_environ_fini(struct cap_environ *swapped)
{
    if (swapped->environment.map != NULL && environ == (char **)swapped->environment.map) {
        environ = swapped->before;
        cap_environment_fini(&swapped->environment);
    }
}
