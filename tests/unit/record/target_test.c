/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/target.h"

static char *make_program(const char *name, const void *data, size_t bytes, mode_t mode)
{
    char *path = wio_test_path(name);
    wio_test_write(path, data, bytes);
    assert_int_equal(chmod(path, mode), 0);
    return path;
}

static char *make_script(const char *name, const char *text)
{
    return make_program(name, text, strlen(text), 0755);
}

static void check(const char *path, enum wio_status want, const char *part)
{
    struct wio_error err = WIO_ERROR_INIT;
    assert_status(wio_target_check(path, false, &err), want, &err);
    if (part != NULL && strstr(err.message, part) == NULL) {
        fail_msg("expected '%s' in '%s'", part, err.message);
    }
}

static void programs_are_searched_like_execvp(void **state)
{
    (void)state;
    char found[PATH_MAX];
    char search[PATH_MAX];
    char want[PATH_MAX];
    struct wio_error err = WIO_ERROR_INIT;
    char *program = make_script("prog", "#!/bin/sh\n");
    char *data = make_program("data", "x", 1, 0644);
    snprintf(search, sizeof(search), "/no/such:%s:/bin", wio_test_dir());
    snprintf(want, sizeof(want), "%s/prog", wio_test_dir());
    assert_ok(wio_target_find("prog", search, found, &err), &err);
    assert_string_equal(found, want);
    assert_ok(wio_target_find(program, "", found, &err), &err);
    assert_string_equal(found, program);
    assert_status(wio_target_find("data", search, found, &err), WIO_ERR_IO, &err);
    assert_non_null(strstr(err.message, "not executable"));
    assert_status(wio_target_find("nothing", search, found, &err), WIO_ERR_IO, &err);
    assert_non_null(strstr(err.message, "not found"));
    assert_status(wio_target_find("", search, found, &err), WIO_ERR_IO, &err);
    assert_status(wio_target_find(".", search, found, &err), WIO_ERR_IO, &err);
    assert_non_null(strstr(err.message, "found a directory"));
    assert_ok(wio_target_find("sh", NULL, found, &err), &err);
    assert_int_equal(chdir(wio_test_dir()), 0);
    assert_ok(wio_target_find("prog", ":/bin", found, &err), &err);
    assert_string_equal(found, "./prog");
    free(program);
    free(data);
}

static void paths_are_taken_as_they_are(void **state)
{
    (void)state;
    char found[PATH_MAX];
    struct wio_error err = WIO_ERROR_INIT;
    char *data = make_program("plain", "x", 1, 0644);
    assert_status(wio_target_find("/no/such", "/bin", found, &err), WIO_ERR_IO, &err);
    assert_int_equal(err.sys_errno, ENOENT);
    assert_status(wio_target_find("/tmp/", "/bin", found, &err), WIO_ERR_IO, &err);
    assert_non_null(strstr(err.message, "directory"));
    assert_status(wio_target_find(data, "/bin", found, &err), WIO_ERR_IO, &err);
    assert_non_null(strstr(err.message, "not executable"));
    free(data);
}

static void the_loader_can_preload(void **state)
{
    static const char *const paths[] = {"/lib64/ld-linux-x86-64.so.2", "/usr/bin/ld.so"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        if (access(paths[i], X_OK) == 0) {
            check(paths[i], WIO_OK, NULL);
        }
    }
}

static void this_program_can_be_preloaded(void **state)
{
    (void)state;
    check("/proc/self/exe", WIO_OK, NULL);
    check("/bin/sh", WIO_OK, NULL);
}

static void scripts_lead_to_their_interpreter(void **state)
{
    (void)state;
    char line[PATH_MAX];
    char *plain = make_script("plain.sh", "#!/bin/sh\necho\n");
    char *spaced = make_script("spaced.sh", "#! \t/usr/bin/env sh\necho\n");
    char *bare = make_script("bare", "echo without a first line for the kernel\n");
    char *lost = make_script("lost", "#!/no/such/interpreter\n");
    char *empty = make_script("empty", "#! \n");
    snprintf(line, sizeof(line), "#!%s\n", plain);
    char *nested = make_script("nested.sh", line);
    snprintf(line, sizeof(line), "#!%s/loop\n", wio_test_dir());
    char *loop = make_script("loop", line);
    check(plain, WIO_OK, NULL);
    check(spaced, WIO_OK, NULL);
    check(bare, WIO_OK, NULL);
    check(nested, WIO_OK, NULL);
    check(lost, WIO_ERR_IO, "interpreter");
    check(empty, WIO_ERR_FORMAT, "#!");
    check(loop, WIO_ERR_FORMAT, "interpreters");
    free(plain);
    free(spaced);
    free(bare);
    free(lost);
    free(empty);
    free(nested);
    free(loop);
}

/* A program header table behind an ELF header, as small as it gets. */
struct tiny {
    Elf64_Ehdr head;
    Elf64_Phdr segment;
    char loader[64];
};

static struct tiny make_tiny(uint32_t type, const char *loader)
{
    struct tiny tiny = {0};
    Elf64_Ehdr self;
    FILE *in = fopen("/proc/self/exe", "rbe");
    assert_non_null(in);
    assert_int_equal(fread(&self, sizeof(self), 1, in), 1);
    (void)fclose(in);
    tiny.head = self;
    tiny.head.e_phoff = offsetof(struct tiny, segment);
    tiny.head.e_phnum = 1;
    tiny.head.e_phentsize = sizeof(tiny.segment);
    tiny.segment.p_type = type;
    tiny.segment.p_offset = offsetof(struct tiny, loader);
    tiny.segment.p_filesz = strlen(loader) + 1;
    strcpy(tiny.loader, loader);
    return tiny;
}

static void check_tiny(const struct tiny *tiny, size_t bytes, mode_t mode, enum wio_status want,
                       const char *part)
{
    char *path = make_program("tiny", tiny, bytes, mode);
    check(path, want, part);
    free(path);
}

static void what_cannot_be_preloaded_is_refused(void **state)
{
    (void)state;
    struct tiny tiny = make_tiny(PT_LOAD, "");
    check_tiny(&tiny, sizeof(tiny), 0755, WIO_ERR_UNSUPPORTED, "statically linked");
    tiny = make_tiny(PT_INTERP, "/lib/ld-musl-x86_64.so.1");
    check_tiny(&tiny, sizeof(tiny), 0755, WIO_ERR_UNSUPPORTED, "ld-musl");
    tiny = make_tiny(PT_INTERP, "/no/ld-linux-x86-64.so.2");
    check_tiny(&tiny, sizeof(tiny), 0755, WIO_ERR_IO, "dynamic loader");
    tiny = make_tiny(PT_LOAD, "");
    tiny.head.e_ident[EI_CLASS] = ELFCLASS32;
    check_tiny(&tiny, sizeof(tiny), 0755, WIO_ERR_UNSUPPORTED, "word size");
    tiny = make_tiny(PT_LOAD, "");
    tiny.head.e_machine = EM_S390;
    check_tiny(&tiny, sizeof(tiny), 0755, WIO_ERR_UNSUPPORTED, "machine");
}

static void cut_and_bent_programs_are_errors(void **state)
{
    (void)state;
    struct tiny tiny = make_tiny(PT_INTERP, "/lib64/ld-linux-x86-64.so.2");
    for (size_t bytes = SELFMAG; bytes < offsetof(struct tiny, loader); bytes++) {
        check_tiny(&tiny, bytes, 0755, WIO_ERR_TRUNCATED, NULL);
    }
    tiny.head.e_type = ET_REL;
    check_tiny(&tiny, sizeof(tiny), 0755, WIO_ERR_FORMAT, "executable");
    tiny.head.e_type = ET_DYN;
    tiny.segment.p_filesz = UINT64_MAX;
    check_tiny(&tiny, sizeof(tiny), 0755, WIO_ERR_FORMAT, "dynamic loader");
    tiny = make_tiny(PT_INTERP, "x");
    tiny.head.e_phoff = UINT64_MAX - 8;
    char *path = make_program("bent", &tiny, sizeof(tiny), 0755);
    struct wio_error err = WIO_ERROR_INIT;
    assert_true(wio_target_check(path, false, &err) != WIO_OK);
    free(path);
}

/* Only where the program really gets other rights: for root a file of root's does not. */
static void set_user_id_is_refused(void **state)
{
    (void)state;
    struct tiny tiny = make_tiny(PT_LOAD, "");
    char *path = make_program("setuid", &tiny, sizeof(tiny), 0755);
    if (geteuid() == 0) {
        assert_int_equal(chown(path, 65534, 65534), 0);
        assert_int_equal(chmod(path, 04755), 0);
        check(path, WIO_ERR_UNSUPPORTED, "set-user-id");
    } else {
        assert_int_equal(chmod(path, 04755), 0);
        check(path, WIO_ERR_UNSUPPORTED, "statically linked");
    }
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_are_searched_like_execvp),
        cmocka_unit_test(paths_are_taken_as_they_are),
        cmocka_unit_test(this_program_can_be_preloaded),
        cmocka_unit_test(the_loader_can_preload),
        cmocka_unit_test(scripts_lead_to_their_interpreter),
        cmocka_unit_test(what_cannot_be_preloaded_is_refused),
        cmocka_unit_test(cut_and_bent_programs_are_errors),
        cmocka_unit_test(set_user_id_is_refused),
    };
    return WIO_RUN(tests);
}
