/* SPDX-License-Identifier: MIT */
#pragma once
#pragma clang system_header
#include <hip/hip_runtime.h>
#define offsetof(type, member) __builtin_offsetof(type, member)
typedef double max_align_t __attribute__((aligned(16)));
