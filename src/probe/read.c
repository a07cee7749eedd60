/* SPDX-License-Identifier: Apache-2.0 */
/* Reading what a process says about its job: which files, how much of them. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/system/proc_text.h"
#include "probe/probe_internal.h"

/* Of an environment; the kernel's limit for arguments and environment is 6 MiB by default. */
#define ENVIRON_FIRST ((size_t)64 * 1024)
#define ENVIRON_MOST ((size_t)8 * 1024 * 1024)
#define STATUS_BYTES 4096u

static struct wio_job_text text_of(const char *text, int64_t bytes, size_t room)
{
    if (bytes < 0) {
        return (struct wio_job_text){NULL, 0, false};
    }
    return (struct wio_job_text){text, (size_t)bytes, (size_t)bytes == room};
}

/* Twice the room; false where there is no more. */
static bool grow_environ(struct wio_probe_reader *reader)
{
    const size_t room = reader->environ_room == 0 ? ENVIRON_FIRST : 2 * reader->environ_room;
    char *fresh = room <= ENVIRON_MOST ? realloc(reader->environ, room) : NULL;
    if (fresh == NULL) {
        return false;
    }
    reader->environ = fresh;
    reader->environ_room = room;
    return true;
}

static struct wio_job_text read_environ(const struct wio_probe *probe,
                                        struct wio_probe_reader *reader, uint32_t pid)
{
    struct wio_job_text text = {NULL, 0, false};
    if (reader->environ_room == 0 && !grow_environ(reader)) {
        return text;
    }
    do {
        text = text_of(
            reader->environ,
            wio_task_read(&probe->system, pid, "environ", reader->environ, reader->environ_room),
            reader->environ_room);
    } while (text.is_cut && grow_environ(reader));
    text.text = text.text != NULL ? reader->environ : NULL;
    return text;
}

static void read_program(const struct wio_probe *probe, struct wio_probe_reader *reader,
                         uint32_t pid, struct wio_job_facts *facts)
{
    int64_t bytes =
        wio_task_read(&probe->system, pid, "comm", reader->program, sizeof(reader->program));
    if (bytes > 0 && reader->program[bytes - 1] == '\n') {
        bytes--;
    }
    facts->program = reader->program;
    facts->program_bytes = bytes > 0 ? (size_t)bytes : 0;
}

static void read_owner(const struct wio_probe *probe, uint32_t pid, struct wio_job_facts *facts)
{
    char text[STATUS_BYTES];
    uint64_t uid = 0;
    uint64_t gid = 0;
    const int64_t bytes = wio_task_read(&probe->system, pid, "status", text, sizeof(text));
    if (bytes > 0 && wio_proc_status_number(text, (size_t)bytes, "Uid:", &uid) &&
        wio_proc_status_number(text, (size_t)bytes, "Gid:", &gid)) {
        facts->uid = (uint32_t)uid;
        facts->gid = (uint32_t)gid;
    }
}

bool wio_probe_find_session(const struct wio_probe *probe, uint32_t pid, uint32_t *session_out,
                            uint64_t *birth_out)
{
    struct wio_probe_task leader;
    const pid_t session = getsid((pid_t)pid);
    if (session <= 0) {
        return false;
    }
    wio_task_open_process(&probe->system, (uint32_t)session, &leader);
    const bool is_there =
        leader.kind == WIO_TASK_PROCESS && wio_task_is_alive(leader.fd, leader.kind);
    *session_out = (uint32_t)session;
    *birth_out = leader.birth;
    wio_task_close(&leader);
    return is_there;
}

static struct wio_job_text read_session(struct wio_probe *probe, uint32_t pid)
{
    uint32_t session;
    uint64_t birth;
    struct wio_job_text text = {"", 0, false};
    if (wio_probe_find_session(probe, pid, &session, &birth)) {
        (void)pthread_mutex_lock(&probe->lock);
        const uint32_t job = wio_job_sessions_get(&probe->sessions, session, birth);
        (void)pthread_mutex_unlock(&probe->lock);
        text.text = wio_job_names_text(probe->names, job, &text.bytes);
    }
    return text;
}

void wio_probe_read(struct wio_probe *probe, struct wio_probe_reader *reader, uint32_t pid)
{
    const unsigned needs = wio_job_resolve_needs(&reader->settings);
    struct wio_job_texts texts = {
        .facts = {
            .program = "", .host = probe->host, .host_bytes = strlen(probe->host), .pid = pid}};
    if ((needs & WIO_JOB_NEED_CGROUP) != 0) {
        texts.cgroup = text_of(
            reader->cgroup,
            wio_task_read(&probe->system, pid, "cgroup", reader->cgroup, sizeof(reader->cgroup)),
            sizeof(reader->cgroup));
    }
    /* Most often the control group says it, and the environment is long. */
    if ((needs & WIO_JOB_NEED_ENVIRON) != 0 &&
        !wio_job_resolve_is_in_cgroup(&reader->settings, &texts.cgroup)) {
        texts.environ = read_environ(probe, reader, pid);
    }
    if ((needs & WIO_JOB_NEED_SESSION) != 0) {
        texts.session = read_session(probe, pid);
    }
    if ((needs & WIO_JOB_NEED_PROGRAM) != 0) {
        read_program(probe, reader, pid, &texts.facts);
    }
    if ((needs & WIO_JOB_NEED_OWNER) != 0) {
        read_owner(probe, pid, &texts.facts);
    }
    wio_job_resolve_texts(&reader->settings, &texts, &reader->resolved);
}
