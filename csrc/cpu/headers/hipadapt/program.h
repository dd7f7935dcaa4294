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

/* What libstdc++ calls where its own assertions are on (_GLIBCXX_ASSERTIONS); the second
 * in versions before 12. */
namespace std {
__HA_FN_T__ __attribute__((noreturn)) void
__glibcxx_assert_fail(const char *file, int line, const char *function,
                      const char *text) noexcept {
    __ha_assert_fail(text, file, (unsigned)line, function);
}
__HA_FN_T__ __attribute__((noreturn)) void
__replacement_assert(const char *file, int line, const char *function, const char *text) {
    __ha_assert_fail(text, file, (unsigned)line, function);
}
} // namespace std
