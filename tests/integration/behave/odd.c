/* SPDX-License-Identifier: Apache-2.0 */
/* Legal things that are rarely done: `odd MODE`. odd_test.py knows what must be recorded. */
#include <aio.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096

/* ---- streams without a file: the room that open_memstream gets has been used before ------------
 */

static void use_up_memory(void)
{
    void *blocks[40];
    for (size_t i = 0; i < 40; i++) {
        blocks[i] = calloc(1, 300 + i * 16);
    }
    for (size_t i = 0; i < 40; i++) {
        free(blocks[i]);
    }
}

static void memory_streams(void)
{
    char *text = NULL;
    size_t size = 0;
    char room[32] = "some text";
    use_up_memory();
    FILE *stream = open_memstream(&text, &size);
    (void)fprintf(stream, "in memory %d", 1);
    (void)fputs("!", stream);
    (void)fseek(stream, 0, SEEK_SET);
    (void)fflush(stream);
    (void)fclose(stream);
    free(text);
    stream = fmemopen(room, sizeof(room), "r+");
    (void)fgetc(stream);
    (void)fclose(stream);
}

/* ---- a stream that libc maps instead of reading it ----------------------------------------------
 */

static void mapped_stream(void)
{
    static char data[2 * PAGE];
    FILE *stream = fopen("file", "w");
    (void)fwrite(data, 1, sizeof(data), stream);
    (void)fclose(stream);
    stream = fopen("file", "rm");
    (void)fseek(stream, -100, SEEK_END);
    size_t count = fread(data, 1, PAGE, stream);
    (void)printf("%zu\n", count);
    (void)fclose(stream);
}

/* ---- a ring is closed; its number becomes a file's, and that is mapped like a ring --------------
 */

static void ring_number(void)
{
    struct io_uring_params params;
    memset(&params, 0, sizeof(params));
    int ring = (int)syscall(SYS_io_uring_setup, 8, &params);
    size_t bytes = params.sq_off.array + params.sq_entries * sizeof(unsigned);
    void *sq = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
    (void)munmap(sq, bytes);
    (void)close(ring);
    int file = open("empty", O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (ring >= 0 && file != ring) {
        exit(3);
    }
    void *map = mmap(NULL, PAGE, PROT_NONE, MAP_SHARED, file, 0);
    (void)munmap(map, PAGE);
}

/* ---- lists of requests that are refused, and one request that is polled ------------------------
 */

static struct aiocb block_of(int fd, void *data, off_t offset)
{
    struct aiocb block;
    memset(&block, 0, sizeof(block));
    block.aio_fildes = fd;
    block.aio_buf = data;
    block.aio_nbytes = PAGE;
    block.aio_offset = offset;
    block.aio_lio_opcode = LIO_WRITE;
    return block;
}

static void aio_lists(void)
{
    static char data[PAGE];
    int fd = open("file", O_RDWR | O_CREAT | O_TRUNC, 0600);
    struct aiocb bad_list = block_of(fd, data, 1 * PAGE);
    struct aiocb bad_file = block_of(99, data, 2 * PAGE);
    struct aiocb good = block_of(fd, data, 3 * PAGE);
    struct aiocb *list[] = {&bad_list};
    int result = lio_listio(77, list, 1, NULL);
    (void)printf("%d %d\n", result, errno);
    list[0] = &bad_file;
    result = lio_listio(LIO_WAIT, list, 1, NULL);
    (void)printf("%d %d\n", result, errno);
    (void)aio_write(&good);
    while (aio_error(&good) == EINPROGRESS) {
    }
    (void)printf("%zd\n", aio_return(&good));
}

/* ---- first calls between a dlopen that fails and its message -----------------------------------
 */

static void say_why(void)
{
    const char *why = dlerror();
    (void)puts(why != NULL ? why : "nothing");
    (void)dlopen("./nowhere.so", RTLD_NOW);
}

static void failed_dlopen(void)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct stat64 st;
    pthread_mutex_lock(&lock);
    (void)dlopen("./nowhere.so", RTLD_NOW);
    int fd = open64("file", O_RDWR | O_CREAT | O_TRUNC, 0600);
    say_why();
    pthread_mutex_unlock(&lock);
    say_why();
    if (stat64("./nowhere.so", &st) != 0) {
        say_why();
    }
    if (lstat64("./nowhere.so", &st) != 0) {
        say_why();
    }
    if (fopen64("./nowhere.so", "r") == NULL) {
        say_why();
    }
    (void)close(fd);
    say_why();
    (void)fputs("cannot load: ", stderr);
    say_why();
    (void)fprintf(stderr, "cannot load %d: ", 2);
    say_why();
    (void)fwrite("cannot", 1, 6, stderr);
    say_why();
    (void)fputc('!', stderr);
    say_why();
    (void)fflush(stderr);
    say_why();
    if (access("./nowhere.so", R_OK) != 0) {
        say_why();
    }
    if (write(2, "?", 1) == 1) {
        say_why();
    }
}

/* ---- libc writes a message through a duplicate of the descriptor -------------------------------
 */

static void message_file(void)
{
    if (freopen("messages", "w+", stderr) == NULL) {
        exit(3);
    }
    (void)setvbuf(stderr, NULL, _IONBF, 0);
    errno = ENOENT;
    perror("one");
    errno = ENOENT;
    perror("two");
    (void)fputs("three", stderr);
}

/* ---- a signal handler jumps out of fopen -------------------------------------------------------
 */

static sigjmp_buf out;

static void jump(int number)
{
    (void)number;
    siglongjmp(out, 1);
}

static void leave_fopen(const char *name)
{
    if (mkfifo(name, 0600) != 0) {
        exit(3);
    }
    (void)signal(SIGALRM, jump);
    if (sigsetjmp(out, 1) == 0) {
        (void)ualarm(20000, 0);
        (void)fopen(name, "a"); /* the result is not used */
    }
}

static void left_fopen(void)
{
    char name[] = "fifo ";
    name[4] = '\0';
    leave_fopen(name);
    (void)memcpy(name, "wrong", 5);
    int fd = open("file", O_RDWR | O_CREAT | O_TRUNC, 0600);
    FILE *stream = fdopen(fd, "w+");
    (void)fseek(stream, 100, SEEK_END);
    (void)fputc('x', stream);
    (void)fclose(stream);
}

/* The next that is done with a stream is what libc does at the end: it seeks back what was read
 * ahead. */
static void left_fopen_last(void)
{
    char *name = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    FILE *stream = fopen("file", "w+");
    (void)fputs("letters", stream);
    rewind(stream);
    (void)fgetc(stream);
    (void)memcpy(name, "fifo", sizeof("fifo"));
    leave_fopen(name);
    (void)munmap(name, PAGE);
}

/* ---- PATH leads to a directory of the program's name first --------------------------------------
 */

static void directory_on_path(void)
{
    char *const arguments[] = {(char *)"true", NULL};
    pid_t child;
    int status;
    if (mkdir("first", 0700) != 0 || mkdir("first/true", 0700) != 0 ||
        setenv("PATH", "first:/bin", 1) != 0) {
        exit(3);
    }
    if (posix_spawnp(&child, "true", NULL, NULL, arguments, environ) != 0 ||
        waitpid(child, &status, 0) != child) {
        exit(3);
    }
    (void)execvp("true", arguments);
    exit(3);
}

/* ---- a few bytes of other memory take the place of a whole page ---------------------------------
 */

static void replaced_page(void)
{
    int fd = open("file", O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (ftruncate(fd, 2 * PAGE) != 0) {
        exit(3);
    }
    char *map = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    (void)mmap(map, 100, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    (void)msync(map, PAGE, MS_SYNC);
    (void)msync(map + PAGE, PAGE, MS_SYNC);
    (void)munmap(map, 2 * PAGE);
}

/* ---- one thread names a file while another one goes elsewhere ----------------------------------
 */

#define MOVES 5000

static pthread_barrier_t at_once;

static void *look_about(void *nothing)
{
    for (int i = 0; i < MOVES; i++) {
        pthread_barrier_wait(&at_once);
        (void)access("either", F_OK);
        pthread_barrier_wait(&at_once);
    }
    return nothing;
}

static void directory_of_threads(void)
{
    pthread_t other;
    char name[201] = "";
    memset(name, 'n', sizeof(name) - 1); /* to ask for a long name takes longer */
    int made = mkdir(name, 0700) | chdir(name) | mkdir(name, 0700) | chdir(name) | mkdir("d", 0700);
    const int places[] = {open("d", O_RDONLY), open(".", O_RDONLY)};
    pthread_barrier_init(&at_once, NULL, 2);
    pthread_create(&other, NULL, look_about, NULL);
    for (int i = 0; i < MOVES; i++) {
        made |= chdir("."); /* nothing is known of it then */
        pthread_barrier_wait(&at_once);
        made |= fchdir(places[i % 2]);
        pthread_barrier_wait(&at_once);
        (void)access(i % 2 == 0 ? "below" : "above", F_OK);
    }
    pthread_join(other, NULL);
    exit(made == 0 ? 0 : 3);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } modes[] = {
        {"memory_streams", memory_streams},
        {"mapped_stream", mapped_stream},
        {"ring_number", ring_number},
        {"aio_lists", aio_lists},
        {"failed_dlopen", failed_dlopen},
        {"message_file", message_file},
        {"left_fopen", left_fopen},
        {"left_fopen_last", left_fopen_last},
        {"directory_of_threads", directory_of_threads},
        {"directory_on_path", directory_on_path},
        {"replaced_page", replaced_page},
    };
    for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++) {
        if (strcmp(argv[1], modes[i].name) == 0) {
            modes[i].run();
            return 0;
        }
    }
    return 2;
}
