/* SPDX-License-Identifier: MIT */
/* The version of HIP, as macros alone: kernels ask it of no more than this. */
#pragma once
#pragma GCC system_header
#if defined(__HIP__) && !defined(__HA_PROGRAM__)
#define HIP_VERSION_MAJOR 7
#define HIP_VERSION_MINOR 15
#define HIP_VERSION_PATCH 26333
#define HIP_VERSION_GITHASH "0000000"
#define HIP_VERSION_BUILD_ID 0
#define HIP_VERSION_BUILD_NAME ""
#define HIP_VERSION                                                                    \
    (HIP_VERSION_MAJOR * 10000000 + HIP_VERSION_MINOR * 100000 + HIP_VERSION_PATCH)
#else
#include <hip/hip_runtime_api.h>
#endif
