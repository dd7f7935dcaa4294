/* SPDX-License-Identifier: MIT */
#include "api/state.h"

#include "adapters/description.h"
#include "adapters/message.h"
#include "adapters/state.h"
#include "api/api.h"
#include "api/enums.h"
#include "api/generated/enums.h"
#include "api/generated/tables.h"
#include "api/memory_hooks.h"
#include "api/pending.h"
#include "api/provider.h"
#include "core/fork.h"
#include "core/status.h"

static PyObject *
enum_member(PyObject *module, unsigned index, int value)
{
    return ha_enum_value(&ha_api_of(module)->enums, (enum ha_enum)index, value);
}

static int
enum_value(PyObject *module, unsigned index, PyObject *object,
           const struct ha_where *where, int *out)
{
    return ha_enum_arg(&ha_api_of(module)->enums, (enum ha_enum)index, object, where,
                       out);
}

static const struct ha_tables api_tables = {
    .records = ha_record_infos,
    .handles = ha_handle_infos,
    .functions = ha_function_infos,
    .record_count = HA_RECORD_COUNT,
    .handle_count = HA_HANDLE_COUNT,
    .function_count = HA_FUNCTION_COUNT,
    .enum_member = enum_member,
    .enum_value = enum_value,
};

int
ha_api_init(PyObject *module)
{
    struct ha_api *api = ha_api_of(module);

    if (ha_adapters_init(module, &api->types, &api_tables) < 0) {
        return -1;
    }
    api->types.memory = &ha_hip_memory;
    api->kept = PyDict_New();
    if (api->kept == NULL) {
        return -1;
    }
    if (ha_fork_register(ha_pending_forked) != HA_OK) {
        PyErr_SetString(PyExc_RuntimeError, ha_error_text());
        return -1;
    }
    if (ha_provider_watch_forks() < 0) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

int
ha_api_traverse(struct ha_api *api, visitproc visit, void *arg)
{
    int result = ha_adapters_traverse(&api->types, visit, arg);

    if (result == 0) {
        result = ha_enums_traverse(&api->enums, visit, arg);
    }
    if (result == 0) {
        result = ha_pending_traverse(&api->pending, visit, arg);
    }
    Py_VISIT(api->kept);
    return result;
}

void
ha_api_clear(struct ha_api *api)
{
    ha_pending_abandon(api);
    ha_enums_clear(&api->enums);
    Py_CLEAR(api->kept);
    (void)ha_adapters_clear(&api->types);
}
