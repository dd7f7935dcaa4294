/* SPDX-License-Identifier: MIT */
#include "api/hold.h"

int
ha_hold_views(struct ha_api *api, hipStream_t stream, struct ha_view *const *views,
              int count)
{
    PyObject *held = NULL;
    int used = 0;

    for (int i = 0; i < count; i++) {
        used += views[i]->owner != NULL || views[i]->has_buffer;
    }
    if (used == 0) {
        return 0;
    }
    held = PyTuple_New(used);
    if (held == NULL) {
        return -1;
    }
    used = 0;
    for (int i = 0; i < count; i++) {
        if (views[i]->owner == NULL && !views[i]->has_buffer) {
            continue;
        }
        PyObject *one = ha_view_hold(&api->types, views[i]);
        if (one == NULL) {
            Py_DECREF(held);
            return -1;
        }
        PyTuple_SET_ITEM(held, used++, one);
    }
    return ha_pending_add(api, stream, held);
}
