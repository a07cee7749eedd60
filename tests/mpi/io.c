/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each function of MPI-IO on a file of its own: what io_test.py compares with the system calls that
 * strace has seen.
 *
 * io DIRECTORY [CASE...]    all cases where none is named; runs in DIRECTORY
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef LARGE
#define BIG(name) MPI_##name##_c
#else
#define BIG(name) MPI_##name
#endif

#define BYTES 3000 /* no multiple of a page */
#define PIECE 100
#define PIECES 30

static int rank;
static int ranks;
static char block[BYTES];
static char found[BYTES];
static const char *name; /* of the case, which is the file's */

static void must(int result, const char *what)
{
    if (result != MPI_SUCCESS) {
        char text[MPI_MAX_ERROR_STRING];
        int length = 0;
        MPI_Error_string(result, text, &length);
        fprintf(stderr, "rank %d: %s: %s: %.*s\n", rank, name, what, length, text);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

#define DO(call) must(call, #call)

static void check(const char *what)
{
    if (memcmp(block, found, BYTES) != 0) {
        fprintf(stderr, "rank %d: %s: %s: other bytes\n", rank, name, what);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    memset(found, 0, sizeof(found));
}

static MPI_File open_with(MPI_Info info)
{
    MPI_File file;
    DO(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file));
    MPI_Barrier(MPI_COMM_WORLD); /* OMPIO looks at the file on its way out, when others may write */
    return file;
}

static MPI_File open_it(void)
{
    return open_with(MPI_INFO_NULL);
}

/* The others have written, and it is to be seen. */
static void meet(MPI_File file)
{
    DO(MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
}

static MPI_Offset own(void)
{
    return (MPI_Offset)rank * BYTES;
}

static void close_it(MPI_File *file)
{
    DO(MPI_File_close(file));
}

/* ---- with offsets ---- */

static void at(void)
{
    MPI_File file = open_it();
    DO(BIG(File_write_at)(file, own(), block, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(BIG(File_read_at)(file, own(), found, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    check("read_at");
    close_it(&file);
}

static void at_all(void)
{
    MPI_File file = open_it();
    DO(BIG(File_write_at_all)(file, own(), block, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    meet(file);
    DO(BIG(File_read_at_all)(file, own(), found, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    check("read_at_all");
    close_it(&file);
}

static void wait_by_test(MPI_Request *request)
{
    int flag = 0;
    while (!flag) {
        MPI_Test(request, &flag, MPI_STATUS_IGNORE);
    }
}

static void iat(void)
{
    MPI_Request request;
    MPI_File file = open_it();
    DO(BIG(File_iwrite_at)(file, own(), block, BYTES, MPI_BYTE, &request));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    DO(BIG(File_iread_at)(file, own(), found, BYTES, MPI_BYTE, &request));
    wait_by_test(&request);
    check("iread_at");
    close_it(&file);
}

static void iat_all(void)
{
    MPI_Request request;
    MPI_Status status;
    MPI_File file = open_it();
    DO(BIG(File_iwrite_at_all)(file, own(), block, BYTES, MPI_BYTE, &request));
    wait_by_test(&request);
    meet(file);
    DO(BIG(File_iread_at_all)(file, own(), found, BYTES, MPI_BYTE, &request));
    MPI_Waitall(1, &request, &status);
    check("iread_at_all");
    close_it(&file);
}

static void at_all_begin(void)
{
    MPI_File file = open_it();
    DO(BIG(File_write_at_all_begin)(file, own(), block, BYTES, MPI_BYTE));
    DO(MPI_File_write_at_all_end(file, block, MPI_STATUS_IGNORE));
    meet(file);
    DO(BIG(File_read_at_all_begin)(file, own(), found, BYTES, MPI_BYTE));
    DO(MPI_File_read_at_all_end(file, found, MPI_STATUS_IGNORE));
    check("read_at_all_end");
    close_it(&file);
}

/* ---- with a pointer of each rank ---- */

static void to_own(MPI_File file)
{
    DO(MPI_File_seek(file, own(), MPI_SEEK_SET));
}

static void pointer(void)
{
    MPI_Offset place = 0;
    MPI_Offset byte = 0;
    MPI_File file = open_it();
    to_own(file);
    DO(BIG(File_write)(file, block, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_get_position(file, &place));
    DO(MPI_File_get_byte_offset(file, place, &byte));
    meet(file);
    DO(MPI_File_seek(file, -(MPI_Offset)(ranks - rank) * BYTES, MPI_SEEK_END));
    DO(BIG(File_read)(file, found, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    check("read");
    close_it(&file);
}

static void all(void)
{
    MPI_File file = open_it();
    to_own(file);
    DO(BIG(File_write_all)(file, block, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    meet(file);
    to_own(file);
    DO(BIG(File_read_all)(file, found, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    check("read_all");
    close_it(&file);
}

static void ipointer(void)
{
    MPI_Request request;
    MPI_File file = open_it();
    to_own(file);
    DO(BIG(File_iwrite)(file, block, BYTES, MPI_BYTE, &request));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    to_own(file);
    DO(BIG(File_iread)(file, found, BYTES, MPI_BYTE, &request));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check("iread");
    close_it(&file);
}

static void iall(void)
{
    MPI_Request request;
    MPI_File file = open_it();
    to_own(file);
    DO(BIG(File_iwrite_all)(file, block, BYTES, MPI_BYTE, &request));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    meet(file);
    to_own(file);
    DO(BIG(File_iread_all)(file, found, BYTES, MPI_BYTE, &request));
    wait_by_test(&request);
    check("iread_all");
    close_it(&file);
}

static void all_begin(void)
{
    MPI_File file = open_it();
    to_own(file);
    DO(BIG(File_write_all_begin)(file, block, BYTES, MPI_BYTE));
    DO(MPI_File_write_all_end(file, block, MPI_STATUS_IGNORE));
    meet(file);
    to_own(file);
    DO(BIG(File_read_all_begin)(file, found, BYTES, MPI_BYTE));
    DO(MPI_File_read_all_end(file, found, MPI_STATUS_IGNORE));
    check("read_all_end");
    close_it(&file);
}

/* ---- with a pointer that all share ---- */

static void to_start(MPI_File file)
{
    MPI_Offset place;
    MPI_Barrier(MPI_COMM_WORLD);
    DO(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    DO(MPI_File_get_position_shared(file, &place));
    MPI_Barrier(MPI_COMM_WORLD);
}

static void shared(void)
{
    MPI_File file = open_it();
    DO(BIG(File_write_shared)(file, block, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    meet(file);
    close_it(&file);
}

static void ishared(void)
{
    MPI_Request request;
    MPI_File file = open_it();
    DO(BIG(File_iwrite_shared)(file, block, BYTES, MPI_BYTE, &request));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    meet(file);
    close_it(&file);
}

static void ordered(void)
{
    MPI_File file = open_it();
    DO(BIG(File_write_ordered)(file, block, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    meet(file);
    close_it(&file);
}

static void ordered_begin(void)
{
    MPI_File file = open_it();
    DO(BIG(File_write_ordered_begin)(file, block, BYTES, MPI_BYTE));
    DO(MPI_File_write_ordered_end(file, block, MPI_STATUS_IGNORE));
    meet(file);
    close_it(&file);
}

static void read_by_shared(void)
{
    MPI_Request request;
    MPI_File file = open_it();
    DO(BIG(File_write_at)(file, own(), block, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    meet(file);
    to_start(file);
    DO(BIG(File_read_shared)(file, found, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    to_start(file);
    DO(BIG(File_iread_shared)(file, found, BYTES, MPI_BYTE, &request));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    to_start(file);
    DO(BIG(File_read_ordered)(file, found, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    check("read_ordered");
    to_start(file);
    DO(BIG(File_read_ordered_begin)(file, found, BYTES, MPI_BYTE));
    DO(MPI_File_read_ordered_end(file, found, MPI_STATUS_IGNORE));
    check("read_ordered_end");
    close_it(&file);
}

/* ---- the file itself ---- */

/* The name with the rank behind it: a file of this rank alone. */
static const char *own_name(const char *text)
{
    static char own_text[64];
    snprintf(own_text, sizeof(own_text), "%s.%d", text, rank);
    return own_text;
}

static void sizes(void)
{
    MPI_Offset size = 0;
    MPI_File file = open_it();
    DO(MPI_File_set_size(file, 5 * BYTES));
    DO(MPI_File_get_size(file, &size));
    DO(MPI_File_preallocate(file, 9 * BYTES));
    DO(MPI_File_get_size(file, &size));
    close_it(&file);
    if (rank == 0) { /* of several ranks OMPIO calls it a fault to make a file shorter */
        DO(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file));
        DO(MPI_File_set_size(file, BYTES));
        close_it(&file);
    }
}

static void properties(void)
{
    MPI_Info info;
    MPI_Group group;
    MPI_Aint extent = 0;
    MPI_Datatype etype;
    MPI_Datatype filetype;
    MPI_Offset place = 0;
    char representation[MPI_MAX_DATAREP_STRING];
    int mode = 0;
    int flag = 0;
    MPI_File file = open_it();
    DO(MPI_File_get_group(file, &group));
    MPI_Group_free(&group);
    DO(MPI_File_get_amode(file, &mode));
    DO(MPI_File_get_info(file, &info));
    DO(MPI_File_set_info(file, info));
    MPI_Info_free(&info);
    DO(MPI_File_get_view(file, &place, &etype, &filetype, representation));
    DO(MPI_File_get_type_extent(file, MPI_INT, &extent));
    DO(MPI_File_set_atomicity(file, 1));
    DO(MPI_File_get_atomicity(file, &flag));
    DO(BIG(File_write_at)(file, own(), block, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_set_atomicity(file, 0));
    close_it(&file);
}

static void removed(void)
{
    MPI_File file;
    DO(MPI_File_open(MPI_COMM_SELF, own_name("removed"), MPI_MODE_CREATE | MPI_MODE_WRONLY,
                     MPI_INFO_NULL, &file));
    DO(BIG(File_write)(file, block, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    close_it(&file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        DO(MPI_File_delete("removed.1", MPI_INFO_NULL));
        (void)MPI_File_delete("never.there", MPI_INFO_NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* All ranks of OMPIO that have a file together try to remove it, and one succeeds. */
static void removed_at_close(void)
{
    MPI_File file;
    DO(MPI_File_open(MPI_COMM_SELF, own_name(name),
                     MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                     &file));
    DO(BIG(File_write_at)(file, 0, block, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    close_it(&file);
}

static void absent(void)
{
    MPI_File file;
    if (MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file) == MPI_SUCCESS) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void added(void)
{
    MPI_File file;
    DO(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_APPEND,
                     MPI_INFO_NULL, &file));
    MPI_Barrier(MPI_COMM_WORLD);
    DO(BIG(File_write_at)(file, own(), block, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    close_it(&file);
}

/* ---- pieces of all ranks by turns ---- */

static MPI_Info hints(const char *buffering, const char *sieving)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_write", buffering);
    MPI_Info_set(info, "romio_cb_read", buffering);
    MPI_Info_set(info, "romio_ds_write", sieving);
    MPI_Info_set(info, "romio_ds_read", sieving);
    MPI_Info_set(info, "cb_nodes", "2");
    MPI_Info_set(info, "cb_buffer_size", "4096");
    return info;
}

static MPI_File open_strided(const char *buffering, const char *sieving)
{
    MPI_Datatype type;
    MPI_Info info = hints(buffering, sieving);
    MPI_File file = open_with(info);
    MPI_Type_vector(PIECES, PIECE, PIECE * ranks, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    /* Data sieving reads before it writes: in a file of full length always the same bytes. */
    DO(MPI_File_set_size(file, (MPI_Offset)ranks * BYTES));
    DO(MPI_File_set_view(file, (MPI_Offset)rank * PIECE, MPI_BYTE, type, "native", info));
    MPI_Type_free(&type);
    MPI_Info_free(&info);
    return file;
}

static void strided_with(const char *buffering, const char *sieving)
{
    MPI_File file = open_strided(buffering, sieving);
    DO(BIG(File_write_all)(file, block, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    meet(file);
    DO(BIG(File_read_at_all)(file, 0, found, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    check("read_at_all");
    meet(file);
    DO(BIG(File_write_at)(file, 0, block, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    meet(file);
    DO(BIG(File_read_at)(file, 0, found, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    check("read_at");
    close_it(&file);
}

static void strided_cb(void)
{
    strided_with("enable", "disable");
}

static void strided_ds(void)
{
    strided_with("disable", "enable");
}

static void strided_both(void)
{
    strided_with("enable", "enable");
}

static void strided_none(void)
{
    strided_with("disable", "disable");
}

static void istrided_with(const char *buffering, const char *sieving)
{
    MPI_Request request;
    MPI_File file = open_strided(buffering, sieving);
    DO(BIG(File_iwrite_at_all)(file, 0, block, BYTES, MPI_BYTE, &request));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    meet(file);
    DO(BIG(File_iread_at)(file, 0, found, BYTES, MPI_BYTE, &request));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check("iread_at");
    DO(BIG(File_iread_at_all)(file, 0, found, BYTES, MPI_BYTE, &request));
    wait_by_test(&request);
    check("iread_at_all");
    close_it(&file);
}

static void istrided_cb(void)
{
    istrided_with("enable", "disable");
}

static void istrided_ds(void)
{
    istrided_with("disable", "enable");
}

/* A file that is open when MPI ends is closed by what the program has left there. */
static MPI_File left;

static int at_the_end(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm;
    (void)key;
    (void)value;
    (void)extra;
    name = "finalize";
    DO(BIG(File_write_at)(left, own(), block, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    close_it(&left);
    return MPI_SUCCESS;
}

static void finalize(void)
{
    int key;
    DO(MPI_File_open(MPI_COMM_SELF, own_name("finalize"), MPI_MODE_CREATE | MPI_MODE_RDWR,
                     MPI_INFO_NULL, &left));
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_the_end, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
}

#define CASE(function)                                                                             \
    {                                                                                              \
#function, function                                                                        \
    }

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    CASE(at),
    CASE(at_all),
    CASE(iat),
    CASE(iat_all),
    CASE(at_all_begin),
    CASE(pointer),
    CASE(all),
    CASE(ipointer),
    CASE(iall),
    CASE(all_begin),
    CASE(shared),
    CASE(ishared),
    CASE(ordered),
    CASE(ordered_begin),
    CASE(read_by_shared),
    CASE(sizes),
    CASE(properties),
    CASE(removed),
    CASE(removed_at_close),
    CASE(absent),
    CASE(added),
    CASE(strided_cb),
    CASE(strided_ds),
    CASE(strided_both),
    CASE(strided_none),
    CASE(istrided_cb),
    CASE(istrided_ds),
    CASE(finalize),
};

static int is_wanted(const char *text, int argc, char **argv)
{
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], text) == 0) {
            return 1;
        }
    }
    return argc <= 2;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 2) {
        fprintf(stderr, "usage: io DIRECTORY [CASE...]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    memset(block, 'a' + rank, sizeof(block));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        name = cases[i].name;
        if (is_wanted(name, argc, argv)) {
            cases[i].run();
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
    return 0;
}
