/* SPDX-License-Identifier: MIT */
/* The stack of a call, as a member of its slice: a list of lines.  One thread at a
 * time. */
#ifndef HA_TOOL_PROFILER_STACK_ARGS_H
#define HA_TOOL_PROFILER_STACK_ARGS_H

#include <stddef.h>
#include <stdint.h>

/* Zero is an empty one. */
struct ha_stack_args {
    char *members; /* owned */
    size_t room;
};

/* Members of a slice, and behind them the stack, a text of that number (tool/name.h)
 * with a line for each frame; valid until the next call.  Without a stack, or without
 * memory, `args` themselves. */
const char *ha_stack_args_put(struct ha_stack_args *stack, const char *args,
                              uint32_t name);

void ha_stack_args_free(struct ha_stack_args *stack);

#endif
