/* SPDX-License-Identifier: MIT */
/* The device side of HIP's runtime header.  It needs no other header and no macro of the
 * program: hipadapt-cc includes it before a program in the device pass, because what the
 * host's headers make of a name in `std` covers the device's function of that name only
 * if they have seen it. */
#pragma once
#pragma GCC system_header

#include "hipadapt/language.h"
#if defined(__AMDGCN__) && defined(__HIP_DEVICE_COMPILE__)
#include "hipadapt/amdgcn.h"
#endif
#include "hipadapt/geometry.h"
#include "hipadapt/vector_types.h"
#include "hipadapt/math.h"
#include "hipadapt/integer.h"
#include "hipadapt/packed.h"
#include "hipadapt/atomic.h"
#include "hipadapt/group.h"
#include "hipadapt/library.h"
#include "hipadapt/complex_parts.h"
#ifdef __HA_PROGRAM__
#include "hipadapt/program.h"
#else
#include <assert.h>
#endif
