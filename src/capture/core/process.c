/* SPDX-License-Identifier: Apache-2.0 */
/* Configuration from the environment, once per image; the records that describe the image. */
#include "capture/core/process.h"

#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/fmt.h"
#include "capture/core/filters.h"
#include "capture/core/launcher.h"
#include "capture/core/raw.h"
#include "capture/mmap/pages.h"
#include "capture/process/exec.h"
#include "capture/stdio/stdio_hooks.h"
#include "capture/sync/sync_held.h"
#include "capture/throttle/hold.h"
#include "job/job.h"

struct cap_process cap_process = {.rank = -1, .ring_fd = -1};
struct cap_image *cap_image;
bool cap_clock_is_tsc;
bool cap_is_causal;

/* Where the kernel put the arguments, and the environment behind them; the loader's. */
extern void *__libc_stack_end;
static char **early_environ; /* of what stands there, while we are configured before libc */

/* Before libc's own constructor has run (.preinit_array) `environ` is not set yet. */
static void find_environ(void)
{
    const long *arguments = __libc_stack_end;
    if (environ == NULL && arguments != NULL) {
        early_environ = (char **)(uintptr_t)(arguments + *arguments + 2);
    }
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

static bool copy_text(char *out, size_t size, const char *text)
{
    size_t length = strlen(text);
    if (length >= size) {
        return false;
    }
    memcpy(out, text, length + 1);
    return true;
}

/* A small file of /proc or /sys; NUL behind the end. Returns the bytes read. */
static size_t read_small(const char *path, char *text, size_t size)
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

size_t cap_process_arguments(char *text, size_t size)
{
    return read_small("/proc/self/cmdline", text, size);
}

static bool env_is_on(const char *name)
{
    const char *text = cap_getenv(name);
    return text != NULL && strcmp(text, "1") == 0;
}

static enum cap_stacks stacks_wanted(void)
{
    const char *text = cap_getenv("WHYIO_STACKS");
    return text == NULL             ? CAP_STACKS_SAMPLED
           : strcmp(text, "1") == 0 ? CAP_STACKS_ALWAYS
           : strcmp(text, "2") == 0 ? CAP_STACKS_NEVER
                                    : CAP_STACKS_SAMPLED;
}

static int32_t env_number(const char *name)
{
    const char *text = cap_getenv(name);
    uint64_t value;
    if (text == NULL || !wio_scan_u64(&text, &value) || *text != '\0' || value > INT32_MAX) {
        return -1;
    }
    return (int32_t)value;
}

static int32_t first_number(const char *const *names)
{
    for (; *names != NULL; names++) {
        int32_t value = env_number(*names);
        if (value >= 0) {
            return value;
        }
    }
    return -1;
}

/* Until MPI_Init says it: what the launcher told. SLURM_PROCID last, since it is 0 in every rank
 * under mpirun within a batch job. */
static void find_rank(void)
{
    static const char *const ranks[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                        "SLURM_PROCID", NULL};
    static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS", NULL};
    cap_process.rank = first_number(ranks);
    int32_t size = cap_process.rank >= 0 ? first_number(sizes) : 0;
    cap_process.ranks = size > 0 ? size : 0;
}

static void find_job(void)
{
    char cgroup[4096];
    size_t used = read_small("/proc/self/cgroup", cgroup, sizeof(cgroup));
    if (used == sizeof(cgroup) - 1) { /* there is more: the last line may be half a job's id */
        char *end = memrchr(cgroup, '\n', used);
        *(end != NULL ? end : cgroup) = '\0';
    }
    struct wio_job_source source = {
        .environ = (const char *const *)cap_environ_entries(),
        .cgroup = cgroup,
        .variable = cap_getenv("WHYIO_JOB_ENV"),
        .fixed = cap_getenv("WHYIO_JOB"),
    };
    (void)wio_job_resolve(&source, cap_process.job, sizeof(cap_process.job));
}

static void find_host(void)
{
    struct utsname name;
    if (raw_call3(SYS_uname, (long)&name, 0, 0) < 0) {
        name.nodename[0] = '\0';
    }
    (void)copy_text(cap_process.host, sizeof(cap_process.host),
                    name.nodename[0] != '\0' ? name.nodename : "localhost");
    for (char *c = cap_process.host; *c != '\0'; c++) {
        *c = *c == '/' ? '_' : *c;
    }
    (void)read_small("/proc/sys/kernel/random/boot_id", cap_process.boot_id,
                     sizeof(cap_process.boot_id));
    cap_process.boot_id[strcspn(cap_process.boot_id, "\n")] = '\0';
}

/* The directory must be absolute: the program may go to another one. */
static bool is_wanted(void)
{
    const char *directory = cap_getenv("WHYIO_TRACE");
    return directory != NULL && directory[0] == '/' && getauxval(AT_SECURE) == 0 &&
           copy_text(cap_process.directory, sizeof(cap_process.directory), directory);
}

/* The page that every fork wipes. */
static bool make_image(void)
{
    void *page = raw_mmap(4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == NULL || raw_madvise(page, 4096, MADV_WIPEONFORK) != 0) {
        return false;
    }
    cap_image = page;
    cap_waiters = cap_image->waiters;
    return true;
}

static void configure(void)
{
    cap_exec_remember();
    bool is_recorded = is_wanted();
    if (is_recorded && cap_is_launcher()) {
        cap_hold_leave();
        is_recorded = false;
    }
    if (!is_recorded || !make_image()) {
        cap_process.is_off = true;
        return;
    }
    cap_process.stacks = stacks_wanted();
    cap_process.with_mpi_internals = env_is_on("WHYIO_MPI_INTERNALS");
    cap_process.with_mmap_pages = env_is_on("WHYIO_MMAP_PAGES");
    cap_is_causal = env_is_on("WHYIO_CAUSAL");
    cap_clock_is_tsc = wio_clock_has_tsc();
    cap_hold_configure();
    find_host();
    find_rank();
    find_job();
}

bool cap_configure(void)
{
    if (CAP_LIKELY(__atomic_load_n(&cap_process.is_configured, __ATOMIC_ACQUIRE) == 2)) {
        return !cap_process.is_off;
    }
    CAP_KEEP_ERRNO;
    find_environ();
    if (!cap_filters_are_known(
            cap_getenv("WHYIO_FILTERS"))) { /* before any other call: that may be forbidden */
        cap_exec_remember();
        cap_process.is_off = true;
        __atomic_store_n(&cap_is_confined, true, __ATOMIC_RELEASE);
        __atomic_store_n(&cap_process.is_configured, 2, __ATOMIC_RELEASE);
        return false;
    }
    uint64_t mask = raw_block_signals();
    uint32_t expected = 0;
    if (__atomic_compare_exchange_n(&cap_process.is_configured, &expected, 1, false,
                                    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        configure();
        early_environ = NULL; /* the program may take all of it away: clearenv */
        __atomic_store_n(&cap_process.is_configured, 2, __ATOMIC_RELEASE);
    }
    while (__atomic_load_n(&cap_process.is_configured, __ATOMIC_ACQUIRE) != 2) {
        raw_yield();
    }
    raw_restore_signals(mask);
    return !cap_process.is_off;
}

bool cap_image_begin(void)
{
    uint32_t expected = CAP_IMAGE_NONE;
    if (CAP_LIKELY(__atomic_load_n(&cap_image->state, __ATOMIC_ACQUIRE) == CAP_IMAGE_READY)) {
        return true;
    }
    if (!__atomic_compare_exchange_n(&cap_image->state, &expected, CAP_IMAGE_BUSY, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        while (__atomic_load_n(&cap_image->state, __ATOMIC_ACQUIRE) == CAP_IMAGE_BUSY) {
            raw_yield();
        }
        return !cap_process.is_off;
    }
    cap_threads_reset();
    bool is_made = cap_ring_create();
    if (!is_made) {
        cap_process.is_off = true;
    } else {
        cap_pages_begin_image();
    }
    __atomic_store_n(&cap_image->state, CAP_IMAGE_READY, __ATOMIC_RELEASE);
    return is_made;
}

uint64_t cap_now_slow(void)
{
    CAP_KEEP_ERRNO;
    return cap_process.is_off ? 0 : wio_clock_mono_ns(); /* there may be no clock: seccomp.c */
}

uint64_t cap_key(void)
{
    return __atomic_add_fetch(&cap_image->next_key, 1, __ATOMIC_RELAXED);
}

void cap_unseen_more(unsigned kind, uint64_t count)
{
    struct wio_ring_header *header = cap_process.header;
    if (header != NULL && kind < WIO_UNSEEN_COUNT) {
        (void)__atomic_fetch_add(&header->unseen[kind], count, __ATOMIC_RELAXED);
    }
}

void cap_unseen(unsigned kind)
{
    cap_unseen_more(kind, 1);
}

void cap_mark_end(uint32_t end, int32_t status)
{
    struct wio_ring_header *header = cap_process.header;
    if (cap_process.is_off) {
        return;
    }
    bool is_ours = __atomic_load_n(&cap_image->state, __ATOMIC_ACQUIRE) == CAP_IMAGE_READY;
    if (header == NULL || !is_ours) {
        return; /* in a fresh child it is the parent's */
    }
    CAP_KEEP_ERRNO;
    const struct cap_moment now = cap_moment_now();
    cap_ring_calibrate(&now);
    header->end_status = status;
    __atomic_store_n(&header->end, end, __ATOMIC_RELEASE);
    if (end == WIO_END_EXIT) {
        cap_hold_end_process();
    }
}

static void describe(struct cap_thread *self, uint32_t key, const char *text, size_t bytes)
{
    struct wio_slot_text head = {.kind = WIO_SLOT_META, .id = key};
    (void)cap_text_record(self, &head, text, bytes, NULL, 0);
}

void cap_describe_image(struct cap_thread *self)
{
    enum { SIZE = 8192 }; /* longer arguments are cut: FORMAT.md#ring-strings */
    char *text = raw_mmap(SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (text == NULL) {
        return;
    }
    if (cap_makes_own_calls()) {
        cap_unseen(WIO_UNSEEN_OWN_CALLS);
    }
    long length = raw_readlink("/proc/self/exe", text, SIZE);
    if (length > 0) {
        describe(self, WIO_META_EXE, text, (size_t)length);
    }
    size_t bytes = read_small("/proc/self/cmdline", text, SIZE);
    describe(self, WIO_META_ARGV, text, bytes);
    length = raw_getcwd(text, SIZE);
    if (length > 1) {
        describe(self, WIO_META_CWD, text, (size_t)length - 1);
    }
    (void)raw_munmap(text, SIZE);
    cap_modules_describe(self);
}

/* Runs late among the constructors of the libraries; an earlier call configures by
 * cap_enter_slow. */
__attribute__((constructor)) static void load(void)
{
    CAP_KEEP_ERRNO;
    cap_real_find_early();
    if (cap_configure()) {
        (void)cap_thread_begin();
        cap_stdio_install();
        cap_exit_register();
    }
}
