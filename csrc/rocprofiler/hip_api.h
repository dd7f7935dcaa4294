/* SPDX-License-Identifier: MIT */
/* The functions of ours that go into the slots of HIP's tables
 * (generated/hip_wrappers.c).
 *
 * Such a *wrapper* asks ha_api_begin whether anybody wants this operation.  If so, it
 * fills in the arguments and calls the next function between ha_api_enter and
 * ha_api_exit; else it only calls the next function. */
#ifndef HA_ROCPROFILER_HIP_API_H
#define HA_ROCPROFILER_HIP_API_H

#include "rocprofiler/api_call.h"
#include "rocprofiler/generated/op_numbers.h"
#include "rocprofiler/sdk.h"

/* The wrapper of each operation, and what it calls: set before it is put into a slot.
 */
extern void *const ha_wrappers[HA_OP_COUNT];
extern void *ha_originals[HA_OP_COUNT];

#define HA_DIM3(value) ((rocprofiler_dim3_t){(value).x, (value).y, (value).z})

#define HA_WRAP(type, member, op, symbol, parameters, names, ...)                      \
    static type wrap_##op parameters                                                   \
    {                                                                                  \
        __typeof__(&symbol) ha_next = (__typeof__(&symbol))ha_originals[HA_OP_##op];   \
        struct ha_api_call ha_call;                                                    \
        __typeof__(&ha_call.data.args.op) ha_args = &ha_call.data.args.op;             \
        if (!ha_api_begin(&ha_call, HA_OP_##op)) {                                     \
            return ha_next names;                                                      \
        }                                                                              \
        (void)ha_args;                                                                 \
        __VA_ARGS__                                                                    \
        ha_api_enter(&ha_call);                                                        \
        type ha_result = ha_next names;                                                \
        ha_call.data.retval.member = ha_result;                                        \
        ha_api_exit(&ha_call);                                                         \
        return ha_result;                                                              \
    }

#define HA_WRAP_VOID(op, symbol, parameters, names, ...)                               \
    static void wrap_##op parameters                                                   \
    {                                                                                  \
        __typeof__(&symbol) ha_next = (__typeof__(&symbol))ha_originals[HA_OP_##op];   \
        struct ha_api_call ha_call;                                                    \
        __typeof__(&ha_call.data.args.op) ha_args = &ha_call.data.args.op;             \
        if (!ha_api_begin(&ha_call, HA_OP_##op)) {                                     \
            ha_next names;                                                             \
            return;                                                                    \
        }                                                                              \
        (void)ha_args;                                                                 \
        __VA_ARGS__                                                                    \
        ha_api_enter(&ha_call);                                                        \
        ha_next names;                                                                 \
        ha_api_exit(&ha_call);                                                         \
    }

#endif
