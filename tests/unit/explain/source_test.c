/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <whyio/trace.h>

#include <whyio/segment.h>
#include <whyio/source.h>

/* What this program knows of itself. */
struct self {
    char path[512];
    char build_id[130];
    uint64_t base; /* where it was loaded */
};

static void read_notes(const struct dl_phdr_info *info, const ElfW(Phdr) * header, char *hex)
{
    const char *at = (const char *)info->dlpi_addr + header->p_vaddr;
    const char *end = at + header->p_memsz;

    while (at + sizeof(ElfW(Nhdr)) < end) {
        ElfW(Nhdr) note;
        memcpy(&note, at, sizeof(note));
        at += sizeof(note) + ((note.n_namesz + 3) & ~3u);
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4) {
            for (unsigned i = 0; i < note.n_descsz && i < 64; i++) {
                sprintf(hex + (size_t)2 * i, "%02x", (unsigned char)at[i]);
            }
        }
        at += (note.n_descsz + 3) & ~3u;
    }
}

static int look_at_module(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct self *self = arg;

    (void)size;
    self->base = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_NOTE) {
            read_notes(info, &info->dlpi_phdr[i], self->build_id);
        }
    }
    return 1; /* the first one is the program */
}

static void find_self(struct self *self)
{
    memset(self, 0, sizeof(*self));
    assert_true(readlink("/proc/self/exe", self->path, sizeof(self->path) - 1) > 0);
    dl_iterate_phdr(look_at_module, self);
}

__attribute__((noinline)) static uint64_t return_address(void)
{
    return (uint64_t)(uintptr_t)__builtin_return_address(0);
}

static int call_line;

__attribute__((noinline)) static uint64_t plain_caller(void)
{
    call_line = __LINE__ + 1;
    uint64_t address = return_address();
    __asm__ volatile("");
    return address;
}

static int inline_line;

__attribute__((always_inline)) static inline uint64_t inlined(void)
{
    inline_line = __LINE__ + 1;
    uint64_t address = return_address();
    __asm__ volatile("");
    return address;
}

__attribute__((noinline)) static uint64_t caller_of_inlined(void)
{
    uint64_t address = inlined();
    __asm__ volatile("");
    return address;
}

/* A trace with one stack of these frames; gives its source id. */
static struct wio_trace *make_trace(const struct wio_frame *frames, uint32_t count,
                                    uint32_t *source_out)
{
    static unsigned number;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_segment_params params = {.struct_size = sizeof(params), .boot_id = ""};
    struct wio_process_info process = {.pid = 1,
                                       .rank = -1,
                                       .host = "",
                                       .job = "",
                                       .exe = "",
                                       .argv = "",
                                       .cwd = "",
                                       .parent = UINT32_MAX};
    struct wio_event event = {.op = 1, .call = 1};
    struct wio_segment *segment;
    struct wio_trace *trace;
    char name[600];
    uint32_t index;

    snprintf(name, sizeof(name), "%s/t%u", wio_test_dir(), number++);
    assert_int_equal(mkdir(name, 0700), 0);
    strcat(name, "/a.seg");
    assert_ok(wio_segment_create(name, &params, &segment, &err), &err);
    assert_ok(wio_segment_process(segment, &process, &index, &err), &err);
    assert_ok(wio_segment_stream(segment, index, 1, 0, &event.stream, &err), &err);
    assert_ok(wio_segment_source(segment, frames, count, source_out, &err), &err);
    event.source = *source_out;
    assert_ok(wio_segment_append(segment, &event, &err), &err);
    assert_ok(wio_segment_finish(segment, &err), &err);
    *strrchr(name, '/') = '\0';
    assert_ok(wio_trace_open(name, &trace, &err), &err);
    return trace;
}

static void expect(const struct wio_frame *frame, const char *want)
{
    struct wio_sources *sources;
    struct wio_trace *trace;
    uint32_t source;

    trace = make_trace(frame, 1, &source);
    assert_ok(wio_sources_create(trace, &sources, NULL), NULL);
    assert_string_equal(wio_sources_text(sources, source), want);
    assert_string_equal(wio_sources_text(sources, source), want); /* from the cache */
    assert_string_equal(wio_sources_text(sources, 0), "");
    assert_string_equal(wio_sources_text(sources, 999), "");
    wio_sources_destroy(sources);
    wio_trace_close(trace);
}

static void function_and_line_of_the_call(void **state)
{
    struct self self;
    uint64_t address = plain_caller();
    char want[200];

    (void)state;
    find_self(&self);
    snprintf(want, sizeof(want), "plain_caller (source_test.c:%d)", call_line);
    expect(&(struct wio_frame){self.path, self.build_id, address - self.base}, want);
    expect(&(struct wio_frame){self.path, "", address - self.base}, want);
}

static void the_innermost_inlined_function(void **state)
{
    struct self self;
    uint64_t address = caller_of_inlined();
    char want[200];

    (void)state;
    find_self(&self);
    snprintf(want, sizeof(want), "inlined (source_test.c:%d)", inline_line);
    expect(&(struct wio_frame){self.path, self.build_id, address - self.base}, want);
}

static void another_build_is_not_trusted(void **state)
{
    struct self self;
    uint64_t address = plain_caller();
    char want[600];

    (void)state;
    find_self(&self);
    snprintf(want, sizeof(want), "%s+0x%llx", strrchr(self.path, '/') + 1,
             (unsigned long long)(address - self.base));
    self.build_id[0] = self.build_id[0] == '0' ? '1' : '0';
    expect(&(struct wio_frame){self.path, self.build_id, address - self.base}, want);
}

static void what_cannot_be_read(void **state)
{
    char *text = wio_test_path("no_elf");

    (void)state;
    expect(&(struct wio_frame){"/nowhere/libx.so.1", "", 0x1234}, "libx.so.1+0x1234");
    expect(&(struct wio_frame){"/", "", 0x1234}, "+0x1234");
    expect(&(struct wio_frame){"", "", 0x1234}, "0x1234");
    expect(&(struct wio_frame){"[vdso]", "", 0}, "[vdso]+0x0");
    wio_test_write(text, "\177ELF, but not really", 20);
    expect(&(struct wio_frame){text, "", UINT64_MAX}, "no_elf+0xffffffffffffffff");
    free(text);
}

/* A trace may name what is no file: opening this one would wait for a writer. */
static void only_files_are_opened(void **state)
{
    char *fifo = wio_test_path("fifo");

    (void)state;
    assert_int_equal(mkfifo(fifo, 0600), 0);
    expect(&(struct wio_frame){fifo, "", 0x1234}, "fifo+0x1234");
    expect(&(struct wio_frame){"/dev/zero", "", 1}, "zero+0x1");
    unlink(fifo);
    free(fifo);
}

/* The same program without debug information, which is in a file beside it. */
static void separate_debug_information(void **state)
{
    struct self self;
    uint64_t address = plain_caller();
    char *stripped = wio_test_path("stripped");
    char *debug = wio_test_path("stripped.debug");
    char command[4000];
    char want[200];

    (void)state;
    find_self(&self);
    snprintf(command, sizeof(command),
             "objcopy --only-keep-debug '%s' '%s' && objcopy --strip-all '%s' '%s' && "
             "objcopy --add-gnu-debuglink='%s' '%s' && chmod -w '%s'",
             self.path, debug, self.path, stripped, debug, stripped, debug);
    assert_int_equal(system(command), 0);
    snprintf(want, sizeof(want), "plain_caller (source_test.c:%d)", call_line);
    expect(&(struct wio_frame){stripped, self.build_id, address - self.base}, want);
    unlink(debug);
    snprintf(want, sizeof(want), "stripped+0x%llx", (unsigned long long)(address - self.base));
    expect(&(struct wio_frame){stripped, self.build_id, address - self.base}, want);
    free(stripped);
    free(debug);
}

static void all_frames_of_a_stack(void **state)
{
    struct self self;
    struct wio_frame frames[3] = {{"/x/a", "", 1}, {"/x/b", "", 2}, {"/x/c", "", 3}};
    struct wio_sources *sources;
    const char *texts[3];
    struct wio_trace *trace;
    uint32_t source;

    (void)state;
    find_self(&self);
    trace = make_trace(frames, 3, &source);
    assert_ok(wio_sources_create(trace, &sources, NULL), NULL);
    assert_int_equal(wio_sources_stack(sources, source, texts, 3), 3);
    assert_string_equal(texts[0], "a+0x1");
    assert_string_equal(texts[2], "c+0x3");
    assert_int_equal(wio_sources_stack(sources, source, texts, 2), 2);
    assert_int_equal(wio_sources_stack(sources, 0, texts, 3), 0);
    wio_sources_destroy(sources);
    wio_trace_close(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(function_and_line_of_the_call),
        cmocka_unit_test(the_innermost_inlined_function),
        cmocka_unit_test(another_build_is_not_trusted),
        cmocka_unit_test(what_cannot_be_read),
        cmocka_unit_test(only_files_are_opened),
        cmocka_unit_test(separate_debug_information),
        cmocka_unit_test(all_frames_of_a_stack),
    };
    return WIO_RUN(tests);
}
