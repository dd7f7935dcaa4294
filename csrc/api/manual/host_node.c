/* SPDX-License-Identifier: MIT */
#include "api/manual/host_node.h"

#include "adapters/message.h"
#include "adapters/pointer.h"
#include "adapters/record_from.h"
#include "adapters/view.h"
#include "api/api.h"
#include "api/generated/tables.h"
#include "api/manual/host_function.h"

int
ha_host_node_from(struct ha_api *api, PyObject *object, const struct ha_where *where,
                  struct ha_view *out)
{
    struct ha_host_target target;
    hipHostNodeParams params;
    PyObject *pair = NULL, *record = NULL;
    int result = -1;

    if (!PyTuple_Check(object) && !PyList_Check(object)) {
        return ha_record_from(&api->types, object, where, HA_RECORD_hipHostNodeParams,
                              0, out);
    }
    ha_view_init(out);
    pair = PySequence_Tuple(object);
    if (pair == NULL) {
        return -1;
    }
    if (PyTuple_GET_SIZE(pair) != 2) {
        PyErr_Format(PyExc_TypeError,
                     "%s: argument '%s' must be a hipHostNodeParams or (function, "
                     "userData), not %zd values",
                     where->function, where->argument, PyTuple_GET_SIZE(pair));
        goto done;
    }
    if (ha_host_target_from(api, PyTuple_GET_ITEM(pair, 0), PyTuple_GET_ITEM(pair, 1),
                            where, where, &target) < 0) {
        goto done;
    }
    params = (hipHostNodeParams){.fn = target.function, .userData = target.context};
    record = ha_record_new(&api->types, HA_RECORD_hipHostNodeParams, &params, 1);
    if (record != NULL) {
        out->ptr = ha_pointer_of(record);
        out->owner = PyTuple_Pack(2, record, target.owner);
        result = out->owner != NULL ? 0 : -1;
    }
    Py_XDECREF(record);
    Py_DECREF(target.owner);
done:
    Py_DECREF(pair);
    return result;
}
