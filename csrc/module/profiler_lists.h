/* SPDX-License-Identifier: MIT */
/* What the profiler's library lists, as objects of Python.
 *
 * It calls back while it runs, so the callbacks run with the GIL of the call.  Where
 * one fails, its exception stays set and the iteration ends. */
#ifndef HA_MODULE_PROFILER_LISTS_H
#define HA_MODULE_PROFILER_LISTS_H

#include <Python.h>

#include "tool/sdk.h"

/* Owned, or NULL with an exception. */
PyObject *ha_profiler_counter_dict(const rocprofiler_counter_info_v0_t *info);
PyObject *ha_profiler_samples(const rocprofiler_counter_record_t *records,
                              size_t count);

/* ---- callbacks of the library's iterations, which append to a list ---- */

int ha_profiler_add_callback_kind(rocprofiler_callback_tracing_kind_t kind, void *list);
int ha_profiler_add_buffer_kind(rocprofiler_buffer_tracing_kind_t kind, void *list);
int ha_profiler_add_callback_operation(rocprofiler_callback_tracing_kind_t kind,
                                       rocprofiler_tracing_operation_t operation,
                                       void *list);
int ha_profiler_add_buffer_operation(rocprofiler_buffer_tracing_kind_t kind,
                                     rocprofiler_tracing_operation_t operation,
                                     void *list);
rocprofiler_status_t ha_profiler_add_agents(rocprofiler_agent_version_t version,
                                            const void **agents, size_t count,
                                            void *list);
rocprofiler_status_t ha_profiler_add_counters(rocprofiler_agent_id_t agent,
                                              rocprofiler_counter_id_t *counters,
                                              size_t count, void *list);
rocprofiler_status_t
ha_profiler_add_sampling(const rocprofiler_pc_sampling_configuration_t *configurations,
                         size_t count, void *list);

#endif
