/* SPDX-License-Identifier: MIT */
#include "cpu/compile/gang/gang_again.h"

#define INSTRUCTIONS_MOST 8u

static bool
is_division(struct ir_slice word)
{
    return ir_is(word, "udiv") || ir_is(word, "sdiv") || ir_is(word, "urem") ||
           ir_is(word, "srem");
}

static bool
is_cheap(const struct gang_emit *emit, uint32_t number)
{
    const struct gang_value *value = &emit->function->values[number];
    struct gang_shape shape = emit->shapes.of[number];

    if (value->block == GANG_NONE || shape.checked) {
        return false;
    }
    switch (value->op) {
    case GANG_BINARY:
        return !value->float_op && !is_division(value->word);
    case GANG_COMPARE:
        return !value->float_compare;
    case GANG_CAST:
        return value->type.kind != GANG_FLOAT && value->from.kind != GANG_FLOAT &&
               value->type.kind != GANG_BFLOAT && value->from.kind != GANG_BFLOAT &&
               emit->shapes.widening[number] != GANG_WIDE_CHECKED;
    case GANG_ADDRESS:
        return true;
    default:
        return false;
    }
}

/* What is there in every run: for the whole block, or made of nothing. */
static bool
is_at_hand(const struct gang_emit *emit, uint32_t number)
{
    switch (emit->function->values[number].op) {
    case GANG_CONSTANT:
    case GANG_PARAMETER:
    case GANG_SHARED:
    case GANG_DYNAMIC:
    case GANG_COORDINATE:
        return true;
    default:
        return gang_is_block_wide(emit, number);
    }
}

/* Instructions that make a value; 0 if it can't be made again. */
static unsigned
cost_of(const struct gang_emit *emit, const uint8_t *costs, uint32_t number)
{
    const struct gang_value *value = &emit->function->values[number];
    unsigned cost = 1;

    if (!is_cheap(emit, number)) {
        return 0;
    }
    for (uint32_t i = 0; i < value->operand_count; i++) {
        uint32_t operand = value->operands[i];
        if (emit->shapes.of[operand].checked) {
            return 0;
        }
        if (is_at_hand(emit, operand)) {
            continue;
        }
        if (costs[operand] == 0) {
            return 0;
        }
        cost += costs[operand];
    }
    return cost <= INSTRUCTIONS_MOST ? cost : 0;
}

static void
need_operands(struct gang_emit *emit, uint32_t number)
{
    struct gang_function *function = emit->function;
    const struct gang_value *value = &function->values[number];

    for (uint32_t i = 0; i < value->operand_count; i++) {
        uint32_t operand = value->operands[i];
        if (!function->used_elsewhere[operand]) {
            function->used_elsewhere[operand] = 1;
            if (emit->again[operand]) {
                need_operands(emit, operand);
            }
        }
    }
}

void
gang_again_find(struct gang_emit *emit)
{
    struct gang_function *function = emit->function;

    /* In the order of the blocks, operands come before what is made of them. */
    emit->again = ir_alloc(function->arena, function->value_count + 1u, 1);
    for (uint32_t place = 0; place < emit->flow.count; place++) {
        const struct gang_block *block = &function->blocks[emit->flow.at[place]];
        for (uint32_t i = 0; i < block->count; i++) {
            uint32_t number = block->insts[i];
            if (!gang_is_block_wide(emit, number)) {
                emit->again[number] = (uint8_t)cost_of(emit, emit->again, number);
            }
        }
    }
    for (uint32_t v = 0; v < function->value_count; v++) {
        if (emit->again[v] && function->used_elsewhere[v]) {
            need_operands(emit, v);
        }
    }
}
