/* SPDX-License-Identifier: MIT */
/* Whether all accesses of a launch are right, told from its numbers before it runs.
 *
 * The values of a kernel (cpu/base/proof.h) become ranges: what they can be for all
 * lanes, under the conditions that lead to an access.  An access is *proved* if the
 * range of its address lies in the memory that it begins in, and is aligned; and, where
 * races are asked for, if no two lanes can meet in it: their addresses lie apart, or
 * are one linear function that is another value for each lane.
 *
 *     a[i], i = 256 * block_x + thread_x < n     bytes [a, a + 4 n); i differs by lane
 *
 * Numbers that may wrap, or are not known, are any number; so "no" says nothing, and
 * "yes" holds for each lane.  No lock, no state. */
#ifndef HA_CPU_CHECK_PROOF_H
#define HA_CPU_CHECK_PROOF_H

#include <stdbool.h>
#include <stdint.h>

#include "cpu/base/image.h"
#include "cpu/base/proof.h"

struct ha_proof_launch {
    const struct ha_proof *proof;     /* borrowed, as all of these */
    const struct ha_image_arg *sizes; /* of the arguments */
    void *const *args;
    const struct ha_grid *grid;
    uint32_t shared_dynamic_bytes;
    bool race; /* races are asked for, too */
    /* The memory that an address lies in; false where it lies in none. */
    bool (*find)(uintptr_t at, uintptr_t *begin, uint64_t *bytes);
};

/* What an access of a proved launch touches, at most: bytes that several lanes share.
 */
struct ha_proof_range {
    uintptr_t begin, end;
    uint32_t what; /* enum ha_site_bits */
    uint32_t line;
};

/* Whether the launch is proved.  If so, and `ranges` is not NULL, it has what the
 * accesses to global memory and variables touch: room for access_count of them. */
bool ha_proof_holds(const struct ha_proof_launch *launch, struct ha_proof_range *ranges,
                    uint32_t *range_count);

#endif
