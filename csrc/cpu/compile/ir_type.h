/* SPDX-License-Identifier: MIT */
/* Sizes and alignments of IR types under the host's data layout. */
#ifndef HA_CPU_COMPILE_IR_TYPE_H
#define HA_CPU_COMPILE_IR_TYPE_H

#include "cpu/compile/ir_text.h"

struct ir_layout {
    uint64_t size; /* bytes, a multiple of align */
    uint64_t align;
};

/* Named record types of a module. */
struct ir_types {
    struct ir_arena *arena;
    struct ir_map names; /* "%T" -> number in `bodies` */
    struct ir_slice *bodies;
};

void ir_types_read(struct ir_types *types, const struct ir_module *module);
/* Fails with HA_ERROR_UNSUPPORTED for a type that has no size. */
struct ir_layout ir_layout_of(const struct ir_types *types, struct ir_slice type);

#endif
