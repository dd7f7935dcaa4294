/* SPDX-License-Identifier: MIT */
/* What the wrappers of rocprofiler-sdk's functions (generated/profiler_call_*.c) need
 * besides api/call.h: arguments and results that HIP doesn't have.
 *
 * A function that the profiler's library lacks answers ..._NOT_IMPLEMENTED.  Callbacks
 * are C functions: ctypes makes one of a callable, which is kept for good, because the
 * library never says when it is through with it. */
#ifndef HA_MODULE_PROFILER_WRAP_H
#define HA_MODULE_PROFILER_WRAP_H

#include <Python.h>

#include <stdbool.h>

#include "adapters/kind.h"
#include "adapters/message.h"
#include "adapters/types.h"
#include "adapters/view.h"
#include "api/call.h"
#include "module/profiler_tool.h"

/* ---- arguments; -1 with an exception, where they return int ---- */

int ha_profiler_handle_from(struct ha_types *types, PyObject *object,
                            const struct ha_where *where, uint64_t *handle);

/* A number, or a member of that enum and no other. */
int ha_profiler_enum_from(PyObject *module, const char *type, PyObject *object,
                          const struct ha_where *where, int *value);

/* None, or numbers of known count: int32_t (HA_I32) or uint64_t (HA_U64). */
int ha_profiler_list_from(struct ha_types *types, PyObject *object,
                          const struct ha_where *where, enum ha_kind kind,
                          struct ha_view *view);

/* A C function of that type: an address, a ctypes function, or a callable. */
int ha_profiler_function_from(PyObject *module, PyObject *object,
                              const struct ha_where *where, const char *type,
                              bool nullable, struct ha_view *view);

enum ha_profiler_sink { HA_SINK_CALLBACK, HA_SINK_BUFFER };

/* The same, or an EventCollector: then the function that fills it from there, and the
 * collector in `sink`. */
int ha_profiler_sink_from(PyObject *module, PyObject *object,
                          const struct ha_where *where, const char *type,
                          enum ha_profiler_sink kind, struct ha_view *view,
                          struct ha_collector **sink);

/* The library has its address, after a call that took it. */
void ha_profiler_keep_sink(int status, struct ha_collector *sink);

/* Memory of `bytes` bytes that C is to have by value. */
int ha_profiler_record_from(struct ha_types *types, PyObject *object,
                            const struct ha_where *where, size_t bytes,
                            struct ha_view *view);

/* Keeps the C function that was made of a callable for good, after a call that took it.
 */
void ha_profiler_keep(int status, const struct ha_view *function);

/* Characters of a text; 0 for NULL. */
size_t ha_profiler_length(const struct ha_view *text);

/* ---- results; owned, NULL with an exception ---- */

/* The member of rocprofiler_status_t. */
PyObject *ha_profiler_member(PyObject *module, int status);

/* The tuple of a status alone. */
PyObject *ha_profiler_status(PyObject *module, int status);

/* The list, or an empty one; `list` is borrowed. */
PyObject *ha_profiler_list(bool good, PyObject *list);

#endif
