/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every system call that libc's streams make, seen where they make it.
 *
 * Each FILE points to a table of functions (struct _IO_jump_t); its last entries read, write, seek,
 * close and stat the descriptor, and all of libc's stdio - also getc_unlocked when its buffer is
 * empty, dprintf, and the flush at exit - goes through them. glibc checks that a FILE points to one
 * of its own tables, so a FILE cannot get another one, but the tables themselves are ordinary
 * memory that the loader made read-only: the entries are exchanged in place, once, before main.
 * Nothing is derived or guessed this way, and each event has its own times.
 *
 * Which words of libc are such entries is not assumed: they are five neighbouring pointers to the
 * functions that libc exports as _IO_file_read, _write, _seek, _close and _stat. A libc where they
 * are not found stays as it is, and the streams' system calls are counted as unseen.
 *
 * What still goes past: open (fopen calls it directly: stdio_open.c adds the event) and the dup3
 * and close with which freopen moves its new file to the old descriptor.
 */
#include "capture/stdio_hooks.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/raw.h"
#include "capture/stdio_call.h"

typedef ssize_t read_fn(FILE *stream, void *buf, ssize_t size);
typedef ssize_t write_fn(FILE *stream, const void *buf, ssize_t size);
typedef off64_t seek_fn(FILE *stream, off64_t offset, int whence);
typedef int close_fn(FILE *stream);
typedef int stat_fn(FILE *stream, void *st);
typedef ssize_t write_call_fn(int fd, const void *buf, size_t size);

/* Entries of a table, in glibc's order. */
enum { READ, WRITE, SEEK, CLOSE, STAT, ENTRIES };
/* glibc has seven tables for files and pipes. */
#define TABLES_MAX 16
/* Words from the begin of a table to its first entry here (struct _IO_jump_t: read is the 15th). */
#define WORDS_BEFORE 14

#define FLAGS2_NOT_CANCEL 2 /* _IO_FLAGS2_NOTCANCEL: mode letter 'c' */

struct table {
    const void *begin;    /* what FILE.vtable points to */
    close_fn *real_close; /* pipes wait for their child here, mapped files unmap */
};

static struct {
    read_fn *read;
    write_fn *write;
    seek_fn *seek;
    stat_fn *stat;
    close_fn *close;
    write_call_fn *write_call;
    struct table tables[TABLES_MAX];
    unsigned table_count;
} libc;

bool cap_stdio_has_hooks;

struct hooked {
    struct cap_thread *self;
    struct cap_event ev;
};

static bool hook_begin(struct hooked *hooked, unsigned call, int fd, uintptr_t caller)
{
    uintptr_t source = cap_stdio.source != 0 ? cap_stdio.source : caller;
    hooked->self = cap_enter_fd(source, call, fd);
    if (hooked->self == NULL) {
        return false;
    }
    hooked->ev = CAP_EVENT_OF(call, source);
    hooked->ev.fd = fd;
    hooked->ev.path = cap_fd_path(hooked->self, fd);
    hooked->ev.flags = WIO_EVENT_CAUSED;
    hooked->ev.begin = cap_now();
    return true;
}

/* errno is the system call's own here. */
static void hook_account(struct hooked *hooked, int64_t result)
{
    struct cap_stdio *stdio = &cap_stdio;
    stdio->caused++;
    hooked->ev.result = result;
    if (result < 0) {
        stdio->failed++;
        stdio->error = errno;
        hooked->ev.error = errno;
    }
}

static void hook_stamp(struct hooked *hooked)
{
    hooked->ev.end = cap_now();
    cap_stdio.last_end = hooked->ev.end;
}

static ssize_t hook_read(FILE *stream, void *buf, ssize_t size)
{
    struct hooked hooked;
    int fd = cap_stream_fd(stream);
    bool is_seen = hook_begin(&hooked, WIO_CALL_read, fd, CAP_CALLER());
    ssize_t result = libc.read(stream, buf, size);
    hook_account(&hooked, result);
    if (result > 0) {
        cap_stdio.read_bytes += result;
    }
    if (is_seen) {
        hook_stamp(&hooked);
        hooked.ev.size = (uint64_t)size;
        hooked.ev.offset = cap_fd_advance(fd, result);
        cap_emit(hooked.self, &hooked.ev);
    }
    return result;
}

static ssize_t write_once(FILE *stream, const char *buf, ssize_t size, uintptr_t caller)
{
    struct hooked hooked;
    int fd = cap_stream_fd(stream);
    bool is_seen = hook_begin(&hooked, WIO_CALL_write, fd, caller);
    ssize_t result = (stream->_flags2 & FLAGS2_NOT_CANCEL) != 0
                         ? libc.write(stream, buf, size)
                         : libc.write_call(fd, buf, (size_t)size);
    hook_account(&hooked, result);
    if (result > 0) {
        cap_stdio.written_bytes += result;
    }
    if (is_seen) {
        hook_stamp(&hooked);
        hooked.ev.size = (uint64_t)size;
        hooked.ev.offset = cap_fd_advance(fd, result);
        cap_emit(hooked.self, &hooked.ev);
    }
    return result;
}

/*
 * libc's own function writes until all is written and tells only the sum. So that each write(2) is
 * an event of its own its loop is done here, with its two side effects: the error flag of the
 * stream, and its cached offset.
 */
static ssize_t hook_write(FILE *stream, const void *buf, ssize_t size)
{
    const uintptr_t caller = CAP_CALLER();
    const char *from = buf;
    ssize_t left = size;
    if ((stream->_flags2 & FLAGS2_NOT_CANCEL) != 0) {
        return write_once(stream, from, size, caller);
    }
    while (left > 0) {
        ssize_t done = write_once(stream, from, left, caller);
        if (done < 0) {
            stream->_flags |= CAP_STREAM_ERROR;
            break;
        }
        left -= done;
        from += done;
    }
    if (stream->_offset >= 0) {
        stream->_offset += size - left;
    }
    return size - left;
}

static off64_t hook_seek(FILE *stream, off64_t offset, int whence)
{
    struct hooked hooked;
    int fd = cap_stream_fd(stream);
    cap_stdio_name_opening(fd);
    bool is_seen = hook_begin(&hooked, WIO_CALL_lseek, fd, CAP_CALLER());
    off64_t result = libc.seek(stream, offset, whence);
    hook_account(&hooked, result);
    if (result >= 0) {
        cap_fd_seek(fd, result);
    }
    if (is_seen) {
        struct cap_ext ext = CAP_EXT;
        hook_stamp(&hooked);
        hooked.ev.offset = offset;
        ext.arg[0] = whence;
        cap_emit_ext(hooked.self, &hooked.ev, &ext);
    }
    return result;
}

static close_fn *real_close_of(const FILE *stream)
{
    /* FILE is followed by the pointer to its table (struct _IO_FILE_plus). */
    const void *begin = *(const void *const *)(const void *)(stream + 1);
    for (unsigned i = 0; i < libc.table_count; i++) {
        if (libc.tables[i].begin == begin) {
            return libc.tables[i].real_close;
        }
    }
    return libc.close;
}

static int hook_close(FILE *stream)
{
    struct hooked hooked;
    int fd = cap_stream_fd(stream);
    if (cap_fd_is_ours(fd)) {
        errno = EBADF;
        return -1;
    }
    bool is_seen = hook_begin(&hooked, WIO_CALL_close, fd, CAP_CALLER());
    cap_fd_clear(fd);
    int result = real_close_of(stream)(stream);
    hook_account(&hooked, result);
    if (is_seen) {
        hook_stamp(&hooked);
        if (result > 0) {
            hooked.ev.result = 0; /* pclose: the child's status, not close's */
        }
        cap_emit(hooked.self, &hooked.ev);
    }
    return result;
}

static int hook_stat(FILE *stream, void *buf)
{
    struct hooked hooked;
    const struct stat *st = buf;
    int fd = cap_stream_fd(stream);
    bool is_seen = hook_begin(&hooked, WIO_CALL_fstat, fd, CAP_CALLER());
    int result = libc.stat(stream, buf);
    hook_account(&hooked, result);
    if (is_seen) {
        struct cap_ext ext = CAP_EXT;
        hook_stamp(&hooked);
        if (result == 0) {
            ext.arg[1] = st->st_mode;
            ext.arg[2] = st->st_size;
            ext.arg[3] = (int64_t)st->st_nlink;
        }
        cap_emit_ext(hooked.self, &hooked.ev, &ext);
    }
    return result;
}

/* ---- putting the hooks in place ------------------------------------------------------------- */

struct region {
    uintptr_t address; /* in: an address in libc */
    uintptr_t lo;      /* out: what the loader made read-only after relocation */
    uintptr_t hi;
};

static int find_region(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct region *region = arg;
    bool is_it = false;
    (void)size;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_LOAD && region->address - begin < part->p_memsz) {
            is_it = true;
        }
        if (part->p_type == PT_GNU_RELRO) {
            region->lo = begin;
            region->hi = begin + part->p_memsz;
        }
    }
    if (!is_it) {
        region->lo = 0;
        region->hi = 0;
    }
    return is_it;
}

static bool is_entry_group(const uintptr_t *word)
{
    return word[READ] == (uintptr_t)libc.read && word[WRITE] == (uintptr_t)libc.write &&
           word[SEEK] == (uintptr_t)libc.seek && word[STAT] == (uintptr_t)libc.stat;
}

static void exchange(uintptr_t *word)
{
    struct table *table = &libc.tables[libc.table_count++];
    table->begin = word - WORDS_BEFORE;
    table->real_close = (close_fn *)word[CLOSE];
    word[READ] = (uintptr_t)hook_read;
    word[WRITE] = (uintptr_t)hook_write;
    word[SEEK] = (uintptr_t)hook_seek;
    word[CLOSE] = (uintptr_t)hook_close;
    word[STAT] = (uintptr_t)hook_stat;
}

static void exchange_all(const struct region *region)
{
    const uintptr_t *end = (const uintptr_t *)region->hi - ENTRIES;
    uintptr_t *word = (uintptr_t *)((region->lo + sizeof(*word) - 1) & ~(sizeof(*word) - 1));
    while (word <= end && libc.table_count < TABLES_MAX) {
        if (is_entry_group(word)) {
            exchange(word);
            word += ENTRIES;
        } else {
            word++;
        }
    }
}

static uintptr_t find(const char *name)
{
    return (uintptr_t)dlsym(RTLD_NEXT, name);
}

static bool find_functions(void)
{
    libc.read = (read_fn *)find("_IO_file_read");
    libc.write = (write_fn *)find("_IO_file_write");
    libc.seek = (seek_fn *)find("_IO_file_seek");
    libc.close = (close_fn *)find("_IO_file_close");
    libc.stat = (stat_fn *)find("_IO_file_stat");
    /* Not "write": another preloaded library may define that, and must not see this one. */
    libc.write_call = (write_call_fn *)find("__write");
    return libc.read != NULL && libc.write != NULL && libc.seek != NULL && libc.close != NULL &&
           libc.stat != NULL && libc.write_call != NULL;
}

static void install(void)
{
    struct region region = {0};
    if (!find_functions()) {
        return;
    }
    region.address = (uintptr_t)libc.read;
    if (dl_iterate_phdr(find_region, &region) == 0 || region.lo == 0) {
        return;
    }
    /* The loader protects whole pages: the last, partial one stays writable (_dl_protect_relro). */
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = region.lo & ~(page - 1);
    size_t bytes = (region.hi & ~(page - 1)) - begin;
    if (mprotect((void *)begin, bytes, PROT_READ | PROT_WRITE) != 0) {
        return;
    }
    exchange_all(&region);
    (void)mprotect((void *)begin, bytes, PROT_READ);
    cap_stdio_has_hooks = libc.table_count > 0;
}

void cap_stdio_install(void)
{
    static bool was_tried;
    if (was_tried) {
        return;
    }
    was_tried = true;
    install();
    if (!cap_stdio_has_hooks) {
        cap_unseen(WIO_UNSEEN_HIDDEN_STDIO);
    }
}
