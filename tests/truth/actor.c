/* SPDX-License-Identifier: Apache-2.0 */
#include "actor.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

void check(bool is_ok, const char *what)
{
    if (!is_ok) {
        perror(what);
        exit(1);
    }
}

__attribute__((format(printf, 2, 3))) static void say(struct actor *actor, const char *format, ...)
{
    va_list args;
    if (actor->room < actor->used + 200) {
        actor->room = 2 * actor->room + 4096;
        actor->said = realloc(actor->said, actor->room);
        check(actor->said != NULL, "realloc");
    }
    va_start(args, format);
    actor->used += (unsigned long)vsnprintf(actor->said + actor->used, 200, format, args);
    va_end(args);
}

void actor_mark(struct actor *actor)
{
    char path[64];
    (void)snprintf(path, sizeof(path), "/mark/%d.%d", actor->number, actor->marks++);
    (void)!chmod(path, 0);
}

struct note actor_note(const struct actor *actor)
{
    return (struct note){.actor = actor->number, .mark = actor->marks - 1};
}

void actor_heard(struct actor *actor, const char *kind, struct note note)
{
    say(actor, "%s %s %d %d %d %d\n", note.is_early ? "early" : "edge", kind, note.actor, note.mark,
        actor->number, actor->marks);
}

void actor_met(struct actor *actor, const char *kind, int id, bool gives, bool takes)
{
    say(actor, "group %s %d %d %d %d %d %d\n", kind, id, actor->number, actor->marks - 1,
        actor->marks, gives, takes);
}

void actor_entered(struct actor *actor, const char *kind, int ticket)
{
    say(actor, "section %s %d %d %d\n", kind, ticket, actor->number, actor->marks);
}

void actor_end(struct actor *actor)
{
    char name[32];
    say(actor, "marks %d %d\n", actor->number, actor->marks);
    (void)snprintf(name, sizeof(name), "truth.%d", actor->number);
    FILE *file = fopen(name, "we");
    check(file != NULL, name);
    check(fwrite(actor->said, 1, actor->used, file) == actor->used, name);
    check(fclose(file) == 0, name);
    free(actor->said);
}
