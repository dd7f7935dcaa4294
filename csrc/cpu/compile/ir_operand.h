/* SPDX-License-Identifier: MIT */
/* Operands of calls and accesses as text: "ptr noundef nonnull align 8 %p".  No state.
 */
#ifndef HA_CPU_COMPILE_IR_OPERAND_H
#define HA_CPU_COMPILE_IR_OPERAND_H

#include "cpu/compile/ir_text.h"
#include "cpu/compile/ir_type.h"

struct ir_address {
    struct ir_slice name; /* "%p", "@x", or a constant expression */
    uint32_t space;
    uint64_t align; /* 0: nothing is said */
};

/* The value behind the words that may stand before it; `align` is set where one of them
 * says so. */
struct ir_slice ir_without_attributes(struct ir_slice text, uint64_t *align);

/* "ptr addrspace(3) align 4 @x"; false where the text is no pointer. */
bool ir_address_read(struct ir_slice text, struct ir_address *address);

/* The type at the beginning of "i32 %v" and the like. */
struct ir_slice ir_type_at(struct ir_arena *arena, struct ir_slice text);

/* Bytes that an access of the type touches: without the padding behind it. */
uint64_t ir_access_bytes(const struct ir_types *types, struct ir_slice type);

/* What stands between the brackets of a call, divided at its commas. */
struct ir_slice *ir_arguments(struct ir_arena *arena, struct ir_slice call,
                              uint32_t *count);

/* ", !dbg !31" of a line; empty: it has none. */
struct ir_slice ir_debug(struct ir_slice line);

#endif
