/* SPDX-License-Identifier: MIT */
/* Shadow memory in kernels, for programs that are checked for what nobody wrote.
 *
 * LLVM has a pass for that, made for the Linux kernel: it gives each value a second one
 * whose bits say which of the first have no value, asks a function for the shadow of
 * each address, and calls another where a branch, an address or an argument depends on
 * such bits.  It runs on text IR as the front end leaves it, in a process of its own;
 * what it does not know is told before, and what it calls becomes ours after.
 *
 *     %1 = load i32, ptr %p                            as it was
 *     %2 = call { ptr, ptr } @__ha_shadow_read(ptr %p, i64 4)
 *     ...                                              the pass's arithmetic
 *     call void @__ha_check(ptr null, i64 0, i32 <HA_SITE_UNWRITTEN>, i64 <origin>)
 *
 * The shadow of variables that are reached by their name alone is a variable of the
 * function itself, so that both can become registers.  Variables begin as zeros: to
 * the optimiser what has no value could be anything, branches on it included. */
#ifndef HA_CPU_COMPILE_SHADOW_INSERT_H
#define HA_CPU_COMPILE_SHADOW_INSERT_H

#include "cpu/compile/buffer.h"
#include "cpu/compile/rewrite.h"

/* The pass's command line, behind that of an IR step.  Its own folder for shadows is of
 * no use here, but it does not start without one for a target that it does not know. */
#define HA_SHADOW_FLAGS                                                                \
    "-O0", "-fsanitize=kernel-memory", "-mllvm", "-msan-shadow-base=256", "-mllvm",    \
        "-msan-track-origins=1", "-mllvm",                                             \
        "-msan-instrumentation-with-call-threshold=-1"

/* Of `request`, the text and `stop` are read.  Appends what the pass is to read, and
 * what is made of its answer. */
enum ha_status ha_shadow_before(const struct ha_rewrite_request *request,
                                struct ha_bytes *text);
enum ha_status ha_shadow_after(const struct ha_rewrite_request *request,
                               struct ha_bytes *text);

/* In place of `alwaysinline` while the pass runs. */
#define HA_SHADOW_INLINE "\"__ha_inline\""

/* Whether a declared function is one that the pass's text calls. */
#define HA_SHADOW_PREFIX "@__ha_shadow_"

#endif
