/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "module/profiler_lists.h"

#include "module/profiler_text.h"

/* Appends what is stolen; -1 with an exception. */
static int
append(PyObject *list, PyObject *item)
{
    int result = item != NULL ? PyList_Append(list, item) : -1;

    Py_XDECREF(item);
    return result;
}

int
ha_profiler_add_callback_kind(rocprofiler_callback_tracing_kind_t kind, void *list)
{
    return append(list, PyLong_FromLong((long)kind));
}

int
ha_profiler_add_buffer_kind(rocprofiler_buffer_tracing_kind_t kind, void *list)
{
    return append(list, PyLong_FromLong((long)kind));
}

int
ha_profiler_add_callback_operation(rocprofiler_callback_tracing_kind_t kind,
                                   rocprofiler_tracing_operation_t operation,
                                   void *list)
{
    (void)kind;
    return append(list, PyLong_FromLong(operation));
}

int
ha_profiler_add_buffer_operation(rocprofiler_buffer_tracing_kind_t kind,
                                 rocprofiler_tracing_operation_t operation, void *list)
{
    (void)kind;
    return append(list, PyLong_FromLong(operation));
}

/* ---- agents ---- */

static PyObject *
agent_dict(const rocprofiler_agent_v0_t *agent)
{
    const rocprofiler_dim3_t *block = &agent->workgroup_max_dim;
    const rocprofiler_dim3_t *grid = &agent->grid_max_dim;

    return Py_BuildValue(
        "{sK si sN sN sN sN sI si si sI sI sI sI sI sI sK sI s(III) sI s(III) sN}",
        "id", (unsigned long long)agent->id.handle, "type", (int)agent->type, "name",
        ha_profiler_text(agent->name), "vendor_name",
        ha_profiler_text(agent->vendor_name), "product_name",
        ha_profiler_text(agent->product_name), "model_name",
        ha_profiler_text(agent->model_name), "node_id", agent->node_id,
        "logical_node_id", (int)agent->logical_node_id, "logical_node_type_id",
        (int)agent->logical_node_type_id, "cpu_cores_count", agent->cpu_cores_count,
        "simd_count", agent->simd_count, "cu_count", agent->cu_count, "wave_front_size",
        agent->wave_front_size, "lds_size_in_kb", agent->lds_size_in_kb,
        "gfx_target_version", agent->gfx_target_version, "local_mem_size",
        (unsigned long long)agent->local_mem_size, "workgroup_max_size",
        agent->workgroup_max_size, "workgroup_max_dim", block->x, block->y, block->z,
        "grid_max_size", agent->grid_max_size, "grid_max_dim", grid->x, grid->y,
        grid->z, "uuid",
        PyBytes_FromStringAndSize((const char *)agent->uuid.bytes,
                                  (Py_ssize_t)sizeof agent->uuid.bytes));
}

rocprofiler_status_t
ha_profiler_add_agents(rocprofiler_agent_version_t version, const void **agents,
                       size_t count, void *list)
{
    (void)version;
    for (size_t i = 0; i < count; i++) {
        if (append(list, agent_dict(agents[i])) < 0) {
            return ROCPROFILER_STATUS_ERROR;
        }
    }
    return ROCPROFILER_STATUS_SUCCESS;
}

rocprofiler_status_t
ha_profiler_add_sampling(const rocprofiler_pc_sampling_configuration_t *configurations,
                         size_t count, void *list)
{
    for (size_t i = 0; i < count; i++) {
        const rocprofiler_pc_sampling_configuration_t *one = &configurations[i];
        PyObject *dict = Py_BuildValue(
            "{si si sn sn sK}", "method", (int)one->method, "unit", (int)one->unit,
            "min_interval", (Py_ssize_t)one->min_interval, "max_interval",
            (Py_ssize_t)one->max_interval, "flags", (unsigned long long)one->flags);
        if (append(list, dict) < 0) {
            return ROCPROFILER_STATUS_ERROR;
        }
    }
    return ROCPROFILER_STATUS_SUCCESS;
}

/* ---- counters ---- */

rocprofiler_status_t
ha_profiler_add_counters(rocprofiler_agent_id_t agent,
                         rocprofiler_counter_id_t *counters, size_t count, void *list)
{
    (void)agent;
    for (size_t i = 0; i < count; i++) {
        if (append(list, PyLong_FromUnsignedLongLong(counters[i].handle)) < 0) {
            return ROCPROFILER_STATUS_ERROR;
        }
    }
    return ROCPROFILER_STATUS_SUCCESS;
}

PyObject *
ha_profiler_counter_dict(const rocprofiler_counter_info_v0_t *info)
{
    return Py_BuildValue(
        "{sK sN sN sN sN sO sO}", "id", (unsigned long long)info->id.handle, "name",
        ha_profiler_text(info->name), "description",
        ha_profiler_text(info->description), "block", ha_profiler_text(info->block),
        "expression", ha_profiler_text(info->expression), "is_constant",
        info->is_constant ? Py_True : Py_False, "is_derived",
        info->is_derived ? Py_True : Py_False);
}

PyObject *
ha_profiler_samples(const rocprofiler_counter_record_t *records, size_t count)
{
    PyObject *list = PyList_New(0);

    for (size_t i = 0; list != NULL && i < count; i++) {
        PyObject *pair = Py_BuildValue("Kd", (unsigned long long)records[i].id,
                                       records[i].counter_value);
        if (append(list, pair) < 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}
