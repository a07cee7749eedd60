/* SPDX-License-Identifier: Apache-2.0 */
/* Each record becomes a file of its own, by stdio; mended: all go into one. */
#include "diagnosis.h"

#define RECORDS 100
#define RECORD 700

static void store(int number)
{
    char name[32];
    (void)snprintf(name, sizeof(name), "record.%d", number);
    FILE *file = fopen(name, "w");                                /* CAUSE */
    if (file == NULL || fwrite(buffer, 1, RECORD, file) != RECORD /* CAUSE */
        || fclose(file) != 0) {                                   /* CAUSE */
        fail(name);
    }
}

int main(int argc, char **argv)
{
    bool is_bad = is_slow(argc, argv);
    for (int i = 0; is_bad && i < RECORDS; i++) {
        store(i);
    }
    int fd = open_to_write("records");
    if (!is_bad && write(fd, buffer, RECORDS * RECORD) < 0) {
        fail("write");
    }
    compute_ms(100);
    return close(fd);
}
