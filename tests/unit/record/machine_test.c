/* SPDX-License-Identifier: Apache-2.0 */
/* R-META-1: a machine that runs tests tells of its memory, in lines of a name and a number. */
#include "support/unit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "record/machine.h"

static void tells_of_memory(void **state)
{
    (void)state;
    char text[WIO_MACHINE_TEXT];
    unsigned long long total = 0;
    wio_machine_read(text);
    const char *found = strstr(text, "memory_total ");
    assert_non_null(found);
    assert_int_equal(sscanf(found, "memory_total %llu\n", &total), 1);
    unsigned long long pages = (unsigned long long)sysconf(_SC_PHYS_PAGES);
    unsigned long long page = (unsigned long long)sysconf(_SC_PAGESIZE);
    assert_true(total > pages * page / 2 && total < pages * page * 2);
}

static void every_line_is_a_name_and_a_number(void **state)
{
    (void)state;
    char text[WIO_MACHINE_TEXT];
    char *rest = NULL;
    wio_machine_read(text);
    assert_true(strlen(text) + 1 < WIO_MACHINE_TEXT);
    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        size_t name = strspn(line, "abcdefghijklmnopqrstuvwxyz_");
        assert_true(name > 0 && line[name] == ' ');
        assert_true(line[name + 1] != '\0');
        assert_int_equal(strspn(line + name + 1, "0123456789"), strlen(line + name + 1));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_of_memory),
        cmocka_unit_test(every_line_is_a_name_and_a_number),
    };
    return WIO_RUN(tests);
}
