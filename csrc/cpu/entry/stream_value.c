/* SPDX-License-Identifier: MIT */
/* HIP entry points: streams that write values to memory and wait for them. */
#include "abi/hip.h"
#include "cpu/base/error.h"
#include "cpu/base/export.h"
#include "cpu/entry/enter.h"
#include "cpu/entry/runtime.h"
#include "cpu/submit/stream.h"
#include "cpu/work/value.h"

static hipError_t
run_one(const char *function, hipStream_t stream, struct ha_value value)
{
    struct ha_device *device;
    hipError_t code = ha_enter(function, &device);
    if (code == hipSuccess) {
        code = ha_value_check(&value);
    }
    return code != hipSuccess ? code : ha_submit_values(stream, device, &value, 1);
}

HA_EXPORT hipError_t
hipStreamWaitValue32(hipStream_t stream, void *ptr, uint32_t value, unsigned int flags,
                     uint32_t mask)
{
    return run_one("hipStreamWaitValue32", stream,
                   (struct ha_value){.kind = HA_VALUE_WAIT,
                                     .bytes = 4,
                                     .compare = flags,
                                     .ptr = ptr,
                                     .value = value,
                                     .mask = mask});
}

HA_EXPORT hipError_t
hipStreamWaitValue64(hipStream_t stream, void *ptr, uint64_t value, unsigned int flags,
                     uint64_t mask)
{
    return run_one("hipStreamWaitValue64", stream,
                   (struct ha_value){.kind = HA_VALUE_WAIT,
                                     .bytes = 8,
                                     .compare = flags,
                                     .ptr = ptr,
                                     .value = value,
                                     .mask = mask});
}

static hipError_t
write_one(const char *function, hipStream_t stream, void *ptr, uint64_t value,
          unsigned flags, uint32_t bytes)
{
    hipError_t code = ha_enter_query(function);
    if (code == hipSuccess) {
        code = ha_need_no_flags(flags);
    }
    return code != hipSuccess ? code
                              : run_one(function, stream,
                                        (struct ha_value){.kind = HA_VALUE_WRITE,
                                                          .bytes = bytes,
                                                          .ptr = ptr,
                                                          .value = value});
}

HA_EXPORT hipError_t
hipStreamWriteValue32(hipStream_t stream, void *ptr, uint32_t value, unsigned int flags)
{
    return write_one("hipStreamWriteValue32", stream, ptr, value, flags, 4);
}

HA_EXPORT hipError_t
hipStreamWriteValue64(hipStream_t stream, void *ptr, uint64_t value, unsigned int flags)
{
    return write_one("hipStreamWriteValue64", stream, ptr, value, flags, 8);
}

HA_EXPORT hipError_t
hipStreamBatchMemOp(hipStream_t stream, unsigned int count,
                    hipStreamBatchMemOpParams *paramArray, unsigned int flags)
{
    struct ha_value values[HA_VALUE_MAX];
    struct ha_device *device;
    hipError_t code =
        ha_enter_out("hipStreamBatchMemOp", "paramArray", paramArray, &device);
    if (code == hipSuccess) {
        code = ha_need_no_flags(flags);
    }
    if (code != hipSuccess) {
        return code;
    }
    if (count == 0 || count > HA_VALUE_MAX) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'count' is %u, must be 1 to %u", count,
                           HA_VALUE_MAX);
    }
    code = ha_values_read(paramArray, count, values);
    return code != hipSuccess ? code : ha_submit_values(stream, device, values, count);
}
