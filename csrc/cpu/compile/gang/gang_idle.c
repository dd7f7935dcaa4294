/* SPDX-License-Identifier: MIT */
#include "cpu/compile/gang/gang_idle.h"

#define STEPS_MAX 4u /* blocks on the way to the end */

/* Nothing is computed there but what is thrown away. */
static bool
is_pure(const struct gang_function *function, uint32_t block)
{
    const struct gang_block *at = &function->blocks[block];

    for (uint32_t i = 0; i + 1 < at->count; i++) {
        enum gang_op op = function->values[at->insts[i]].op;
        if (op != GANG_COORDINATE && !gang_is_computed(op)) {
            return false;
        }
    }
    return true;
}

static bool
leads_to_end(const struct gang_function *function, uint32_t block)
{
    for (uint32_t i = 0; i < STEPS_MAX && is_pure(function, block); i++) {
        const struct gang_block *at = &function->blocks[block];
        if (function->values[at->insts[at->count - 1]].op == GANG_RETURN) {
            return true;
        }
        if (at->next_count != 1) {
            return false;
        }
        block = at->next[0];
    }
    return false;
}

/* The value is linear in the lane of the whole row. */
static bool
is_index(const struct gang_emit *emit, uint32_t value)
{
    struct gang_shape shape = emit->shapes.of[value];

    return shape.level == GANG_LINEAR && !shape.checked;
}

/* Orders integers, one of which is an index and one shared by the lanes. */
static bool
is_guard(const struct gang_emit *emit, const struct gang_value *compare)
{
    const struct gang_function *function = emit->function;

    if (compare->op != GANG_COMPARE || compare->from.kind != GANG_INT ||
        ir_is(compare->word, "eq") || ir_is(compare->word, "ne")) {
        return false;
    }
    uint32_t a = compare->operands[0];
    uint32_t b = compare->operands[1];
    bool one_index =
        is_index(emit, a)
            ? emit->shapes.of[b].level == GANG_SAME_BLOCK
            : is_index(emit, b) && emit->shapes.of[a].level == GANG_SAME_BLOCK;
    return one_index && gang_is_early(function, a, 0) && gang_is_early(function, b, 0);
}

/* Whether the comparison is `wanted` for a lane. */
static struct ir_slice
write_answer(struct gang_emit *emit, const struct gang_value *compare,
             const struct ir_slice *operands, bool wanted)
{
    struct ir_slice bit = gang_name(emit);
    struct ir_slice name = gang_name(emit);

    gang_line(emit, "%.*s = icmp %.*s %s %.*s, %.*s", IR_ARGS(bit),
              IR_ARGS(compare->word), gang_type_name(compare->from),
              IR_ARGS(operands[0]), IR_ARGS(operands[1]));
    gang_line(emit, "%.*s = icmp eq i1 %.*s, %s", IR_ARGS(name), IR_ARGS(bit),
              wanted ? "true" : "false");
    return name;
}

/* Whether the index does not wrap from its first value to its last. */
static struct ir_slice
write_straight(struct gang_emit *emit, const struct gang_value *compare,
               struct ir_slice first, struct ir_slice last, int64_t stride)
{
    const char *extend = ir_begins(compare->word, "s") ? "sext" : "zext";
    const char *type = gang_type_name(compare->from);
    struct ir_slice names[6];

    for (unsigned i = 0; i < 6; i++) {
        names[i] = gang_name(emit);
    }
    gang_line(emit, "%.*s = %s %s %.*s to i128", IR_ARGS(names[0]), extend, type,
              IR_ARGS(first));
    gang_line(emit, "%.*s = %s %s %.*s to i128", IR_ARGS(names[1]), extend, type,
              IR_ARGS(last));
    gang_line(emit, "%.*s = sub i128 %.*s, %.*s", IR_ARGS(names[2]), IR_ARGS(names[1]),
              IR_ARGS(names[0]));
    gang_line(emit, "%.*s = zext i64 %%wide_x to i128", IR_ARGS(names[3]));
    gang_line(emit, "%.*s = mul i128 %.*s, %lld", IR_ARGS(names[4]), IR_ARGS(names[3]),
              (long long)stride);
    gang_line(emit, "%.*s = icmp eq i128 %.*s, %.*s", IR_ARGS(names[5]),
              IR_ARGS(names[2]), IR_ARGS(names[4]));
    return names[5];
}

struct ir_slice
gang_write_idle(struct gang_emit *emit)
{
    const struct gang_function *function = emit->function;
    uint32_t entry = emit->flow.at[0];
    const struct gang_block *at = &function->blocks[entry];
    const struct gang_value *end = &function->values[at->insts[at->count - 1]];

    if (end->op != GANG_BRANCH || at->next_count != 2 || !is_pure(function, entry)) {
        return ir_slice_of("");
    }
    const struct gang_value *compare = &function->values[end->operands[0]];
    bool wanted = leads_to_end(function, at->next[0]);
    if (!is_guard(emit, compare) || (!wanted && !leads_to_end(function, at->next[1]))) {
        return ir_slice_of("");
    }
    struct ir_slice first[2];
    struct ir_slice last[2];
    for (unsigned i = 0; i < 2; i++) {
        first[i] = gang_write_early(emit, compare->operands[i], "0");
        last[i] = gang_write_early(emit, compare->operands[i], "%last_x");
    }
    unsigned index = is_index(emit, compare->operands[0]) ? 0 : 1;
    struct ir_slice parts[3] = {
        write_answer(emit, compare, first, wanted),
        write_answer(emit, compare, last, wanted),
        write_straight(emit, compare, first[index], last[index],
                       emit->shapes.of[compare->operands[index]].stride)};
    struct ir_slice both = gang_name(emit);
    struct ir_slice all = gang_name(emit);
    gang_line(emit, "%.*s = and i1 %.*s, %.*s", IR_ARGS(both), IR_ARGS(parts[0]),
              IR_ARGS(parts[1]));
    gang_line(emit, "%.*s = and i1 %.*s, %.*s", IR_ARGS(all), IR_ARGS(both),
              IR_ARGS(parts[2]));
    return all;
}
