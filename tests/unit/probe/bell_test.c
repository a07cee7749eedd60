/* SPDX-License-Identifier: Apache-2.0 */
/* The bell of an epoll set: it rings for each event, and for nothing else. */
#include "support/unit.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "probe/bell.h"

struct scene {
    struct wio_bell bell;
    int epoll;
    int event;
    uint64_t taken;
};

static size_t take_all(void *context)
{
    struct scene *scene = context;
    struct epoll_event events[4];
    size_t all = 0;
    int count = 0;
    while ((count = epoll_wait(scene->epoll, events, 4, 0)) > 0) {
        uint64_t number = 0;
        assert_int_equal(read(scene->event, &number, sizeof(number)), sizeof(number));
        all += number;
    }
    scene->taken += all;
    return all;
}

static void begin(struct scene *scene)
{
    struct epoll_event event = {.events = EPOLLIN};
    *scene = (struct scene){.epoll = epoll_create1(EPOLL_CLOEXEC),
                            .event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    assert_int_equal(epoll_ctl(scene->epoll, EPOLL_CTL_ADD, scene->event, &event), 0);
    wio_bell_init(&scene->bell, scene->epoll);
}

static void end(struct scene *scene)
{
    wio_bell_fini(&scene->bell);
    close(scene->event);
    close(scene->epoll);
}

static void ring(const struct scene *scene)
{
    const uint64_t one = 1;
    assert_int_equal(write(scene->event, &one, sizeof(one)), sizeof(one));
}

/* What was there before the first answer, what comes between two, and that it is silent then. */
static void it_rings_for_events_alone(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    if (scene.bell.ring == NULL) {
        assert_true(wio_bell_has_rung(&scene.bell)); /* always */
        end(&scene);
        return;
    }
    ring(&scene);
    assert_true(wio_bell_has_rung(&scene.bell));
    wio_bell_answer(&scene.bell, take_all, &scene);
    assert_int_equal(scene.taken, 1);
    for (uint64_t i = 2; i < 3000; i++) { /* more than the ring has places */
        assert_false(wio_bell_has_rung(&scene.bell));
        ring(&scene);
        assert_true(wio_bell_has_rung(&scene.bell));
        assert_true(wio_bell_has_rung(&scene.bell));
        wio_bell_answer(&scene.bell, take_all, &scene);
        assert_int_equal(scene.taken, i);
    }
    wio_bell_answer(&scene.bell, take_all, &scene); /* for nothing */
    assert_false(wio_bell_has_rung(&scene.bell));
    ring(&scene);
    assert_true(wio_bell_has_rung(&scene.bell));
    end(&scene);
}

static void *ring_many(void *context)
{
    for (unsigned i = 0; i < 50000; i++) {
        ring(context);
    }
    return NULL;
}

/* Events while it is answered, from another thread: none is lost, and it is silent at the end. */
static void none_is_lost(void **state)
{
    (void)state;
    struct scene scene;
    pthread_t thread;
    begin(&scene);
    assert_int_equal(pthread_create(&thread, NULL, ring_many, &scene), 0);
    while (scene.taken < 50000) {
        if (wio_bell_has_rung(&scene.bell)) {
            wio_bell_answer(&scene.bell, take_all, &scene);
        }
    }
    pthread_join(thread, NULL);
    wio_bell_answer(&scene.bell, take_all, &scene);
    assert_int_equal(scene.taken, 50000);
    assert_int_equal(wio_bell_has_rung(&scene.bell), scene.bell.ring == NULL);
    ring(&scene);
    assert_true(wio_bell_has_rung(&scene.bell));
    end(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_rings_for_events_alone),
        cmocka_unit_test(none_is_lost),
    };
    return WIO_RUN(tests);
}
