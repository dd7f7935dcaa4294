/* SPDX-License-Identifier: MIT */
/* What each line goes through on its way from device IR to host IR, and names. */
#ifndef HA_CPU_COMPILE_REWRITE_TEXT_H
#define HA_CPU_COMPILE_REWRITE_TEXT_H

#include <stdbool.h>

#include "cpu/compile/ir_text.h"

struct ha_rewriter;

/* The line as host IR: no address spaces, no attribute groups but those of library
 * calls. */
struct ir_slice ha_host_text(struct ha_rewriter *rewriter, struct ir_slice line,
                             bool attributes);

/* A kernel has no host function of its shape.  Its address, where a line has it,
 * becomes that of a function that ends the launch: device code may hold it and compare
 * it, and cannot call it. */
struct ir_slice ha_with_kernel_addresses(struct ha_rewriter *rewriter,
                                         struct ir_slice line);

/* A name such as @f or @"f g" with a suffix inside of its quotes. */
struct ir_slice ha_suffixed(struct ir_arena *arena, struct ir_slice name,
                            const char *suffix);

#endif
