/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tracer/image.h"

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#else
#define OUR_MACHINE EM_AARCH64
#endif

struct program {
    Elf64_Ehdr head;
    Elf64_Phdr segment;
    char loader[64];
};

static struct program program_with(const char *loader)
{
    struct program program = {.head = {.e_machine = OUR_MACHINE,
                                       .e_type = ET_EXEC,
                                       .e_phoff = offsetof(struct program, segment),
                                       .e_phentsize = sizeof(Elf64_Phdr),
                                       .e_phnum = 1},
                              .segment = {.p_type = loader != NULL ? PT_INTERP : PT_LOAD,
                                          .p_offset = offsetof(struct program, loader),
                                          .p_filesz = loader != NULL ? strlen(loader) + 1 : 8}};
    memcpy(program.head.e_ident, ELFMAG, SELFMAG);
    program.head.e_ident[EI_CLASS] = ELFCLASS64;
    snprintf(program.loader, sizeof(program.loader), "%s", loader != NULL ? loader : "");
    return program;
}

static enum tracer_image_kind kind_of(const void *bytes, size_t size, const char *name)
{
    char *path = wio_test_path("program");
    wio_test_write(path, bytes, size);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    const enum tracer_image_kind kind = tracer_image_kind_of(fd, name);
    (void)close(fd);
    (void)unlink(path);
    free(path);
    return kind;
}

static void kinds(void **state)
{
    (void)state;
    struct program program = program_with(NULL);
    assert_int_equal(kind_of(&program, sizeof(program), "/bin/x"), TRACER_IMAGE_STATIC);
    assert_int_equal(kind_of(&program, sizeof(program), "/lib64/ld-linux-x86-64.so.2"),
                     TRACER_IMAGE_DYNAMIC);
    program = program_with("/lib64/ld-linux-x86-64.so.2");
    assert_int_equal(kind_of(&program, sizeof(program), "/bin/x"), TRACER_IMAGE_DYNAMIC);
    program = program_with("/lib/ld-musl-x86_64.so.1");
    assert_int_equal(kind_of(&program, sizeof(program), "/bin/x"), TRACER_IMAGE_FOREIGN);
    program.head.e_ident[EI_CLASS] = ELFCLASS32;
    assert_int_equal(kind_of(&program, sizeof(program), "/bin/x"), TRACER_IMAGE_FOREIGN);
    assert_int_equal(kind_of("#!/bin/sh\n", 10, "/bin/x"), TRACER_IMAGE_FOREIGN);
}

/* Any bytes are a file of some kind: nothing is read outside of the buffers. */
static void damaged_programs(void **state)
{
    uint64_t seed = 11;
    (void)state;
    for (int i = 0; i < 2000 / WIO_TEST_SLOWER; i++) {
        struct program program = program_with("/lib64/ld-linux-x86-64.so.2");
        uint8_t *bytes = (uint8_t *)&program;
        for (int j = 0; j < 3; j++) {
            bytes[SELFMAG + wio_test_random(&seed) % (sizeof(program) - SELFMAG)] =
                (uint8_t)wio_test_random(&seed);
        }
        const size_t size = wio_test_random(&seed) % (sizeof(program) + 1);
        const enum tracer_image_kind kind = kind_of(bytes, size, "/bin/x");
        assert_in_range(kind, TRACER_IMAGE_STATIC, TRACER_IMAGE_FOREIGN);
    }
}

static void rights(void **state)
{
    char line[4096];
    struct tracer_thread self = {.tid = getpid()};
    char *helper = wio_test_path("helper");
    char *script = wio_test_path("script");
    (void)state;
    wio_test_write(helper, "x", 1);
    snprintf(line, sizeof(line), "#! %s -x\n", helper);
    wio_test_write(script, line, strlen(line));
    assert_int_equal(chmod(helper, 04755), 0);
    assert_false(tracer_image_gains_rights(&self, AT_FDCWD, helper)); /* of this user itself */
    assert_false(tracer_image_gains_rights(&self, AT_FDCWD, "/no/such/file"));
    if (chown(helper, 4321, (gid_t)-1) == 0 && chmod(helper, 04755) == 0) {
        assert_true(tracer_image_gains_rights(&self, AT_FDCWD, helper));
        assert_true(tracer_image_gains_rights(&self, AT_FDCWD, script));
        assert_int_equal(chmod(helper, 0755), 0);
        assert_false(tracer_image_gains_rights(&self, AT_FDCWD, helper));
        assert_true(chown(helper, (uid_t)-1, 4321) == 0 && chmod(helper, 02755) == 0);
        assert_true(tracer_image_gains_rights(&self, AT_FDCWD, helper));
        const int fd = open(helper, O_RDONLY | O_CLOEXEC);
        assert_true(tracer_image_gains_rights(&self, fd, "")); /* fexecve */
        (void)close(fd);
        assert_int_equal(chmod(helper, 02745), 0); /* no program: mandatory locks, of old */
        assert_false(tracer_image_gains_rights(&self, AT_FDCWD, helper));
    }
    free(helper);
    free(script);
}

/* A program that may be executed but not read, by a descriptor or below a directory. */
static void rights_without_reading(void **state)
{
    static const uint32_t capability[5] = {0x02000000, 1}; /* VFS_CAP_REVISION_2: CAP_CHOWN */
    struct tracer_thread self = {.tid = getpid()};
    char *place = wio_test_path("rights");
    (void)state;
    assert_int_equal(mkdir(place, 0755), 0);
    const int dirfd = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int fd = openat(dirfd, "helper", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    if (geteuid() == 0 && fchmod(fd, 04111) == 0 && seteuid(65534) == 0) {
        assert_int_equal(openat(dirfd, "helper", O_RDONLY | O_CLOEXEC), -1);
        assert_true(tracer_image_gains_rights(&self, dirfd, "helper"));
        assert_true(tracer_image_gains_rights(&self, fd, ""));
        assert_int_equal(seteuid(0), 0);
        if (fchmod(fd, 0111) == 0 &&
            fsetxattr(fd, "security.capability", capability, sizeof(capability), 0) == 0) {
            assert_int_equal(seteuid(65534), 0);
            assert_true(tracer_image_gains_rights(&self, dirfd, "helper"));
            assert_int_equal(seteuid(0), 0);
        }
    }
    (void)unlinkat(dirfd, "helper", 0);
    (void)rmdir(place);
    (void)close(fd);
    (void)close(dirfd);
    free(place);
}

static void image_that_runs(void **state)
{
    (void)state;
    assert_int_equal(tracer_image_of(getpid()), TRACER_IMAGE_DYNAMIC);
    assert_int_equal(tracer_image_of(0), TRACER_IMAGE_FOREIGN);
    assert_false(tracer_image_is_preloaded(getpid(), "/no/such/library.so"));
}

/* A child that runs a program until the pipe is closed, with so many variables; its pid. */
static pid_t run_with(size_t variables, int *pipe_out)
{
    static char *argv[] = {"cat", NULL};
    int input[2] = {-1, -1};
    int executed[2] = {-1, -1};
    char byte;
    char **list = calloc(variables + 1, sizeof(*list));
    assert_non_null(list);
    for (size_t i = 0; i < variables; i++) {
        list[i] = "VARIABLE=1";
    }
    assert_true(pipe2(input, O_CLOEXEC) == 0 && pipe2(executed, O_CLOEXEC) == 0);
    const pid_t child = fork();
    if (child == 0) {
        (void)dup2(input[0], 0);
        (void)execve("/bin/cat", argv, list);
        _exit(1);
    }
    (void)close(input[0]);
    (void)close(executed[1]);
    assert_int_equal(read(executed[0], &byte, 1), 0);
    (void)close(executed[0]);
    free(list);
    *pipe_out = input[1];
    return child;
}

/* What is not known to be free of the capture library is taken for preloaded. */
static void long_environment(void **state)
{
    static const size_t counts[] = {1, 4000, 5000, 40000};
    (void)state;
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        int input = -1;
        const pid_t child = run_with(counts[i], &input);
        assert_int_equal(tracer_image_is_preloaded(child, "/no/such/library.so"), counts[i] > 4095);
        (void)close(input);
        assert_int_equal(waitpid(child, NULL, 0), child);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds),           cmocka_unit_test(damaged_programs),
        cmocka_unit_test(rights),          cmocka_unit_test(rights_without_reading),
        cmocka_unit_test(image_that_runs), cmocka_unit_test(long_environment)};
    return WIO_RUN(tests);
}
