/* SPDX-License-Identifier: Apache-2.0 */
/* What may be sealed and cleared: R-RING-8. */
#include "trace/format/trust.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/unit.h"

enum { STRANGER = 54321, OTHER = 54322 };

static void rings_belong_to_the_owner_of_the_directory(void **state)
{
    (void)state;
    const struct stat own = {.st_uid = geteuid()};
    const struct stat stranger = {.st_uid = STRANGER};
    assert_true(wio_trust_is_own(&own));
    assert_false(wio_trust_is_own(&stranger));
    assert_true(wio_trust_ring(geteuid(), geteuid()));
    assert_true(wio_trust_ring(STRANGER, STRANGER));
    assert_true(wio_trust_ring(STRANGER, geteuid()));
    assert_true(wio_trust_ring(STRANGER, 0));
    assert_false(wio_trust_ring(geteuid(), STRANGER));
    assert_false(wio_trust_ring(STRANGER, OTHER));
}

struct pair {
    char *raw;
    char *rings;
    int raw_fd;
    int rings_fd;
    struct stat link;
};

static struct pair make_pair(const char *raw, const char *rings)
{
    struct pair pair = {.raw = wio_test_path(raw), .rings = wio_test_path(rings)};
    assert_int_equal(mkdir(pair.raw, 0711), 0);
    assert_int_equal(mkdir(pair.rings, 0700), 0);
    pair.raw_fd = open(pair.raw, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    pair.rings_fd = open(pair.rings, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    pair.link.st_uid = geteuid();
    return pair;
}

static void free_pair(struct pair *pair)
{
    assert_int_equal(close(pair->raw_fd), 0);
    assert_int_equal(close(pair->rings_fd), 0);
    free(pair->raw);
    free(pair->rings);
}

static bool is_trusted(const struct pair *pair)
{
    return wio_trust_link(pair->raw_fd, pair->raw, &pair->link, pair->rings_fd);
}

static void links_lead_to_rings_of_this_trace(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    struct pair pair = make_pair("raw", "rings");
    struct pair other = make_pair("raw2", "rings2");
    assert_false(is_trusted(&pair)); /* no recorder made it */
    assert_ok(wio_trust_bind(pair.raw_fd, pair.raw, pair.rings_fd, &err), &err);
    assert_true(is_trusted(&pair));
    assert_status(wio_trust_bind(other.raw_fd, other.raw, pair.rings_fd, &err), WIO_ERR_IO, &err);
    assert_false(wio_trust_link(other.raw_fd, other.raw, &pair.link, pair.rings_fd));
    pair.link.st_uid++;
    assert_false(is_trusted(&pair));
    pair.link.st_uid--;
    assert_int_equal(fchmod(pair.rings_fd, 0755), 0);
    assert_false(is_trusted(&pair));
    static const mode_t open_modes[] = {01733, 0733, 01777, 01700, 01732};
    for (size_t i = 0; i < sizeof(open_modes) / sizeof(open_modes[0]); i++) {
        assert_int_equal(fchmod(pair.rings_fd, open_modes[i]), 0);
        assert_int_equal(is_trusted(&pair), open_modes[i] == 01733 && geteuid() == 0);
    }
    assert_int_equal(fchmod(pair.rings_fd, 0700), 0);
    assert_true(is_trusted(&pair));
    if (geteuid() == 0) { /* another user's word on whose rings these are */
        assert_int_equal(fchownat(pair.rings_fd, WIO_RINGS_OF, STRANGER, (gid_t)-1, 0), 0);
        assert_false(is_trusted(&pair));
    }
    free_pair(&pair);
    free_pair(&other);
}

static void write_of(const struct pair *pair, const char *text)
{
    int fd = openat(pair->rings_fd, WIO_RINGS_OF, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(close(fd), 0);
}

static void what_names_the_trace_is_read_with_care(void **state)
{
    (void)state;
    char text[5000];
    struct stat st;
    struct pair pair = make_pair("raw3", "rings3");
    assert_int_equal(fstat(pair.raw_fd, &st), 0);
    static const char *const wrong[] = {"",       "\n",      "1 2",
                                        "1 2 \n", " 1 /x\n", "18446744073709551616 1 /x\n"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        write_of(&pair, wrong[i]);
        assert_false(is_trusted(&pair));
    }
    /* Another number of the device: the path decides. */
    (void)snprintf(text, sizeof(text), "%ju %ju %s\n", (uintmax_t)st.st_dev + 1,
                   (uintmax_t)st.st_ino, pair.raw);
    write_of(&pair, text);
    assert_true(is_trusted(&pair));
    (void)snprintf(text, sizeof(text), "%ju %ju %s/x\n", (uintmax_t)st.st_dev + 1,
                   (uintmax_t)st.st_ino, pair.raw);
    write_of(&pair, text);
    assert_false(is_trusted(&pair));
    (void)snprintf(text, sizeof(text), "%ju %ju %s\n", (uintmax_t)st.st_dev,
                   (uintmax_t)st.st_ino + 1, pair.raw);
    write_of(&pair, text);
    assert_false(is_trusted(&pair));
    free_pair(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rings_belong_to_the_owner_of_the_directory),
        cmocka_unit_test(links_lead_to_rings_of_this_trace),
        cmocka_unit_test(what_names_the_trace_is_read_with_care),
    };
    return WIO_RUN(tests);
}
