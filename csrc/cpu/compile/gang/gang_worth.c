/* SPDX-License-Identifier: MIT */
#include "cpu/compile/gang/gang_worth.h"

#define ROUNDS 8.0       /* of a loop, where nothing tells how many */
#define VECTOR_BYTES 64u /* that the processor does in a cycle */
#define ISSUE 0.35       /* cycles of a scalar instruction */
#define LONG_WAY 1.5     /* cycles a lane of a gather or scatter */
#define LEFT_EARLY 1.5   /* work of gangs whose lanes leave a loop one by one */

static double
weight_of(const struct gang_flow *flow, uint32_t block)
{
    double weight = 1;

    for (uint32_t loop = flow->loops.inner[block]; loop != IR_NONE && weight < 1e9;
         loop = flow->loops.loops[loop].outer) {
        weight *= ROUNDS;
    }
    return weight;
}

/* Cycles of an access by all lanes, whose address has the given shape. */
static double
access_of(struct gang_shape address, uint32_t bytes, uint32_t width)
{
    if (gang_is_same(address)) {
        return 0.5;
    }
    if (address.level == GANG_LINEAR && address.stride == bytes) {
        return 1;
    }
    return LONG_WAY * width;
}

static void
add_value(struct gang_worth *worth, const struct gang_function *function,
          const struct gang_shapes *shapes, uint32_t number, double weight)
{
    const struct gang_value *value = &function->values[number];
    uint32_t width = shapes->width;
    uint32_t bytes = value->type.bytes * width;
    double vectors = bytes <= VECTOR_BYTES ? 1 : (double)bytes / VECTOR_BYTES;
    double gang;

    switch (value->op) {
    case GANG_LOAD:
        gang = access_of(shapes->of[value->operands[0]], value->type.bytes, width);
        break;
    case GANG_STORE:
        gang = access_of(shapes->of[value->operands[0]], value->from.bytes, width);
        break;
    case GANG_BINARY:
    case GANG_NEGATE:
    case GANG_COMPARE:
    case GANG_SELECT:
    case GANG_CAST:
    case GANG_PURE:
        gang = shapes->of[number].level == GANG_VARYING ? vectors : 0.3;
        break;
    case GANG_ATOMIC:
    case GANG_EXCHANGE:
    case GANG_COPY:
    case GANG_FILL:
    case GANG_CALL:
        gang = 2 * LONG_WAY * width;
        break;
    default:
        return;
    }
    worth->gang += gang * weight;
    worth->lanes += ISSUE * width * weight;
}

struct gang_worth
gang_worth_of(const struct gang_function *function, const struct gang_flow *flow,
              const struct gang_shapes *shapes)
{
    struct gang_worth all = {0};

    for (uint32_t place = 0; place < flow->count; place++) {
        uint32_t block = flow->at[place];
        uint32_t loop = flow->loops.inner[block];
        struct gang_worth own = {0};
        if (loop == IR_NONE) {
            continue; /* straight code becomes the same vectors in both forms */
        }
        for (uint32_t i = 0; i < function->blocks[block].count; i++) {
            add_value(&own, function, shapes, function->blocks[block].insts[i],
                      weight_of(flow, block));
        }
        all.lanes += own.lanes;
        all.gang += own.gang * (shapes->leave[loop] == GANG_VARYING ? LEFT_EARLY : 1);
    }
    return all;
}
