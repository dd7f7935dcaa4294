/* SPDX-License-Identifier: MIT */
/* HIP error state of the calling thread.
 *
 * Two codes are kept: the *last error* is the newest failure, which stays until
 * hipGetLastError takes it; the *last call* is the result of the newest call, success
 * included.  The text explains the newest failure.  All of it lives in struct ha_thread
 * (cpu/base/thread.h), so no lock is needed. hipErrorNotReady is an answer rather than
 * a failure and does not become the last error. */
#ifndef HA_CPU_BASE_ERROR_H
#define HA_CPU_BASE_ERROR_H

#include "abi/hip.h"
#include "core/status.h"

/* Records `code` and the text for this thread and returns `code`.  The name of the HIP
 * function that the thread is in stands before the text. */
__attribute__((format(printf, 2, 3))) hipError_t ha_cpu_fail(hipError_t code,
                                                             const char *format, ...);

/* hipErrorInvalidValue for an argument that must not be NULL. */
hipError_t ha_cpu_fail_null(const char *argument);

/* Like ha_cpu_fail for a status of the plain C half; the text is ha_error_text(). */
hipError_t ha_cpu_fail_status(enum ha_status status);

/* Borrowed constants; NULL for a code that HIP does not have. */
const char *ha_error_code_name(hipError_t code);
const char *ha_error_code_text(hipError_t code);

#endif
