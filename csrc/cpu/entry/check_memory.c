/* SPDX-License-Identifier: MIT */
/* Pools of programs tell of what they give out (abi/check.h). */
#include "cpu/memory/check_memory.h"

#include "abi/check.h"
#include "abi/hip.h"
#include "cpu/base/error.h"
#include "cpu/entry/runtime.h"

int
hipadaptMarkSuballocation(void *begin, size_t bytes)
{
    hipError_t code = ha_enter_query("hipadaptMarkSuballocation");

    if (code != hipSuccess) {
        return (int)code;
    }
    ha_checked_call();
    if (ha_checked_mark(begin, bytes)) {
        return hipSuccess;
    }
    return (
        int)(bytes == 0
                 ? ha_cpu_fail(hipErrorInvalidValue,
                               "argument 'begin' (%p) is not where a part begins",
                               begin)
                 : ha_cpu_fail(hipErrorInvalidValue,
                               "the %zu bytes at argument 'begin' (%p) are not part "
                               "of one allocation, or overlap another part",
                               bytes, begin));
}
