/* SPDX-License-Identifier: Apache-2.0 */
/* Each call of the catalogue, and each errno that it may give; R-CAT-1, R-CAT-2. */
#include "support/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "store/catalogue/catalogue.h"
#include "support/store/disk.h"

enum { ROOT = 0, ALICE = 1000, BOB = 1001, USERS = 100, FRIENDS = 200 };

struct place {
    struct disk *disk;
    struct wio_catalogue *catalogue;
    struct wio_catalogue_user user;
};

static const uint32_t friends[] = {FRIENDS};

static struct wio_catalogue_path path(const char *text)
{
    return (struct wio_catalogue_path){text, strlen(text)};
}

static void as(struct place *place, uint32_t uid)
{
    place->user = (struct wio_catalogue_user){uid, USERS, uid == ALICE ? friends : NULL,
                                              uid == ALICE ? 1 : 0, place->user.now_ns + 10};
}

static enum wio_status try_open(struct place *place, bool may_create, struct wio_error *err)
{
    struct wio_catalogue_config config = {.io = disk_io(place->disk),
                                          .may_create = may_create,
                                          .uid = ROOT,
                                          .mode = 0777,
                                          .now_ns = 5};
    return wio_catalogue_open(&config, &place->catalogue, err);
}

static struct place begin(void)
{
    struct place place = {.disk = disk_create(1)};
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(try_open(&place, true, &err), &err);
    as(&place, ALICE);
    return place;
}

static void end(struct place *place)
{
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(wio_catalogue_check(place->catalogue, &err), &err);
    wio_catalogue_close(place->catalogue);
    disk_destroy(place->disk);
}

static int open_as(struct place *place, const char *name, unsigned flags, uint32_t mode,
                   struct wio_store_stat *stat)
{
    struct wio_store_request how = {
        .open_flags = flags, .file_mode = mode, .segments = 4, .stripe_unit = 65536};
    return wio_catalogue_open_file(place->catalogue, &place->user, path(name), &how, stat);
}

static int open_file(struct place *place, const char *name, unsigned flags)
{
    struct wio_store_stat stat;
    return open_as(place, name, flags, 0644, &stat);
}

static int make_file(struct place *place, const char *name)
{
    return open_file(place, name, WIO_STORE_OPEN_CREATE | WIO_STORE_OPEN_EXCL);
}

static int make_dir(struct place *place, const char *name, uint32_t mode)
{
    struct wio_store_stat stat;
    return wio_catalogue_mkdir(place->catalogue, &place->user, path(name), mode, &stat);
}

static int link_to(struct place *place, const char *target, const char *name)
{
    struct wio_store_stat stat;
    return wio_catalogue_symlink(place->catalogue, &place->user, path(target), path(name), &stat);
}

static int unlink_file(struct place *place, const char *name)
{
    struct wio_store_stat stat;
    return wio_catalogue_unlink(place->catalogue, &place->user, path(name), &stat);
}

static int remove_dir(struct place *place, const char *name)
{
    return wio_catalogue_rmdir(place->catalogue, &place->user, path(name));
}

static int move(struct place *place, const char *from, const char *to)
{
    struct wio_store_stat replaced;
    return wio_catalogue_rename(place->catalogue, &place->user, path(from), path(to), &replaced);
}

static int change_mode(struct place *place, const char *name, uint32_t mode)
{
    return wio_catalogue_chmod(place->catalogue, &place->user, path(name), mode);
}

static int change_owner(struct place *place, const char *name, uint32_t uid, uint32_t gid)
{
    return wio_catalogue_chown(place->catalogue, &place->user, path(name), true, uid, gid);
}

static int change_times(struct place *place, const char *name, int64_t atime, int64_t mtime)
{
    return wio_catalogue_utimens(place->catalogue, &place->user, path(name), true, atime, mtime);
}

static int cut(struct place *place, const char *name)
{
    struct wio_store_stat stat;
    return wio_catalogue_truncate(place->catalogue, &place->user, path(name), &stat);
}

static int look(struct place *place, const char *name, struct wio_store_stat *stat)
{
    return wio_catalogue_stat(place->catalogue, &place->user, path(name), true, stat);
}

static struct wio_store_stat stat_of(struct place *place, const char *name)
{
    struct wio_store_stat stat = {0};
    assert_int_equal(look(place, name, &stat), 0);
    return stat;
}

static void a_file_is_made_with_what_was_asked_for(void **state)
{
    struct place place = begin();
    struct wio_store_stat made;
    (void)state;
    assert_int_equal(open_as(&place, "/a", WIO_STORE_OPEN_CREATE, 0640, &made), 0);
    struct wio_store_stat stat = stat_of(&place, "a");
    assert_memory_equal(&stat, &made, sizeof(stat));
    assert_int_equal(stat.mode, S_IFREG | 0640);
    assert_int_equal(stat.uid, ALICE);
    assert_int_equal(stat.gid, USERS);
    assert_int_equal(stat.segments, 4);
    assert_int_equal(stat.stripe_unit, 65536);
    assert_int_equal(stat.generation, 1);
    assert_int_equal(stat.links, 1);
    assert_int_equal(stat.mtime_ns, place.user.now_ns);
    assert_int_equal(stat_of(&place, "/").mtime_ns, place.user.now_ns);
    end(&place);
}

static void open_of_a_file(void **state)
{
    struct place place = begin();
    struct wio_store_stat stat;
    struct wio_store_request none = {.open_flags = WIO_STORE_OPEN_CREATE};
    (void)state;
    assert_int_equal(open_file(&place, "/a", WIO_STORE_OPEN_READ), ENOENT);
    assert_int_equal(
        wio_catalogue_open_file(place.catalogue, &place.user, path("/a"), &none, &stat), EINVAL);
    assert_int_equal(make_file(&place, "/a"), 0);
    assert_int_equal(make_file(&place, "/a"), EEXIST);
    assert_int_equal(open_file(&place, "/a", WIO_STORE_OPEN_CREATE | WIO_STORE_OPEN_WRITE), 0);
    assert_int_equal(open_file(&place, "/a/", WIO_STORE_OPEN_READ), ENOTDIR);
    assert_int_equal(open_file(&place, "/b/", WIO_STORE_OPEN_CREATE), EISDIR);
    assert_int_equal(open_file(&place, "/a/b", WIO_STORE_OPEN_CREATE), ENOTDIR);
    assert_int_equal(open_file(&place, "/x/b", WIO_STORE_OPEN_CREATE), ENOENT);
    assert_int_equal(make_dir(&place, "/d", 0755), 0);
    assert_int_equal(open_file(&place, "/d", WIO_STORE_OPEN_WRITE), EISDIR);
    assert_int_equal(open_file(&place, "/d", WIO_STORE_OPEN_CREATE), EISDIR);
    assert_int_equal(open_file(&place, "/d", WIO_STORE_OPEN_READ), 0);
    as(&place, BOB);
    assert_int_equal(open_file(&place, "/a", WIO_STORE_OPEN_READ), 0);
    assert_int_equal(open_file(&place, "/a", WIO_STORE_OPEN_WRITE), EACCES);
    assert_int_equal(open_file(&place, "/a", WIO_STORE_OPEN_TRUNC), EACCES);
    assert_int_equal(make_file(&place, "/d/b"), EACCES);
    as(&place, ROOT);
    assert_int_equal(open_file(&place, "/a", WIO_STORE_OPEN_WRITE), 0);
    end(&place);
}

static void truncation_raises_the_generation(void **state)
{
    struct place place = begin();
    (void)state;
    assert_int_equal(make_file(&place, "/a"), 0);
    assert_int_equal(open_file(&place, "/a", WIO_STORE_OPEN_TRUNC), 0);
    assert_int_equal(stat_of(&place, "/a").generation, 2);
    assert_int_equal(cut(&place, "/a"), 0);
    assert_int_equal(stat_of(&place, "/a").generation, 3);
    assert_int_equal(cut(&place, "/"), EISDIR);
    assert_int_equal(cut(&place, "/b"), ENOENT);
    as(&place, BOB);
    assert_int_equal(cut(&place, "/a"), EACCES);
    assert_int_equal(stat_of(&place, "/a").generation, 3);
    end(&place);
}

static void paths_that_lead_nowhere(void **state)
{
    struct place place = begin();
    struct wio_store_stat stat;
    char name[4097];
    (void)state;
    memset(name, 'n', sizeof(name));
    assert_int_equal(look(&place, "", &stat), ENOENT);
    name[256] = '\0';
    assert_int_equal(look(&place, name, &stat), ENAMETOOLONG);
    name[255] = '\0';
    assert_int_equal(make_file(&place, name), 0);
    for (size_t i = 0; i < sizeof(name) - 1; i++) {
        name[i] = i % 2 == 0 ? '/' : '.';
    }
    name[4096] = '\0';
    assert_int_equal(look(&place, name, &stat), ENAMETOOLONG);
    name[4095] = '\0';
    assert_int_equal(look(&place, name, &stat), 0);
    assert_int_equal(wio_catalogue_stat(place.catalogue, &place.user,
                                        (struct wio_catalogue_path){"a\0b", 3}, true, &stat),
                     EINVAL);
    assert_int_equal(make_dir(&place, "/d", 0700), 0);
    assert_int_equal(make_file(&place, "/d/f"), 0);
    assert_int_equal(look(&place, "//d/./../d//f", &stat), 0);
    assert_int_equal(look(&place, "/../..", &stat), 0);
    assert_int_equal(look(&place, "/d/f/", &stat), ENOTDIR);
    assert_int_equal(look(&place, "/d/f/.", &stat), ENOTDIR);
    as(&place, BOB);
    assert_int_equal(look(&place, "/d", &stat), 0);
    assert_int_equal(look(&place, "/d/f", &stat), EACCES);
    end(&place);
}

static void symbolic_links(void **state)
{
    struct place place = begin();
    struct wio_store_stat stat;
    char text[64];
    char target[4097];
    size_t got = 0;
    (void)state;
    assert_int_equal(make_dir(&place, "/d", 0755), 0);
    assert_int_equal(make_file(&place, "/d/f"), 0);
    assert_int_equal(link_to(&place, "d", "/l"), 0);
    assert_int_equal(link_to(&place, "/l/f", "/d/m"), 0);
    assert_int_equal(link_to(&place, "d", "/l"), EEXIST);
    assert_int_equal(link_to(&place, "", "/e"), ENOENT);
    assert_int_equal(link_to(&place, "x", "/n/"), ENOENT);
    memset(target, 'x', sizeof(target));
    target[4096] = '\0';
    assert_int_equal(link_to(&place, target, "/e"), ENAMETOOLONG);
    assert_int_equal(stat_of(&place, "/l/m").file, stat_of(&place, "/d/f").file);
    assert_int_equal(wio_catalogue_stat(place.catalogue, &place.user, path("/l"), false, &stat), 0);
    assert_true(S_ISLNK(stat.mode));
    assert_int_equal(wio_catalogue_readlink(place.catalogue, &place.user, path("/d/m"), text,
                                            sizeof(text), &got),
                     0);
    assert_int_equal(got, 4);
    assert_memory_equal(text, "/l/f", 4);
    assert_int_equal(wio_catalogue_readlink(place.catalogue, &place.user, path("/d/f"), text,
                                            sizeof(text), &got),
                     EINVAL);
    assert_int_equal(link_to(&place, "around", "/around"), 0);
    assert_int_equal(look(&place, "/around", &stat), ELOOP);
    assert_int_equal(link_to(&place, "/d/new", "/dangling"), 0);
    assert_int_equal(look(&place, "/dangling", &stat), ENOENT);
    assert_int_equal(make_file(&place, "/dangling"), EEXIST);
    assert_int_equal(open_file(&place, "/dangling", WIO_STORE_OPEN_CREATE), 0);
    assert_int_equal(look(&place, "/d/new", &stat), 0);
    assert_int_equal(unlink_file(&place, "/l"), 0);
    assert_int_equal(look(&place, "/d/f", &stat), 0);
    end(&place);
}

static void directories(void **state)
{
    struct place place = begin();
    (void)state;
    assert_int_equal(make_dir(&place, "/d", 0755), 0);
    assert_int_equal(make_dir(&place, "/d/e/", 0755), 0);
    assert_int_equal(stat_of(&place, "/d").links, 3);
    assert_int_equal(make_dir(&place, "/d", 0755), EEXIST);
    assert_int_equal(make_dir(&place, "/", 0755), EEXIST);
    assert_int_equal(make_dir(&place, "/d/.", 0755), EEXIST);
    assert_int_equal(make_dir(&place, "/x/y", 0755), ENOENT);
    assert_int_equal(make_file(&place, "/f"), 0);
    assert_int_equal(make_dir(&place, "/f/y", 0755), ENOTDIR);
    assert_int_equal(remove_dir(&place, "/d"), ENOTEMPTY);
    assert_int_equal(remove_dir(&place, "/f"), ENOTDIR);
    assert_int_equal(remove_dir(&place, "/"), EBUSY);
    assert_int_equal(remove_dir(&place, "/d/e/."), EINVAL);
    assert_int_equal(remove_dir(&place, "/d/e/.."), ENOTEMPTY);
    assert_int_equal(remove_dir(&place, "/x"), ENOENT);
    assert_int_equal(unlink_file(&place, "/d/e"), EISDIR);
    as(&place, BOB);
    assert_int_equal(remove_dir(&place, "/d/e"), EACCES);
    assert_int_equal(make_dir(&place, "/d/g", 0755), EACCES);
    as(&place, ALICE);
    assert_int_equal(remove_dir(&place, "/d/e/"), 0);
    assert_int_equal(remove_dir(&place, "/d"), 0);
    end(&place);
}

static void unlinking(void **state)
{
    struct place place = begin();
    struct wio_store_stat gone;
    (void)state;
    assert_int_equal(make_file(&place, "/f"), 0);
    uint64_t file = stat_of(&place, "/f").file;
    assert_int_equal(unlink_file(&place, "/g"), ENOENT);
    assert_int_equal(unlink_file(&place, "/f/"), ENOTDIR);
    assert_int_equal(unlink_file(&place, "/"), EISDIR);
    assert_int_equal(wio_catalogue_unlink(place.catalogue, &place.user, path("/f"), &gone), 0);
    assert_int_equal(gone.file, file);
    assert_int_equal(gone.links, 0);
    assert_int_equal(unlink_file(&place, "/f"), ENOENT);
    assert_int_equal(make_file(&place, "/f"), 0); /* numbers are never used again: R-DATA-1 */
    assert_true(stat_of(&place, "/f").file > file);
    end(&place);
}

static void the_sticky_bit_keeps_entries_of_others(void **state)
{
    struct place place = begin();
    (void)state;
    as(&place, ROOT);
    assert_int_equal(make_dir(&place, "/tmp", 01777), 0);
    as(&place, ALICE);
    assert_int_equal(make_file(&place, "/tmp/a"), 0);
    assert_int_equal(make_dir(&place, "/tmp/d", 0777), 0);
    as(&place, BOB);
    assert_int_equal(unlink_file(&place, "/tmp/a"), EPERM);
    assert_int_equal(remove_dir(&place, "/tmp/d"), EPERM);
    assert_int_equal(move(&place, "/tmp/a", "/tmp/b"), EPERM);
    assert_int_equal(make_file(&place, "/tmp/b"), 0);
    assert_int_equal(move(&place, "/tmp/b", "/tmp/a"), EPERM);
    assert_int_equal(unlink_file(&place, "/tmp/b"), 0);
    as(&place, ROOT);
    assert_int_equal(unlink_file(&place, "/tmp/a"), 0);
    end(&place);
}

static void renaming(void **state)
{
    struct place place = begin();
    struct wio_store_stat replaced;
    struct wio_store_stat stat;
    (void)state;
    assert_int_equal(make_file(&place, "/a"), 0);
    assert_int_equal(make_file(&place, "/b"), 0);
    uint64_t a = stat_of(&place, "/a").file;
    uint64_t b = stat_of(&place, "/b").file;
    assert_int_equal(
        wio_catalogue_rename(place.catalogue, &place.user, path("/a"), path("/b"), &replaced), 0);
    assert_int_equal(replaced.file, b);
    assert_int_equal(stat_of(&place, "/b").file, a);
    assert_int_equal(look(&place, "/a", &stat), ENOENT);
    assert_int_equal(
        wio_catalogue_rename(place.catalogue, &place.user, path("/b"), path("/b"), &replaced), 0);
    assert_int_equal(replaced.file, 0);
    assert_int_equal(make_dir(&place, "/d", 0755), 0);
    assert_int_equal(make_dir(&place, "/d/e", 0755), 0);
    assert_int_equal(make_dir(&place, "/empty", 0755), 0);
    assert_int_equal(move(&place, "/x", "/y"), ENOENT);
    assert_int_equal(move(&place, "/b", "/x/y"), ENOENT);
    assert_int_equal(move(&place, "/b", "/d"), EISDIR);
    assert_int_equal(move(&place, "/d", "/b"), ENOTDIR);
    assert_int_equal(move(&place, "/b", "/new/"), ENOTDIR);
    assert_int_equal(move(&place, "/b/", "/new"), ENOTDIR);
    assert_int_equal(move(&place, "/empty", "/d"), ENOTEMPTY);
    assert_int_equal(move(&place, "/d", "/d/e/f"), EINVAL);
    assert_int_equal(move(&place, "/d", "/d/f"), EINVAL);
    assert_int_equal(move(&place, "/d/e", "/d"), ENOTEMPTY);
    assert_int_equal(move(&place, "/", "/z"), EBUSY);
    assert_int_equal(move(&place, "/d/.", "/z"), EBUSY);
    assert_int_equal(move(&place, "/b", "/d/.."), EBUSY);
    assert_int_equal(move(&place, "/d", "/empty"), 0);
    assert_int_equal(look(&place, "/empty/e/..", &stat), 0);
    assert_int_equal(move(&place, "/empty/e", "/e"), 0);
    assert_int_equal(stat_of(&place, "/e/..").file, 1);
    end(&place);
}

static void renaming_needs_both_directories(void **state)
{
    struct place place = begin();
    (void)state;
    assert_int_equal(make_dir(&place, "/mine", 0755), 0);
    assert_int_equal(make_file(&place, "/mine/f"), 0);
    assert_int_equal(make_dir(&place, "/all", 0777), 0);
    assert_int_equal(make_dir(&place, "/all/closed", 0555), 0);
    assert_int_equal(move(&place, "/all/closed", "/all/shut"), 0); /* its ".." stays */
    assert_int_equal(move(&place, "/all/shut", "/shut"), EACCES);
    as(&place, BOB);
    assert_int_equal(make_file(&place, "/all/g"), 0);
    assert_int_equal(move(&place, "/mine/f", "/all/f"), EACCES);
    assert_int_equal(move(&place, "/all/g", "/mine/g"), EACCES);
    assert_int_equal(move(&place, "/all/g", "/mine/f"), EACCES);
    end(&place);
}

static void modes(void **state)
{
    struct place place = begin();
    (void)state;
    assert_int_equal(make_file(&place, "/f"), 0);
    assert_int_equal(change_mode(&place, "/f", 02750), 0);
    assert_int_equal(stat_of(&place, "/f").mode, S_IFREG | 02750);
    assert_int_equal(change_mode(&place, "/g", 0), ENOENT);
    as(&place, ROOT);
    assert_int_equal(change_owner(&place, "/f", ALICE, 4711), 0);
    as(&place, ALICE);
    assert_int_equal(change_mode(&place, "/f", 02755), 0);
    assert_int_equal(stat_of(&place, "/f").mode, S_IFREG | 0755); /* not in group 4711 */
    as(&place, BOB);
    assert_int_equal(change_mode(&place, "/f", 0777), EPERM);
    end(&place);
}

/* The first class that fits decides: an owner without the right has it not by "others". */
static void the_first_class_decides(void **state)
{
    struct place place = begin();
    (void)state;
    assert_int_equal(make_file(&place, "/f"), 0);
    assert_int_equal(change_owner(&place, "/f", UINT32_MAX, FRIENDS), 0);
    assert_int_equal(change_mode(&place, "/f", 0077), 0);
    assert_int_equal(open_file(&place, "/f", WIO_STORE_OPEN_READ), EACCES);
    as(&place, BOB);
    assert_int_equal(open_file(&place, "/f", WIO_STORE_OPEN_READ), 0);
    as(&place, ROOT);
    assert_int_equal(change_owner(&place, "/f", 5, FRIENDS), 0);
    assert_int_equal(change_mode(&place, "/f", 0707), 0);
    as(&place, ALICE); /* of FRIENDS by the list of groups */
    assert_int_equal(open_file(&place, "/f", WIO_STORE_OPEN_READ), EACCES);
    end(&place);
}

static void owners(void **state)
{
    struct place place = begin();
    (void)state;
    assert_int_equal(make_file(&place, "/f"), 0);
    assert_int_equal(change_mode(&place, "/f", 06755), 0);
    assert_int_equal(change_owner(&place, "/f", ALICE, FRIENDS), 0);
    assert_int_equal(stat_of(&place, "/f").gid, FRIENDS);
    assert_int_equal(stat_of(&place, "/f").mode, S_IFREG | 0755);
    assert_int_equal(change_owner(&place, "/f", UINT32_MAX, 4711), EPERM);
    assert_int_equal(change_owner(&place, "/f", BOB, UINT32_MAX), EPERM);
    assert_int_equal(change_owner(&place, "/g", ALICE, FRIENDS), ENOENT);
    as(&place, BOB);
    assert_int_equal(change_owner(&place, "/f", UINT32_MAX, USERS), EPERM);
    as(&place, ROOT);
    assert_int_equal(change_owner(&place, "/f", BOB, 4711), 0);
    assert_int_equal(stat_of(&place, "/f").uid, BOB);
    end(&place);
}

static void a_directory_with_the_group_bit_gives_its_group(void **state)
{
    struct place place = begin();
    struct wio_store_stat stat;
    (void)state;
    assert_int_equal(make_dir(&place, "/d", 0777), 0);
    assert_int_equal(change_owner(&place, "/d", UINT32_MAX, FRIENDS), 0);
    assert_int_equal(change_mode(&place, "/d", 02777), 0);
    as(&place, BOB);
    assert_int_equal(open_as(&place, "/d/f", WIO_STORE_OPEN_CREATE, 0600, &stat), 0);
    assert_int_equal(stat.gid, FRIENDS);
    assert_int_equal(make_dir(&place, "/d/e", 0700), 0);
    assert_int_equal(stat_of(&place, "/d/e").mode, S_IFDIR | 02700);
    end(&place);
}

static void times(void **state)
{
    struct place place = begin();
    (void)state;
    assert_int_equal(make_file(&place, "/f"), 0);
    assert_int_equal(change_times(&place, "/f", 111, WIO_STORE_TIME_OMIT), 0);
    struct wio_store_stat stat = stat_of(&place, "/f");
    assert_int_equal(stat.atime_ns, 111);
    assert_true(stat.mtime_ns != 111);
    assert_int_equal(change_times(&place, "/g", 1, 1), ENOENT);
    as(&place, BOB);
    assert_int_equal(change_times(&place, "/f", 5, 5), EPERM);
    assert_int_equal(change_times(&place, "/f", WIO_STORE_TIME_NOW, WIO_STORE_TIME_NOW), EACCES);
    assert_int_equal(change_times(&place, "/f", WIO_STORE_TIME_OMIT, WIO_STORE_TIME_OMIT), 0);
    as(&place, ALICE);
    assert_int_equal(change_mode(&place, "/f", 0666), 0);
    as(&place, BOB);
    assert_int_equal(change_times(&place, "/f", WIO_STORE_TIME_NOW, WIO_STORE_TIME_NOW), 0);
    assert_int_equal(stat_of(&place, "/f").mtime_ns, place.user.now_ns);
    assert_int_equal(change_times(&place, "/f", WIO_STORE_TIME_NOW, 5), EPERM);
    end(&place);
}

struct listed {
    char names[256];
    unsigned count;
    unsigned most;
    uint64_t cookie;
};

static bool note(void *context, const char *name, size_t size, const struct wio_store_stat *stat,
                 uint64_t cookie)
{
    struct listed *listed = context;
    assert_int_not_equal(stat->file, 0);
    size_t used = strlen(listed->names);
    (void)snprintf(listed->names + used, sizeof(listed->names) - used, "%.*s ", (int)size, name);
    listed->cookie = cookie;
    return ++listed->count < listed->most;
}

static int list(struct place *place, const char *name, uint64_t cookie, struct listed *listed)
{
    return wio_catalogue_list(place->catalogue, &place->user, path(name), cookie, note, listed);
}

static void listing(void **state)
{
    struct place place = begin();
    struct listed all = {.most = 100};
    struct listed some = {.most = 2};
    (void)state;
    assert_int_equal(make_dir(&place, "/d", 0700), 0);
    assert_int_equal(make_file(&place, "/d/c"), 0);
    assert_int_equal(make_file(&place, "/d/a"), 0);
    assert_int_equal(make_file(&place, "/d/b"), 0);
    assert_int_equal(make_file(&place, "/other"), 0);
    assert_int_equal(list(&place, "/d", 0, &all), 0);
    assert_string_equal(all.names, "c a b ");
    assert_int_equal(list(&place, "/d", 0, &some), 0);
    assert_int_equal(unlink_file(&place, "/d/a"), 0); /* goes on all the same */
    assert_int_equal(list(&place, "/d", some.cookie, &some), 0);
    assert_string_equal(some.names, "c a b ");
    assert_int_equal(list(&place, "/d/c", 0, &all), ENOTDIR);
    assert_int_equal(list(&place, "/x", 0, &all), ENOENT);
    as(&place, BOB);
    assert_int_equal(list(&place, "/d", 0, &all), EACCES);
    end(&place);
}

/* R-CAT-2: after a crash each call that returned has been done, and is there as a whole. */
static void what_returned_survives_a_crash(void **state)
{
    struct place place = begin();
    (void)state;
    size_t begun = disk_events(place.disk);
    static const char *const names[] = {"/a", "/b", "/c", "/d", "/e", "/f"};
    for (unsigned i = 0; i < 6; i++) {
        assert_int_equal(make_file(&place, names[i]), 0);
        assert_int_equal(move(&place, names[i], "/last"), 0);
        disk_note(place.disk, i + 1);
    }
    for (size_t at = begun; at <= disk_events(place.disk); at++) {
        struct place after = {.disk = disk_crash(place.disk, at, at, (enum disk_tear)(at % 4))};
        struct wio_error err = WIO_ERROR_INIT;
        struct wio_store_stat stat;
        unsigned noted = (unsigned)disk_noted(place.disk, at);
        assert_ok(try_open(&after, false, &err), &err);
        as(&after, ALICE);
        if (noted > 0) {
            assert_true(stat_of(&after, "/last").file >= 1 + noted);
            assert_int_equal(look(&after, names[noted - 1], &stat), ENOENT);
        }
        end(&after);
    }
    end(&place);
}

static void the_disk_is_full_or_fails(void **state)
{
    struct place place = begin();
    char name[300];
    int result = 0;
    (void)state;
    disk_limit(place.disk, 200 << 10);
    for (unsigned i = 0; result == 0 && i < 2000; i++) {
        (void)snprintf(name, sizeof(name), "/%0200u", i);
        result = make_file(&place, name);
    }
    assert_int_equal(result, ENOSPC);
    disk_limit(place.disk, 0);
    assert_int_equal(make_file(&place, "/more"), 0);
    disk_set_fault(place.disk, (struct disk_fault){.at = 1, .sys_errno = EIO});
    assert_int_equal(make_file(&place, "/broken"), EIO);
    assert_int_equal(make_file(&place, "/after"), EIO); /* until it is opened again */
    wio_catalogue_close(place.catalogue);
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(try_open(&place, false, &err), &err);
    assert_int_equal(make_file(&place, "/after"), 0);
    end(&place);
}

static void what_is_no_catalogue_is_refused(void **state)
{
    struct place place = {.disk = disk_create(1)};
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_io *io = disk_io(place.disk);
    struct wio_io_file *file = NULL;
    char text[8192];
    struct wio_io_bytes part = {text, sizeof(text)};
    (void)state;
    assert_true(try_open(&place, false, &err) != WIO_OK);
    memset(text, 'x', sizeof(text));
    assert_ok(io->ops->file_open(io, WIO_CATALOGUE_NAME, WIO_IO_CREATE, &file, &err), &err);
    assert_ok(io->ops->file_write(file, 0, &part, 1, &err), &err);
    io->ops->file_close(file);
    assert_status(try_open(&place, true, &err), WIO_ERR_FORMAT, &err);
    assert_string_equal(err.file, WIO_CATALOGUE_NAME);
    disk_destroy(place.disk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_made_with_what_was_asked_for),
        cmocka_unit_test(open_of_a_file),
        cmocka_unit_test(truncation_raises_the_generation),
        cmocka_unit_test(paths_that_lead_nowhere),
        cmocka_unit_test(symbolic_links),
        cmocka_unit_test(directories),
        cmocka_unit_test(unlinking),
        cmocka_unit_test(the_sticky_bit_keeps_entries_of_others),
        cmocka_unit_test(renaming),
        cmocka_unit_test(renaming_needs_both_directories),
        cmocka_unit_test(modes),
        cmocka_unit_test(the_first_class_decides),
        cmocka_unit_test(owners),
        cmocka_unit_test(a_directory_with_the_group_bit_gives_its_group),
        cmocka_unit_test(times),
        cmocka_unit_test(listing),
        cmocka_unit_test(what_returned_survives_a_crash),
        cmocka_unit_test(the_disk_is_full_or_fails),
        cmocka_unit_test(what_is_no_catalogue_is_refused),
    };
    return WIO_RUN(tests);
}
