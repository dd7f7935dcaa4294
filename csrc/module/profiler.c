/* SPDX-License-Identifier: MIT */
#include <Python.h>

#include "module/profiler.h"

#include "core/fork.h"
#include "module/generated/profiler_calls.h"
#include "module/profiler_batch.h"
#include "module/profiler_client.h"
#include "module/profiler_collector.h"
#include "module/profiler_reader.h"
#include "module/state.h"

int
ha_profiler_init(PyObject *module)
{
    struct ha_profiler_state *state = ha_profiler_state(module);

    if (ha_profiler_batch_init(module, state) < 0 ||
        ha_profiler_collector_init(module, state) < 0 ||
        ha_profiler_calls_init(module) < 0 || ha_profiler_reader_init(module) < 0) {
        return -1;
    }
    return ha_profiler_client_init(module);
}

int
ha_profiler_traverse(struct ha_profiler_state *state, visitproc visit, void *arg)
{
    Py_VISIT(state->collector);
    Py_VISIT(state->batch);
    Py_VISIT(state->debug_payload);
    Py_VISIT(state->event);
    Py_VISIT(state->enums);
    Py_VISIT(state->success);
    for (int i = 0; i < HA_PROFILER_STATUSES; i++) {
        Py_VISIT(state->statuses[i]);
    }
    return 0;
}

void
ha_profiler_clear(struct ha_profiler_state *state)
{
    Py_CLEAR(state->collector);
    Py_CLEAR(state->batch);
    Py_CLEAR(state->debug_payload);
    Py_CLEAR(state->event);
    Py_CLEAR(state->enums);
    Py_CLEAR(state->success);
    for (int i = 0; i < HA_PROFILER_STATUSES; i++) {
        Py_CLEAR(state->statuses[i]);
    }
}
