/* SPDX-License-Identifier: MIT */
/* HIP's runtime header for the CPU device.
 *
 * hiprtc puts it before every kernel, so it is written to be read fast: the device side
 * and nothing else.  hipadapt-cc defines __HA_PROGRAM__ where one file holds host code and
 * kernels; then both sides are here, in both passes.  Other compilers get the host side.
 *
 * Vocabulary of hipadapt/language.h: names that begin with __ha_ belong to the device and
 * are given a meaning by cpu/compile/rewrite.c. */
#pragma once
#pragma GCC system_header

#if defined(__HA_PROGRAM__) || !defined(__HIP__)
#include "hipadapt/host.h"
#endif

#ifdef __HIP__
#include "hipadapt/device.h"
/* A hint on a GPU.  Functions stay inlined here, because barriers and warp calls then
 * stand in the kernel's own flow.  libc++ asks for the attribute of this name in its
 * first header, which is behind us. */
#ifndef __noinline__
#define __noinline__
#endif
/* Kernels of hiprtc get these where they use them: cpu/compile/compile.c. */
#ifdef __HA_PROGRAM__
#include "hipadapt/texture.h"
#include "hipadapt/surface.h"
#endif
#endif

#if defined(__HA_PROGRAM__) || !defined(__HIP__)
#include "hipadapt/channel.h"
#endif

/* Host code expects these from HIP's header.  They come last: what they make of a name in
 * `std` covers the device's functions of that name only if it has seen those.  hipadapt-cc
 * sees to it that a program which includes them itself has them behind us too. */
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
