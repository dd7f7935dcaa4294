/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "module/profiler_wrap.h"

#include <string.h>

#include "adapters/adapter.h"
#include "adapters/ctypes_value.h"
#include "adapters/function.h"
#include "adapters/kind.h"
#include "adapters/list_from.h"
#include "adapters/message.h"
#include "adapters/number.h"
#include "adapters/python_version.h"
#include "adapters/together.h"
#include "adapters/types.h"
#include "adapters/view.h"
#include "module/profiler_collector.h"
#include "module/state.h"

/* An attribute of a module; owned. */
static PyObject *
attribute_of(const char *home, const char *name)
{
    PyObject *module = PyImport_ImportModule(home);
    PyObject *found = module != NULL ? PyObject_GetAttrString(module, name) : NULL;

    Py_XDECREF(module);
    return found;
}

/* ---- arguments ---- */

int
ha_profiler_handle_from(struct ha_types *types, PyObject *object,
                        const struct ha_where *where, uint64_t *handle)
{
    return PyBool_Check(object) ? ha_refuse(where, "an int", object)
                                : ha_arg_uint64(types, object, where, handle);
}

/* The dict of classes; borrowed. */
static PyObject *
enums_of(struct ha_profiler_state *state)
{
    PyObject *enums = HA_READ(state->enums);

    if (enums == NULL && (enums = PyDict_New()) != NULL) {
        enums = ha_publish_once(&state->enums, enums);
    }
    return enums;
}

/* An enum's class; owned. */
static PyObject *
enum_class(PyObject *module, const char *type)
{
    PyObject *enums = enums_of(ha_profiler_state(module)), *class = NULL;

    if (enums == NULL || ha_dict_get_text(enums, type, &class) != 0) {
        return class;
    }
    class = attribute_of("hipadapt.rocprofiler._enums", type);
    if (class != NULL && PyDict_SetItemString(enums, type, class) < 0) {
        Py_CLEAR(class);
    }
    return class;
}

int
ha_profiler_enum_from(PyObject *module, const char *type, PyObject *object,
                      const struct ha_where *where, int *value)
{
    struct ha_types *types = ha_types_of(module);

    if (PyLong_CheckExact(object)) {
        return ha_arg_int(types, object, where, value);
    }
    PyObject *class = enum_class(module, type);
    int status =
        class != NULL ? ha_enum_from(types, object, where, class, NULL, value) : -1;
    Py_XDECREF(class);
    return status;
}

int
ha_profiler_list_from(struct ha_types *types, PyObject *object,
                      const struct ha_where *where, enum ha_kind kind,
                      struct ha_view *view)
{
    if (ha_list_number_from(types, object, where, kind, 0, view) < 0) {
        return -1;
    }
    if (view->ptr == NULL) {
        view->count = 0;
    } else if (view->count < 0) {
        ha_view_release(view);
        return ha_refuse(where, "a list of ints or None", object);
    }
    return 0;
}

struct function {
    const char *type;
};

/* The function type of ctypes, called with the callable. */
static int
make_function(void *context, PyObject *callable, void **function, PyObject **owner)
{
    const struct function *wanted = context;
    PyObject *type = attribute_of("hipadapt.rocprofiler._callbacks", wanted->type);
    PyObject *made = type != NULL ? PyObject_CallOneArg(type, callable) : NULL;

    Py_XDECREF(type);
    if (made == NULL || ha_ctypes_address(made, function) < 0) {
        Py_XDECREF(made);
        return -1;
    }
    *owner = made;
    return 0;
}

int
ha_profiler_function_from(PyObject *module, PyObject *object,
                          const struct ha_where *where, const char *type, bool nullable,
                          struct ha_view *view)
{
    struct function wanted = {type};

    if (ha_callback_from(ha_types_of(module), object, where, 0, make_function, &wanted,
                         view) < 0) {
        return -1;
    }
    if (view->ptr == NULL && !nullable) {
        return ha_refuse(where, "a callable, a ctypes function or an address", object);
    }
    return 0;
}

int
ha_profiler_sink_from(PyObject *module, PyObject *object, const struct ha_where *where,
                      const char *type, enum ha_profiler_sink kind,
                      struct ha_view *view, struct ha_collector **sink)
{
    struct ha_collector *collector = ha_collector_of(module, object);

    if (collector == NULL) {
        return ha_profiler_function_from(module, object, where, type, false, view);
    }
    ha_view_init(view);
    view->ptr = kind == HA_SINK_BUFFER ? (void *)ha_tool->on_buffer
                                       : (void *)ha_tool->on_callback;
    *sink = collector;
    return 0;
}

void
ha_profiler_keep_sink(int status, struct ha_collector *sink)
{
    if (status == ROCPROFILER_STATUS_SUCCESS && sink != NULL) {
        ha_tool->collector_give(sink);
    }
}

int
ha_profiler_record_from(struct ha_types *types, PyObject *object,
                        const struct ha_where *where, size_t bytes,
                        struct ha_view *view)
{
    if (ha_ptr_from(types, object, where, HA_NOT_NULL, view) < 0) {
        return -1;
    }
    if (ha_need_bytes(view, where, bytes, where->argument) < 0) {
        ha_view_release(view);
        return -1;
    }
    return 0;
}

void
ha_profiler_keep(int status, const struct ha_view *function)
{
    if (status == ROCPROFILER_STATUS_SUCCESS) {
        Py_XINCREF(function->owner);
    }
}

size_t
ha_profiler_length(const struct ha_view *text)
{
    return text->ptr != NULL ? strlen(text->ptr) : 0;
}

/* ---- results ---- */

PyObject *
ha_profiler_member(PyObject *module, int status)
{
    struct ha_profiler_state *state = ha_profiler_state(module);
    bool kept = status >= 0 && status < HA_PROFILER_STATUSES;

    PyObject *known = kept ? HA_READ(state->statuses[status]) : NULL;

    if (known != NULL) {
        return Py_NewRef(known);
    }
    PyObject *class = enum_class(module, "rocprofiler_status_t");
    PyObject *member = class != NULL ? PyObject_CallFunction(class, "i", status) : NULL;
    Py_XDECREF(class);
    if (kept && member != NULL) {
        (void)ha_publish_once(&state->statuses[status], Py_NewRef(member));
    }
    return member;
}

PyObject *
ha_profiler_status(PyObject *module, int status)
{
    struct ha_profiler_state *state = ha_profiler_state(module);
    bool good = status == ROCPROFILER_STATUS_SUCCESS;

    PyObject *known = good ? HA_READ(state->success) : NULL;

    if (known != NULL) {
        return Py_NewRef(known);
    }
    PyObject *member = ha_profiler_member(module, status);
    PyObject *result = member != NULL ? PyTuple_Pack(1, member) : NULL;
    Py_XDECREF(member);
    if (good && result != NULL) {
        (void)ha_publish_once(&state->success, Py_NewRef(result));
    }
    return result;
}

PyObject *
ha_profiler_list(bool good, PyObject *list)
{
    return good ? Py_NewRef(list) : PyList_New(0);
}
