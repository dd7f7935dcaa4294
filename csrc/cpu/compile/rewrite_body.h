/* SPDX-License-Identifier: MIT */
/* One function in one of its forms, as text: its head, what its first block reads of
 * the lane, and each instruction as the host has it.
 *
 * A *form* is a way to write a function.  The reference form of a kernel runs one lane
 * and asks the device at barriers.  The body form is one lane of the fast executor,
 * with its index as parameters.  A plain function keeps its shape, and asks the device
 * which lane it works for. */
#ifndef HA_CPU_COMPILE_REWRITE_BODY_H
#define HA_CPU_COMPILE_REWRITE_BODY_H

#include <stdbool.h>
#include <stdint.h>

struct ha_fast;
struct ha_rewriter;

/* Functions touch each page of a large frame in turn, so that none jumps over the guard
 * page below a lane's stack. */
#define HA_PROBED "\"probe-stack\"=\"inline-asm\""

/* One form of a function, as it is written. */
enum ha_form { HA_FORM_REFERENCE, HA_FORM_FUNCTION, HA_FORM_BODY };

struct ha_body {
    enum ha_form form;
    const struct ha_fast *fast; /* body form */
    const char *suffix;         /* body form: "a" or "b" */
    bool leaves;                /* leaves are parameters */
    bool flags;                 /* flagged sums get nuw nsw */
};

/* Writes function `number` in one form. */
void ha_body_write(struct ha_rewriter *rewriter, uint32_t number,
                   const struct ha_body *body);

#endif
