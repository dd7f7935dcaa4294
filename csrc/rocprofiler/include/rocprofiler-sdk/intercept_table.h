/* SPDX-License-Identifier: MIT */
/* A tool's own functions in the tables through which the runtimes are called. */
#ifndef ROCPROFILER_SDK_INTERCEPT_TABLE_H
#define ROCPROFILER_SDK_INTERCEPT_TABLE_H

#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/fwd.h>

ROCPROFILER_EXTERN_C_INIT

/* Called once for each table that a runtime hands over.  The tool may keep the pointers
 * it finds and put its own in their place; these are outermost. */
typedef void (*rocprofiler_intercept_library_cb_t)(rocprofiler_intercept_table_t type,
                                                   uint64_t lib_version,
                                                   uint64_t lib_instance, void **tables,
                                                   uint64_t num_tables,
                                                   void *user_data);

rocprofiler_status_t
rocprofiler_query_intercept_table_name(rocprofiler_intercept_table_t kind,
                                       const char **name,
                                       uint64_t *name_len) ROCPROFILER_API;

/* `libs`: a union of rocprofiler_intercept_table_t.  From rocprofiler_configure or
 * `initialize`; later ..._CONFIGURATION_LOCKED. */
rocprofiler_status_t
rocprofiler_at_intercept_table_registration(rocprofiler_intercept_library_cb_t callback,
                                            int libs, void *data) ROCPROFILER_API;

ROCPROFILER_EXTERN_C_FINI

#endif
