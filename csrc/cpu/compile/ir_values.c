/* SPDX-License-Identifier: MIT */
#include "cpu/compile/ir_values.h"

void
ir_values_read(struct ir_arena *arena, const struct ir_function *function,
               struct ir_values *values)
{
    uint32_t count = 0;

    for (uint32_t b = 0; b < function->block_count; b++) {
        count += function->blocks[b].count;
    }
    *values = (struct ir_values){.numbers = {.arena = arena}};
    values->insts = ir_alloc(arena, count + 1u, sizeof *values->insts);
    values->blocks = ir_alloc(arena, count + 1u, sizeof *values->blocks);
    for (uint32_t b = 0; b < function->block_count; b++) {
        for (uint32_t i = 0; i < function->blocks[b].count; i++) {
            const struct ir_inst *inst = &function->blocks[b].insts[i];
            if (inst->def.size > 0) {
                ir_map_set(&values->numbers, inst->def, values->count);
            }
            values->blocks[values->count] = b;
            values->insts[values->count++] = inst;
        }
    }
}

const struct ir_inst *
ir_values_find(const struct ir_values *values, struct ir_slice name, uint32_t *number)
{
    return ir_map_get(&values->numbers, name, number) ? values->insts[*number] : NULL;
}
