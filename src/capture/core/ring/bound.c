/* SPDX-License-Identifier: Apache-2.0 */
/* The file of the bound: found or made, and mapped. FORMAT.md#bound */
#include "capture/core/ring/bound.h"

#include <string.h>
#include <sys/mman.h>

#include "base/fmt.h"
#include "capture/core/environment.h"
#include "capture/core/own_fds.h"
#include "capture/core/process.h"
#include "capture/core/raw.h"

static char path[CAP_PATH_MAX + 96]; /* of the file */
static bool is_kept;                 /* a descriptor of it, in CAP_OWN_FEATURE */

/* Bytes, with a suffix of powers of 1,024: "64M". 0: it says nothing. */
static uint64_t parse_size(const char *text)
{
    static const char suffixes[] = "KMGT";
    uint64_t value = 0;
    if (!wio_scan_u64(&text, &value)) {
        return 0;
    }
    const char *suffix = *text != '\0' ? strchr(suffixes, *text) : NULL;
    const unsigned shift = suffix != NULL ? 10 * (unsigned)(suffix - suffixes + 1) : 0;
    text += suffix != NULL;
    return *text == '\0' && value <= WIO_BOUND_MAX_BYTES >> shift ? value << shift : 0;
}

static void read_environment(void)
{
    const char *size = cap_getenv("WHYIO_MAX_SIZE");
    const char *keep = cap_getenv("WHYIO_KEEP");
    const uint64_t bytes = size != NULL ? parse_size(size) : 0;
    if (bytes == 0) {
        return;
    }
    cap_bound.max_bytes = bytes < WIO_BOUND_MIN_BYTES ? WIO_BOUND_MIN_BYTES : bytes;
    cap_bound.keep = keep != NULL && strcmp(keep, "last") == 0 ? WIO_BOUND_LAST : WIO_BOUND_FIRST;
}

/* One for each boot and user: what another host or user maps cannot be shared. */
static void make_path(void)
{
    struct wio_fmt text = wio_fmt_of(path, sizeof(path));
    wio_fmt_str(&text, cap_process.directory);
    wio_fmt_str(&text, "/");
    wio_fmt_str(&text, cap_process.boot_id);
    wio_fmt_str(&text, ".");
    wio_fmt_u64(&text, (uint64_t)raw_call3(SYS_geteuid, 0, 0, 0));
    wio_fmt_str(&text, WIO_BOUND_ENDING);
}

static uint64_t pid_space(void)
{
    struct stat st = {0};
    long result = raw_call4(SYS_newfstatat, AT_FDCWD, (long)"/proc/self/ns/pid", (long)&st, 0);
    return result == 0 ? st.st_ino : 0;
}

/* Header and table, whole pages. The places of the first events are in the rings. */
static uint64_t head_bytes(uint64_t places, uint32_t keep)
{
    const uint64_t table = keep == WIO_BOUND_LAST ? places * sizeof(uint64_t) : 0;
    return WIO_BOUND_HEADER_BYTES + (table + 4095) / 4096 * 4096;
}

static bool allocate(int fd, uint64_t bytes)
{
    for (uint64_t done = 0; done < bytes;) {
        const uint64_t part = bytes - done < WIO_CHUNK_BYTES ? bytes - done : WIO_CHUNK_BYTES;
        if (!cap_ring_allocate(fd, done, part)) {
            return false;
        }
        done += part;
    }
    return true;
}

static bool write_header(int fd)
{
    struct wio_bound_header header = {
        .version = WIO_BOUND_VERSION,
        .keep = cap_bound.keep,
        .max_bytes = cap_bound.max_bytes,
        .places = cap_bound.max_bytes / WIO_CHUNK_BYTES,
        .pid_space = pid_space(),
    };
    header.data_offset = head_bytes(header.places, header.keep);
    memcpy(header.magic, WIO_BOUND_MAGIC, sizeof(header.magic));
    return allocate(fd, header.data_offset) &&
           raw_pwrite(fd, &header, sizeof(header), 0) == sizeof(header);
}

/* Whole when it gets its name: the process that links first has made it. Containers of one machine
 * may have the same pids: the time tells their names apart. */
__attribute__((noinline)) static void make(void)
{
    char fresh[sizeof(path) + 64];
    struct wio_fmt text = wio_fmt_of(fresh, sizeof(fresh));
    wio_fmt_str(&text, path);
    wio_fmt_str(&text, ".");
    wio_fmt_i64(&text, raw_getpid());
    wio_fmt_str(&text, ".");
    wio_fmt_u64(&text, cap_moment_now().mono_ns);
    wio_fmt_str(&text, ".tmp");
    long fd = raw_openat(AT_FDCWD, fresh, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        return;
    }
    if (write_header((int)fd)) {
        (void)raw_call6(SYS_linkat, AT_FDCWD, (long)fresh, AT_FDCWD, (long)path, 0, 0);
    }
    (void)raw_call3(SYS_unlinkat, AT_FDCWD, (long)fresh, 0);
    (void)raw_close((int)fd);
}

int cap_bound_open(void)
{
    const int kept = cap_own_fds[CAP_OWN_FEATURE].fd;
    if (is_kept && cap_own_is(CAP_OWN_FEATURE, kept)) {
        return kept;
    }
    return (int)raw_openat(AT_FDCWD, path, O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0);
}

void cap_bound_close(int fd)
{
    if (!is_kept || fd != cap_own_fds[CAP_OWN_FEATURE].fd) {
        (void)raw_close(fd);
    }
}

/* It stays open, for a program that gives up its user or its root directory: in the place of the
 * descriptor that --mmap-pages needs. With that the file is opened by its name. */
static void keep(int fd)
{
    fd = cap_move_high(fd);
    cap_own_set(CAP_OWN_FEATURE, fd);
    is_kept = true;
}

/* Of this user and whole: nothing else is mapped, since the owner of a file may cut it off. */
static bool is_sound(int fd, const struct wio_bound_header *header)
{
    struct stat st = {0};
    return raw_fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
           st.st_uid == (uid_t)raw_call3(SYS_geteuid, 0, 0, 0) &&
           memcmp(header->magic, WIO_BOUND_MAGIC, sizeof(header->magic)) == 0 &&
           header->version == WIO_BOUND_VERSION && header->places > 0 &&
           header->places <= WIO_BOUND_MAX_BYTES / WIO_CHUNK_BYTES &&
           header->data_offset >= head_bytes(header->places, header->keep) &&
           header->data_offset <= (uint64_t)st.st_size;
}

static void map(int fd)
{
    struct wio_bound_header header;
    if (raw_pread(fd, &header, sizeof(header), 0) != sizeof(header) || !is_sound(fd, &header)) {
        return;
    }
    void *head = raw_mmap(header.data_offset, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (head == NULL) {
        return;
    }
    cap_bound.keep = header.keep;
    cap_bound.max_bytes = header.max_bytes;
    cap_bound.places = header.places;
    cap_bound.states = (uint64_t *)(void *)((uint8_t *)head + WIO_BOUND_HEADER_BYTES);
    cap_bound.has_pids = header.pid_space != 0 && header.pid_space == pid_space();
    cap_bound.header = head;
}

/* What this process has mapped, or was filling, before it executed the program that it is now. The
 * hand has not been at places behind it. */
static void leave_former(void)
{
    const int32_t pid = raw_getpid();
    const uint64_t hand = __atomic_load_n(&cap_bound.header->hand, __ATOMIC_RELAXED);
    const uint64_t used = hand < cap_bound.places ? hand : cap_bound.places;
    for (uint64_t i = 0; cap_bound.has_pids && i < used; i++) {
        uint64_t state = __atomic_load_n(&cap_bound.states[i], __ATOMIC_RELAXED);
        const enum wio_place_kind kind = wio_place_kind(state);
        if ((kind == WIO_PLACE_LIVE || kind == WIO_PLACE_BUSY) && wio_place_pid(state) == pid) {
            const uint64_t left = wio_place_state(
                state, kind == WIO_PLACE_LIVE ? WIO_PLACE_LEFT : WIO_PLACE_FREE, pid);
            (void)__atomic_compare_exchange_n(&cap_bound.states[i], &state, left, false,
                                              __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
        }
    }
}

void cap_bound_configure(void)
{
    read_environment();
    if (cap_bound.keep == WIO_BOUND_NONE) {
        return;
    }
    make_path();
    int fd = cap_bound_open();
    if (fd == -ENOENT) {
        make();
        fd = cap_bound_open();
    }
    if (fd >= 0) {
        map(fd);
    }
    cap_bound.plain_text = cap_bound_keeps_last() ? 0 : CAP_TEXT_MAX + 1;
    if (fd < 0) {
        return;
    }
    if (cap_bound.header == NULL || !cap_bound_keeps_last()) {
        (void)raw_close(fd);
        return;
    }
    leave_former();
    if (cap_env_is_on("WHYIO_MMAP_PAGES")) {
        (void)raw_close(fd);
    } else {
        keep(fd);
    }
}

bool cap_bound_take(void)
{
    if (cap_bound.keep == WIO_BOUND_NONE) {
        return true;
    }
    struct wio_bound_header *header = cap_bound.header;
    return header != NULL && __atomic_load_n(&header->hand, __ATOMIC_RELAXED) < cap_bound.places &&
           __atomic_fetch_add(&header->hand, 1, __ATOMIC_RELAXED) < cap_bound.places;
}

bool cap_bound_take_text(uint64_t bytes)
{
    struct wio_bound_header *header = cap_bound.header;
    return header != NULL &&
           __atomic_load_n(&header->text_bytes, __ATOMIC_RELAXED) < cap_bound.max_bytes &&
           __atomic_fetch_add(&header->text_bytes, bytes, __ATOMIC_RELAXED) + bytes <=
               cap_bound.max_bytes;
}
