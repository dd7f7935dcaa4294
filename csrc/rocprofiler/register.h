/* SPDX-License-Identifier: MIT */
/* Functions that runtimes call, as AMD's libraries have them: no public header declares
 * them. */
#ifndef HA_ROCPROFILER_REGISTER_H
#define HA_ROCPROFILER_REGISTER_H

#include <stddef.h>
#include <stdint.h>

#include "rocprofiler/sdk.h"

/* Of librocprofiler-sdk, for librocprofiler-register: 0, or what went wrong. */
HA_SDK_EXPORT int rocprofiler_set_api_table(const char *name, uint64_t lib_version,
                                            uint64_t lib_instance, void **tables,
                                            uint64_t num_tables);

/* Of librocprofiler-register, for runtimes. */

struct ha_register_id {
    uint64_t handle;
};

struct ha_register_info {
    size_t size;
    const char *common_name;
    uint32_t lib_version;
    uint64_t api_table_length;
};

HA_SDK_EXPORT int rocprofiler_register_library_api_table(
    const char *common_name, uint32_t (*import)(void), uint32_t lib_version,
    void **api_tables, uint64_t api_table_length, struct ha_register_id *id);
HA_SDK_EXPORT const char *rocprofiler_register_error_string(int code);
HA_SDK_EXPORT int rocprofiler_register_iterate_registration_info(
    int (*callback)(struct ha_register_info *info, void *data), void *data);
HA_SDK_EXPORT int rocprofiler_register_invoke_nonpropagated_registrations(void);
HA_SDK_EXPORT int rocprofiler_register_invoke_all_registrations(void);

#endif
