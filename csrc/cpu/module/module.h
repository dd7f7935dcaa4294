/* SPDX-License-Identifier: MIT */
/* Loaded kernel images (cpu/base/image.h) and the functions in them.
 *
 * Each load maps its own copy of the image from memory, so two modules from one image
 * have variables of their own.  Functions of a module get their handles when it is
 * loaded.
 *
 * Ownership: a module is kept by its handle and by each of its functions; a function by
 * its handle and by each launch.  hipModuleUnload takes the handles out of use; the
 * image goes when the last launch is over.
 *
 * Locks: none; modules do not change once they are loaded, and counts are atomic. */
#ifndef HA_CPU_MODULE_MODULE_H
#define HA_CPU_MODULE_MODULE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/hip.h"
#include "cpu/base/export.h"
#include "cpu/base/image.h"
#include "cpu/module/lines.h"

struct ha_device;
struct ha_module;

struct ha_function {
    uint64_t handle;
    struct ha_module *module;             /* owned reference */
    struct ha_device *device;             /* borrowed */
    const struct ha_image_kernel *kernel; /* borrowed from the module */
    size_t packed_bytes; /* of an `extra` buffer, to the last argument */
    size_t packed_align;
    _Atomic uint32_t block_ns; /* what a block took last time; 0 = not run */
    atomic_bool explained;     /* by cpu/module/explain.h */
    _Atomic(void *) proved;    /* owned, one piece: cpu/work/launch_proof.c, or NULL */
    atomic_bool told; /* that it does not ask before accesses, though it should */
    /* Settings of the program: kept only so that they can be queried. */
    _Atomic int dynamic_bytes;
    _Atomic int carveout;
};

/* Loads the image at `bytes`, or the one for this device in a fat binary
 * (cpu/module/fatbin.h); size 0 = unknown. */
hipError_t ha_module_load(struct ha_device *device, const void *bytes, size_t size,
                          hipModule_t *handle);
hipError_t ha_module_load_file(struct ha_device *device, const char *path,
                               hipModule_t *handle);
/* For language bindings that know how many bytes there are behind the address that a
 * call gets as an image or a fat binary, which HIP does not say: this thread's calls
 * read no further, until the next call of this function (NULL: nothing is known). */
HA_EXPORT void hipadaptImageSize(const void *image, size_t bytes);
/* What is known of the image; 0 = nothing.  hipErrorInvalidImage where it is empty. */
hipError_t ha_module_image_size(const void *image, size_t *size);
/* The file as it is now; the caller frees the bytes. */
hipError_t ha_module_read_file(const char *path, void **bytes, size_t *size);
hipError_t ha_module_unload(hipModule_t handle);
/* False for handles that were never given out or are stale; no failure is recorded. */
bool ha_module_is_loaded(hipModule_t handle);

hipError_t ha_module_function(hipModule_t handle, const char *name,
                              hipFunction_t *function);
hipError_t ha_module_function_count(hipModule_t handle, unsigned *count);
/* Address and size of a variable; false, and no failure recorded, if there is none. */
bool ha_module_find_variable(hipModule_t handle, const char *name, void **address,
                             size_t *size);
/* Address and size of a variable; either may be NULL. */
hipError_t ha_module_variable(hipModule_t handle, const char *name, void **address,
                              size_t *size);

/* Function number `index` with a reference for the caller, or NULL. */
struct ha_function *ha_module_function_at(hipModule_t handle, uint32_t index);

/* Bytes of dynamic shared memory that a launch of the kernel may ask for. */
uint32_t ha_kernel_dynamic_room(const struct ha_image_kernel *kernel);

/* Attributes of a function; a new value for one. */
void ha_function_attributes(const struct ha_function *function,
                            hipFuncAttributes *attributes);
hipError_t ha_function_attribute(const struct ha_function *function,
                                 hipFunction_attribute attribute, int *value);
hipError_t ha_function_set_attribute(struct ha_function *function, int attribute,
                                     int value);

/* The function behind a handle with a reference for the caller, or NULL. */
struct ha_function *ha_function_acquire(uint64_t handle);
/* Drops a reference. Needs the pool lock; the image goes after it. */
void ha_function_release(struct ha_function *function);
/* The same without the pool lock. */
void ha_function_leave(struct ha_function *function);

/* What a module shows of itself; all borrowed. */
struct ha_module_view {
    uint64_t id;
    const struct ha_device *device;
    uint64_t load_base;
    size_t load_size;
    const struct ha_function *functions;
    uint32_t function_count;
};
void ha_module_look(const struct ha_module *module, struct ha_module_view *view);

/* Lines of HA_IMAGE_FACTS (cpu/base/image.h); NULL where the image has none. */
const char *ha_module_facts(const struct ha_module *module);

/* Bytes of the module's __constant__ variables. */
size_t ha_module_constant_bytes(const struct ha_module *module);

/* Calls `visit` for each module that is loaded at that moment; no lock is held. */
void ha_modules_each(void (*visit)(struct ha_module *module));

/* Takes the modules of the device out of use. */
void ha_modules_reset(struct ha_device *device);

/* In a forked child. */
void ha_module_after_fork_child(void);

/* Where the instruction of the module's image comes from; line 0 where that is not
 * known, as in images without line tables.  May be called in handlers. */
struct ha_line_place ha_module_place(const struct ha_module *module, uintptr_t at);

#endif
