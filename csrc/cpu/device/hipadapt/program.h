/* SPDX-License-Identifier: MIT */
/* What kernels need in a file that has host code too: host headers expand to calls of
 * functions that only the host has, and these are what they are on the device. */
#pragma once
#pragma GCC system_header

/* The `assert` of the C library. */
extern "C" __attribute__((device, noreturn, always_inline)) inline void
__assert_fail(const char *text, const char *file, unsigned line, const char *function) {
    __ha_assert_fail(text, file, line, function);
}
