/* SPDX-License-Identifier: MIT */
/* The device's functions of the names that C++'s library puts into `std`.  hipadapt-cc
 * includes them before a program in the host pass: `std::sin` means the device's function
 * in a kernel only if that was declared before <cmath>, wherever HIP's header is. */
#pragma once
#pragma GCC system_header

#include "hipadapt/language.h"
#include "hipadapt/math.h"
