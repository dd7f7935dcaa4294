/* SPDX-License-Identifier: MIT */
/* HIP entry points: modules, functions and their attributes. */
#include <string.h>

#include "abi/hip.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/export.h"
#include "cpu/entry/enter.h"
#include "cpu/entry/runtime.h"
#include "cpu/module/fatbin.h"
#include "cpu/module/module.h"
#include "cpu/module/register.h"

/* ---- modules ---- */

static hipError_t
module_load(const char *function, hipModule_t *module, const void *image)
{
    struct ha_device *device;
    hipError_t code = ha_enter_out(function, "module", module, &device);
    if (code != hipSuccess) {
        return code;
    }
    if (image == NULL) {
        return ha_cpu_fail_null("image");
    }
    size_t size;
    code = ha_module_image_size(image, &size);
    return code == hipSuccess ? ha_module_load(device, image, size, module) : code;
}

HA_EXPORT hipError_t
hipModuleLoadData(hipModule_t *module, const void *image)
{
    return module_load("hipModuleLoadData", module, image);
}

/* Options change nothing: an image needs no compilation. */
HA_EXPORT hipError_t
hipModuleLoadDataEx(hipModule_t *module, const void *image, unsigned int numOptions,
                    hipJitOption *options, void **optionValues)
{
    hipError_t code = ha_enter_query("hipModuleLoadDataEx");
    if (code != hipSuccess) {
        return code;
    }
    if (numOptions > 0 && (options == NULL || optionValues == NULL)) {
        return ha_cpu_fail_null(options == NULL ? "options" : "optionValues");
    }
    return module_load("hipModuleLoadDataEx", module, image);
}

HA_EXPORT hipError_t
hipModuleLoad(hipModule_t *module, const char *fname)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipModuleLoad", &device);
    if (code == hipSuccess) {
        code = ha_need_both("module", module, "fname", fname);
    }
    return code == hipSuccess ? ha_module_load_file(device, fname, module) : code;
}

HA_EXPORT hipError_t
hipModuleLoadFatBinary(hipModule_t *module, const void *fatbin)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipModuleLoadFatBinary", &device);
    if (code == hipSuccess) {
        code = ha_need_both("module", module, "fatbin", fatbin);
    }
    if (code != hipSuccess) {
        return code;
    }
    size_t size;
    code = ha_module_image_size(fatbin, &size);
    if (code != hipSuccess) {
        return code;
    }
    const void *inside = ha_fatbin_unwrap(fatbin, size);
    return inside != NULL ? ha_module_load(device, inside, 0, module)
                          : ha_module_load(device, fatbin, size, module);
}

HA_EXPORT hipError_t
hipModuleUnload(hipModule_t module)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipModuleUnload", &device);
    return code != hipSuccess ? code : ha_module_unload(module);
}

HA_EXPORT hipError_t
hipModuleGetFunction(hipFunction_t *function, hipModule_t module, const char *kname)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipModuleGetFunction", &device);
    if (code == hipSuccess) {
        code = ha_need_both("function", function, "kname", kname);
    }
    return code == hipSuccess ? ha_module_function(module, kname, function) : code;
}

HA_EXPORT hipError_t
hipModuleGetFunctionCount(unsigned int *count, hipModule_t mod)
{
    struct ha_device *device;
    hipError_t code =
        ha_enter_out("hipModuleGetFunctionCount", "count", count, &device);
    return code == hipSuccess ? ha_module_function_count(mod, count) : code;
}

HA_EXPORT hipError_t
hipModuleGetGlobal(hipDeviceptr_t *dptr, size_t *bytes, hipModule_t hmod,
                   const char *name)
{
    struct ha_device *device;
    hipError_t code = ha_enter("hipModuleGetGlobal", &device);
    if (code != hipSuccess) {
        return code;
    }
    if (name == NULL || (dptr == NULL && bytes == NULL)) {
        return ha_cpu_fail_null(name == NULL ? "name" : "dptr");
    }
    return ha_module_variable(hmod, name, dptr, bytes);
}

/* ---- functions ---- */

/* Begins an entry point about the function behind `address`; on success the caller
 * gives it to ha_function_leave. */
static hipError_t
function_enter(const char *name, const void *address, hipError_t unknown,
               struct ha_function **function)
{
    struct ha_device *device;
    hipError_t code = ha_enter(name, &device);
    return code == hipSuccess ? ha_function_resolve(address, device, unknown, function)
                              : code;
}

HA_EXPORT hipError_t
hipFuncGetAttributes(hipFuncAttributes *attr, const void *func)
{
    struct ha_function *function;
    hipError_t code = function_enter("hipFuncGetAttributes", func,
                                     hipErrorInvalidDeviceFunction, &function);
    if (code != hipSuccess) {
        return code;
    }
    if (attr == NULL) {
        code = ha_cpu_fail_null("attr");
    } else {
        ha_function_attributes(function, attr);
    }
    ha_function_leave(function);
    return code;
}

HA_EXPORT hipError_t
hipFuncGetAttribute(int *value, hipFunction_attribute attrib, hipFunction_t hfunc)
{
    struct ha_function *function;
    hipError_t code = function_enter("hipFuncGetAttribute", hfunc,
                                     hipErrorInvalidResourceHandle, &function);
    if (code != hipSuccess) {
        return code;
    }
    code = value == NULL ? ha_cpu_fail_null("value")
                         : ha_function_attribute(function, attrib, value);
    ha_function_leave(function);
    return code;
}

HA_EXPORT hipError_t
hipFuncSetAttribute(const void *func, hipFuncAttribute attr, int value)
{
    struct ha_function *function;
    hipError_t code = function_enter("hipFuncSetAttribute", func,
                                     hipErrorInvalidDeviceFunction, &function);
    if (code != hipSuccess) {
        return code;
    }
    code = ha_function_set_attribute(function, (int)attr, value);
    ha_function_leave(function);
    return code;
}

/* The device has no such choice: a valid setting changes nothing. */
static hipError_t
check_config(const char *name, const void *func, int config, int last)
{
    struct ha_function *function;
    hipError_t code =
        function_enter(name, func, hipErrorInvalidDeviceFunction, &function);
    if (code != hipSuccess) {
        return code;
    }
    if (config < 0 || config > last) {
        code = ha_cpu_fail(hipErrorInvalidValue, "argument 'config' is %d", config);
    }
    ha_function_leave(function);
    return code;
}

HA_EXPORT hipError_t
hipFuncSetCacheConfig(const void *func, hipFuncCache_t config)
{
    return check_config("hipFuncSetCacheConfig", func, (int)config,
                        hipFuncCachePreferEqual);
}

HA_EXPORT hipError_t
hipFuncSetSharedMemConfig(const void *func, hipSharedMemConfig config)
{
    return check_config("hipFuncSetSharedMemConfig", func, (int)config,
                        hipSharedMemBankSizeEightByte);
}

HA_EXPORT const char *
hipKernelNameRef(const hipFunction_t f)
{
    struct ha_function *function;
    if (function_enter("hipKernelNameRef", f, hipErrorInvalidResourceHandle,
                       &function) != hipSuccess) {
        return NULL;
    }
    /* Lives as long as the module, as the caller knows. */
    const char *name = function->kernel->name;
    ha_function_leave(function);
    return name;
}
