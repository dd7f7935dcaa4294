/* SPDX-License-Identifier: MIT */
/* HIP's API for host code, in C or C++.  Kernels of hiprtc get the device side instead,
 * because there is no host. */
#pragma once
#pragma GCC system_header

#if defined(__HIP__) && !defined(__HA_PROGRAM__)
#include <hip/hip_runtime.h>
#else
#include "hipadapt/host.h"
#include <limits.h>
#include <stdlib.h>
#ifdef __cplusplus
#include <utility>
#endif
#endif
