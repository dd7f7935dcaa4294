/* SPDX-License-Identifier: MIT */
/* Which operations are ordered before which, by the calls of the program, whatever
 * threads do when.
 *
 * A *line* is a row of operations that each know those before: the operations of a
 * stream, or nodes of a graph that follow each other.  They are numbered from 1.  A
 * *past* is what an operation, an event or the end of a graph knows: of each line, how
 * far.  With an operation it has all that this one knows.  Pasts never change and are
 * shared; NULL is the empty one.
 *
 *     stream a    a1   a2 --event--.             past of b2: a up to 2, b up to 1
 *     stream b    b1 --------------+-> b2
 *
 * What the *host* has waited for is before all that is submitted later, so pasts leave
 * it out.  A line whose operations the host has all waited for may be given away again.
 *
 * Without memory, what should be known is everything: then nothing races.
 *
 * Locks: none; lines belong to the pool lock (cpu/queue/order.h).  Pasts may be asked
 * and released by any thread. */
#ifndef HA_CPU_CHECK_PAST_H
#define HA_CPU_CHECK_PAST_H

#include <stdbool.h>
#include <stdint.h>

struct ha_past;
struct ha_line;

enum ha_line_kind {
    HA_LINE_STREAM,
    HA_LINE_BLOCKING, /* the legacy default stream waits for it */
    HA_LINE_NODES,    /* of graphs */
    HA_LINE_OPEN,     /* a wait for something that nobody has promised yet */
};

/* NULL in, NULL out.  A new reference. */
struct ha_past *ha_past_keep(struct ha_past *past);
void ha_past_release(struct ha_past *past);

/* What both know; a new reference.  Needs the lock of lines. */
struct ha_past *ha_past_join(struct ha_past *a, struct ha_past *b);

/* The past that knows everything; not counted. */
struct ha_past *ha_past_everything(void);

bool ha_past_has(const struct ha_past *past, uint32_t line, uint64_t number);

/* Calls `each` for all that is in it. */
void ha_past_each(const struct ha_past *past,
                  void (*each)(void *context, uint32_t line, uint64_t number),
                  void *context);

/* ---- waits that are open ---- */

/* The past of a wait in memory: it stands for what will be known when it is over.  What
 * knows it knows something that cannot be told, until somebody promises to end the
 * wait.  A new reference. */
struct ha_past *ha_past_open(uint32_t *line, uint64_t *number);
/* Whether the host has not waited for it. */
bool ha_past_waits(uint32_t line, uint64_t number);
/* Who has the past ends the wait, if it is there. */
void ha_past_promise(uint32_t line, uint64_t number, struct ha_past *past);
/* The past with all that was promised, in place of *past; whether a wait in it is still
 * open. */
bool ha_past_is_open(struct ha_past **past);

/* ---- lines ---- */

/* NULL: no memory. */
struct ha_line *ha_line_new(int device, enum ha_line_kind kind);
/* It gets no more operations. */
void ha_line_close(struct ha_line *line);

uint32_t ha_line_id(const struct ha_line *line);
/* What its newest operation knows, with itself; borrowed. */
struct ha_past *ha_line_past(const struct ha_line *line);

/* The next operations of the line know this, too. */
void ha_line_learn(struct ha_line *line, struct ha_past *past);
/* One more operation; its number. */
uint64_t ha_line_step(struct ha_line *line);

/* A line whose newest operation is in the past, or that nobody needs: for a node that
 * knows no more than that.  The node is its next operation, and *past is then its past
 * with itself.  0: no memory, and *past is everything. */
uint64_t ha_line_of_node(int device, struct ha_past **past, uint32_t *line);

/* What all lines of the device know, or those that block; a new reference. */
struct ha_past *ha_lines_past(int device, bool blocking);

/* The host has waited for these. */
void ha_lines_waited(const struct ha_past *past);
/* For all there are. */
void ha_lines_waited_all(void);

void ha_lines_after_fork_child(void);

#endif
