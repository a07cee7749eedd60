/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/check.h"

static char *print_fault(bool is_json, const char *file, const char *message)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    struct wio_check_report report = {.out = out, .is_json = is_json};
    struct wio_error fault = WIO_ERROR_INIT;
    assert_non_null(out);
    (void)wio_error_set(&fault, WIO_ERR_FORMAT, file, 7, "%s", message);
    wio_report_fault(&report, &fault);
    assert_int_equal(report.faults, 1);
    fclose(out);
    return text;
}

/* Faults that sealing found are quoted from the trace: it must not speak to the terminal. */
static void odd_bytes_of_a_trace_are_escaped(void **state)
{
    (void)state;
    char *text = print_fault(false, "d/a.seg", "'x\033[2Jy\xc3\xa4\xff' is damaged");
    assert_string_equal(text, "'d/a.seg' at byte 7: 'x\\x1b[2Jy\xc3\xa4\\xff' is damaged\n");
    free(text);
    text = print_fault(true, "d/a.seg", "x\033y");
    assert_non_null(strstr(text, "\"x\\u001by\""));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(odd_bytes_of_a_trace_are_escaped),
    };
    return WIO_RUN(tests);
}
