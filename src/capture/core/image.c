/* SPDX-License-Identifier: Apache-2.0 */
/* One image of a process: its ring from the first event to the mark of its end, and the records
 * that describe it. */
#include <string.h>

#include "capture/core/environment.h"
#include "capture/core/features.h"
#include "capture/core/process.h"
#include "capture/core/raw.h"
#include "capture/core/thread_table.h"

bool cap_image_begin(void)
{
    uint32_t expected = CAP_IMAGE_NONE;
    if (CAP_LIKELY(__atomic_load_n(&cap_image->state, __ATOMIC_ACQUIRE) == CAP_IMAGE_READY)) {
        return true;
    }
    if (!__atomic_compare_exchange_n(&cap_image->state, &expected, CAP_IMAGE_BUSY, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        while (__atomic_load_n(&cap_image->state, __ATOMIC_ACQUIRE) == CAP_IMAGE_BUSY) {
            raw_yield();
        }
        return !cap_process.is_off;
    }
    cap_threads_reset();
    bool is_made = cap_ring_create();
    if (!is_made) {
        cap_process.is_off = true;
    } else {
        cap_on_begin_image();
    }
    __atomic_store_n(&cap_image->state, CAP_IMAGE_READY, __ATOMIC_RELEASE);
    return is_made;
}

void cap_mark_end(uint32_t end, int32_t status)
{
    struct wio_ring_header *header = cap_process.header;
    if (cap_process.is_off) {
        return;
    }
    bool is_ours = __atomic_load_n(&cap_image->state, __ATOMIC_ACQUIRE) == CAP_IMAGE_READY;
    if (header == NULL || !is_ours) {
        return; /* in a fresh child it is the parent's */
    }
    CAP_KEEP_ERRNO;
    const struct cap_moment now = cap_moment_now();
    cap_ring_calibrate(&now);
    header->end_status = status;
    __atomic_store_n(&header->end, end, __ATOMIC_RELEASE);
    if (end == WIO_END_EXIT) {
        cap_on_end_process();
    }
}

static void describe(struct cap_thread *self, uint32_t key, const char *text, size_t bytes)
{
    struct wio_slot_text head = {.kind = WIO_SLOT_META, .id = key};
    (void)cap_text_record(self, &head, text, bytes, NULL, 0);
}

static void describe_program(struct cap_thread *self, char *text, size_t size)
{
    const char *exe = cap_process.exe;
    long length = (long)strlen(exe);
    if (length == 0) {
        length = raw_readlink("/proc/self/exe", text, size);
        exe = text;
    }
    if (length > 0) {
        describe(self, WIO_META_EXE, exe, (size_t)length);
    }
}

/* Of one thread of the image, the first. */
void cap_describe_image(struct cap_thread *self)
{
    static char text[8192]; /* longer arguments are cut: FORMAT.md#ring-strings */
    if (cap_makes_own_calls()) {
        cap_unseen(WIO_UNSEEN_OWN_CALLS);
    }
    describe_program(self, text, sizeof(text));
    size_t bytes = cap_process_arguments(text, sizeof(text));
    describe(self, WIO_META_ARGV, text, bytes);
    long length = raw_getcwd(text, sizeof(text));
    if (length > 1) {
        describe(self, WIO_META_CWD, text, (size_t)length - 1);
    }
    cap_modules_describe(self);
}
