/* SPDX-License-Identifier: MIT */
/* Our own headers, with which every kernel's text begins, read once.
 *
 * The front end needs longer for them than for most kernels.  So they are kept as
 * clang's precompiled header (PCH), as an entry of the cache.  A front end that is
 * given the PCH writes the same IR as one that reads the headers: the includes stay in
 * the text and find that they have been read.  The key has all arguments and the bytes
 * of our headers, so a PCH never meets others; their time stamps are not in it.
 *
 * No lock of its own; the cache's lock of the key while a PCH is made.  It is asked for
 * and not waited for. */
#ifndef HA_CPU_COMPILE_PRELUDE_H
#define HA_CPU_COMPILE_PRELUDE_H

#include "cpu/compile/build.h"
#include "cpu/compile/buffer.h"
#include "cpu/compile/cache.h"
#include "cpu/compile/process.h"

struct ha_prelude_request {          /* everything is borrowed */
    const struct ha_list *arguments; /* of the front end */
    const char *text;                /* the includes */
    size_t size;
};

/* One that is made beside a front end, which does without.  The lock keeps others from
 * making the same; they do without as well. */
struct ha_prelude_making {
    int lock; /* of the cache, -1: none is made */
    uint8_t key[HA_CACHE_KEY_BYTES];
    struct ha_list arguments;
    struct ha_memory_file text, made;
};

/* Opens `prelude` with the PCH of this text and these arguments, or has one made.
 * Where neither works both stay closed, and nothing is said: the front end does
 * without. */
void ha_prelude_open(const struct ha_build *build,
                     const struct ha_prelude_request *request,
                     struct ha_memory_file *prelude, struct ha_prelude_making *making);
/* What is to run; only where there is a lock. */
struct ha_build_task ha_prelude_task(struct ha_prelude_making *making);
/* Keeps what was made.  To be called once, and harmless without a lock. */
void ha_prelude_finish(struct ha_prelude_making *making);

#endif
