/* SPDX-License-Identifier: MIT */
#include "cpu/module/symbol.h"

#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/thread.h"
#include "cpu/module/register.h"

hipError_t
ha_symbol_resolve(const void *host, void **device, size_t *bytes)
{
    if (host == NULL) {
        return ha_cpu_fail(hipErrorInvalidSymbol, "argument 'symbol' is NULL");
    }
    return ha_register_variable(host, ha_device_get(ha_thread_self()->device), device,
                                bytes);
}

hipError_t
ha_symbol_range(const void *host, size_t count, size_t offset, void **device)
{
    void *address;
    size_t bytes;
    hipError_t code = ha_symbol_resolve(host, &address, &bytes);
    if (code != hipSuccess) {
        return code;
    }
    if (offset > bytes || count > bytes - offset) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "%zu bytes from offset %zu run past the variable, which has "
                           "%zu bytes",
                           count, offset, bytes);
    }
    *device = (char *)address + offset;
    return hipSuccess;
}
