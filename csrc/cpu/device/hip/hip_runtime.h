/* SPDX-License-Identifier: MIT */
/* The device side of HIP's runtime header for the CPU device.  Written to be read fast: it
 * stands before every kernel.  Vocabulary of hipadapt/language.h: names that begin with
 * __ha_ belong to the device and are given a meaning by cpu/rewrite.c. */
#pragma once
#pragma clang system_header

#include "hipadapt/language.h"
#include "hipadapt/geometry.h"
#include "hipadapt/vector_types.h"
#include "hipadapt/math.h"
#include "hipadapt/integer.h"
#include "hipadapt/atomic.h"
#include "hipadapt/group.h"
#include "hipadapt/library.h"
