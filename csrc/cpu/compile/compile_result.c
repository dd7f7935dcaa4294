/* SPDX-License-Identifier: MIT */
#include "cpu/compile/compile_result.h"

#include <stdlib.h>

void
ha_compile_result_release(struct ha_compile_result *result)
{
    for (uint32_t i = 0; i < result->lowered_count; i++) {
        free(result->lowered[i]);
    }
    free(result->lowered);
    free(result->log);
    free(result->image);
    *result = (struct ha_compile_result){0};
}
