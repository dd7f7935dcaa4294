/* SPDX-License-Identifier: MIT */
/* How the values of a gang's lanes differ.
 *
 * A *gang* is `width` neighbouring lanes of a row; lane l of it has the index x0 + l in
 * x, and x0 is a multiple of the width.  The *shape* of a value says what it is for the
 * lanes that are on:
 *
 *     same in the block    parameters, blockIdx, what is computed from them
 *     same in the gang     threadIdx.y, what is loaded from one address, votes
 *     linear               base + stride * l: threadIdx.x, &a[i]
 *     varying              anything else
 *
 * A linear value that was made longer (sext, zext) is what it seems only if the shorter
 * one did not wrap between the lanes.  That is *known* from ranges or flags; or asked
 * once a block, of all lanes of a row (`asked`); or asked where it is used (`checked`).
 */
#ifndef HA_CPU_COMPILE_GANG_SHAPE_H
#define HA_CPU_COMPILE_GANG_SHAPE_H

#include "cpu/compile/gang/gang_flow.h"
#include "cpu/compile/gang/gang_ir.h"

enum gang_level {
    GANG_UNSEEN,
    GANG_SAME_BLOCK,
    GANG_SAME_GANG,
    GANG_LINEAR,
    GANG_VARYING,
};

struct gang_shape {
    uint8_t level;  /* enum gang_level */
    bool checked;   /* linear: only where a check at run time says so */
    bool ranged;    /* low and high are the least and greatest value, signed */
    int64_t stride; /* linear */
    int64_t low;
    int64_t high;
    uint32_t align; /* integers: the first lane's value is a multiple; 1, 2, 4, ... */
};

/* How a linear value is made longer. */
enum gang_widening { GANG_WIDE_KNOWN, GANG_WIDE_ASKED, GANG_WIDE_CHECKED };

struct gang_question {
    uint32_t value; /* must not wrap between the lanes of a row */
    bool is_signed;
};

struct gang_shapes {
    uint32_t width;
    bool span;             /* gangs of several blocks, neighbours in x, go in step */
    struct gang_shape *of; /* by value: where it is defined */
    uint8_t *join;         /* by block: enum gang_level of what lanes come apart by */
    uint8_t *leave;        /* by loop: enum gang_level of what lanes leave it by */
    uint8_t *widening;     /* by value: enum gang_widening, of casts */
    struct gang_question *questions;
    uint32_t question_count;
    bool settled; /* all of this is known */
};

void gang_shapes_read(struct gang_function *function, const struct gang_flow *flow,
                      uint32_t width, bool span, struct gang_shapes *shapes);

/* The shape of a value as block `at` sees it: behind a loop that lanes leave one by
 * one, it is varying. */
struct gang_shape gang_shape_at(const struct gang_function *function,
                                const struct gang_flow *flow,
                                const struct gang_shapes *shapes, uint32_t value,
                                uint32_t at);

/* The outermost loop around the value's definition that `at` is not in and that lanes
 * leave one by one; IR_NONE where there is none. */
uint32_t gang_loop_left(const struct gang_function *function,
                        const struct gang_flow *flow, const struct gang_shapes *shapes,
                        uint32_t value, uint32_t at);

/* Whether a value can be computed at the start of a block from nothing but parameters,
 * coordinates and constants. */
bool gang_is_early(const struct gang_function *function, uint32_t value,
                   unsigned depth);

/* Whether a value is made longer part by part (sext(a + b) as sext(a) + sext(b)). */
bool gang_goes_down(const struct gang_function *function,
                    const struct gang_shapes *shapes, uint32_t value, bool is_signed);
/* Whether a cast to a longer integer is by the sign; of what is not negative, both are
 * the same. */
bool gang_is_signed(const struct gang_value *cast);

static inline bool
gang_is_same(struct gang_shape shape)
{
    return shape.level <= GANG_SAME_GANG;
}

#endif
