/* SPDX-License-Identifier: MIT */
/* For programs that are checked for NaN: text IR as the front end leaves it without
 * optimisation, with its arithmetic as calls (cpu/compile/ir_strict.h).  So the
 * optimiser makes no operation that the program does not make: a quotient stays behind
 * the branch that guards it.  cpu/compile/rewrite_numbers.h takes the calls back. */
#ifndef HA_CPU_COMPILE_NUMBERS_INSERT_H
#define HA_CPU_COMPILE_NUMBERS_INSERT_H

#include "cpu/compile/buffer.h"
#include "cpu/compile/rewrite.h"

/* Of `request`, the text and `stop` are read.  Appends the text with its calls. */
enum ha_status ha_numbers_insert(const struct ha_rewrite_request *request,
                                 struct ha_bytes *text);

#endif
