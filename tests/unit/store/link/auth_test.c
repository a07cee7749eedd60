/* SPDX-License-Identifier: Apache-2.0 */
/* Proofs, and those that have none: strangers, recorded bytes, a program in the middle. */
#include "scene.h"

#include "support/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc.h"
#include "store/link/link.h"

#define SECOND_NS UINT64_C(1000000000)

enum { STRANGERS = 1000 };

static bool both_open(struct scene *scene)
{
    scene_listen(scene);
    scene_connect(scene);
    scene_run(scene, SECOND_NS);
    return scene->opened[0] == 1 && scene->opened[1] == 1;
}

/* ---- keys ---------------------------------------------------------------------------------- */

static void another_key_opens_nothing(void **state)
{
    (void)state;
    for (unsigned bit = 0; bit < 256; bit += 51) {
        struct scene scene;
        scene_begin(&scene, 1);
        scene_with_key(&scene);
        scene.client_config.key.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_false(both_open(&scene));
        assert_int_equal(scene.opened[0] + scene.opened[1], 0);
        assert_int_equal(scene_ends(&scene, WIO_LINK_UNPROVEN), 1);
        assert_int_equal(scene.closed[1], 1);
        scene_end(&scene);
    }
}

/* Neither side is talked into less than it was configured for. */
static void nothing_is_negotiated_down(void **state)
{
    (void)state;
    for (unsigned which = 0; which < 2; which++) {
        struct scene scene;
        scene_begin(&scene, 1);
        scene_with_key(&scene);
        *(which == 0 ? &scene.server_config.auth : &scene.client_config.auth) = WIO_WIRE_AUTH_OPEN;
        assert_false(both_open(&scene));
        scene_run(&scene, 10 * SECOND_NS);
        assert_int_equal(scene.opened[0] + scene.opened[1], 0);
        assert_int_equal(scene.closed[1], 1);
        assert_int_equal(wio_link_server_counts(scene.server)->strangers, 0);
        scene_end(&scene);
    }
}

/* ---- a program in the middle --------------------------------------------------------------- */

struct middle {
    struct wio_blob recorded[2]; /* what the server said, what the client said */
    size_t at;                   /* of the byte to change; SIZE_MAX: none */
    bool of_caller;
    uint8_t change;
};

static void listen_in(void *context, bool from_caller, uint8_t *bytes, size_t size)
{
    struct middle *middle = context;
    struct wio_blob *recorded = &middle->recorded[from_caller];
    size_t at = middle->at - recorded->size;
    if (from_caller == middle->of_caller && middle->at >= recorded->size && at < size) {
        bytes[at] ^= middle->change;
    }
    assert_int_equal(wio_blob_put(recorded, bytes, size), WIO_OK);
}

static void middle_fini(struct middle *middle)
{
    wio_blob_fini(&middle->recorded[0]);
    wio_blob_fini(&middle->recorded[1]);
}

/* The CRC of a header and of a body, made to fit again: a middle can do that. */
static void run_changed(struct middle *middle, bool *both_out, bool *right_out)
{
    struct scene scene;
    scene_begin(&scene, 3);
    scene_with_key(&scene);
    wio_sim_set_middle(scene.sim, listen_in, middle);
    *both_out = both_open(&scene);
    if (*both_out && scene.client != NULL) {
        assert_int_equal(scene_send(&scene, "some data", 9), WIO_OK);
    }
    scene_run(&scene, SECOND_NS);
    /* Whatever came is what was sent. */
    *right_out = true;
    for (unsigned end = 0; end < 2; end++) {
        bool is_right =
            scene.came[end].size == 9 && memcmp(scene.came[end].data, "some data", 9) == 0;
        *right_out = *right_out && is_right;
        assert_true(is_right || scene.came[end].size == 0);
    }
    scene_run(&scene, 10 * SECOND_NS);
    scene_end(&scene);
}

/* R-LINK-5: each byte, either way: what is changed is never taken, and never hangs. */
static void changed_bytes_are_never_taken(void **state)
{
    (void)state;
    struct middle untouched = {.at = SIZE_MAX};
    bool both = false;
    bool right = false;
    run_changed(&untouched, &both, &right);
    assert_true(both && right);
    for (unsigned direction = 0; direction < 2; direction++) {
        for (size_t at = 0; at < untouched.recorded[direction].size && at < 1200; at += 5) {
            struct middle middle = {.at = at, .of_caller = direction == 1, .change = 0x10};
            run_changed(&middle, &both, &right);
            middle_fini(&middle);
        }
    }
    middle_fini(&untouched);
}

static void put32(uint8_t *at, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++) {
        at[i] = (uint8_t)(value >> 8 * i);
    }
}

/* A change with checksums that fit: only the tag tells. The WRITE's data is changed. */
static void change_well(void *context, bool from_caller, uint8_t *bytes, size_t size)
{
    unsigned *changed = context;
    uint8_t *data = memmem(bytes, size, "some data", 9);
    if (!from_caller || data == NULL) {
        return;
    }
    uint8_t *header = memmem(bytes, size, "WIOS", 4);
    assert_non_null(header);
    size_t body = (size_t)(data + 9 - header) - WIO_WIRE_HEADER_BYTES;
    data[0] = 'S';
    put32(header + 56, wio_crc32c(0, header + WIO_WIRE_HEADER_BYTES, body));
    put32(header + 60, wio_crc32c(0, header, 60));
    (*changed)++;
}

static void only_the_tag_finds_a_good_forgery(void **state)
{
    (void)state;
    for (unsigned has_key = 0; has_key < 2; has_key++) {
        struct scene scene;
        unsigned changed = 0;
        scene_begin(&scene, 3);
        if (has_key == 1) {
            scene_with_key(&scene);
        }
        wio_sim_set_middle(scene.sim, change_well, &changed);
        assert_true(both_open(&scene));
        assert_int_equal(scene_send(&scene, "some data", 9), WIO_OK);
        scene_run(&scene, SECOND_NS);
        assert_true(changed > 0);
        assert_int_equal(scene.messages[0], has_key == 1 ? 0 : 1);
        assert_int_equal(scene_ends(&scene, WIO_LINK_UNPROVEN), has_key);
        scene_end(&scene);
    }
}

/* R-LINK-1, R-LINK-2, R-LINK-3: all that a client said, said again, says nothing; nor has the key
 * been said. */
static void recorded_bytes_prove_nothing(void **state)
{
    (void)state;
    struct scene scene;
    struct middle middle = {.at = SIZE_MAX};
    struct stranger stranger = {0};
    scene_begin(&scene, 4);
    scene_with_key(&scene);
    wio_sim_set_middle(scene.sim, listen_in, &middle);
    assert_true(both_open(&scene));
    assert_int_equal(scene_send(&scene, "some data", 9), WIO_OK);
    scene_run(&scene, SECOND_NS);
    assert_int_equal(scene.messages[0], 1);
    for (unsigned i = 0; i < 2; i++) {
        assert_null(memmem(middle.recorded[i].data, middle.recorded[i].size,
                           scene.server_config.key.bytes, 8));
    }
    wio_sim_set_middle(scene.sim, NULL, NULL);
    scene_stranger(&scene, &stranger, middle.recorded[1].data, middle.recorded[1].size);
    scene_run(&scene, SECOND_NS);
    assert_true(stranger.is_closed);
    assert_int_equal(scene_ends(&scene, WIO_LINK_UNPROVEN), 1);
    assert_int_equal(scene.messages[0], 1);
    assert_int_equal(scene.opened[0], 1);
    assert_int_equal(wio_link_server_counts(scene.server)->strangers, 0);
    stranger_end(&stranger);
    middle_fini(&middle);
    scene_end(&scene);
}

/* What a server said is no client's, and the other way round: sent back, it ends. */
static void reflected_bytes_prove_nothing(void **state)
{
    (void)state;
    struct scene scene;
    struct middle middle = {.at = SIZE_MAX};
    struct stranger stranger = {0};
    scene_begin(&scene, 4);
    scene_with_key(&scene);
    wio_sim_set_middle(scene.sim, listen_in, &middle);
    assert_true(both_open(&scene));
    wio_sim_set_middle(scene.sim, NULL, NULL);
    scene_stranger(&scene, &stranger, middle.recorded[0].data, middle.recorded[0].size);
    scene_run(&scene, 10 * SECOND_NS);
    assert_true(stranger.is_closed);
    assert_int_equal(stranger.heard.size, 0);
    assert_int_equal(scene.opened[0], 1);
    stranger_end(&stranger);
    middle_fini(&middle);
    scene_end(&scene);
}

/* ---- strangers ----------------------------------------------------------------------------- */

/* R-LINK-6: any bytes are counted, and nothing else happens; not one byte is answered. */
static void strange_bytes_are_counted(void **state)
{
    (void)state;
    struct scene scene;
    uint64_t seed = 1;
    scene_begin(&scene, 5);
    scene_with_key(&scene);
    assert_true(both_open(&scene));
    for (unsigned i = 0; i < 50; i++) {
        uint8_t bytes[300];
        struct stranger stranger = {0};
        for (unsigned j = 0; j < sizeof(bytes); j++) {
            bytes[j] = (uint8_t)wio_test_random(&seed);
        }
        if (i % 2 == 1) {
            memcpy(bytes, "WIOS\2", 6); /* another version, with a CRC that fits */
            put32(bytes + 60, wio_crc32c(0, bytes, 60));
        }
        scene_stranger(&scene, &stranger, bytes, sizeof(bytes));
        scene_run(&scene, SECOND_NS);
        assert_true(stranger.is_closed);
        assert_int_equal(stranger.heard.size, 0);
        stranger_end(&stranger);
    }
    assert_int_equal(scene_ends(&scene, WIO_LINK_STRANGE), 25);
    assert_int_equal(scene_ends(&scene, WIO_LINK_OTHER_VERSION), 25);
    assert_int_equal(scene.closed[0], 0);
    assert_int_equal(scene_send(&scene, "still here", 10), WIO_OK);
    scene_run(&scene, SECOND_NS);
    assert_int_equal(scene.messages[1], 1);
    scene_end(&scene);
}

/* A thousand that say nothing, or a byte each: a client still gets in, at once. */
static void silent_strangers_stall_nothing(void **state)
{
    (void)state;
    for (unsigned bytes = 0; bytes < 2; bytes++) {
        struct scene scene;
        struct stranger *strangers = calloc(STRANGERS, sizeof(*strangers));
        assert_non_null(strangers);
        scene_begin(&scene, 6);
        scene_with_key(&scene);
        scene_listen(&scene);
        for (unsigned i = 0; i < STRANGERS; i++) {
            scene_stranger(&scene, &strangers[i], "W", bytes);
        }
        scene_run(&scene, SECOND_NS / 100);
        assert_int_equal(wio_link_server_counts(scene.server)->strangers, 256);
        assert_int_equal(scene_ends(&scene, WIO_LINK_CROWDED_OUT), STRANGERS - 256);
        scene_connect(&scene);
        scene_run(&scene, SECOND_NS / 100);
        assert_int_equal(scene.opened[1], 1);
        scene_run(&scene, 10 * SECOND_NS);
        assert_int_equal(wio_link_server_counts(scene.server)->strangers, 0);
        assert_int_equal(scene_ends(&scene, WIO_LINK_LATE), 255);
        assert_int_equal(scene.closed[0], 0);
        for (unsigned i = 0; i < STRANGERS; i++) {
            stranger_end(&strangers[i]);
        }
        free(strangers);
        scene_end(&scene);
    }
}

/* ---- credentials, of a daemon that the test is ---------------------------------------------- */

/* "UID FOR HEX": what munged encrypts and signs. */
static enum wio_status make_credential(void *context, const void *payload, size_t bytes,
                                       uint32_t for_uid, char text_out[WIO_WIRE_CREDENTIAL_MAX],
                                       struct wio_error *err)
{
    const uint32_t *uid = context;
    (void)err;
    int at = snprintf(text_out, WIO_WIRE_CREDENTIAL_MAX, "%u %u ", *uid, for_uid);
    for (size_t i = 0; i < bytes; i++) {
        at += snprintf(text_out + at, WIO_WIRE_CREDENTIAL_MAX - (size_t)at, "%02x",
                       ((const uint8_t *)payload)[i]);
    }
    return WIO_OK;
}

static enum wio_status read_credential(void *context, const char *text, void *payload_out,
                                       size_t bytes, uint32_t *uid_out, uint32_t *gid_out,
                                       struct wio_error *err)
{
    const uint32_t *own = context;
    unsigned for_uid = 0;
    int at = 0;
    (void)err;
    if (sscanf(text, "%u %u %n", uid_out, &for_uid, &at) != 2 || for_uid != *own ||
        strlen(text + at) != 2 * bytes) {
        return WIO_ERR_FORMAT;
    }
    for (size_t i = 0; i < bytes; i++) {
        unsigned byte = 0;
        assert_int_equal(sscanf(text + at + 2 * i, "%2x", &byte), 1);
        ((uint8_t *)payload_out)[i] = (uint8_t)byte;
    }
    *gid_out = 77;
    return WIO_OK;
}

struct daemons {
    uint32_t uids[2];
    struct wio_link_credentials credentials[2];
};

static void with_credentials(struct scene *scene, struct daemons *daemons, uint32_t client_uid)
{
    struct wio_link_config *configs[2] = {&scene->server_config, &scene->client_config};
    if (wio_link_keys_begin(NULL) != WIO_OK) {
        wio_test_skip("no libsodium here");
    }
    *daemons = (struct daemons){.uids = {30, client_uid}};
    for (unsigned i = 0; i < 2; i++) {
        daemons->credentials[i] =
            (struct wio_link_credentials){make_credential, read_credential, &daemons->uids[i]};
        configs[i]->auth = WIO_WIRE_AUTH_MUNGE;
        configs[i]->credentials = &daemons->credentials[i];
    }
    scene->client_config.server_uid = 30;
}

/* R-LINK-4: the credential's uid counts; and the link has keys. */
static void credentials_open(void **state)
{
    (void)state;
    struct scene scene;
    struct daemons daemons;
    unsigned changed = 0;
    scene_begin(&scene, 7);
    with_credentials(&scene, &daemons, 1000); /* as the hello says */
    assert_true(both_open(&scene));
    assert_int_equal(scene.welcome.proof, WIO_WIRE_PROOF_MUNGE);
    assert_int_equal(scene.welcome.uid, 1000);
    assert_int_equal(scene.welcome.gid, 77);
    assert_int_equal(scene.known.uid, 1000);
    wio_sim_set_middle(scene.sim, change_well, &changed);
    assert_int_equal(scene_send(&scene, "some data", 9), WIO_OK);
    scene_run(&scene, SECOND_NS);
    assert_int_equal(scene.messages[0], 0);
    assert_int_equal(scene_ends(&scene, WIO_LINK_UNPROVEN), 1);
    scene_end(&scene);
}

/* A client that says another uid than its own cannot read the server's credential; one that expects
 * another server's uid goes. */
static void others_credentials_do_not(void **state)
{
    (void)state;
    for (unsigned which = 0; which < 2; which++) {
        struct scene scene;
        struct daemons daemons;
        scene_begin(&scene, 7);
        with_credentials(&scene, &daemons, which == 0 ? 1001 : 1000);
        scene.client_config.server_uid += which;
        assert_false(both_open(&scene));
        assert_int_equal(scene.opened[0] + scene.opened[1], 0);
        assert_int_equal(scene.closed[1], 1);
        assert_int_equal(scene.why[1], WIO_LINK_UNPROVEN);
        scene_run(&scene, 10 * SECOND_NS);
        assert_int_equal(wio_link_server_counts(scene.server)->strangers, 0);
        scene_end(&scene);
    }
}

/* Ends while credentials are under way: nothing is left. */
static void an_end_while_credentials_are_made(void **state)
{
    (void)state;
    for (unsigned steps = 0; steps < 25; steps++) {
        struct scene scene;
        struct daemons daemons;
        scene_begin(&scene, steps);
        with_credentials(&scene, &daemons, 1000);
        scene_listen(&scene);
        scene_connect(&scene);
        (void)wio_sim_run(scene.sim, steps);
        wio_sim_kill(steps % 2 == 0 ? scene.client_io : scene.server_io);
        scene_run(&scene, steps % 3 == 0 ? 0 : 10 * SECOND_NS);
        scene_end(&scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_key_opens_nothing),
        cmocka_unit_test(nothing_is_negotiated_down),
        cmocka_unit_test(changed_bytes_are_never_taken),
        cmocka_unit_test(only_the_tag_finds_a_good_forgery),
        cmocka_unit_test(recorded_bytes_prove_nothing),
        cmocka_unit_test(reflected_bytes_prove_nothing),
        cmocka_unit_test(strange_bytes_are_counted),
        cmocka_unit_test(silent_strangers_stall_nothing),
        cmocka_unit_test(credentials_open),
        cmocka_unit_test(others_credentials_do_not),
        cmocka_unit_test(an_end_while_credentials_are_made),
    };
    if (wio_link_keys_begin(NULL) != WIO_OK) {
        wio_test_skip("no libsodium here");
    }
    return WIO_RUN(tests);
}
