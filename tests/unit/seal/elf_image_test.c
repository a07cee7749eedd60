/* SPDX-License-Identifier: Apache-2.0 */
/* What sealing takes from a program file, also where a part of it makes no sense. */
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "seal/seal_internal.h"
#include "support/unit.h"

/* A file with a note and, behind it, one part that is loaded. */
struct program {
    Elf64_Ehdr header;
    Elf64_Phdr parts[2];
    uint32_t note[3];
    char name[4];
    uint8_t id[8];
};

static struct wio_elf_image read_program(const struct program *program)
{
    char *path = wio_test_path("program");
    struct wio_elf_image image = {0};
    wio_test_write(path, program, sizeof(*program));
    assert_int_equal(wio_elf_read(path, &image), WIO_OK);
    free(path);
    return image;
}

static struct program make_program(void)
{
    struct program program = {
        .header = {.e_phoff = offsetof(struct program, parts),
                   .e_phentsize = sizeof(Elf64_Phdr),
                   .e_phnum = 2},
        .parts = {{.p_type = PT_NOTE,
                   .p_offset = offsetof(struct program, note),
                   .p_filesz = sizeof(struct program) - offsetof(struct program, note)},
                  {.p_type = PT_LOAD, .p_filesz = 64, .p_vaddr = 0x400000}},
        .note = {4, 8, NT_GNU_BUILD_ID},
        .name = "GNU",
        .id = {0x12, 0xab, 3, 4, 5, 6, 7, 8},
    };
    memcpy(program.header.e_ident, ELFMAG, SELFMAG);
    program.header.e_ident[EI_CLASS] = ELFCLASS64;
    program.header.e_ident[EI_DATA] = ELFDATA2LSB;
    return program;
}

static void parts_and_build_id_are_read(void **state)
{
    (void)state;
    struct program program = make_program();
    struct wio_elf_image image = read_program(&program);
    assert_string_equal(image.build_id, "12ab030405060708");
    assert_int_equal(image.load_count, 1);
    assert_int_equal(image.loads[0].address, 0x400000);
    wio_elf_fini(&image);
}

/* Without its build-id an image still has its parts: addresses are wrong without them. */
static void damaged_note_hides_no_part(void **state)
{
    (void)state;
    struct program program = make_program();
    program.note[0] = 5000; /* a name that is longer than the notes */
    struct wio_elf_image image = read_program(&program);
    assert_string_equal(image.build_id, "");
    assert_int_equal(image.load_count, 1);
    assert_int_equal(image.loads[0].address, 0x400000);
    wio_elf_fini(&image);
}

/* A ring may name a FIFO, whose writer would go on and fail, or a device. */
static void only_files_are_opened(void **state)
{
    (void)state;
    char *path = wio_test_path("fifo");
    char event[sizeof(struct inotify_event) + NAME_MAX + 1];
    struct wio_elf_image image = {0};
    int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_true(watch >= 0 && inotify_add_watch(watch, path, IN_OPEN) >= 0);
    assert_int_equal(wio_elf_read(path, &image), WIO_OK);
    assert_int_equal(read(watch, event, sizeof(event)), -1);
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(image.load_count, 0);
    (void)close(watch);
    wio_elf_fini(&image);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_and_build_id_are_read),
        cmocka_unit_test(damaged_note_hides_no_part),
        cmocka_unit_test(only_files_are_opened),
    };
    return WIO_RUN(tests);
}
