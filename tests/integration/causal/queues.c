/* SPDX-License-Identifier: Apache-2.0 */
/* Semaphores and queues of System V and POSIX, and what is done once: `queues SCENE`. See scene.h.
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <threads.h>

#include "scene.h"

/* ---- semaphores of System V --------------------------------------------------------------------
 */

static void operate(int id, int number)
{
    struct sembuf operation = {.sem_op = (short)number};
    check(semop(id, &operation, 1) == 0, "semop");
}

static void post_late(int id)
{
    nap();
    mark("posting");
    operate(id, 2);
    mark("child goes on");
}

/* Two that were there, and two of the child's. */
static void semaphore(void)
{
    int id = semget(IPC_PRIVATE, 1, 0600);
    check(id >= 0 && semctl(id, 0, SETVAL, 2) == 0, "semctl");
    pid_t pid = child(post_late, id);
    operate(id, -2);
    mark("first");
    operate(id, -1);
    mark("taken");
    wait_for(pid);
    check(semctl(id, 0, IPC_RMID) == 0, "semctl");
}

static void take_late(int id)
{
    nap();
    mark("taking");
    operate(id, -1);
    mark("child goes on");
}

static void semaphore_zero(void)
{
    int id = semget(IPC_PRIVATE, 1, 0600);
    check(id >= 0, "semget");
    operate(id, 1);
    pid_t pid = child(take_late, id);
    operate(id, 0);
    mark("empty");
    wait_for(pid);
    check(semctl(id, 0, IPC_RMID) == 0, "semctl");
}

/* ---- set by semctl -----------------------------------------------------------------------------
 */

static void set_late(int id)
{
    unsigned short values[2] = {0, 1};
    await_parent();
    mark("setting");
    check(semctl(id, 0, SETALL, values) == 0, "semctl");
    mark("between");
    await_secret(2);
    nap();
    mark("emptying");
    check(semctl(id, 1, SETVAL, 0) == 0, "semctl");
    mark("child goes on");
}

static void semaphore_set(void)
{
    struct sembuf take = {.sem_num = 1, .sem_op = -1};
    struct sembuf empty = {.sem_num = 1, .sem_op = 0};
    int id = semget(IPC_PRIVATE, 2, 0600);
    check(id >= 0 && semctl(id, 0, SETVAL, 1) == 0, "semctl");
    pid_t pid = child(set_late, id);
    tell_secret();
    check(semop(id, &take, 1) == 0, "semop");
    mark("taken");
    take.sem_op = 1;
    check(semop(id, &take, 1) == 0, "semop");
    mark("posted");
    tell_secret();
    check(semop(id, &empty, 1) == 0, "semop");
    mark("empty");
    wait_for(pid);
    check(semctl(id, 0, IPC_RMID) == 0, "semctl");
}

/* ---- messages ----------------------------------------------------------------------------------
 */

#define BYTES 64

struct message {
    long type;
    char bytes[BYTES];
};

static void send_of(int id, long type)
{
    const struct message message = {.type = type};
    check(msgsnd(id, &message, BYTES, 0) == 0, "msgsnd");
}

static void receive_of(int id, long type)
{
    struct message message;
    check(msgrcv(id, &message, BYTES, type, 0) == BYTES, "msgrcv");
}

static void send_late(int id)
{
    mark("other");
    send_of(id, 1);
    nap();
    mark("sending");
    send_of(id, 2);
    mark("child goes on");
}

/* The second one is received first. */
static void messages(void)
{
    int id = msgget(IPC_PRIVATE, 0600);
    check(id >= 0, "msgget");
    pid_t pid = child(send_late, id);
    mark("before");
    receive_of(id, 2);
    mark("received");
    receive_of(id, 0);
    wait_for(pid);
    check(msgctl(id, IPC_RMID, NULL) == 0, "msgctl");
}

static void receive_late(int id)
{
    await_parent();
    mark("makes room");
    receive_of(id, 0);
    mark("child goes on");
}

static void full(void)
{
    struct msqid_ds limits;
    int id = msgget(IPC_PRIVATE, 0600);
    check(id >= 0 && msgctl(id, IPC_STAT, &limits) == 0, "msgctl");
    limits.msg_qbytes = BYTES;
    check(msgctl(id, IPC_SET, &limits) == 0, "msgctl");
    send_of(id, 1);
    mark("fits");
    pid_t pid = child(receive_late, id);
    tell_secret();
    send_of(id, 2);
    mark("sent");
    wait_for(pid);
    check(msgctl(id, IPC_RMID, NULL) == 0, "msgctl");
}

/* ---- message queues of POSIX -------------------------------------------------------------------
 */

static void send_posix(int queue)
{
    nap();
    mark("sending");
    check(mq_send(queue, "x", 1, 5) == 0, "mq_send");
    mark("child goes on");
    await_secret(1);
    nap();
    mark("makes room");
    char byte;
    check(mq_receive(queue, &byte, 1, NULL) == 1, "mq_receive");
}

static void posix(void)
{
    char name[32];
    char byte;
    const struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 1};
    (void)snprintf(name, sizeof(name), "/whyio-scene-%d", (int)getpid());
    mqd_t queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600, &attributes);
    if (queue < 0) {
        exit(77); /* not in this kernel, or not here */
    }
    (void)mq_unlink(name);
    pid_t pid = child(send_posix, queue);
    mark("before");
    check(mq_receive(queue, &byte, 1, NULL) == 1, "mq_receive");
    mark("received");
    check(mq_send(queue, "y", 1, 0) == 0, "mq_send");
    mark("fits");
    tell_secret();
    check(mq_send(queue, "z", 1, 0) == 0, "mq_send");
    mark("sent");
    wait_for(pid);
    (void)mq_close(queue);
}

/* ---- once --------------------------------------------------------------------------------------
 */

static volatile bool is_initialising;
static pthread_once_t control = PTHREAD_ONCE_INIT;
static once_flag flag = ONCE_FLAG_INIT;

static void initialise(void)
{
    is_initialising = true;
    await_secret(1);
    for (int i = 0; i < 10; i++) {
        nap();
    }
    mark("initialised");
}

static void *initialise_posix(void *unused)
{
    check(pthread_once(&control, initialise) == 0, "pthread_once");
    mark("thread goes on");
    return unused;
}

static int initialise_c11(void *unused)
{
    (void)unused;
    call_once(&flag, initialise);
    mark("thread goes on");
    return 0;
}

static void wait_for_begin(void)
{
    while (!is_initialising) {
        (void)usleep(100);
    }
    mark("main comes");
    tell_secret();
}

static void once_posix(void)
{
    pthread_t thread;
    check(pthread_create(&thread, NULL, initialise_posix, NULL) == 0, "pthread_create");
    wait_for_begin();
    check(pthread_once(&control, initialise) == 0, "pthread_once");
    mark("main goes on");
    check(pthread_join(thread, NULL) == 0, "pthread_join");
}

static void once_c11(void)
{
    thrd_t thread;
    check(thrd_create(&thread, initialise_c11, NULL) == thrd_success, "thrd_create");
    wait_for_begin();
    call_once(&flag, initialise);
    mark("main goes on");
    check(thrd_join(thread, NULL) == thrd_success, "thrd_join");
}

/* ---- futexes -----------------------------------------------------------------------------------
 */

static uint32_t words[2];

static long futex(const uint32_t *word, int operation, long value, long second, long last)
{
    return syscall(SYS_futex, word, operation, value, second, &words[1], last);
}

/* Waits for the first word, is moved to the second one and woken there. */
static void *wait_for_word(void *unused)
{
    (void)futex(&words[0], FUTEX_WAIT_BITSET_PRIVATE, 0, 0, 4);
    mark("woken");
    return unused;
}

static void moved(void)
{
    pthread_t thread;
    check(pthread_create(&thread, NULL, wait_for_word, NULL) == 0, "pthread_create");
    do {
        nap();
        mark("moving");
    } while (futex(&words[0], FUTEX_CMP_REQUEUE_PRIVATE, 0, 1, 0) == 0);
    mark("between");
    nap();
    mark("waking");
    check(futex(&words[1], FUTEX_WAKE_BITSET_PRIVATE, 1, 0, 1) == 0, "wake of others");
    check(futex(&words[1], FUTEX_WAKE_BITSET_PRIVATE, 1, 0, 6) == 1, "wake");
    mark("goes on");
    check(pthread_join(thread, NULL) == 0, "pthread_join");
}

int main(int argc, char **argv)
{
    static const struct scene scenes[] = {
        {"semaphore", semaphore},
        {"semaphore-zero", semaphore_zero},
        {"semaphore-set", semaphore_set},
        {"messages", messages},
        {"full", full},
        {"posix", posix},
        {"once", once_posix},
        {"once-c11", once_c11},
        {"moved", moved},
    };
    return run_scene(scenes, sizeof(scenes) / sizeof(scenes[0]), argc, argv);
}
