/* SPDX-License-Identifier: MIT */
/* User objects: HIP calls their function when the last reference is gone. */
#include "api/generated/wrappers.h"

#include "adapters/message.h"
#include "api/api.h"
#include "api/call.h"
#include "api/enums.h"
#include "api/generated/calls.h"
#include "api/generated/tables.h"
#include "api/keep.h"
#include "api/let_go.h"
#include "api/manual/host_function.h"
#include "api/provider.h"
#include "api/result.h"

/* What a C function was given as its data; a Python callable is held by its ticket.
 * HIP does not say when it is done with it, so it goes when the address is used again.
 */
static int
keep_owner(struct ha_api *api, hipUserObject_t object, struct ha_host_target *target)
{
    PyObject *owner = target->owner;

    target->owner = NULL;
    ha_keep_drop(api, object);
    if (owner == Py_None) {
        Py_DECREF(owner);
        return 0;
    }
    return ha_keep_object(api, object, owner);
}

PyObject *
ha_wrap_hipUserObjectCreate(PyObject *module, PyObject *const *args, Py_ssize_t count,
                            PyObject *keywords)
{
    static struct ha_where where[4];
    struct ha_api *api = ha_api_of(module);
    PyObject *bound[4], *result = NULL;
    struct ha_host_target target = {.function = NULL};
    hipUserObject_t object = NULL;
    unsigned references = 0, flags = 0;
    hipError_t status = hipErrorNotSupported;

    ha_where_names(where, 4,
                   "hipUserObjectCreate\0ptr\0destroy\0initialRefcount\0flags");
    if (keywords != NULL || count != 4) {
        if (ha_bind(where, 4, args, count, keywords, bound) < 0) {
            return NULL;
        }
        args = bound;
    }
    if (ha_arg_uint(&api->types, args[2], &where[2], &references) < 0 ||
        ha_arg_uint(&api->types, args[3], &where[3], &flags) < 0) {
        return NULL;
    }
    int ready = HA_READY(hipUserObjectCreate);
    if (ready < 0 ||
        ha_host_once_from(api, args[1], args[0], &where[1], &where[0], &target) < 0) {
        return NULL;
    }
    if (ready) {
        PyThreadState *thread = ha_let_go();
        status = ha_calls.hipUserObjectCreate(&object, target.context, target.function,
                                              references, flags);
        ha_take_back(thread);
    }
    bool good = status == hipSuccess;
    if (!good) {
        ha_host_once_cancel(&target);
    } else if (keep_owner(api, object, &target) < 0) {
        goto done;
    }
    if (PyErr_Occurred()) {
        goto done;
    }
    result = ha_result2(ha_hip_status(&api->enums, (int)status),
                        ha_out_handle(api, good, HA_HANDLE_hipUserObject, object));
done:
    Py_XDECREF(target.owner);
    return result;
}
