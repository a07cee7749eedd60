/* SPDX-License-Identifier: Apache-2.0 */
/* Semaphores and message queues of System V, and message queues of POSIX. R-SYNC-6, R-SYNC-10 */
#include <mqueue.h>
#include <stdarg.h>
#include <sys/msg.h>
#include <sys/sem.h>

#include "capture/files/hooks.h"
#include "capture/sync/sync.h"
#include "capture/sync/sync_object.h"

/* What an object outside memory is: part of its id. */
enum { SEMAPHORE, MESSAGES, QUEUE, POSIX_MESSAGES, POSIX_QUEUE };

struct queue_wait {
    struct cap_thread *self; /* NULL: not recorded */
    struct cap_event ev;
};

static bool begin(struct queue_wait *wait, unsigned call, uintptr_t source)
{
    wait->self = cap_enter_sync(source, call);
    if (wait->self == NULL) {
        return false;
    }
    wait->ev = CAP_EVENT_OF(call, source);
    cap_state_enter(wait->self, CAP_STATE_BLOCKED);
    wait->ev.begin = cap_begin(wait->self);
    return true;
}

/* False where nothing is to be written: the call failed. */
static bool end(struct queue_wait *wait, int64_t result)
{
    wait->ev.end = cap_now();
    cap_state_leave(wait->self);
    wait->ev.result = result;
    return result >= 0;
}

/* ---- semaphores: one event for each of them that the call names --------------------------------
 */

static void emit_operation(struct queue_wait *wait, int id, const struct sembuf *operation)
{
    const int64_t object = cap_object_named(SEMAPHORE, (uint64_t)id, operation->sem_num);
    if (operation->sem_op == 0) {
        const int64_t arg[4] = {object};
        wait->ev.call = WIO_CALL_semop_zero;
        cap_emit_wait_ext(wait->self, &wait->ev, arg);
        return;
    }
    const int units = operation->sem_op > 0 ? operation->sem_op : -operation->sem_op;
    const int64_t arg[2] = {object, units - 1};
    struct cap_event ev = wait->ev; /* its offset and size would be there for the next one */
    ev.call = operation->sem_op > 0 ? WIO_CALL_semop_post : wait->ev.call;
    cap_emit_wait(wait->self, &ev, arg);
}

/* All operations of a call are done at the same moment: the first event is the call, and those
 * behind it have been caused by it. Those come first that may wait. */
static void emit_operations(struct queue_wait *wait, int id, const struct sembuf *operations,
                            size_t count)
{
    const uint16_t call = wait->ev.call;
    for (int posts = 0; posts <= 1; posts++) {
        for (size_t i = 0; i < count; i++) {
            if ((operations[i].sem_op > 0) == posts) {
                wait->ev.call = call;
                emit_operation(wait, id, &operations[i]);
                wait->ev.flags |= WIO_EVENT_CAUSED;
            }
        }
    }
}

#define DEFINE_OPERATE(symbol, parameters, ...)                                                    \
    CAP_EXPORT int symbol parameters                                                               \
    {                                                                                              \
        struct queue_wait wait;                                                                    \
        if (!begin(&wait, WIO_CALL_##symbol, CAP_CALLER())) {                                      \
            return CAP_REAL(symbol)(__VA_ARGS__);                                                  \
        }                                                                                          \
        int result = CAP_REAL(symbol)(__VA_ARGS__);                                                \
        CAP_KEEP_ERRNO;                                                                            \
        if (end(&wait, result)) {                                                                  \
            emit_operations(&wait, id, operations, count);                                         \
        }                                                                                          \
        return result;                                                                             \
    }

DEFINE_OPERATE(semop, (int id, struct sembuf *operations, size_t count), id, operations, count)
DEFINE_OPERATE(semtimedop,
               (int id, struct sembuf *operations, size_t count, const struct timespec *limit), id,
               operations, count, limit)

/* How many there are; 0 where the program may set but not read them. */
static size_t count_of(int id)
{
    struct semid_ds status = {0};
    long result = raw_call6(SYS_semctl, id, 0, IPC_STAT, (long)&status, 0, 0);
    return result == 0 ? status.sem_nsems : 0;
}

static void emit_value(struct cap_thread *self, struct cap_event *ev, const int where[2], int value)
{
    const int64_t arg[2] = {cap_object_named(SEMAPHORE, (uint64_t)where[0], (uint64_t)where[1]),
                            value};
    struct cap_event one = *ev;
    cap_emit_wait(self, &one, arg);
    ev->flags |= WIO_EVENT_CAUSED; /* the next one is of the same call */
}

static void emit_values(struct cap_thread *self, struct cap_event *ev, int id,
                        const unsigned short *values)
{
    const size_t count = count_of(id);
    for (size_t i = 0; i < count; i++) {
        emit_value(self, ev, (const int[2]){id, (int)i}, values[i]);
    }
}

/* The fourth argument is there for some commands only, and then as long as a pointer. */
CAP_EXPORT int semctl(int id, int number, int command, ...)
{
    const uintptr_t source = CAP_CALLER();
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    bool sets = command == SETVAL || command == SETALL;
    struct cap_thread *self = sets ? cap_enter_sync(source, WIO_CALL_semctl) : NULL;
    struct cap_event ev = CAP_EVENT(semctl, source);
    ev.begin = self != NULL ? cap_begin(self) : 0;
    int result = CAP_REAL(semctl)(id, number, command, argument);
    if (self == NULL || result != 0) {
        return result;
    }
    CAP_KEEP_ERRNO;
    ev.end = cap_now();
    if (command == SETALL) {
        emit_values(self, &ev, id, argument);
    } else {
        emit_value(self, &ev, (const int[2]){id, number}, (int32_t)(uintptr_t)argument);
    }
    return result;
}

/* ---- messages: those of one type, or priority, come out as they went in ------------------------
 *
 * Whether a queue is full is found by sending without waiting: a sender that then has to wait does
 * so for the receipt of any message of the queue.
 */

/* `is_told`: the queue as a whole is. */
static void emit_message(struct queue_wait *wait, int kind, const uint64_t queue[2], uint64_t type,
                         bool is_told)
{
    const int64_t whole = cap_object_named((uint64_t)kind + 1, queue[0], queue[1]);
    const int64_t arg[2] = {cap_object_named((uint64_t)kind, (uint64_t)whole, type),
                            is_told ? whole : 0};
    cap_emit_wait(wait->self, &wait->ev, arg);
}

static void emit_typed(struct queue_wait *wait, int id, const void *message, bool is_told)
{
    const uint64_t queue[2] = {0, (uint64_t)id};
    emit_message(wait, MESSAGES, queue, (uint64_t) * (const long *)message, is_told);
}

CAP_EXPORT int msgsnd(int id, const void *message, size_t size, int flags)
{
    struct queue_wait wait;
    if (!begin(&wait, WIO_CALL_msgsnd, CAP_CALLER())) {
        return CAP_REAL(msgsnd)(id, message, size, flags);
    }
    const int kept = errno;
    int result = CAP_REAL(msgsnd)(id, message, size, flags | IPC_NOWAIT);
    bool is_full = result < 0 && errno == EAGAIN && (flags & IPC_NOWAIT) == 0;
    if (is_full) {
        errno = kept;
        result = CAP_REAL(msgsnd)(id, message, size, flags);
    }
    CAP_KEEP_ERRNO;
    if (end(&wait, result)) {
        emit_typed(&wait, id, message, is_full);
    }
    return result;
}

CAP_EXPORT ssize_t msgrcv(int id, void *message, size_t size, long type, int flags)
{
    struct queue_wait wait;
    if (!begin(&wait, WIO_CALL_msgrcv, CAP_CALLER())) {
        return CAP_REAL(msgrcv)(id, message, size, type, flags);
    }
    ssize_t result = CAP_REAL(msgrcv)(id, message, size, type, flags);
    CAP_KEEP_ERRNO;
    if (end(&wait, result) && (flags & MSG_COPY) == 0) {
        emit_typed(&wait, id, message, true);
    }
    return result;
}

/* The queue's file is the same in all processes. */
static void emit_posix(struct queue_wait *wait, mqd_t number, unsigned priority, bool is_told)
{
    struct stat st = {0};
    if (raw_fstat(number, &st) == 0) {
        const uint64_t queue[2] = {st.st_dev, st.st_ino};
        emit_message(wait, POSIX_MESSAGES, queue, priority, is_told);
    }
}

/* False where it would have to wait; else *result is what there is. */
static bool try_send(mqd_t number, const char *text, size_t size, unsigned priority, int *result)
{
    const struct timespec past = {0};
    const int kept = errno;
    *result = CAP_REAL(mq_timedsend)(number, text, size, priority, &past);
    bool is_done = *result == 0 || errno != ETIMEDOUT;
    errno = is_done ? errno : kept;
    return is_done;
}

/* The kernel refuses a limit that is none before it looks at the queue. */
static bool is_limit(const struct timespec *until)
{
    return until == NULL || (cap_is_readable((const char *)until) && until->tv_sec >= 0 &&
                             until->tv_nsec >= 0 && until->tv_nsec < 1000000000);
}

#define DEFINE_SEND(symbol, may_try, parameters, ...)                                              \
    CAP_EXPORT int symbol parameters                                                               \
    {                                                                                              \
        struct queue_wait wait;                                                                    \
        int result;                                                                                \
        if (!begin(&wait, WIO_CALL_##symbol, CAP_CALLER())) {                                      \
            return CAP_REAL(symbol)(__VA_ARGS__);                                                  \
        }                                                                                          \
        bool is_full = !(may_try) || !try_send(number, text, size, priority, &result);             \
        if (is_full) {                                                                             \
            result = CAP_REAL(symbol)(__VA_ARGS__);                                                \
        }                                                                                          \
        CAP_KEEP_ERRNO;                                                                            \
        if (end(&wait, result)) {                                                                  \
            emit_posix(&wait, number, priority, is_full);                                          \
        }                                                                                          \
        return result;                                                                             \
    }

DEFINE_SEND(mq_send, true, (mqd_t number, const char *text, size_t size, unsigned priority), number,
            text, size, priority)
DEFINE_SEND(mq_timedsend, is_limit(until),
            (mqd_t number, const char *text, size_t size, unsigned priority,
             const struct timespec *until),
            number, text, size, priority, until)

/* Asks for the priority also where the program does not. */
#define DEFINE_RECEIVE(symbol, parameters, ...)                                                    \
    CAP_EXPORT ssize_t symbol parameters                                                           \
    {                                                                                              \
        struct queue_wait wait;                                                                    \
        if (!begin(&wait, WIO_CALL_##symbol, CAP_CALLER())) {                                      \
            return CAP_REAL(symbol)(__VA_ARGS__);                                                  \
        }                                                                                          \
        unsigned own = 0;                                                                          \
        priority = priority != NULL ? priority : &own;                                             \
        ssize_t result = CAP_REAL(symbol)(__VA_ARGS__);                                            \
        CAP_KEEP_ERRNO;                                                                            \
        if (end(&wait, result)) {                                                                  \
            emit_posix(&wait, number, *priority, true);                                            \
        }                                                                                          \
        return result;                                                                             \
    }

DEFINE_RECEIVE(mq_receive, (mqd_t number, char *text, size_t size, unsigned *priority), number,
               text, size, priority)
DEFINE_RECEIVE(mq_timedreceive,
               (mqd_t number, char *text, size_t size, unsigned *priority,
                const struct timespec *until),
               number, text, size, priority, until)
