/* SPDX-License-Identifier: MIT */
/* Included by hipadapt-cc between the device's own functions and a program, in the device
 * pass: all that follows is to become part of the kernels (HA_SOURCE_BEFORE in
 * cpu/compile/toolchain_flags.h says why).  The end is at the end of the program. */
#pragma clang attribute push(__attribute__((always_inline)), apply_to = function)
