/* SPDX-License-Identifier: MIT */
#include "cpu/compile/rewrite_operands.h"

#include <stdlib.h>

#include "cpu/compile/rewrite_state.h"

static bool
one_of(struct ir_slice word, const char *const *words)
{
    for (; *words != NULL; words++) {
        if (ir_is(word, *words)) {
            return true;
        }
    }
    return false;
}

/* "sdiv i32 %n, 4" */
static bool
is_division(const struct ir_inst *inst)
{
    static const char *const ops[] = {"sdiv", "udiv", "srem", "urem", NULL};
    size_t comma = ir_find(inst->rest, ", ", 0);

    if (!one_of(inst->op, ops) || comma == SIZE_MAX) {
        return false;
    }
    struct ir_slice by = ir_token(inst->rest, comma + 2);
    return by.size > 0 && by.at[0] >= '1' && by.at[0] <= '9';
}

bool
ha_operands_binary(const struct ir_inst *inst)
{
    static const char *const ops[] = {"add",  "sub", "mul", "shl", "lshr",
                                      "ashr", "and", "or",  "xor", NULL};

    return one_of(inst->op, ops) || is_division(inst);
}

bool
ha_operands_conversion(const struct ir_inst *inst)
{
    static const char *const ops[] = {"sext", "zext", "trunc", NULL};

    return one_of(inst->op, ops);
}

int64_t
ha_operands_bits(struct ir_slice type)
{
    int64_t bits = type.size > 1 && type.size < 4 && type.at[0] == 'i'
                       ? strtoll(type.at + 1, NULL, 10)
                       : 0;

    return bits >= 1 && bits <= 64 ? bits : 0;
}

bool
ha_operands_take(struct ha_rewriter *rewriter, const struct ir_inst *inst,
                 struct ha_operands *result)
{
    static const char *const flags[] = {"nuw",      "nsw",      "nneg", "exact",
                                        "disjoint", "samesign", NULL};
    static const char *const predicates[] = {"eq",  "ne",  "slt", "sle", "sgt", "sge",
                                             "ult", "ule", "ugt", "uge", NULL};
    struct ir_slice rest = inst->rest;
    size_t at = 0;
    uint32_t count;

    *result = (struct ha_operands){.op = inst->op, .predicate = ir_slice_of("")};
    for (;;) {
        struct ir_slice word = ir_token(rest, at);
        if (one_of(word, predicates)) {
            result->predicate = word;
        } else if (ir_is(word, "disjoint")) {
            result->op = ir_slice_of("add");
        } else if (word.size == 0 || !one_of(word, flags)) {
            break;
        }
        at += word.size + 1;
    }
    result->type = ir_token(rest, at);
    if (ha_operands_bits(result->type) == 0) {
        return false;
    }
    struct ir_slice values = ir_part(rest, at + result->type.size, rest.size);
    struct ir_slice *parts = ir_split(rewriter->arena, values, &count);
    if (ha_operands_conversion(inst)) {
        size_t to = ir_find(values, " to ", 0);
        if (to == SIZE_MAX) {
            return false;
        }
        result->a = ir_trim(ir_part(values, 0, to));
        result->to = ir_token(values, to + 4);
        return ha_operands_bits(result->to) > 0;
    }
    if (count < 2) {
        return false;
    }
    result->a = parts[0];
    result->b = parts[1];
    return true;
}
