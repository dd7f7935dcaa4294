/* SPDX-License-Identifier: MIT */
/* Kernel launches: arguments packed on the stack, and kept until the kernel has run. */
#include "api/generated/wrappers.h"

#include "adapters/adapter.h"
#include "adapters/handle.h"
#include "adapters/launch.h"
#include "adapters/launch_data.h"
#include "adapters/message.h"
#include "adapters/record_from.h"
#include "adapters/types.h"
#include "adapters/view.h"
#include "api/api.h"
#include "api/call.h"
#include "api/enums.h"
#include "api/generated/calls.h"
#include "api/generated/tables.h"
#include "api/hold.h"
#include "api/launch_note.h"
#include "api/let_go.h"
#include "api/pending.h"
#include "api/provider.h"

const struct ha_launch_noter *ha_launch_noter;

static void
reap_few(struct ha_api *api)
{
    if (ha_pending_any(&api->pending)) {
        ha_pending_reap(api, true);
    }
}

/* What hipModuleLaunchKernel and its cooperative sister have in common. */
struct module_launch {
    struct ha_view function, stream;
    unsigned numbers[7]; /* grid, block, shared memory bytes */
    struct ha_launch_arguments params, extra;
};

static void
module_launch_init(struct module_launch *launch)
{
    ha_view_init(&launch->function);
    ha_view_init(&launch->stream);
    ha_launch_init(&launch->params);
    ha_launch_init(&launch->extra);
}

static void
module_launch_release(struct module_launch *launch)
{
    ha_launch_release(&launch->extra);
    ha_launch_release(&launch->params);
    ha_view_release(&launch->stream);
    ha_view_release(&launch->function);
}

static int
module_launch_from(struct ha_types *types, PyObject *const *args,
                   const struct ha_where *where, struct module_launch *launch)
{
    if (ha_handle_from(types, args[0], &where[0], HA_HANDLE_ihipModuleSymbol_t,
                       &launch->function) < 0) {
        return -1;
    }
    for (int i = 0; i < 7; i++) {
        if (ha_arg_uint(types, args[1 + i], &where[1 + i], &launch->numbers[i]) < 0) {
            return -1;
        }
    }
    if (ha_handle_from(types, args[8], &where[8], HA_HANDLE_ihipStream_t,
                       &launch->stream) < 0) {
        return -1;
    }
    return args[9] != Py_None
               ? ha_params_from(types, args[9], &where[9], &launch->params)
               : 0;
}

/* A cooperative launch has no argument `extra`. */
static PyObject *
launch_module(struct ha_api *api, PyObject *const *args, const struct ha_where *where,
              bool cooperative)
{
    PyObject *result = NULL;
    struct module_launch launch;
    hipError_t status = hipErrorNotSupported;

    module_launch_init(&launch);
    if (module_launch_from(&api->types, args, where, &launch) < 0 ||
        (!cooperative && args[10] != Py_None &&
         ha_extra_from(&api->types, args[10], &where[10], &launch.extra) < 0)) {
        goto done;
    }
    int ready = cooperative ? HA_READY(hipModuleLaunchCooperativeKernel)
                            : HA_READY(hipModuleLaunchKernel);
    if (ready < 0) {
        goto done;
    }
    reap_few(api);
    if (ready) {
        const unsigned *n = launch.numbers;
        bool given = cooperative || args[9] != Py_None;
        bool told = ha_launch_note(&api->types, args[given ? 9 : 10]);
        PyThreadState *thread = ha_let_go();
        status = cooperative ? ha_calls.hipModuleLaunchCooperativeKernel(
                                   launch.function.ptr, n[0], n[1], n[2], n[3], n[4],
                                   n[5], n[6], launch.stream.ptr, launch.params.value)
                             : ha_calls.hipModuleLaunchKernel(
                                   launch.function.ptr, n[0], n[1], n[2], n[3], n[4],
                                   n[5], n[6], launch.stream.ptr, launch.params.value,
                                   launch.extra.value);
        ha_take_back(thread);
        ha_launch_noted(told);
    }
    if (status != hipSuccess && PyErr_Occurred()) {
        goto done;
    }
    if (status == hipSuccess &&
        (ha_hold_launch(api, launch.stream.ptr, &launch.params) < 0 ||
         ha_hold_launch(api, launch.stream.ptr, &launch.extra) < 0)) {
        goto done;
    }
    result = ha_hip_result(&api->enums, (int)status);
done:
    module_launch_release(&launch);
    return result;
}

#define MODULE_LAUNCH_WHERES(name)                                                     \
    {name, "f"}, {name, "gridDimX"}, {name, "gridDimY"}, {name, "gridDimZ"},           \
        {name, "blockDimX"}, {name, "blockDimY"}, {name, "blockDimZ"},                 \
        {name, "sharedMemBytes"}, {name, "stream"}, {name, "kernelParams"}

PyObject *
ha_wrap_hipModuleLaunchKernel(PyObject *module, PyObject *const *args, Py_ssize_t count,
                              PyObject *keywords)
{
    static const struct ha_where where[] = {
        MODULE_LAUNCH_WHERES("hipModuleLaunchKernel"),
        {"hipModuleLaunchKernel", "extra"},
    };
    PyObject *bound[11];

    if (keywords != NULL || count != 11) {
        if (ha_bind(where, 11, args, count, keywords, bound) < 0) {
            return NULL;
        }
        args = bound;
    }
    return launch_module(ha_api_of(module), args, where, false);
}

PyObject *
ha_wrap_hipModuleLaunchCooperativeKernel(PyObject *module, PyObject *const *args,
                                         Py_ssize_t count, PyObject *keywords)
{
    static const struct ha_where where[] = {
        MODULE_LAUNCH_WHERES("hipModuleLaunchCooperativeKernel"),
    };
    PyObject *bound[10];

    if (keywords != NULL || count != 10) {
        if (ha_bind(where, 10, args, count, keywords, bound) < 0) {
            return NULL;
        }
        args = bound;
    }
    return launch_module(ha_api_of(module), args, where, true);
}

/* What hipLaunchKernel and its cooperative sister have in common. */
struct plain_launch {
    struct ha_view function, grid, block, stream;
    size_t shared_bytes;
    struct ha_launch_arguments params;
};

static void
plain_launch_init(struct plain_launch *launch)
{
    ha_view_init(&launch->function);
    ha_view_init(&launch->grid);
    ha_view_init(&launch->block);
    ha_view_init(&launch->stream);
    launch->shared_bytes = 0;
    ha_launch_init(&launch->params);
}

static void
plain_launch_release(struct plain_launch *launch)
{
    ha_launch_release(&launch->params);
    ha_view_release(&launch->stream);
    ha_view_release(&launch->block);
    ha_view_release(&launch->grid);
    ha_view_release(&launch->function);
}

static int
plain_launch_from(struct ha_api *api, PyObject *const *args,
                  const struct ha_where *where, struct plain_launch *launch)
{
    struct ha_types *types = &api->types;

    if (ha_ptr_from(types, args[0], &where[0], 0, &launch->function) < 0 ||
        ha_record_from(types, args[1], &where[1], HA_RECORD_dim3, HA_BY_VALUE,
                       &launch->grid) < 0 ||
        ha_record_from(types, args[2], &where[2], HA_RECORD_dim3, HA_BY_VALUE,
                       &launch->block) < 0 ||
        ha_params_from(types, args[3], &where[3], &launch->params) < 0 ||
        ha_arg_size(types, args[4], &where[4], &launch->shared_bytes) < 0) {
        return -1;
    }
    return ha_handle_from(types, args[5], &where[5], HA_HANDLE_ihipStream_t,
                          &launch->stream);
}

typedef hipError_t (*plain_call)(const void *, dim3, dim3, void **, size_t,
                                 hipStream_t);

static hipError_t
call_cooperative(const void *function, dim3 grid, dim3 block, void **params,
                 size_t shared, hipStream_t stream)
{
    return ha_calls.hipLaunchCooperativeKernel(function, grid, block, params,
                                               (unsigned)shared, stream);
}

static PyObject *
launch_plain(struct ha_api *api, PyObject *const *args, const struct ha_where *where,
             enum ha_call call, size_t shared_limit)
{
    PyObject *result = NULL;
    struct plain_launch launch;
    hipError_t status = hipErrorNotSupported;

    plain_launch_init(&launch);
    if (plain_launch_from(api, args, where, &launch) < 0) {
        goto done;
    }
    if (launch.shared_bytes > shared_limit) {
        PyErr_Format(PyExc_OverflowError, "%s: argument '%s' must be 0 to %zu, not %zu",
                     where[4].function, where[4].argument, shared_limit,
                     launch.shared_bytes);
        goto done;
    }
    int ready = ha_provider_need(call);
    if (ready < 0) {
        goto done;
    }
    reap_few(api);
    if (ready) {
        plain_call function = call == HA_CALL_hipLaunchKernel ? ha_calls.hipLaunchKernel
                                                              : call_cooperative;
        bool told = ha_launch_note(&api->types, args[3]);
        PyThreadState *thread = ha_let_go();
        status = function(launch.function.ptr, *(dim3 *)launch.grid.ptr,
                          *(dim3 *)launch.block.ptr, launch.params.value,
                          launch.shared_bytes, launch.stream.ptr);
        ha_take_back(thread);
        ha_launch_noted(told);
    }
    if (status != hipSuccess && PyErr_Occurred()) {
        goto done;
    }
    if (status == hipSuccess &&
        ha_hold_launch(api, launch.stream.ptr, &launch.params) < 0) {
        goto done;
    }
    result = ha_hip_result(&api->enums, (int)status);
done:
    plain_launch_release(&launch);
    return result;
}

PyObject *
ha_wrap_hipLaunchKernel(PyObject *module, PyObject *const *args, Py_ssize_t count,
                        PyObject *keywords)
{
    static const struct ha_where where[] = {
        {"hipLaunchKernel", "function_address"}, {"hipLaunchKernel", "numBlocks"},
        {"hipLaunchKernel", "dimBlocks"},        {"hipLaunchKernel", "args"},
        {"hipLaunchKernel", "sharedMemBytes"},   {"hipLaunchKernel", "stream"},
    };
    PyObject *bound[6];

    if (keywords != NULL || count != 6) {
        if (ha_bind(where, 6, args, count, keywords, bound) < 0) {
            return NULL;
        }
        args = bound;
    }
    return launch_plain(ha_api_of(module), args, where, HA_CALL_hipLaunchKernel,
                        SIZE_MAX);
}

PyObject *
ha_wrap_hipLaunchCooperativeKernel(PyObject *module, PyObject *const *args,
                                   Py_ssize_t count, PyObject *keywords)
{
    static const struct ha_where where[] = {
        {"hipLaunchCooperativeKernel", "f"},
        {"hipLaunchCooperativeKernel", "gridDim"},
        {"hipLaunchCooperativeKernel", "blockDimX"},
        {"hipLaunchCooperativeKernel", "kernelParams"},
        {"hipLaunchCooperativeKernel", "sharedMemBytes"},
        {"hipLaunchCooperativeKernel", "stream"},
    };
    PyObject *bound[6];

    if (keywords != NULL || count != 6) {
        if (ha_bind(where, 6, args, count, keywords, bound) < 0) {
            return NULL;
        }
        args = bound;
    }
    return launch_plain(ha_api_of(module), args, where,
                        HA_CALL_hipLaunchCooperativeKernel, UINT_MAX);
}
