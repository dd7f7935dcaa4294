/* SPDX-License-Identifier: MIT */
/* Libraries: kernel images that belong to no device (hipLibrary_t), and the kernels in
 * them (hipKernel_t).
 *
 * A library keeps its image.  A device gets a module of it (cpu/module/module.h) when
 * it is the first to need one, and again after a reset; so each device has variables of
 * its own.  What does not depend on the device, names and parameters, is copied when
 * the library is loaded.
 *
 * Ownership: a library is kept by its handle and by each of its kernels.
 * hipLibraryUnload takes all of their handles out of use and unloads the modules; what
 * has been launched runs to its end (cpu/module/module.h).
 *
 * Locks: each library has one, which guards its modules.  It is taken before those of
 * the memory, the pool and the handles.  Names have a leaf. */
#ifndef HA_CPU_MODULE_LIBRARY_H
#define HA_CPU_MODULE_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

#include "abi/hip.h"
#include "cpu/base/image.h"

struct ha_device;
struct ha_library;

struct ha_library_kernel {
    uint64_t handle;
    struct ha_library *library; /* owned reference */
    uint32_t index;             /* in the image */
    const char *name;           /* kept for good */
    struct ha_image_arg *args;  /* owned */
    uint32_t arg_count;
};

/* Loads the image, on `device` at once, so that one that does not fit is refused;
 * size 0 = unknown. */
hipError_t ha_library_load(struct ha_device *device, const void *bytes, size_t size,
                           hipLibrary_t *handle);
hipError_t ha_library_load_file(struct ha_device *device, const char *path,
                                hipLibrary_t *handle);
hipError_t ha_library_unload(hipLibrary_t handle);

hipError_t ha_library_kernel(hipLibrary_t handle, const char *name,
                             hipKernel_t *kernel);
hipError_t ha_library_kernel_count(hipLibrary_t handle, unsigned *count);
/* The first `count` kernels, or all if the library has fewer. */
hipError_t ha_library_kernels(hipLibrary_t handle, hipKernel_t *kernels,
                              unsigned count);
/* Variable of the device's module; see ha_module_variable. */
hipError_t ha_library_variable(struct ha_device *device, hipLibrary_t handle,
                               const char *name, void **address, size_t *size);
/* hipSuccess where the handle is that of a library. */
hipError_t ha_library_check(hipLibrary_t handle);

/* The kernel behind a handle with a reference for the caller, or NULL and
 * hipErrorInvalidResourceHandle as the failure of this thread. */
struct ha_library_kernel *ha_kernel_acquire(hipKernel_t handle);
void ha_kernel_release(struct ha_library_kernel *kernel);
/* The kernel as a function of the device. */
hipError_t ha_kernel_function(struct ha_library_kernel *kernel,
                              struct ha_device *device, hipFunction_t *function);
hipLibrary_t ha_kernel_library(const struct ha_library_kernel *kernel);

/* In a forked child. */
void ha_library_after_fork_child(void);

#endif
