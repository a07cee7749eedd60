/* SPDX-License-Identifier: Apache-2.0 */
/* What is executed, and with which environment. */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "support/unit.h"

#include "capture/core/process.h"
#include "capture/process/exec.h"

#define OURS "/lib/whyio/libwhyio-capture.so"

static char *start[] = {(char *)"LD_PRELOAD=libx.so:" OURS, (char *)"A=1",
                        (char *)"WHYIO_RINGS=/trace", (char *)"WHYIO_STACKS=1", NULL};

static int remember(void **state)
{
    (void)state;
    char **before = environ;
    environ = start;
    cap_exec_remember();
    environ = before;
    return 0;
}

static const char *value(char *const *entries, const char *name)
{
    const char *found = NULL;
    for (; *entries != NULL; entries++) {
        if (strncmp(*entries, name, strlen(name)) == 0 && (*entries)[strlen(name)] == '=') {
            assert_null(found); /* only once */
            found = *entries + strlen(name) + 1;
        }
    }
    return found;
}

static size_t count_of(char *const *entries)
{
    size_t count = 0;
    while (entries[count] != NULL) {
        count++;
    }
    return count;
}

static void remembers_our_library(void **state)
{
    (void)state;
    assert_string_equal(cap_process.library, OURS);
}

static void leaves_a_complete_environment_alone(void **state)
{
    (void)state;
    struct cap_environment environment;
    cap_environment_init(&environment, start, CAP_TARGET_GOOD);
    assert_ptr_equal(environment.entries, start);
    cap_environment_fini(&environment);
}

static void fills_an_empty_environment(void **state)
{
    (void)state;
    char *none[] = {NULL};
    struct cap_environment environment;
    cap_environment_init(&environment, none, CAP_TARGET_GOOD);
    assert_string_equal(value(environment.entries, "LD_PRELOAD"), OURS);
    assert_string_equal(value(environment.entries, "WHYIO_RINGS"), "/trace");
    assert_string_equal(value(environment.entries, "WHYIO_STACKS"), "1");
    assert_int_equal(count_of(environment.entries), 3);
    cap_environment_fini(&environment);
    cap_environment_init(&environment, NULL, CAP_TARGET_GOOD);
    assert_int_equal(count_of(environment.entries), 3);
    cap_environment_fini(&environment);
}

static void joins_the_programs_own_preload(void **state)
{
    (void)state;
    char *own[] = {(char *)"LD_PRELOAD=liby.so", (char *)"B=2", (char *)"WHYIO_RINGS=/other", NULL};
    struct cap_environment environment;
    cap_environment_init(&environment, own, CAP_TARGET_GOOD);
    assert_string_equal(value(environment.entries, "LD_PRELOAD"), OURS ":liby.so");
    assert_string_equal(value(environment.entries, "B"), "2");
    assert_string_equal(value(environment.entries, "WHYIO_RINGS"), "/other");
    assert_int_equal(count_of(environment.entries), 4);
    cap_environment_fini(&environment);
}

static void takes_ours_out_for_a_foreign_target(void **state)
{
    (void)state;
    char *only[] = {(char *)"LD_PRELOAD=" OURS, (char *)"C=3", NULL};
    char *between[] = {(char *)"LD_PRELOAD=a.so:" OURS ":b.so", NULL};
    struct cap_environment environment;
    cap_environment_init(&environment, only, CAP_TARGET_FOREIGN);
    assert_null(value(environment.entries, "LD_PRELOAD"));
    assert_string_equal(value(environment.entries, "C"), "3");
    cap_environment_fini(&environment);
    cap_environment_init(&environment, between, CAP_TARGET_FOREIGN);
    assert_string_equal(value(environment.entries, "LD_PRELOAD"), "a.so:b.so");
    cap_environment_fini(&environment);
}

static void the_loader_preloads(void **state)
{
    static const char *const paths[] = {"/lib64/ld-linux-x86-64.so.2", "/usr/bin/ld.so"};
    (void)state;
    cap_process.library[0] = '\0'; /* its presence is not the matter here */
    for (size_t i = 0; i < 2; i++) {
        if (access(paths[i], R_OK) == 0) {
            assert_int_equal(cap_exec_target(AT_FDCWD, paths[i]), CAP_TARGET_GOOD);
        }
    }
}

/* Only root can give a file capabilities, and only for others do they matter. */
static void capabilities_are_rights(void **state)
{
    const uint32_t net_raw[] = {0x02000001, 1u << 13, 0, 0, 0}; /* struct vfs_cap_data */
    (void)state;
    int file = open("/bin/true", O_RDONLY | O_CLOEXEC);
    char head[64];
    char *path = wio_test_path("capable");
    assert_int_equal(read(file, head, sizeof(head)), sizeof(head));
    wio_test_write(path, head, sizeof(head));
    (void)close(file);
    file = open(path, O_RDONLY | O_CLOEXEC);
    pid_t child = -1;
    if (getuid() == 0 && fsetxattr(file, "security.capability", net_raw, sizeof(net_raw), 0) == 0) {
        assert_int_not_equal(cap_exec_target(file, ""), CAP_TARGET_SECURE);
        child = fork();
    }
    if (child == 0) {
        bool is_other = setuid(65534) == 0;
        _exit(is_other && cap_exec_target(file, "") == CAP_TARGET_SECURE ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(child > 0 ? waitpid(child, &status, 0) : child, child);
    assert_int_equal(status, 0);
    (void)close(file);
    free(path);
}

static void judges_targets(void **state)
{
    (void)state;
    Elf64_Ehdr head = {0};
    char *path = wio_test_path("program");
    cap_process.library[0] = '\0'; /* its presence is not the matter here */
    assert_int_equal(cap_exec_target(AT_FDCWD, "/bin/sh"), CAP_TARGET_GOOD);
    assert_int_equal(cap_exec_target(AT_FDCWD, "/no/such/file"), CAP_TARGET_GOOD);
    memcpy(head.e_ident, ELFMAG, SELFMAG);
    head.e_ident[EI_CLASS] = ELFCLASS32;
    wio_test_write(path, &head, sizeof(head));
    assert_int_equal(cap_exec_target(AT_FDCWD, path), CAP_TARGET_FOREIGN);
    head.e_ident[EI_CLASS] = ELFCLASS64;
    head.e_machine = EM_S390;
    wio_test_write(path, &head, sizeof(head));
    assert_int_equal(cap_exec_target(AT_FDCWD, path), CAP_TARGET_FOREIGN);
#if defined(__x86_64__)
    head.e_machine = EM_X86_64;
    wio_test_write(path, &head, sizeof(head));
    assert_int_equal(cap_exec_target(AT_FDCWD, path), CAP_TARGET_STATIC);
#endif
    wio_test_write(path, "#! /bin/sh -e\n", 14);
    assert_int_equal(cap_exec_target(AT_FDCWD, path), CAP_TARGET_GOOD);
    wio_test_write(path, "#!\n", 3);
    assert_int_equal(cap_exec_target(AT_FDCWD, path), CAP_TARGET_GOOD);
    (void)snprintf(cap_process.library, sizeof(cap_process.library), "/no/such/library.so");
    assert_int_equal(cap_exec_target(AT_FDCWD, "/bin/sh"), CAP_TARGET_FOREIGN);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(remembers_our_library, remember),
        cmocka_unit_test(leaves_a_complete_environment_alone),
        cmocka_unit_test(fills_an_empty_environment),
        cmocka_unit_test(joins_the_programs_own_preload),
        cmocka_unit_test(takes_ours_out_for_a_foreign_target),
        cmocka_unit_test(the_loader_preloads),
        cmocka_unit_test(capabilities_are_rights),
        cmocka_unit_test(judges_targets),
    };
    return WIO_RUN(tests);
}
