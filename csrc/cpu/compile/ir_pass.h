/* SPDX-License-Identifier: MIT */
/* A pass from text to text, in an arena of its own. */
#ifndef HA_CPU_COMPILE_IR_PASS_H
#define HA_CPU_COMPILE_IR_PASS_H

#include "cpu/compile/buffer.h"
#include "cpu/compile/ir_text.h"
#include "cpu/compile/rewrite.h"

/* May leave by ir_fail. */
typedef void (*ir_pass)(struct ir_arena *arena,
                        const struct ha_rewrite_request *request,
                        struct ha_bytes *text);

/* Appends what the pass makes of the request's IR; `what` names it in errors. */
enum ha_status ir_pass_run(ir_pass pass, const char *what,
                           const struct ha_rewrite_request *request,
                           struct ha_bytes *text);

#endif
