/* SPDX-License-Identifier: Apache-2.0 */
/* What would the kernel and the loader do with this file? Read by raw system calls: also called in
 * vfork's child. */
#include <elf.h>
#include <string.h>

#include "capture/core/process.h"
#include "capture/core/raw.h"
#include "capture/process/exec.h"
#include "ops/program_file.h"

#define SCRIPTS_MAX 5 /* the kernel's own limit of #! in #! */
#define HEAD_BYTES 512

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OUR_MACHINE EM_AARCH64
#endif

/* More rights than their caller's: set-user-id, set-group-id, or capabilities of the file's. */
static bool is_secure(int fd)
{
    struct stat st = {0};
    const uid_t user = (uid_t)raw_call3(SYS_getuid, 0, 0, 0);
    if (raw_fstat(fd, &st) != 0) {
        return false;
    }
    if (user != 0 && raw_call4(SYS_fgetxattr, fd, (long)"security.capability", 0, 0) > 0) {
        return true;
    }
    bool other_user = (st.st_mode & S_ISUID) != 0 && st.st_uid != user;
    bool other_group = (st.st_mode & S_ISGID) != 0 && (st.st_mode & S_IXGRP) != 0 &&
                       st.st_gid != (gid_t)raw_call3(SYS_getgid, 0, 0, 0);
    return other_user || other_group;
}

/* glibc's loader, by name: another libc's loader takes a library it cannot load for fatal. */
static bool is_our_loader(int fd, const Elf64_Phdr *header)
{
    char name[256];
    size_t size = header->p_filesz < sizeof(name) ? header->p_filesz : sizeof(name) - 1;
    long got = raw_pread(fd, name, size, header->p_offset);
    if (got <= 0) {
        return false;
    }
    name[got] = '\0';
    return wio_program_is_loader(name);
}

static enum cap_target judge_elf(int fd, const Elf64_Ehdr *head, const char *path)
{
    if (head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_machine != OUR_MACHINE) {
        return CAP_TARGET_FOREIGN;
    }
    for (unsigned i = 0; i < head->e_phnum; i++) {
        Elf64_Phdr header;
        uint64_t place = head->e_phoff + (uint64_t)i * head->e_phentsize;
        if (raw_pread(fd, &header, sizeof(header), place) != (long)sizeof(header)) {
            return CAP_TARGET_GOOD;
        }
        if (header.p_type == PT_INTERP) {
            return is_our_loader(fd, &header) ? CAP_TARGET_GOOD : CAP_TARGET_FOREIGN;
        }
    }
    return wio_program_is_loader_itself(path) ? CAP_TARGET_GOOD : CAP_TARGET_STATIC;
}

/* Under another root the library may not be there: the loader would print about it. */
static bool library_is_there(void)
{
    return cap_process.library[0] == '\0' ||
           raw_call3(SYS_faccessat, AT_FDCWD, (long)cap_process.library, 4 /* R_OK */) == 0;
}

enum cap_target cap_exec_target(int dirfd, const char *path)
{
    char head[HEAD_BYTES];
    if (cap_is_confined) { /* nothing can be looked at either */
        return CAP_TARGET_FILTERED;
    }
    for (int depth = 0; depth < SCRIPTS_MAX && path != NULL; depth++) {
        long fd = path[0] == '\0' ? raw_fcntl(dirfd, F_DUPFD_CLOEXEC, 0)
                                  : raw_openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
        if (fd < 0) {
            break; /* may be executable and not readable: nothing is known against it */
        }
        enum cap_target target = CAP_TARGET_GOOD;
        long got = raw_pread((int)fd, head, sizeof(head) - 1, 0);
        head[got > 0 ? got : 0] = '\0';
        bool is_script = got > 2 && head[0] == '#' && head[1] == '!';
        if (got >= (long)sizeof(Elf64_Ehdr) && memcmp(head, ELFMAG, SELFMAG) == 0) {
            Elf64_Ehdr elf;
            memcpy(&elf, head, sizeof(elf));
            target = is_secure((int)fd) ? CAP_TARGET_SECURE : judge_elf((int)fd, &elf, path);
        }
        (void)raw_close((int)fd);
        if (!is_script) {
            return target == CAP_TARGET_GOOD && !library_is_there() ? CAP_TARGET_FOREIGN : target;
        }
        path = wio_script_interpreter(head);
        dirfd = AT_FDCWD;
    }
    return library_is_there() ? CAP_TARGET_GOOD : CAP_TARGET_FOREIGN;
}
