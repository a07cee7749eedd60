/* SPDX-License-Identifier: Apache-2.0 */
#include "record/target.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "ops/program_file.h"

#define INSTEAD "use 'strace -f' on it instead"
#define SHELL "/bin/sh"

enum {
    SCRIPT_DEPTH = 5,      /* the kernel follows as many #! lines */
    PROGRAM_HEADERS = 4096 /* real programs have about a dozen */
};

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#else
#define OWN_MACHINE EM_NONE
#endif

static bool is_runnable(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
           faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0;
}

static enum wio_status find_plain(const char *name, char path_out[PATH_MAX], struct wio_error *err)
{
    struct stat st;
    if (stat(name, &st) != 0) {
        return wio_error_sys(err, name, "cannot run");
    }
    if (S_ISDIR(st.st_mode)) {
        return wio_error_set(err, WIO_ERR_IO, name, WIO_ERROR_NO_OFFSET,
                             "cannot run: expected a program, found a directory");
    }
    if (!is_runnable(name)) {
        return wio_error_set(err, WIO_ERR_IO, name, WIO_ERROR_NO_OFFSET,
                             "cannot run: it is not executable");
    }
    snprintf(path_out, PATH_MAX, "%s", name);
    return WIO_OK;
}

enum wio_status wio_target_find(const char *name, const char *search, char path_out[PATH_MAX],
                                struct wio_error *err)
{
    if (strchr(name, '/') != NULL) {
        return find_plain(name, path_out, err);
    }
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) { /* no program has such a name */
        return find_plain(name, path_out, err);
    }
    bool is_seen = false;
    const char *next = search != NULL ? search : "/bin:/usr/bin";
    while (next != NULL && name[0] != '\0') {
        const char *colon = strchr(next, ':');
        int length = colon != NULL ? (int)(colon - next) : (int)strlen(next);
        int size =
            snprintf(path_out, PATH_MAX, "%.*s%s%s", length, next, length > 0 ? "/" : "./", name);
        if (size < PATH_MAX && is_runnable(path_out)) {
            return WIO_OK;
        }
        is_seen = is_seen || (size < PATH_MAX && access(path_out, F_OK) == 0);
        next = colon != NULL ? colon + 1 : NULL;
    }
    return wio_error_set(err, WIO_ERR_IO, name, WIO_ERROR_NO_OFFSET,
                         is_seen ? "cannot run: it is in PATH, but not executable"
                                 : "cannot run: command not found");
}

/* True where the loader would ignore LD_PRELOAD because the program gets other rights. */
static bool gains_rights(int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0) {
        return false;
    }
    if ((st.st_mode & S_ISUID) != 0 && st.st_uid != geteuid()) {
        return true;
    }
    if ((st.st_mode & S_ISGID) != 0 && (st.st_mode & S_IXGRP) != 0 && st.st_gid != getegid()) {
        return true;
    }
    return geteuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0;
}

static enum wio_status unsupported(struct wio_error *err, const char *path, const char *reason)
{
    return wio_error_set(err, WIO_ERR_UNSUPPORTED, path, WIO_ERROR_NO_OFFSET, "cannot record: %s",
                         reason);
}

static enum wio_status check_loader(int fd, const char *path, const Elf64_Phdr *interp,
                                    struct wio_error *err)
{
    char loader[PATH_MAX] = "";
    if (interp->p_filesz == 0 || interp->p_filesz >= sizeof(loader)) {
        return wio_error_set(err, WIO_ERR_FORMAT, path, interp->p_offset,
                             "cannot run: expected the name of a dynamic loader");
    }
    WIO_TRY(wio_io_pread(fd, path, loader, interp->p_filesz, interp->p_offset, err));
    if (!wio_program_is_loader(loader)) {
        return wio_error_set(err, WIO_ERR_UNSUPPORTED, path, WIO_ERROR_NO_OFFSET,
                             "cannot record: it uses the dynamic loader '%s', expected that of "
                             "glibc; " INSTEAD,
                             loader);
    }
    if (access(loader, X_OK) != 0) {
        return wio_error_sys(err, path, "cannot run: its dynamic loader '%s'", loader);
    }
    return WIO_OK;
}

static enum wio_status check_elf(int fd, const char *path, bool trace_static, struct wio_error *err)
{
    Elf64_Ehdr head;
    WIO_TRY(wio_io_pread(fd, path, &head, sizeof(head), 0, err));
    if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_machine != OWN_MACHINE) {
        return unsupported(err, path, "it is a program for another machine or word size; " INSTEAD);
    }
    if ((head.e_type != ET_EXEC && head.e_type != ET_DYN) ||
        head.e_phentsize != sizeof(Elf64_Phdr)) {
        return wio_error_set(err, WIO_ERR_FORMAT, path, offsetof(Elf64_Ehdr, e_type),
                             "cannot run: expected an executable ELF file");
    }
    if (gains_rights(fd)) {
        return unsupported(err, path,
                           "it is set-user-id or has capabilities, and the loader ignores "
                           "LD_PRELOAD there; record it as the user that it becomes");
    }
    for (unsigned i = 0; i < head.e_phnum && i < PROGRAM_HEADERS; i++) {
        Elf64_Phdr segment;
        WIO_TRY(wio_io_pread(fd, path, &segment, sizeof(segment),
                             head.e_phoff + (uint64_t)i * sizeof(segment), err));
        if (segment.p_type == PT_INTERP) {
            return check_loader(fd, path, &segment, err);
        }
    }
    if (trace_static || wio_program_is_loader_itself(path)) {
        return WIO_OK;
    }
    return unsupported(
        err, path,
        "it is statically linked, so no library can be loaded into it; record it with "
        "--static=trace, link it dynamically, or " INSTEAD);
}

/* One step: an ELF file is checked (*script_out false), a script gives its interpreter. */
static enum wio_status check_step(const char *path, bool trace_static, bool *script_out,
                                  char next_out[PATH_MAX], struct wio_error *err)
{
    *script_out = false;
    WIO_CLEANUP(wio_fd_cleanup) int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        /* Executable, but not readable: the loader copes, so there is nothing to say. */
        return errno == EACCES ? WIO_OK : wio_error_sys(err, path, "cannot run");
    }
    char head[WIO_SCRIPT_LINE] = "";
    ssize_t got = pread(fd, head, sizeof(head) - 1, 0);
    if (got < 0) {
        return wio_error_sys(err, path, "cannot read");
    }
    if (got >= SELFMAG && memcmp(head, ELFMAG, SELFMAG) == 0) {
        return check_elf(fd, path, trace_static, err);
    }
    *script_out = true;
    const char *next = SHELL; /* what execvp uses where the kernel answers ENOEXEC */
    if (head[0] == '#' && head[1] == '!') {
        next = wio_script_interpreter(head);
    }
    if (next == NULL) {
        return wio_error_set(err, WIO_ERR_FORMAT, path, 2,
                             "cannot run: expected an interpreter behind '#!'");
    }
    snprintf(next_out, PATH_MAX, "%s", next);
    return WIO_OK;
}

enum wio_status wio_target_check(const char *path, bool trace_static, struct wio_error *err)
{
    char current[PATH_MAX];
    snprintf(current, sizeof(current), "%s", path);
    for (unsigned depth = 0; depth <= SCRIPT_DEPTH; depth++) {
        bool is_script = false;
        char next[PATH_MAX];
        enum wio_status status = check_step(current, trace_static, &is_script, next, err);
        if (status != WIO_OK && depth > 0) {
            wio_error_add(err, "it is the interpreter of '%s'", path);
        }
        if (status != WIO_OK || !is_script) {
            return status;
        }
        snprintf(current, sizeof(current), "%s", next);
    }
    return wio_error_set(err, WIO_ERR_FORMAT, path, WIO_ERROR_NO_OFFSET,
                         "cannot run: more than %d interpreters, each a script", SCRIPT_DEPTH);
}
