/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <string.h>

#include "tracer/tracee.h"

static void call_instructions(void **state)
{
    static const struct {
        uint8_t bytes[7];
        bool is_call;
    } cases[] = {
        {{0x90, 0x90, 0xe8, 1, 2, 3, 4}, true},              /* call relative */
        {{0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xd0}, true},  /* call *%rax */
        {{0x90, 0x90, 0x90, 0x90, 0xff, 0x50, 8}, true},     /* call *8(%rax) */
        {{0x90, 0xff, 0x15, 1, 2, 3, 4}, true},              /* call *rip-relative */
        {{0xff, 0x94, 0x24, 1, 2, 3, 4}, true},              /* call *disp32(%rsp) */
        {{0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xe0}, false}, /* jmp *%rax */
        {{0x90, 0x90, 0x90, 0x90, 0x90, 0x0f, 0x05}, false}, /* syscall */
        {{0, 0, 0, 0, 0, 0, 0}, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(tracer_code_is_call(cases[i].bytes), cases[i].is_call);
    }
}

#if defined(__x86_64__)
#include <unistd.h>

/* A stack and code made up in this process. */
static void first_return_address(void **state)
{
    static uint8_t text[64];
    uint64_t stack[64] __attribute__((aligned(4096))) = {0};
    static struct tracer_process process;
    struct tracer_thread thread = {.tid = getpid(), .process = &process};
    const uint64_t code = (uint64_t)(uintptr_t)text;
    (void)state;
    memset(text, 0x90, sizeof(text));
    text[20] = 0xe8; /* returns to 25 */
    text[40] = 0xe8;
    process.pid = getpid();
    tracer_code_add(&process.code, code, code + sizeof(text));
    thread.call.source = 77;
    thread.call.stack = (uint64_t)(uintptr_t)stack;
    assert_int_equal(tracer_caller(&thread), 77);
    stack[3] = code + 30; /* of the program's code, but behind no call */
    stack[4] = 25;
    stack[5] = code + 25;
    stack[6] = code + 45;
    for (int i = 0; i < 2; i++) { /* looked at, and known */
        assert_int_equal(tracer_caller(&thread), code + 25);
    }
    thread.call.stack += 6 * sizeof(*stack);
    assert_int_equal(tracer_caller(&thread), code + 45);
    thread.call.stack = 8; /* nothing is there */
    assert_int_equal(tracer_caller(&thread), 77);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(call_instructions),
#if defined(__x86_64__)
        cmocka_unit_test(first_return_address),
#endif
    };
    return WIO_RUN(tests);
}
