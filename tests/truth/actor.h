/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An actor of a generated program, which says the truth about its own waits.
 *
 * Between its steps it makes marks: chmod("/mark/ACTOR.K") fails, and is operation of that path in
 * a trace. The waits that it learns of it writes at its end into the file truth.ACTOR:
 *
 *   marks A N                 actor A has made the marks 0 .. N-1
 *   edge KIND A K B L         mark L of actor B comes only after mark K of actor A
 *   early KIND A K B L        the same, but it was so already when B asked: no wait
 *   group KIND ID A K L G T   a step of all: A comes after its mark K and goes on before its mark
 * L; G, T: whether it gives (others wait for it), takes (it waits) section KIND N A K        mark K
 * of A lies in the N-th section of the one lock
 */
#ifndef TRUTH_ACTOR_H
#define TRUTH_ACTOR_H

#include <stdbool.h>

/* What is sent: the actor, and behind which of its marks. */
struct note {
    int actor;
    int mark;
    bool is_early; /* where it came to: it was there before any actor waited */
};

struct actor {
    int number;
    int marks;
    char *said;
    unsigned long used, room;
};

/* Ends the program with a message where `is_ok` does not hold. */
void check(bool is_ok, const char *what);

void actor_mark(struct actor *actor);
struct note actor_note(const struct actor *actor);
/* The note of another one has come, by this kind of wait: before the next mark. */
void actor_heard(struct actor *actor, const char *kind, struct note note);
void actor_met(struct actor *actor, const char *kind, int id, bool gives, bool takes);
/* Called before the mark that lies in the section. */
void actor_entered(struct actor *actor, const char *kind, int ticket);
/* Writes truth.ACTOR and frees. */
void actor_end(struct actor *actor);

#endif
