/* SPDX-License-Identifier: Apache-2.0 */
#include "tracer/image.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "job/job.h"
#include "job/rank.h"
#include "ops/program_file.h"
#include "tracer/proc.h"

#define SCRIPTS_MAX 5    /* the kernel's own limit of #! in #! */
#define HEADERS_MAX 4096 /* real programs have about a dozen */

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OUR_MACHINE EM_AARCH64
#else
#define OUR_MACHINE EM_NONE
#endif

static enum tracer_image_kind kind_by_loader(int fd, const Elf64_Phdr *interp)
{
    char loader[TRACER_PATH_MAX] = "";
    if (interp->p_filesz == 0 || interp->p_filesz >= sizeof(loader) ||
        pread(fd, loader, interp->p_filesz, (off_t)interp->p_offset) != (ssize_t)interp->p_filesz) {
        return TRACER_IMAGE_FOREIGN;
    }
    return wio_program_is_loader_itself(loader) ? TRACER_IMAGE_DYNAMIC : TRACER_IMAGE_FOREIGN;
}

enum tracer_image_kind tracer_image_kind_of(int fd, const char *name)
{
    Elf64_Ehdr head;
    if (pread(fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
        head.e_machine != OUR_MACHINE || head.e_phentsize != sizeof(Elf64_Phdr)) {
        return TRACER_IMAGE_FOREIGN;
    }
    for (unsigned i = 0; i < head.e_phnum && i < HEADERS_MAX; i++) {
        Elf64_Phdr header;
        const uint64_t place = head.e_phoff + (uint64_t)i * sizeof(header);
        if (pread(fd, &header, sizeof(header), (off_t)place) != (ssize_t)sizeof(header)) {
            return TRACER_IMAGE_FOREIGN;
        }
        if (header.p_type == PT_INTERP) {
            return kind_by_loader(fd, &header);
        }
    }
    return wio_program_is_loader_itself(name) ? TRACER_IMAGE_DYNAMIC : TRACER_IMAGE_STATIC;
}

/* ---- rights -----------------------------------------------------------------------------------
 */

/* The second number behind `key`: of user and group ids the effective one. */
static bool read_effective(const char *status, const char *key, unsigned long *id_out)
{
    char *end = NULL;
    const char *line = strstr(status, key);
    if (line == NULL) {
        return false;
    }
    (void)strtoul(line + strlen(key), &end, 10);
    *id_out = strtoul(end, NULL, 10);
    return true;
}

static bool read_ids(int32_t tid, unsigned long *user_out, unsigned long *group_out)
{
    char text[4096];
    (void)tracer_proc_read(tid, "status", text, sizeof(text));
    return read_effective(text, "\nUid:", user_out) && read_effective(text, "\nGid:", group_out);
}

/* Where the ids are not known the answer is the careful one. */
static bool file_gains_rights(int32_t tid, int fd)
{
    char name[32];
    struct stat st;
    unsigned long user = 0;
    unsigned long group = 0;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        return false;
    }
    const bool has_bits =
        (st.st_mode & S_ISUID) != 0 || ((st.st_mode & S_ISGID) != 0 && (st.st_mode & S_IXGRP) != 0);
    snprintf(name, sizeof(name), "/proc/self/fd/%d", fd); /* which may be one of O_PATH */
    const bool has_capabilities = getxattr(name, "security.capability", NULL, 0) > 0;
    if (!has_bits && !has_capabilities) {
        return false;
    }
    if (!read_ids(tid, &user, &group)) {
        return true;
    }
    return ((st.st_mode & S_ISUID) != 0 && st.st_uid != user) ||
           ((st.st_mode & S_ISGID) != 0 && (st.st_mode & S_IXGRP) != 0 && st.st_gid != group) ||
           (has_capabilities && user != 0);
}

/* A file as the thread would open it. */
static int open_as(int32_t tid, int dirfd, const char *path, int flags)
{
    char name[TRACER_PATH_MAX + 64];
    if (path[0] == '/') {
        snprintf(name, sizeof(name), "/proc/%d/root%s", (int)tid, path);
    } else if (dirfd == AT_FDCWD) {
        snprintf(name, sizeof(name), "/proc/%d/cwd/%s", (int)tid, path);
    } else if (path[0] == '\0') {
        snprintf(name, sizeof(name), "/proc/%d/fd/%d", (int)tid, dirfd);
    } else {
        snprintf(name, sizeof(name), "/proc/%d/fd/%d/%s", (int)tid, dirfd, path);
    }
    return open(name, flags | O_CLOEXEC);
}

bool tracer_image_gains_rights(const struct tracer_thread *thread, int dirfd, const char *path)
{
    char line[WIO_SCRIPT_LINE];
    char current[TRACER_PATH_MAX];
    snprintf(current, sizeof(current), "%s", path);
    for (unsigned depth = 0; depth <= SCRIPTS_MAX; depth++) {
        WIO_CLEANUP(wio_fd_cleanup)
        int fd = open_as(thread->tid, dirfd, current, O_RDONLY | O_NONBLOCK | O_NOCTTY);
        if (fd < 0) { /* without the right to read it: what stat(2) says is enough */
            fd = open_as(thread->tid, dirfd, current, O_PATH);
            return fd >= 0 && file_gains_rights(thread->tid, fd);
        }
        const ssize_t got = pread(fd, line, sizeof(line) - 1, 0);
        line[got > 0 ? got : 0] = '\0';
        if (got < 3 || line[0] != '#' || line[1] != '!') {
            return file_gains_rights(thread->tid, fd);
        }
        const char *next = wio_script_interpreter(line);
        if (next == NULL) {
            return false;
        }
        snprintf(current, sizeof(current), "%s", next);
        dirfd = AT_FDCWD;
    }
    return false;
}

/* ---- an image that runs -----------------------------------------------------------------------
 */

enum tracer_image_kind tracer_image_of(int32_t pid)
{
    char path[64];
    char name[TRACER_PATH_MAX + 1];
    snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
    name[tracer_proc_link(pid, "exe", name)] = '\0';
    WIO_CLEANUP(wio_fd_cleanup) int fd = open(path, O_RDONLY | O_CLOEXEC);
    return fd >= 0 ? tracer_image_kind_of(fd, name) : TRACER_IMAGE_FOREIGN;
}

/* Texts, each ended by NUL, as a list that ends with NULL; at most `count` - 1 of them: false where
 * there are more. */
static bool list_texts(const char *text, size_t bytes, const char **list, size_t count)
{
    size_t used = 0;
    size_t at = 0;
    for (; at < bytes && used + 1 < count; at += strlen(text + at) + 1) {
        list[used++] = text + at;
    }
    list[used] = NULL;
    return at >= bytes;
}

#define ENVIRONMENT_BYTES ((size_t)256 * 1024)
#define ENVIRONMENT_TEXTS 4096

struct environment {
    char *text;
    const char **list;
    bool is_cut; /* there is more */
};

static void environment_fini(struct environment *environment)
{
    free(environment->text);
    free(environment->list);
}

static bool environment_read(int32_t pid, struct environment *out)
{
    out->text = malloc(ENVIRONMENT_BYTES);
    out->list = calloc(ENVIRONMENT_TEXTS, sizeof(*out->list));
    if (out->text == NULL || out->list == NULL) {
        return false;
    }
    const size_t bytes = tracer_proc_read(pid, "environ", out->text, ENVIRONMENT_BYTES);
    out->is_cut = !list_texts(out->text, bytes, out->list, ENVIRONMENT_TEXTS) ||
                  bytes == ENVIRONMENT_BYTES - 1;
    return true;
}

bool tracer_image_is_preloaded(int32_t pid, const char *capture_lib)
{
    WIO_CLEANUP(environment_fini) struct environment environment = {0};
    if (!environment_read(pid, &environment) || environment.is_cut) {
        return true; /* recorded twice would be worse than not at all */
    }
    const char *preload = wio_job_value(environment.list, "LD_PRELOAD");
    return preload != NULL && strstr(preload, capture_lib) != NULL &&
           wio_job_value(environment.list, "WHYIO_RINGS") != NULL;
}

static void find_job(int32_t pid, const struct environment *environment, char *job, size_t size)
{
    char cgroup[4096];
    const size_t used = tracer_proc_read(pid, "cgroup", cgroup, sizeof(cgroup));
    if (used == sizeof(cgroup) - 1) { /* there is more: the last line may be half a job's id */
        char *end = memrchr(cgroup, '\n', used);
        *(end != NULL ? end : cgroup) = '\0';
    }
    const struct wio_job_source source = {
        .environ = environment->list,
        .cgroup = cgroup,
        .variable = wio_job_value(environment->list, "WHYIO_JOB_ENV"),
        .fixed = wio_job_value(environment->list, "WHYIO_JOB"),
    };
    (void)wio_job_resolve(&source, job, size);
}

enum wio_status tracer_image_make_ring(const struct tracer_settings *settings,
                                       struct tracer_process *process)
{
    WIO_CLEANUP(environment_fini) struct environment environment = {0};
    char job[256] = "";
    struct wio_error ignored = WIO_ERROR_INIT;
    if (!environment_read(process->pid, &environment)) {
        return WIO_ERR_NOMEM;
    }
    const struct tracer_birth birth = tracer_proc_birth(process->pid);
    const struct wio_job_rank rank = wio_job_rank_find(environment.list);
    find_job(process->pid, &environment, job, sizeof(job));
    const struct wio_ring_image image = {
        .pid = process->pid,
        .ppid = birth.ppid,
        .pid_start = birth.start,
        .rank = rank.rank,
        .ranks = rank.ranks,
        .host = settings->host,
        .job = job,
        .boot_id = settings->boot_id,
        .parent_ring = process->parent_ring,
        .first_string = process->first_string,
        .is_tsc = settings->is_tsc,
    };
    return wio_ring_writer_create(settings->rings, &image, &process->ring, &ignored);
}

/* One line of /proc/PID/maps: "lo-hi r-xp offset dev inode   /path". */
static void put_module(struct tracer_thread *thread, const char *line)
{
    char *at = NULL;
    const unsigned long long lo = strtoull(line, &at, 16);
    if (*at != '-') {
        return;
    }
    const unsigned long long hi = strtoull(at + 1, &at, 16);
    const bool is_code = strnlen(at, 5) == 5 && at[3] == 'x';
    const char *path = strchr(at, '/');
    if (is_code && path != NULL) {
        tracer_code_add(&thread->process->code, lo, hi);
        wio_ring_put_module(&thread->stream, lo, hi, strtoull(at + 5, NULL, 16), path);
    }
}

static void put_modules(struct tracer_thread *thread)
{
    char *text = malloc(ENVIRONMENT_BYTES);
    if (text == NULL) {
        return;
    }
    (void)tracer_proc_read(thread->process->pid, "maps", text, ENVIRONMENT_BYTES);
    char *rest = text;
    for (char *line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n")) {
        put_module(thread, line);
    }
    free(text);
}

void tracer_image_describe(struct tracer_thread *thread)
{
    char text[8192];
    const int32_t pid = thread->process->pid;
    size_t bytes = tracer_proc_link(pid, "exe", text);
    wio_ring_put_meta(&thread->stream, WIO_META_EXE, text, bytes);
    bytes = tracer_proc_read(pid, "cmdline", text, sizeof(text));
    wio_ring_put_meta(&thread->stream, WIO_META_ARGV, text, bytes);
    bytes = tracer_proc_link(pid, "cwd", text);
    wio_ring_put_meta(&thread->stream, WIO_META_CWD, text, bytes);
    put_modules(thread);
}
