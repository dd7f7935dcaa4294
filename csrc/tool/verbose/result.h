/* SPDX-License-Identifier: MIT */
/* What calls of HIP answer. */
#ifndef HA_TOOL_VERBOSE_RESULT_H
#define HA_TOOL_VERBOSE_RESULT_H

#include <stdbool.h>
#include <stdint.h>

/* The name that HIP has for a code; NULL for numbers that are none. */
const char *ha_result_name(int32_t result);

/* Whether the call of this operation failed: not where the function answers no
 * hipError_t, tells of an earlier call, says that something is not ready, or comes
 * after the end of HIP, when programs free what they have. */
bool ha_result_is_failure(int32_t operation, int32_t result);

/* Whether the failure is an argument's. */
bool ha_result_is_refusal(int32_t result);

#endif
