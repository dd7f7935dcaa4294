/* SPDX-License-Identifier: MIT */
/* AMD's headers of the interface, behind the types of HIP that they need. */
#ifndef HA_ROCPROFILER_SDK_H
#define HA_ROCPROFILER_SDK_H

#include "abi/hip.h"

#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#define HA_SDK_EXPORT __attribute__((visibility("default")))

#endif
