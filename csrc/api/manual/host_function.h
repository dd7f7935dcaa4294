/* SPDX-License-Identifier: MIT */
/* Host functions: what HIP is given for a Python callable, or for a function of C. */
#ifndef HA_API_MANUAL_HOST_FUNCTION_H
#define HA_API_MANUAL_HOST_FUNCTION_H

#include <Python.h>

#include "adapters/message.h"
#include "api/api.h"

/* What HIP is given for one host function. For host nodes of graphs:
 *
 *     struct ha_host_target target;
 *     if (ha_host_target_from(api, fn, user, &where_fn, &where_user, &target) < 0) {
 *         goto done;
 *     }
 *     params.fn = target.function;
 *     params.userData = target.context;
 *     ... the call; on success target.owner goes where the graph keeps things ...
 *     done: Py_XDECREF(target.owner);
 *
 * The callable is called as callable(user) each time the device wants it, any number of
 * times, for as long as `owner` is held: the graph and each executable graph
 * made from it need a reference. After that it is called no more, whatever the device
 * does. */
struct ha_host_target {
    hipHostFn_t function;
    void *context;
    PyObject *owner; /* owned, never NULL on success; keeps what the two stand for */
};

/* `function` is a Python callable, or anything that is an address of a C function; then
 * `user` is a pointer by the adapter order. 0, or -1 with an exception and `out`
 * untouched. */
int ha_host_target_from(struct ha_api *api, PyObject *function, PyObject *user,
                        const struct ha_where *where_function,
                        const struct ha_where *where_user, struct ha_host_target *out);
/* The same for a function that HIP calls once, some time: a Python callable is held
 * until then, whatever becomes of `owner`. Where HIP won't call it because its own call
 * failed, it is cancelled. */
int ha_host_once_from(struct ha_api *api, PyObject *function, PyObject *user,
                      const struct ha_where *where_function,
                      const struct ha_where *where_user, struct ha_host_target *out);
void ha_host_once_cancel(const struct ha_host_target *target);

#endif
