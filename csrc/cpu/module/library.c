/* SPDX-License-Identifier: MIT */
#include "cpu/module/library.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/base/config.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/handle.h"
#include "cpu/compile/image_file.h"
#include "cpu/module/fatbin.h"
#include "cpu/module/module.h"

struct ha_library {
    uint64_t handle;
    void *image; /* owned copy, trailer included */
    size_t image_bytes;
    struct ha_library_kernel *kernels; /* owned, kernel_count */
    uint32_t kernel_count;
    _Atomic uint32_t references; /* the handle's, and one a kernel */
    pthread_mutex_t lock;
    bool unloaded;                      /* lock */
    hipModule_t modules[HA_DEVICE_MAX]; /* lock; owned by their handles */
};

/* ---- names ---- */

#define NAME_BUCKETS 256u

/* Names are kept for the life of the process, one of each: hipKernelGetName gives them
 * out, and programs may read them after the library is gone. */
struct name {
    struct name *next;
    char text[];
};

static struct name *names[NAME_BUCKETS]; /* names_lock */
static pthread_mutex_t names_lock = PTHREAD_MUTEX_INITIALIZER;

/* The kept copy, or NULL without memory. */
static const char *
name_keep(const char *text)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (const char *c = text; *c != '\0'; c++) {
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    }
    struct name **bucket = &names[hash % NAME_BUCKETS];
    pthread_mutex_lock(&names_lock);
    struct name *name = *bucket;
    while (name != NULL && strcmp(name->text, text) != 0) {
        name = name->next;
    }
    size_t size = strlen(text) + 1;
    if (name == NULL && (name = malloc(sizeof *name + size)) != NULL) {
        memcpy(name->text, text, size);
        name->next = *bucket;
        *bucket = name;
    }
    pthread_mutex_unlock(&names_lock);
    return name != NULL ? name->text : NULL;
}

void
ha_library_after_fork_child(void)
{
    pthread_mutex_init(&names_lock, NULL);
}

/* ---- life ---- */

static void
library_destroy(struct ha_library *library)
{
    for (uint32_t i = 0; i < library->kernel_count; i++) {
        free(library->kernels[i].args);
    }
    free(library->kernels);
    free(library->image);
    pthread_mutex_destroy(&library->lock);
    free(library);
}

static void
library_drop(struct ha_library *library)
{
    if (atomic_fetch_sub_explicit(&library->references, 1, memory_order_acq_rel) == 1) {
        library_destroy(library);
    }
}

/* The library with a reference that library_unlock gives back, or NULL. */
static struct ha_library *
library_lock(hipLibrary_t handle)
{
    struct ha_library *library =
        ha_handle_acquire(HA_HANDLE_LIBRARY, (uint64_t)(uintptr_t)handle);
    if (library == NULL) {
        ha_cpu_fail(hipErrorInvalidResourceHandle,
                    "argument 'library' (%p) is not a loaded library", (void *)handle);
    }
    return library;
}

static void
library_unlock(struct ha_library *library)
{
    if (ha_handle_release(library->handle)) {
        library_drop(library);
    }
}

/* Takes kernels out of use; those without a handle have no reference either. */
static void
kernels_retire(struct ha_library *library)
{
    for (uint32_t i = 0; i < library->kernel_count; i++) {
        uint64_t handle = library->kernels[i].handle;
        if (handle != 0 && ha_handle_retire(HA_HANDLE_KERNEL, handle) != NULL &&
            ha_handle_release(handle)) {
            library_drop(library);
        }
    }
}

/* A module that was reset with its device is gone already. */
static void
modules_unload(struct ha_library *library)
{
    pthread_mutex_lock(&library->lock);
    library->unloaded = true;
    for (int i = 0; i < HA_DEVICE_MAX; i++) {
        if (ha_module_is_loaded(library->modules[i])) {
            (void)ha_module_unload(library->modules[i]);
        }
        library->modules[i] = NULL;
    }
    pthread_mutex_unlock(&library->lock);
}

/* The device's module, loaded if need be. */
static hipError_t
module_of(struct ha_library *library, struct ha_device *device, hipModule_t *module)
{
    hipError_t code = hipSuccess;
    pthread_mutex_lock(&library->lock);
    hipModule_t *loaded = &library->modules[device->id];
    if (library->unloaded) {
        code = ha_cpu_fail(hipErrorInvalidResourceHandle, "the library was unloaded");
    } else if (!ha_module_is_loaded(*loaded)) {
        *loaded = NULL;
        code = ha_module_load(device, library->image, library->image_bytes, loaded);
    }
    *module = *loaded;
    pthread_mutex_unlock(&library->lock);
    return code;
}

/* ---- loading ---- */

static hipError_t
no_memory(void)
{
    return ha_cpu_fail(hipErrorOutOfMemory, "no memory for another library");
}

/* Copies what is known about the kernel. */
static hipError_t
kernel_init(struct ha_library_kernel *kernel, struct ha_library *library,
            uint32_t index, const struct ha_image_kernel *from)
{
    kernel->library = library;
    kernel->index = index;
    kernel->arg_count = from->arg_count;
    kernel->name = name_keep(from->name);
    kernel->args =
        calloc(from->arg_count > 0 ? from->arg_count : 1, sizeof *kernel->args);
    if (kernel->name == NULL || kernel->args == NULL) {
        return no_memory();
    }
    if (from->arg_count > 0) {
        memcpy(kernel->args, from->args, from->arg_count * sizeof *kernel->args);
    }
    return hipSuccess;
}

static hipError_t
kernels_make(struct ha_library *library, hipModule_t module)
{
    unsigned count;
    hipError_t code = ha_module_function_count(module, &count);
    if (code != hipSuccess) {
        return code;
    }
    library->kernels = calloc(count > 0 ? count : 1, sizeof *library->kernels);
    if (library->kernels == NULL) {
        return no_memory();
    }
    library->kernel_count = count;
    for (uint32_t i = 0; i < count && code == hipSuccess; i++) {
        struct ha_function *function = ha_module_function_at(module, i);
        if (function == NULL) { /* the device is being reset */
            return ha_cpu_fail(hipErrorInvalidResourceHandle,
                               "the device was reset meanwhile");
        }
        code = kernel_init(&library->kernels[i], library, i, function->kernel);
        ha_function_leave(function);
    }
    return code;
}

static hipError_t
handles_make(struct ha_library *library)
{
    for (uint32_t i = 0; i < library->kernel_count; i++) {
        struct ha_library_kernel *kernel = &library->kernels[i];
        atomic_fetch_add_explicit(&library->references, 1, memory_order_relaxed);
        kernel->handle = ha_handle_create(HA_HANDLE_KERNEL, kernel);
        if (kernel->handle == 0) {
            library_drop(library);
            return ha_cpu_fail(hipErrorOutOfMemory, "no handles for more kernels");
        }
    }
    library->handle = ha_handle_create(HA_HANDLE_LIBRARY, library);
    if (library->handle == 0) {
        return ha_cpu_fail(hipErrorOutOfMemory, "no handle for another library");
    }
    return hipSuccess;
}

/* `image` is taken over, on failure too. */
static hipError_t
library_make(struct ha_device *device, void *image, size_t size, hipLibrary_t *handle)
{
    hipModule_t module;
    struct ha_library *library = calloc(1, sizeof *library);
    if (library == NULL) {
        free(image);
        return no_memory();
    }
    library->image = image;
    library->image_bytes = size;
    atomic_init(&library->references, 1);
    pthread_mutex_init(&library->lock, NULL);
    hipError_t code = module_of(library, device, &module);
    if (code == hipSuccess) {
        code = kernels_make(library, module);
    }
    if (code == hipSuccess) {
        code = handles_make(library);
    }
    if (code == hipSuccess) {
        *handle = (hipLibrary_t)(uintptr_t)library->handle;
        return hipSuccess;
    }
    modules_unload(library);
    kernels_retire(library);
    library_drop(library);
    return code;
}

hipError_t
ha_library_load(struct ha_device *device, const void *bytes, size_t size,
                hipLibrary_t *handle)
{
    const void *elf;
    size_t elf_size;
    hipError_t code = ha_fatbin_pick(bytes, size, &bytes, &size);
    if (code != hipSuccess) {
        return code;
    }
    enum ha_status status = ha_image_file_check(bytes, size, &elf, &elf_size);
    if (status != HA_OK) {
        return ha_cpu_fail_status(status);
    }
    size = elf_size + sizeof(struct ha_image_trailer);
    void *image = malloc(size);
    if (image == NULL) {
        return no_memory();
    }
    memcpy(image, bytes, size);
    return library_make(device, image, size, handle);
}

hipError_t
ha_library_load_file(struct ha_device *device, const char *path, hipLibrary_t *handle)
{
    void *image;
    size_t size;
    hipError_t code = ha_module_read_file(path, &image, &size);
    return code == hipSuccess ? library_make(device, image, size, handle) : code;
}

hipError_t
ha_library_unload(hipLibrary_t handle)
{
    uint64_t number = (uint64_t)(uintptr_t)handle;
    struct ha_library *library = ha_handle_retire(HA_HANDLE_LIBRARY, number);
    if (library == NULL) {
        return ha_cpu_fail(hipErrorInvalidResourceHandle,
                           "argument 'library' (%p) is not a loaded library",
                           (void *)handle);
    }
    kernels_retire(library);
    modules_unload(library);
    if (ha_handle_release(number)) {
        library_drop(library);
    }
    return hipSuccess;
}

/* ---- questions ---- */

hipError_t
ha_library_check(hipLibrary_t handle)
{
    struct ha_library *library = library_lock(handle);
    if (library == NULL) {
        return hipErrorInvalidResourceHandle;
    }
    library_unlock(library);
    return hipSuccess;
}

hipError_t
ha_library_kernel(hipLibrary_t handle, const char *name, hipKernel_t *kernel)
{
    struct ha_library *library = library_lock(handle);
    hipError_t code = hipErrorNotFound;
    if (library == NULL) {
        return hipErrorInvalidResourceHandle;
    }
    uint32_t count = library->kernel_count;
    for (uint32_t i = 0; i < count && code != hipSuccess; i++) {
        if (strcmp(library->kernels[i].name, name) == 0) {
            *kernel = (hipKernel_t)(uintptr_t)library->kernels[i].handle;
            code = hipSuccess;
        }
    }
    if (code != hipSuccess) {
        ha_cpu_fail(code,
                    "argument 'name': the library has no kernel '%s' (it has %u%s%s)",
                    name, count, count > 0 ? ", the first is " : "",
                    count > 0 ? library->kernels[0].name : "");
    }
    library_unlock(library);
    return code;
}

hipError_t
ha_library_kernel_count(hipLibrary_t handle, unsigned *count)
{
    struct ha_library *library = library_lock(handle);
    if (library == NULL) {
        return hipErrorInvalidResourceHandle;
    }
    *count = library->kernel_count;
    library_unlock(library);
    return hipSuccess;
}

hipError_t
ha_library_kernels(hipLibrary_t handle, hipKernel_t *kernels, unsigned count)
{
    struct ha_library *library = library_lock(handle);
    if (library == NULL) {
        return hipErrorInvalidResourceHandle;
    }
    for (uint32_t i = 0; i < library->kernel_count && i < count; i++) {
        kernels[i] = (hipKernel_t)(uintptr_t)library->kernels[i].handle;
    }
    library_unlock(library);
    return hipSuccess;
}

hipError_t
ha_library_variable(struct ha_device *device, hipLibrary_t handle, const char *name,
                    void **address, size_t *size)
{
    hipModule_t module;
    struct ha_library *library = library_lock(handle);
    if (library == NULL) {
        return hipErrorInvalidResourceHandle;
    }
    hipError_t code = module_of(library, device, &module);
    if (code == hipSuccess) {
        code = ha_module_variable(module, name, address, size);
    }
    library_unlock(library);
    return code;
}

/* ---- kernels ---- */

struct ha_library_kernel *
ha_kernel_acquire(hipKernel_t handle)
{
    struct ha_library_kernel *kernel =
        ha_handle_acquire(HA_HANDLE_KERNEL, (uint64_t)(uintptr_t)handle);
    if (kernel == NULL) {
        ha_cpu_fail(hipErrorInvalidResourceHandle,
                    "argument 'kernel' (%p) is not a kernel of a loaded library",
                    (void *)handle);
    }
    return kernel;
}

void
ha_kernel_release(struct ha_library_kernel *kernel)
{
    struct ha_library *library = kernel->library;
    if (ha_handle_release(kernel->handle)) {
        library_drop(library);
    }
}

hipError_t
ha_kernel_function(struct ha_library_kernel *kernel, struct ha_device *device,
                   hipFunction_t *function)
{
    hipModule_t module;
    hipError_t code = module_of(kernel->library, device, &module);
    if (code != hipSuccess) {
        return code;
    }
    struct ha_function *found = ha_module_function_at(module, kernel->index);
    if (found == NULL) {
        return ha_cpu_fail(hipErrorInvalidResourceHandle, "the library was unloaded");
    }
    *function = (hipFunction_t)(uintptr_t)found->handle;
    ha_function_leave(found);
    return hipSuccess;
}

hipLibrary_t
ha_kernel_library(const struct ha_library_kernel *kernel)
{
    return (hipLibrary_t)(uintptr_t)kernel->library->handle;
}
