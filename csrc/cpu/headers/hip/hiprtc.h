/* SPDX-License-Identifier: MIT */
/* hiprtc's API for host code, in C or C++. */
#pragma once
#pragma GCC system_header

#if defined(__HIP__) && !defined(__HA_PROGRAM__)
#include <hip/hip_runtime.h>
#else
#include "hipadapt/api_hiprtc.h"
#endif

/* The older names of what hiprtc shares with HIP. */
#define hiprtcJIT_option hipJitOption
#define hiprtcJITInputType hipJitInputType
