/* SPDX-License-Identifier: MIT */
/* Questions before accesses, for programs under check: text IR as the front end leaves
 * it without optimisation gets a call before each load, store, atomic, fence and copy.
 *
 *     %ha.cv.0 = zext i32 %2 to i64
 *     call void @__ha_check(ptr %arrayidx, i64 4, i32 135170, i64 %ha.cv.0), !dbg !35
 *     store i32 %2, ptr %arrayidx, align 4, !dbg !35
 *
 * The last operand is what is going to be stored.  The number says what the access does
 * (enum ha_site_bits of cpu/base/image.h).  The optimiser may then do what it likes
 * with accesses: the calls stay, in their order, one for each access that the program
 * makes, at the line that makes it.
 *
 * Variables of a function that are reached by their name, and parts of them that are,
 * need no question, and so can become registers. */
#ifndef HA_CPU_COMPILE_CHECK_INSERT_H
#define HA_CPU_COMPILE_CHECK_INSERT_H

#include "cpu/compile/buffer.h"
#include "cpu/compile/rewrite.h"

/* Of `request`, the text and `stop` are read.  Appends the text with its questions. */
enum ha_status ha_check_insert(const struct ha_rewrite_request *request,
                               struct ha_bytes *text);

#endif
