/* SPDX-License-Identifier: MIT */
/* Cooperative groups: the names that HIP gives them.  What they are made of is in
 * hipadapt/cooperative.h, group by group, and hipadapt/cooperative_reduce.h. */
#pragma once
#pragma clang system_header
#include <hip/hip_runtime.h>

#include "hipadapt/cooperative.h"
#include "hipadapt/cooperative_reduce.h"
