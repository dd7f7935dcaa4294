/* SPDX-License-Identifier: MIT */
/* HA_SOURCE_PRELUDE, the header that every kernel's text begins with, read once.
 *
 * The front end needs longer for it than for most kernels.  So it is kept as clang's
 * precompiled header (PCH), as an entry of the cache.  A front end that is given the
 * PCH writes the same IR as one that reads the header: the include stays in the text
 * and finds that it has been read.  The key has all arguments and the bytes of our
 * headers, so a PCH never meets others; the time stamps of the headers are not in it.
 *
 * No lock of its own; the cache's lock of the key while a PCH is made. */
#ifndef HA_CPU_COMPILE_PRELUDE_H
#define HA_CPU_COMPILE_PRELUDE_H

#include "cpu/compile/build.h"
#include "cpu/compile/buffer.h"
#include "cpu/compile/process.h"

/* Opens `prelude` with the PCH for a front end with these arguments, which is made if
 * there is none.  Where that does not work `prelude` stays closed, and nothing is said:
 * the front end does without. */
void ha_prelude_open(struct ha_build *build, const struct ha_list *arguments,
                     struct ha_memory_file *prelude);

#endif
