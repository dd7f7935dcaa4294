/* SPDX-License-Identifier: MIT */
/* Symbols: `__device__` and `__constant__` variables, named by the address that they
 * have in the program (cpu/module/register.h).
 *
 * Each device has its own copy of a variable; all of these functions mean that of the
 * calling thread's current device. */
#ifndef HA_CPU_MODULE_SYMBOL_H
#define HA_CPU_MODULE_SYMBOL_H

#include <stddef.h>

#include "abi/hip.h"

/* Where the variable is on the current device, and its size; `host` as in HIP_SYMBOL.
 * Loads the program's code on the device if need be.  Fails with hipErrorInvalidSymbol
 * for what is no variable. */
hipError_t ha_symbol_resolve(const void *host, void **device, size_t *bytes);

/* The same for `count` bytes from `offset`, which must lie within the variable;
 * hipErrorInvalidValue if they don't. */
hipError_t ha_symbol_range(const void *host, size_t count, size_t offset,
                           void **device);

#endif
