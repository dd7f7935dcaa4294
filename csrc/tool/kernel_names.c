/* SPDX-License-Identifier: MIT */
#include "tool/kernel_names.h"

#include <stdatomic.h>

#include "tool/name.h"
#include "tool/sdk.h"

static atomic_bool taken;

static void
on_code_object(rocprofiler_callback_tracing_record_t record,
               rocprofiler_user_data_t *user, void *data)
{
    const rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t
        *kernel = record.payload;

    (void)user;
    (void)data;
    if (record.operation == ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER &&
        record.phase == ROCPROFILER_CALLBACK_PHASE_LOAD) {
        ha_kernel_name_set(kernel->kernel_id, ha_name_of(kernel->kernel_name));
    }
}

bool
ha_kernel_names_begin(void)
{
    rocprofiler_context_id_t context = {0};

    if (atomic_exchange(&taken, true)) {
        return false;
    }
    if (ha_sdk.create_context(&context) == ROCPROFILER_STATUS_SUCCESS &&
        ha_sdk.configure_callback_tracing_service(
            context, ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT, NULL, 0, on_code_object,
            NULL) == ROCPROFILER_STATUS_SUCCESS) {
        (void)ha_sdk.start_context(context);
    }
    return true;
}

void
ha_kernel_names_end(void)
{
    atomic_store(&taken, false);
}
