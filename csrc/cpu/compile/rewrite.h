/* SPDX-License-Identifier: MIT */
/* From the device front end's LLVM text IR (nvptx64 triple) to host IR.
 *
 * The result defines, for every kernel, a reference function (one lane, calls the
 * runtime at barriers) and, where lanes are proved independent, a fast function (loops
 * over lanes that the vectoriser turns into SIMD), plus the tables of cpu/base/image.h.
 * Pure text to text: no process, no file, no global state; safe to call from any
 * thread. */
#ifndef HA_CPU_COMPILE_REWRITE_H
#define HA_CPU_COMPILE_REWRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

struct ha_rewrite_request {
    const char *ir; /* borrowed, need not end in NUL */
    size_t ir_size;
    uint32_t warp_size;  /* 32 or 64 */
    uint32_t gang_width; /* lanes that one vector has: 8, 16; 0: no gang forms */
    char vector_math; /* of names of libmvec, for such vectors; 0: it is not called */
    uint32_t name_count; /* name expressions __hip_name_0 .. in the source */
    /* Asked from time to time, may be NULL: not HA_OK, with a text, ends the rewrite.
     */
    enum ha_status (*stop)(void *context);
    void *stop_context;  /* borrowed */
    uint32_t parts_most; /* parts of the result; 0 is 1 */
    bool fuses;          /* the processor has an instruction for a product and a sum */
    bool
        guard; /* kernels ask before each access (cpu/memory/access.h); no fast forms */
    bool lockstep; /* the lanes of all kernels run in step */
    bool check; /* the text has questions (cpu/compile/check_insert.h); no fast forms */
    bool twins; /* with questions: kernels without any beside (check_plain.h) */
    bool numbers; /* checked for NaN (cpu/compile/rewrite_numbers.h); no fast forms */
    bool shadow;  /* it keeps shadow memory (cpu/compile/shadow_insert.h) */
    const char *source; /* of these, the text and its name, for places; may be NULL */
    size_t source_size;
    const char *source_name;
};

#define HA_REWRITE_PARTS_MAX 48u

/* Text of one module. */
struct ha_rewrite_part {
    char *ir; /* owned, NUL terminated */
    size_t ir_size;
    bool many_loops; /* the back end is to take HA_NO_UNROLLING */
};

struct ha_rewrite_result {
    /* The objects that the parts become are linked into one; the first has the tables.
     */
    struct ha_rewrite_part parts[HA_REWRITE_PARTS_MAX];
    uint32_t part_count;
    char **lowered; /* owned, name_count entries, NULL where none was found */
    uint32_t lowered_count;
    bool loops_store;  /* the back end is to take HA_NO_FORWARDING */
    bool narrow_steps; /* and HA_NO_WRAP_CHECKS */
};

/* Needs: IR that the pinned front end wrote.  After success the caller owns the result
 * and gives it to ha_rewrite_release.  Returns HA_ERROR_UNSUPPORTED with a text that
 * names the function and the line for IR that has no host meaning. */
enum ha_status ha_rewrite(const struct ha_rewrite_request *request,
                          struct ha_rewrite_result *result);
void ha_rewrite_release(struct ha_rewrite_result *result);

/* The lowered names alone, without a look at functions: `name_count` owned entries in
 * an owned array, NULL where none was found; `lowered` is untouched on failure.  Needs
 * no target and no warp size. */
enum ha_status ha_rewrite_names(const struct ha_rewrite_request *request,
                                char ***lowered);

#endif
