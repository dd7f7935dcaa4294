/* SPDX-License-Identifier: MIT */
/* HIP entry points: libraries and their kernels. */
#include "abi/hip.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/export.h"
#include "cpu/entry/enter.h"
#include "cpu/entry/runtime.h"
#include "cpu/module/explain.h"
#include "cpu/module/library.h"
#include "cpu/module/module.h"

/* ---- libraries ---- */

/* Options change nothing: an image needs no compilation, and it is always copied. */
static hipError_t
check_options(const void *jit_options, const void *jit_values, unsigned jit_count,
              const hipLibraryOption *options, unsigned option_count)
{
    if (jit_count > 0 && (jit_options == NULL || jit_values == NULL)) {
        return ha_cpu_fail_null(jit_options == NULL ? "jitOptions"
                                                    : "jitOptionsValues");
    }
    if (option_count > 0 && options == NULL) {
        return ha_cpu_fail_null("libraryOptions");
    }
    for (unsigned i = 0; i < option_count; i++) {
        if ((unsigned)options[i] > (unsigned)hipLibraryBinaryIsPreserved) {
            return ha_cpu_fail(hipErrorInvalidValue,
                               "argument 'libraryOptions': there is no option %d",
                               (int)options[i]);
        }
    }
    return hipSuccess;
}

HA_EXPORT hipError_t
hipLibraryLoadData(hipLibrary_t *library, const void *code, hipJitOption *jitOptions,
                   void **jitOptionsValues, unsigned int numJitOptions,
                   hipLibraryOption *libraryOptions, void **libraryOptionValues,
                   unsigned int numLibraryOptions)
{
    struct ha_device *device;
    hipError_t status = ha_enter("hipLibraryLoadData", &device);
    (void)libraryOptionValues;
    if (status != hipSuccess) {
        return status;
    }
    if (library == NULL || code == NULL) {
        return ha_cpu_fail_null(library == NULL ? "library" : "code");
    }
    status = check_options(jitOptions, jitOptionsValues, numJitOptions, libraryOptions,
                           numLibraryOptions);
    size_t size = 0;
    if (status == hipSuccess) {
        status = ha_module_image_size(code, &size);
    }
    return status == hipSuccess ? ha_library_load(device, code, size, library) : status;
}

HA_EXPORT hipError_t
hipLibraryLoadFromFile(hipLibrary_t *library, const char *fileName,
                       hipJitOption *jitOptions, void **jitOptionsValues,
                       unsigned int numJitOptions, hipLibraryOption *libraryOptions,
                       void **libraryOptionValues, unsigned int numLibraryOptions)
{
    struct ha_device *device;
    hipError_t status = ha_enter("hipLibraryLoadFromFile", &device);
    (void)libraryOptionValues;
    if (status != hipSuccess) {
        return status;
    }
    if (library == NULL || fileName == NULL) {
        return ha_cpu_fail_null(library == NULL ? "library" : "fileName");
    }
    status = check_options(jitOptions, jitOptionsValues, numJitOptions, libraryOptions,
                           numLibraryOptions);
    return status == hipSuccess ? ha_library_load_file(device, fileName, library)
                                : status;
}

HA_EXPORT hipError_t
hipLibraryUnload(hipLibrary_t library)
{
    struct ha_device *device;
    hipError_t status = ha_enter("hipLibraryUnload", &device);
    return status == hipSuccess ? ha_library_unload(library) : status;
}

HA_EXPORT hipError_t
hipLibraryGetKernel(hipKernel_t *pKernel, hipLibrary_t library, const char *name)
{
    struct ha_device *device;
    hipError_t status = ha_enter("hipLibraryGetKernel", &device);
    if (status == hipSuccess) {
        status = ha_need_both("pKernel", pKernel, "name", name);
    }
    return status == hipSuccess ? ha_library_kernel(library, name, pKernel) : status;
}

HA_EXPORT hipError_t
hipLibraryGetKernelCount(unsigned int *count, hipLibrary_t library)
{
    struct ha_device *device;
    hipError_t status =
        ha_enter_out("hipLibraryGetKernelCount", "count", count, &device);
    return status == hipSuccess ? ha_library_kernel_count(library, count) : status;
}

HA_EXPORT hipError_t
hipLibraryEnumerateKernels(hipKernel_t *kernels, unsigned int numKernels,
                           hipLibrary_t library)
{
    struct ha_device *device;
    hipError_t status = ha_enter("hipLibraryEnumerateKernels", &device);
    if (status != hipSuccess) {
        return status;
    }
    if (kernels == NULL || numKernels == 0) {
        return ha_cpu_fail(hipErrorInvalidValue, "there is no room for a kernel");
    }
    return ha_library_kernels(library, kernels, numKernels);
}

HA_EXPORT hipError_t
hipLibraryGetGlobal(void **dptr, size_t *bytes, hipLibrary_t library, const char *name)
{
    struct ha_device *device;
    hipError_t status = ha_enter("hipLibraryGetGlobal", &device);
    if (status != hipSuccess) {
        return status;
    }
    if (name == NULL || (dptr == NULL && bytes == NULL)) {
        return ha_cpu_fail_null(name == NULL ? "name" : "dptr");
    }
    return ha_library_variable(device, library, name, dptr, bytes);
}

/* Libraries have no managed variables, so none is found. */
HA_EXPORT hipError_t
hipLibraryGetManaged(void **dptr, size_t *bytes, hipLibrary_t library, const char *name)
{
    struct ha_device *device;
    hipError_t status = ha_enter("hipLibraryGetManaged", &device);
    if (status != hipSuccess) {
        return status;
    }
    if (name == NULL || (dptr == NULL && bytes == NULL)) {
        return ha_cpu_fail_null(name == NULL ? "name" : "dptr");
    }
    status = ha_library_check(library);
    return status != hipSuccess
               ? status
               : ha_cpu_fail(hipErrorNotFound,
                             "argument 'name': the library has no managed variable "
                             "'%s'",
                             name);
}

/* ---- kernels ---- */

/* Begins an entry point about a kernel; on success the caller releases it. */
static hipError_t
kernel_enter(const char *function, hipKernel_t handle, struct ha_device **device,
             struct ha_library_kernel **kernel)
{
    hipError_t status = ha_enter(function, device);
    if (status != hipSuccess) {
        return status;
    }
    *kernel = ha_kernel_acquire(handle);
    return *kernel != NULL ? hipSuccess : hipErrorInvalidResourceHandle;
}

HA_EXPORT hipError_t
hipKernelGetLibrary(hipLibrary_t *library, hipKernel_t kernel)
{
    struct ha_device *device;
    struct ha_library_kernel *found;
    hipError_t status = kernel_enter("hipKernelGetLibrary", kernel, &device, &found);
    if (status != hipSuccess) {
        return status;
    }
    if (library == NULL) {
        status = ha_cpu_fail_null("library");
    } else {
        *library = ha_kernel_library(found);
    }
    ha_kernel_release(found);
    return status;
}

/* The name is valid for good. */
HA_EXPORT hipError_t
hipKernelGetName(const char **name, hipKernel_t kernel)
{
    struct ha_device *device;
    struct ha_library_kernel *found;
    hipError_t status = kernel_enter("hipKernelGetName", kernel, &device, &found);
    if (status != hipSuccess) {
        return status;
    }
    if (name == NULL) {
        status = ha_cpu_fail_null("name");
    } else {
        *name = found->name;
    }
    ha_kernel_release(found);
    return status;
}

HA_EXPORT hipError_t
hipKernelGetFunction(hipFunction_t *pFunc, hipKernel_t kernel)
{
    struct ha_device *device;
    struct ha_library_kernel *found;
    hipError_t status = kernel_enter("hipKernelGetFunction", kernel, &device, &found);
    if (status != hipSuccess) {
        return status;
    }
    status = pFunc == NULL ? ha_cpu_fail_null("pFunc")
                           : ha_kernel_function(found, device, pFunc);
    ha_kernel_release(found);
    return status;
}

/* `paramSize` may be NULL, as in CUDA. */
HA_EXPORT hipError_t
hipKernelGetParamInfo(hipKernel_t kernel, size_t paramIndex, size_t *paramOffset,
                      size_t *paramSize)
{
    struct ha_device *device;
    struct ha_library_kernel *found;
    hipError_t status = kernel_enter("hipKernelGetParamInfo", kernel, &device, &found);
    if (status != hipSuccess) {
        return status;
    }
    if (paramOffset == NULL) {
        status = ha_cpu_fail_null("paramOffset");
    } else if (paramIndex >= found->arg_count) {
        status = ha_cpu_fail(hipErrorInvalidValue,
                             "argument 'paramIndex' is %zu; the kernel '%s' has %u "
                             "parameters",
                             paramIndex, found->name, found->arg_count);
    } else {
        *paramOffset = found->args[paramIndex].offset;
        if (paramSize != NULL) {
            *paramSize = found->args[paramIndex].size;
        }
    }
    ha_kernel_release(found);
    return status;
}

/* The kernel as a function of device `dev`; on success the caller gives it to
 * ha_function_leave. */
static hipError_t
function_enter(const char *name, hipKernel_t kernel, hipDevice_t dev,
               struct ha_function **function)
{
    struct ha_device *device;
    struct ha_library_kernel *found;
    hipFunction_t handle;
    hipError_t status = kernel_enter(name, kernel, &device, &found);
    if (status != hipSuccess) {
        return status;
    }
    device = ha_device_get((int)dev);
    status = device == NULL
                 ? ha_cpu_fail(hipErrorInvalidDevice, "there is no device %d", (int)dev)
                 : ha_kernel_function(found, device, &handle);
    ha_kernel_release(found);
    if (status != hipSuccess) {
        return status;
    }
    *function = ha_function_acquire((uint64_t)(uintptr_t)handle);
    return *function != NULL ? hipSuccess
                             : ha_cpu_fail(hipErrorInvalidResourceHandle,
                                           "the library was unloaded meanwhile");
}

HA_EXPORT hipError_t
hipKernelGetAttribute(int *pi, hipFunction_attribute attrib, hipKernel_t kernel,
                      hipDevice_t dev)
{
    struct ha_function *function;
    hipError_t status = function_enter("hipKernelGetAttribute", kernel, dev, &function);
    if (status != hipSuccess) {
        return status;
    }
    status = pi == NULL ? ha_cpu_fail_null("pi")
                        : ha_function_attribute(function, attrib, pi);
    ha_function_leave(function);
    return status;
}

HA_EXPORT hipError_t
hipKernelSetAttribute(hipFunction_attribute attrib, int value, hipKernel_t kernel,
                      hipDevice_t dev)
{
    struct ha_function *function;
    hipError_t status = function_enter("hipKernelSetAttribute", kernel, dev, &function);
    if (status != hipSuccess) {
        return status;
    }
    status = ha_function_set_attribute(function, (int)attrib, value);
    ha_function_leave(function);
    return status;
}

/* ---- for language bindings ---- */

/* The function's module stays loaded until ha_function_leave. */
static hipError_t
binding_enter(const char *name, hipFunction_t function, struct ha_function **found)
{
    hipError_t status = ha_enter_query(name);
    if (status != hipSuccess) {
        return status;
    }
    *found = ha_function_acquire((uint64_t)(uintptr_t)function);
    return *found != NULL ? hipSuccess
                          : ha_cpu_fail(hipErrorInvalidResourceHandle,
                                        "%p is not a function of a loaded module",
                                        (void *)function);
}

HA_EXPORT hipError_t
hipadaptKernelReport(hipFunction_t function, char *text, size_t *bytes)
{
    struct ha_function *found;
    hipError_t status = binding_enter("hipadaptKernelReport", function, &found);
    if (status != hipSuccess) {
        return status;
    }
    size_t room = text != NULL ? *bytes : 0;
    size_t needed = ha_function_report(found, text, room);
    if (text != NULL && room < needed) {
        status =
            ha_cpu_fail(hipErrorInvalidValue,
                        "argument 'bytes' is %zu; the report has %zu", *bytes, needed);
    }
    *bytes = needed;
    ha_function_leave(found);
    return status;
}

HA_EXPORT hipError_t
hipadaptKernelParam(hipFunction_t function, unsigned index, size_t *offset,
                    size_t *size, int *kind)
{
    struct ha_function *found;
    hipError_t status = binding_enter("hipadaptKernelParam", function, &found);
    if (status != hipSuccess) {
        return status;
    }
    if (index < found->kernel->arg_count) {
        *offset = found->kernel->args[index].offset;
        *size = found->kernel->args[index].size;
        *kind = (int)found->kernel->args[index].kind;
    } else {
        status = hipErrorInvalidValue; /* the way to find the number: no failure */
    }
    ha_function_leave(found);
    return status;
}
