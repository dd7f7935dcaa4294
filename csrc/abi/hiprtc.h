/* SPDX-License-Identifier: MIT */
/* The hiprtc C ABI, declared like abi/hip.h.  hiprtc's JIT option and input types are
 * HIP's (hipJitOption, hipJitInputType) under their older names. */
#ifndef HA_ABI_HIPRTC_H
#define HA_ABI_HIPRTC_H

#include "abi/generated/hiprtc.h"

typedef hipJitOption hiprtcJIT_option;
typedef hipJitInputType hiprtcJITInputType;

#endif
