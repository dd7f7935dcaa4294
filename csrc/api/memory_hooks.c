/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "api/memory_hooks.h"

#include "adapters/memory.h"
#include "api/generated/calls.h"
#include "api/let_go.h"
#include "api/provider.h"

/* Takes back what our own failed call left as the last error of the thread. */
static void
forget_error(void)
{
    if (ha_calls.hipGetLastError != NULL) {
        (void)ha_calls.hipGetLastError();
    }
}

/* Raises the HipError of the status, with what the provider says; answers -1. */
static int
fail(const char *function, hipError_t status)
{
    PyObject *detail = PyUnicode_FromString(ha_provider_error_text());
    PyObject *errors = NULL, *error = NULL;

    forget_error();
    if (detail != NULL) {
        errors = PyImport_ImportModule("hipadapt.errors");
    }
    if (errors != NULL) {
        error = PyObject_CallMethod(errors, "HipError", "isOO", (int)status, function,
                                    Py_None, detail);
    }
    if (error != NULL) {
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    }
    Py_XDECREF(error);
    Py_XDECREF(errors);
    Py_XDECREF(detail);
    return -1;
}

/* For a function that HA_READY has not found; answers -1. */
static int
missing(const char *function)
{
    return PyErr_Occurred() != NULL ? -1 : fail(function, hipErrorNotSupported);
}

static int
find(const void *address, enum ha_memory_place *place, int *device)
{
    hipPointerAttribute_t found;
    if (ha_provider_loaded() == NULL) {
        return 0;
    }
    if (ha_calls.hipPointerGetAttributes == NULL) {
        *place = HA_PLACE_DEVICE; /* an old runtime, which can't say more */
        *device = 0;
        return 1;
    }
    if (ha_calls.hipPointerGetAttributes(&found, address) != hipSuccess) {
        forget_error();
        return 0;
    }
    if (found.isManaged || found.type == hipMemoryTypeManaged) {
        *place = HA_PLACE_MANAGED;
    } else if (found.type == hipMemoryTypeHost) {
        *place = HA_PLACE_PINNED;
    } else if (found.type == hipMemoryTypeDevice) {
        *place = HA_PLACE_DEVICE;
    } else {
        return 0;
    }
    *device = found.device < 0 ? 0 : found.device;
    return 1;
}

static bool
device_is_host(void)
{
    const struct ha_provider *provider = ha_provider_loaded();
    return provider != NULL && provider->shutdown != NULL;
}

/* Makes `device` the thread's device where it is another one, for calls that work on
 * the current one; `before` is what to go back to, or -1. */
static hipError_t
enter_device(int device, int *before)
{
    int current = 0;
    *before = -1;
    if (device < 0 || ha_calls.hipGetDevice == NULL || ha_calls.hipSetDevice == NULL) {
        return hipSuccess;
    }
    hipError_t status = ha_calls.hipGetDevice(&current);
    if (status == hipSuccess && current != device) {
        status = ha_calls.hipSetDevice(device);
        *before = status == hipSuccess ? current : -1;
    }
    return status;
}

static void
leave_device(int before)
{
    if (before >= 0) {
        (void)ha_calls.hipSetDevice(before);
    }
}

static int
synchronize(int device, const uintptr_t *stream)
{
    if (ha_provider_loaded() == NULL) {
        return 0; /* nothing can be running */
    }
    int ready = stream == NULL ? HA_READY(hipDeviceSynchronize)
                               : HA_READY(hipStreamSynchronize);
    const char *function =
        stream == NULL ? "hipDeviceSynchronize" : "hipStreamSynchronize";
    if (ready <= 0) {
        return missing(function);
    }
    hipError_t status;
    int before;
    PyThreadState *thread = ha_let_go();
    status = enter_device(device, &before);
    if (status == hipSuccess) {
        status = stream == NULL ? ha_calls.hipDeviceSynchronize()
                                : ha_calls.hipStreamSynchronize((hipStream_t)*stream);
        leave_device(before);
    }
    ha_take_back(thread);
    if (PyErr_Occurred()) {
        return -1; /* interrupted */
    }
    return status == hipSuccess ? 0 : fail(function, status);
}

static int
order(int device, uintptr_t first, uintptr_t second)
{
    if (HA_READY(hipEventCreateWithFlags) <= 0 || HA_READY(hipEventRecord) <= 0 ||
        HA_READY(hipStreamWaitEvent) <= 0 || HA_READY(hipEventDestroy) <= 0) {
        return missing("hipStreamWaitEvent");
    }
    hipEvent_t event = NULL;
    const char *function = "hipEventCreateWithFlags";
    int before;
    PyThreadState *thread = ha_let_go();
    hipError_t status = enter_device(device, &before);
    if (status == hipSuccess) {
        status = ha_calls.hipEventCreateWithFlags(&event, hipEventDisableTiming);
    }
    if (status == hipSuccess) {
        function = "hipEventRecord";
        status = ha_calls.hipEventRecord(event, (hipStream_t)first);
        if (status == hipSuccess) {
            function = "hipStreamWaitEvent";
            status = ha_calls.hipStreamWaitEvent((hipStream_t)second, event, 0);
        }
        /* HIP frees it once nothing waits for it. */
        (void)ha_calls.hipEventDestroy(event);
    }
    leave_device(before);
    ha_take_back(thread);
    return status == hipSuccess ? 0 : fail(function, status);
}

static int
copy(void *dst, const void *src, size_t bytes)
{
    if (HA_READY(hipMemcpy) <= 0) {
        return missing("hipMemcpy");
    }
    PyThreadState *thread = ha_let_go();
    hipError_t status = ha_calls.hipMemcpy(dst, src, bytes, hipMemcpyDefault);
    ha_take_back(thread);
    if (PyErr_Occurred()) {
        return -1;
    }
    return status == hipSuccess ? 0 : fail("hipMemcpy", status);
}

static int
allocate(enum ha_memory_place place, int device, size_t bytes, void **address)
{
    const char *function = "hipMalloc";
    int ready = HA_READY(hipMalloc);
    if (place == HA_PLACE_PINNED) {
        function = "hipHostMalloc";
        ready = HA_READY(hipHostMalloc);
    } else if (place == HA_PLACE_MANAGED) {
        function = "hipMallocManaged";
        ready = HA_READY(hipMallocManaged);
    }
    if (ready <= 0) {
        return missing(function);
    }
    int before;
    PyThreadState *thread = ha_let_go();
    hipError_t status = enter_device(device, &before);
    if (status == hipSuccess) {
        if (place == HA_PLACE_PINNED) {
            status = ha_calls.hipHostMalloc(address, bytes, hipHostMallocDefault);
        } else if (place == HA_PLACE_MANAGED) {
            status = ha_calls.hipMallocManaged(address, bytes, hipMemAttachGlobal);
        } else {
            status = ha_calls.hipMalloc(address, bytes);
        }
        leave_device(before);
    }
    ha_take_back(thread);
    if (status != hipSuccess) {
        return fail(function, status);
    }
    const struct ha_provider *provider = ha_provider_loaded();
    if (provider != NULL && provider->owns != NULL) {
        provider->owns(*address);
    }
    return 0;
}

static void
release(enum ha_memory_place place, void *address)
{
    hipError_t status = hipSuccess;
    if (address == NULL || ha_provider_loaded() == NULL) {
        return;
    }
    PyThreadState *thread = ha_let_go();
    if (place == HA_PLACE_PINNED && ha_calls.hipHostFree != NULL) {
        status = ha_calls.hipHostFree(address);
    } else if (ha_calls.hipFree != NULL) {
        status = ha_calls.hipFree(address);
    }
    if (status != hipSuccess) {
        forget_error();
    }
    ha_take_back(thread);
}

static int
current_device(int *device)
{
    if (HA_READY(hipGetDevice) <= 0) {
        return missing("hipGetDevice");
    }
    hipError_t status = ha_calls.hipGetDevice(device);
    return status == hipSuccess ? 0 : fail("hipGetDevice", status);
}

const struct ha_memory_hooks ha_hip_memory = {
    .find = find,
    .device_is_host = device_is_host,
    .synchronize = synchronize,
    .order = order,
    .copy = copy,
    .allocate = allocate,
    .release = release,
    .current_device = current_device,
};
