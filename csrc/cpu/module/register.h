/* SPDX-License-Identifier: MIT */
/* What compiled programs register when they start: fat binaries (cpu/module/fatbin.h),
 * and which of the program's own addresses stand for which kernels and variables in
 * them.
 *
 * A *host address* is that of the function or variable that the compiler put in the
 * place of a kernel or a `__device__` variable on the host side.  Registration costs a
 * table entry and starts nothing; code is loaded on a device when that device first
 * needs something of it.  A managed variable is the exception: the host may use it
 * before any HIP call, so it has its memory from the start, one for all devices.
 *
 * Ownership: names and binaries are borrowed from the program; a registration lives
 * until the program takes it back and the last call that uses it is over.
 *
 * Locks: the table has one, a leaf, because programs register while the dynamic linker
 * holds its own.  Each fat binary has a lock for loading, which is taken before those
 * of modules, memory and pool, and never while programs register. */
#ifndef HA_CPU_MODULE_REGISTER_H
#define HA_CPU_MODULE_REGISTER_H

#include <stddef.h>
#include <stdint.h>

#include "abi/hip.h"

struct ha_device;
struct ha_function;
struct ha_registered;

enum ha_register_kind {
    HA_REGISTER_FUNCTION,
    HA_REGISTER_VARIABLE,
    HA_REGISTER_MANAGED,
    HA_REGISTER_TEXTURE,
    HA_REGISTER_SURFACE,
};

struct ha_register_request {
    enum ha_register_kind kind;
    const void *host;  /* its address in the program */
    const char *name;  /* on the device; borrowed from the program */
    size_t bytes;      /* of a variable */
    const void *value; /* MANAGED: first value, or NULL for zeros */
    size_t align;      /* MANAGED */
};

/* A fat binary; NULL without memory.  `wrapper` that is none is kept as a binary that
 * no device can use. */
struct ha_registered *ha_register_binary(const void *wrapper);
/* Something in it.  False without memory, or if `binary` is not registered. */
bool ha_register_add(struct ha_registered *binary,
                     const struct ha_register_request *request);
/* Takes it and all that is in it out of use; made-up handles do nothing. */
void ha_register_remove(struct ha_registered *binary);

/* The function that `address` stands for on the device, with a reference for the
 * caller (ha_function_leave): a hipFunction_t, or a host address.  Anything else fails
 * with the code `unknown`. */
hipError_t ha_function_resolve(const void *address, struct ha_device *device,
                               hipError_t unknown, struct ha_function **function);

/* Whether the host address is a kernel of the program that was found not to run: its
 * fat binary has no code for the device, or code that is damaged or lacks the kernel.
 */
bool ha_register_cannot_run(const void *address);

/* Address and size, on the device, of the variable that a host address stands for;
 * fails with hipErrorInvalidSymbol. */
hipError_t ha_register_variable(const void *host, struct ha_device *device,
                                void **address, size_t *bytes);

/* Lanes of a warp on all devices: HIPADAPT_CPU_WARP_SIZE, else what the first fat
 * binary of the program was made for when the runtime started, else 32. */
uint32_t ha_warp_size(void);

/* In a forked child. */
void ha_register_after_fork_child(void);

#endif
