/* SPDX-License-Identifier: MIT */
/* HIP's runtime header for the CPU device.
 *
 * hiprtc puts it before every kernel, so it is written to be read fast: the device side
 * and nothing else.  hipadapt-cc defines __HA_PROGRAM__ where one file holds host code and
 * kernels; then both sides are here, in both passes.  Other compilers get the host side.
 *
 * Vocabulary of hipadapt/language.h: names that begin with __ha_ belong to the device and
 * are given a meaning by cpu/rewrite.c. */
#pragma once
#pragma GCC system_header

#if defined(__HA_PROGRAM__) || !defined(__HIP__)
#include "hipadapt/host.h"
#endif

#ifdef __HIP__
#include "hipadapt/language.h"
#if defined(__AMDGCN__) && defined(__HIP_DEVICE_COMPILE__)
#include "hipadapt/amdgcn.h"
#endif
#include "hipadapt/geometry.h"
#include "hipadapt/vector_types.h"
#include "hipadapt/math.h"
#include "hipadapt/integer.h"
#include "hipadapt/atomic.h"
#include "hipadapt/group.h"
#include "hipadapt/library.h"
/* Kernels of hiprtc get these where they use them: cpu/compile.c. */
#ifdef __HA_PROGRAM__
#include "hipadapt/texture.h"
#include "hipadapt/surface.h"
#include "hipadapt/program.h"
#endif
#endif

#if defined(__HA_PROGRAM__) || !defined(__HIP__)
#include "hipadapt/channel.h"
#endif

/* Host code expects these from HIP's header.  They come last: what they make of a name in
 * `std` covers the device's functions of that name only if it has seen those. */
#if defined(__cplusplus) && (defined(__HA_PROGRAM__) || !defined(__HIP__))
#include <algorithm>
#include <array>
#include <cassert>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iosfwd>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#include "hipadapt/std_float.h"
#endif
