/* SPDX-License-Identifier: MIT */
/* Addresses where no memory of the program can be expected: the first ones and those of
 * handles, and addresses that HIP gave out once and gave back to the machine.
 *
 * Memory that the device does not know is the program's own, and copies touch it
 * without asking, as asking costs a system call.  It asks about the addresses here:
 * large allocations are unmapped when they are freed, and other memory may appear there
 * later.  They are remembered in pieces of HA_GONE_PIECE_BYTES for the life of the
 * process.
 *
 * Locks: none; any thread. */
#ifndef HA_CPU_BASE_GONE_H
#define HA_CPU_BASE_GONE_H

#include <stdbool.h>
#include <stddef.h>

#include "abi/hip.h"

#define HA_GONE_PIECE_BYTES ((size_t)2 << 20)

/* Remembers addresses that are given back now. */
void ha_gone_add(const void *address, size_t bytes);

/* hipErrorInvalidValue, with a text, for an argument that points to memory of the host:
 * NULL, and addresses of ha_gone. */
hipError_t ha_gone_check(const char *argument, const void *address, size_t bytes);

/* True if the addresses are such ones and some of them have no memory now. */
bool ha_gone(const void *address, size_t bytes);

#endif
