/* SPDX-License-Identifier: MIT */
/* Integer instructions taken apart, without the flags that the front end inferred. */
#ifndef HA_CPU_COMPILE_REWRITE_OPERANDS_H
#define HA_CPU_COMPILE_REWRITE_OPERANDS_H

#include <stdbool.h>
#include <stdint.h>

#include "cpu/compile/ir_text.h"

struct ha_rewriter;

/* An instruction without its flags. */
struct ha_operands {
    struct ir_slice op;        /* as it is for every lane: add for `or disjoint` */
    struct ir_slice predicate; /* comparisons */
    struct ir_slice type;
    struct ir_slice a;
    struct ir_slice b;  /* binary operations and comparisons */
    struct ir_slice to; /* conversions */
};

/* Arithmetic on two integers that has a result for all values of the first one: among
 * divisions, those by a constant other than 0 and -1. */
bool ha_operands_binary(const struct ir_inst *inst);
/* sext, zext and trunc. */
bool ha_operands_conversion(const struct ir_inst *inst);

/* Bits of an integer type of at most 64 of them; 0 for other types. */
int64_t ha_operands_bits(struct ir_slice type);

/* False for anything but scalar integers of at most 64 bits. */
bool ha_operands_take(struct ha_rewriter *rewriter, const struct ir_inst *inst,
                      struct ha_operands *result);

#endif
