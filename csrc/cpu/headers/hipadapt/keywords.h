/* SPDX-License-Identifier: MIT */
/* The words that HIP adds to C++.  hipadapt-cc includes them before everything else, because
 * programs may use them without any header of HIP. */
#pragma once

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#if defined(__HA_PROGRAM__) && !defined(__HA_GENCO__)
#define __managed__ __attribute__((managed))
#else
/* Host and device share one memory here, so a managed variable is a device variable; in
 * code objects and kernels of hiprtc no host code has a name for it. */
#define __managed__ __attribute__((device))
#endif
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
/* For a kernel whose lanes count on running in step within a warp, as those of a GPU do. */
#define HIPADAPT_LOCKSTEP __attribute__((annotate("hipadapt_lockstep")))
