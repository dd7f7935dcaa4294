/* SPDX-License-Identifier: MIT */
#include "cpu/module/report.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cpu/base/device.h"
#include "cpu/module/fill_kernel.h"
#include "cpu/module/module.h"
#include "cpu/queue/ticket.h"

#define UNLOAD_NS UINT64_C(1000000000)

static void
report_kernel(const struct ha_function *function, uint64_t code_object, bool loaded)
{
    void *address;
    struct ha_activity_kernel kernel = {
        .id = function->handle,
        .code_object = code_object,
        .name = function->kernel->name,
        .argument_bytes = (uint32_t)function->packed_bytes,
        .argument_align = (uint32_t)function->packed_align,
        .shared_bytes = function->kernel->shared_static,
    };

    memcpy(&address, &function->kernel->reference, sizeof address);
    kernel.address = (uint64_t)(uintptr_t)address;
    ha_activity_current()->kernel(&kernel, loaded);
}

/* Kernels come after their code object, and go before it. */
static void
report(const struct ha_module *module, bool loaded)
{
    char uri[96];
    struct ha_module_view view;

    ha_module_look(module, &view);
    (void)snprintf(uri, sizeof uri, "memory://%ld#offset=0x%llx&size=%zu",
                   (long)getpid(), (unsigned long long)view.load_base, view.load_size);
    struct ha_activity_code_object object = {
        .id = view.id,
        .device = view.device->id,
        .uri = uri,
        .load_base = view.load_base,
        .load_size = view.load_size,
        .memory_base = view.load_base,
        .memory_size = view.load_size,
    };
    if (loaded) {
        ha_activity_current()->code_object(&object, 1);
    }
    for (uint32_t i = 0; i < view.function_count; i++) {
        report_kernel(&view.functions[i], view.id, loaded);
    }
    if (!loaded) {
        ha_activity_current()->code_object(&object, 0);
    }
}

void
ha_report_loaded(const struct ha_module *module)
{
    if (ha_activity_wants(HA_WANT_CODE)) {
        report(module, true);
    }
}

void
ha_report_unloading(const struct ha_module *module)
{
    if (ha_activity_wants(HA_WANT_CODE)) {
        ha_tickets_wait(UNLOAD_NS);
        report(module, false);
    }
}

static void
report_again(struct ha_module *module)
{
    report(module, true);
}

void
ha_report_all(void)
{
    ha_fill_kernels_report();
    ha_modules_each(report_again);
}
