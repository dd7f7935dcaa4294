/* SPDX-License-Identifier: MIT */
/* The twins of functions, without questions: what a launch runs whose accesses were
 * proved right (cpu/base/proof.h).
 *
 *     define dso_local ptx_kernel void @halve(...)        has questions
 *     define dso_local ptx_kernel void @halve.plain(...)  its twin
 *     define dso_local void @store(...)                   a function that it calls
 *     define internal void @store.plain(...)
 *
 * Twins call twins.  Both are optimised in one go, name the same variables, and keep
 * their places in the source. */
#ifndef HA_CPU_COMPILE_CHECK_PLAIN_H
#define HA_CPU_COMPILE_CHECK_PLAIN_H

#include <stdbool.h>

#include "cpu/compile/ir_text.h"

#define HA_PLAIN_SUFFIX "plain"

struct ha_check_plain {
    struct ir_arena *arena;
    const struct ir_module *module; /* before it has questions */
    struct ir_map functions;        /* name -> number */
    struct ir_out text;             /* of the twins */
};

void ha_check_plain_start(struct ha_check_plain *plain, struct ir_arena *arena,
                          const struct ir_module *module);

/* A line of a function, from "define" to "}". */
void ha_check_plain_line(struct ha_check_plain *plain, struct ir_slice line);

/* Whether a function is a twin, by its name. */
bool ha_check_is_plain(struct ir_slice name);

#endif
