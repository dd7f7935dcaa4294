/* SPDX-License-Identifier: MIT */
/* Can be read again, with another NDEBUG, as C has it. */
#pragma clang system_header
#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition)                                                               \
    ((condition) ? (void)0                                                              \
                 : __ha_assert_fail(#condition, __FILE__, __LINE__, __PRETTY_FUNCTION__))
#endif
