/* SPDX-License-Identifier: Apache-2.0 */
/* Configuration from the environment, once per image. */
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/utsname.h>

#include "base/fmt.h"
#include "capture/core/activate.h"
#include "capture/core/environment.h"
#include "capture/core/features.h"
#include "capture/core/process.h"
#include "capture/core/program/filters.h"
#include "capture/core/program/launcher.h"
#include "capture/core/raw.h"
#include "capture/core/ring/bound.h"
#include "job/job.h"
#include "job/rank.h"

static bool copy_text(char *out, size_t size, const char *text)
{
    size_t length = strlen(text);
    if (length >= size) {
        return false;
    }
    memcpy(out, text, length + 1);
    return true;
}

static enum cap_stacks stacks_wanted(void)
{
    const char *text = cap_getenv("WHYIO_STACKS");
    return text == NULL             ? CAP_STACKS_SAMPLED
           : strcmp(text, "1") == 0 ? CAP_STACKS_ALWAYS
           : strcmp(text, "2") == 0 ? CAP_STACKS_NEVER
                                    : CAP_STACKS_SAMPLED;
}

/* Until MPI_Init says it: what the launcher told. */
static void find_rank(void)
{
    const struct wio_job_rank found = wio_job_rank_find((const char *const *)cap_environ_entries());
    cap_process.rank = found.rank;
    cap_process.ranks = found.ranks;
}

static void find_job(void)
{
    char cgroup[4096];
    size_t used = cap_read_small("/proc/self/cgroup", cgroup, sizeof(cgroup));
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
    (void)cap_read_small("/proc/sys/kernel/random/boot_id", cap_process.boot_id,
                         sizeof(cap_process.boot_id));
    cap_process.boot_id[strcspn(cap_process.boot_id, "\n")] = '\0';
}

/* The directory must be absolute: the program may go to another one. */
static bool is_wanted(void)
{
    const char *rings = cap_getenv("WHYIO_RINGS");
    if (getauxval(AT_SECURE) != 0) {
        return false;
    }
    if (rings == NULL) {
        return cap_activate(cap_process.directory, sizeof(cap_process.directory));
    }
    return rings[0] == '/' &&
           copy_text(cap_process.directory, sizeof(cap_process.directory), rings);
}

/* The page that every fork wipes. */
static bool make_image(void)
{
    void *page = raw_mmap(4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == NULL || raw_madvise(page, 4096, MADV_WIPEONFORK) != 0) {
        return false;
    }
    cap_image = page;
    return true;
}

static void configure(void)
{
    bool is_recorded = is_wanted();
    cap_on_inherit(); /* behind it: WHYIO_TRACE as activate.h leaves it */
    if (is_recorded && cap_is_launcher()) {
        cap_on_leave();
        is_recorded = false;
    }
    if (!is_recorded || !make_image()) {
        cap_process.is_off = true;
        return;
    }
    cap_process.stacks = stacks_wanted();
    cap_process.sites = CAP_PENDING_SITE;
    cap_process.with_mpi_internals = cap_env_is_on("WHYIO_MPI_INTERNALS");
    cap_is_causal = cap_env_is_on("WHYIO_CAUSAL");
    cap_clock_is_tsc = wio_clock_has_tsc();
    cap_on_configure();
    find_host();
    cap_bound_configure();
    find_rank();
    find_job();
}

bool cap_configure(void)
{
    if (CAP_LIKELY(__atomic_load_n(&cap_process.is_configured, __ATOMIC_ACQUIRE) == 2)) {
        return !cap_process.is_off;
    }
    CAP_KEEP_ERRNO;
    cap_environ_find();
    if (!cap_filters_are_known(
            cap_getenv("WHYIO_FILTERS"))) { /* before any other call: that may be forbidden */
        cap_on_inherit();
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
        cap_environ_forget();
        __atomic_store_n(&cap_process.is_configured, 2, __ATOMIC_RELEASE);
    }
    while (__atomic_load_n(&cap_process.is_configured, __ATOMIC_ACQUIRE) != 2) {
        raw_yield();
    }
    raw_restore_signals(mask);
    return !cap_process.is_off;
}
