/* SPDX-License-Identifier: MIT */
/* The instructions of one function by number, and its values by name.
 *
 * Numbers run through the text: the instructions of the first block, then those of the
 * next.  A *value* is what an instruction defines; parameters are none.
 *
 *     entry:                         number   block
 *       %c = icmp slt i32 %i, %n     0        0        numbers: "%c" -> 0
 *       br i1 %c, label %then, ...   1        0
 *     then:
 *       %v = load i32, ptr %p        2        1                 "%v" -> 2
 *       ret void                     3        1
 *
 * Everything lies in the arena and borrows from the function; no lock. */
#ifndef HA_CPU_COMPILE_IR_VALUES_H
#define HA_CPU_COMPILE_IR_VALUES_H

#include "cpu/compile/ir_text.h"

struct ir_values {
    struct ir_map numbers; /* name -> number of the instruction that defines it */
    const struct ir_inst **insts; /* by number */
    uint32_t *blocks;             /* by number: the block that the instruction is in */
    uint32_t count;               /* of instructions */
};

void ir_values_read(struct ir_arena *arena, const struct ir_function *function,
                    struct ir_values *values);

/* The instruction that defines a value, and its number; NULL for parameters, constants
 * and names of variables. */
const struct ir_inst *ir_values_find(const struct ir_values *values,
                                     struct ir_slice name, uint32_t *number);

#endif
