/* SPDX-License-Identifier: MIT */
/* Our own headers, with which every kernel's text begins, read once.
 *
 * The front end needs longer for them than for most kernels.  So they are kept as
 * clang's precompiled header (PCH), as an entry of the cache.  A front end that is
 * given the PCH writes the same IR as one that reads the headers: the includes stay in
 * the text and find that they have been read.  The key has all arguments and the bytes
 * of our headers, so a PCH never meets others; their time stamps are not in it.
 *
 * No lock of its own; the cache's lock of the key while a PCH is made. */
#ifndef HA_CPU_COMPILE_PRELUDE_H
#define HA_CPU_COMPILE_PRELUDE_H

#include "cpu/compile/build.h"
#include "cpu/compile/buffer.h"
#include "cpu/compile/process.h"

struct ha_prelude_request {          /* everything is borrowed */
    const struct ha_list *arguments; /* of the front end */
    const char *text;                /* the includes */
    size_t size;
};

/* Opens `prelude` with the PCH of this text and these arguments, which is made if there
 * is none.  Where that does not work `prelude` stays closed, and nothing is said: the
 * front end does without. */
void ha_prelude_open(struct ha_build *build, const struct ha_prelude_request *request,
                     struct ha_memory_file *prelude);

#endif
