/* SPDX-License-Identifier: MIT */
#include "cpu/work/launch_proof.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/base/check_kinds.h"
#include "cpu/base/config.h"
#include "cpu/memory/check_memory.h"

/* What can be proved, and words that change nothing about that. */
#define PROVED_KINDS                                                                   \
    ((uint32_t)(HA_CHECK_MEMORY | HA_CHECK_RACE | HA_CHECK_LEAKS | HA_CHECK_EQUAL |    \
                HA_CHECK_RELAXED | HA_CHECK_QUIET))

/* A launch that was proved; behind it stand the ranges, then the arguments. */
struct memo {
    uint64_t changes; /* ha_checked_changes before */
    uint32_t kinds;
    uint32_t shared_dynamic_bytes;
    struct ha_grid grid;
    uint32_t range_count;
    uint32_t argument_bytes;
    struct ha_proof_range ranges[];
};

static unsigned char *
arguments_of(struct memo *memo)
{
    return (unsigned char *)(memo->ranges + memo->range_count);
}

bool
ha_launch_may_prove(const struct ha_function *function)
{
    return function->kernel->proof != NULL && ha_config()->proof &&
           (ha_check_kinds() & ~PROVED_KINDS) == 0;
}

/* Not constants: who writes to them by a pointer is found by looking at the access. */
static bool
find_memory(uintptr_t at, uintptr_t *begin, uint64_t *bytes)
{
    struct ha_checked_range range;

    if (!ha_checked_find(at, 1, &range) || range.space == HA_SPACE_CONSTANT) {
        return false;
    }
    *begin = range.begin;
    *bytes = range.bytes;
    return true;
}

static bool
same_launch(struct memo *memo, const struct ha_launch *launch, uint32_t kinds,
            uint64_t changes)
{
    const struct ha_image_kernel *kernel = launch->kernel;
    const unsigned char *bytes;

    if (memo == NULL || memo->changes != changes || memo->kinds != kinds ||
        memo->shared_dynamic_bytes != launch->shared_dynamic_bytes ||
        memcmp(&memo->grid, &launch->grid, sizeof memo->grid) != 0) {
        return false;
    }
    bytes = arguments_of(memo);
    for (uint32_t i = 0; i < kernel->arg_count; i++) {
        if (memcmp(bytes, launch->args[i], kernel->args[i].size) != 0) {
            return false;
        }
        bytes += kernel->args[i].size;
    }
    return true;
}

static uint32_t
argument_bytes(const struct ha_image_kernel *kernel)
{
    uint32_t bytes = 0;

    for (uint32_t i = 0; i < kernel->arg_count; i++) {
        bytes += kernel->args[i].size;
    }
    return bytes;
}

/* A memo of the launch, if it is proved; else NULL. */
static struct memo *
prove(const struct ha_launch *launch, uint32_t kinds, uint64_t changes)
{
    const struct ha_image_kernel *kernel = launch->kernel;
    const struct ha_proof_launch told = {
        .proof = kernel->proof,
        .sizes = kernel->args,
        .args = launch->args,
        .grid = &launch->grid,
        .shared_dynamic_bytes = launch->shared_dynamic_bytes,
        .race = (kinds & HA_CHECK_RACE) != 0,
        .find = find_memory,
    };
    uint32_t bytes = argument_bytes(kernel);
    struct memo *memo =
        malloc(sizeof *memo +
               kernel->proof->access_count * sizeof(struct ha_proof_range) + bytes);

    if (memo == NULL) {
        return NULL;
    }
    memo->range_count = 0;
    if (!ha_proof_holds(&told, memo->ranges, &memo->range_count)) {
        free(memo);
        return NULL;
    }
    memo->changes = changes;
    memo->kinds = kinds;
    memo->shared_dynamic_bytes = launch->shared_dynamic_bytes;
    memo->grid = launch->grid;
    memo->argument_bytes = bytes;
    unsigned char *to = arguments_of(memo);
    for (uint32_t i = 0; i < kernel->arg_count; i++) {
        memcpy(to, launch->args[i], kernel->args[i].size);
        to += kernel->args[i].size;
    }
    return memo;
}

bool
ha_launch_prove(struct ha_function *function, const struct ha_launch *launch,
                ha_proof_told *told, void *context)
{
    uint64_t changes = ha_checked_changes(); /* before the look */
    uint32_t kinds = ha_check_kinds();

    if (!ha_launch_may_prove(function) || ha_checked_any_pending()) {
        return false;
    }
    /* Who takes the memo has it alone. */
    struct memo *memo = atomic_exchange(&function->proved, NULL);
    if (!same_launch(memo, launch, kinds, changes)) {
        free(memo);
        memo = prove(launch, kinds, changes);
    }
    bool proved = memo != NULL;
    if (proved && told != NULL) {
        told(context, memo->ranges, memo->range_count);
    }
    free(atomic_exchange(&function->proved, memo));
    return proved;
}
