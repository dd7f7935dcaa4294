/* SPDX-License-Identifier: MIT */
/* The functions of ours that go into the slots of HIP's tables
 * (generated/hip_wrappers.c).
 *
 * Such a *wrapper* only jumps to the next function where nobody wants this operation.
 * Else it fills in the arguments and calls the next function between ha_api_enter and
 * ha_api_exit: in a function of its own, whose frame is large. */
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

#define HA_NEXT(number, symbol) ((__typeof__(&symbol))ha_originals[number])

#define HA_WRAP(type, member, op, symbol, parameters, names, ...)                      \
    static __attribute__((noinline)) type told_##op parameters                         \
    {                                                                                  \
        struct ha_api_call ha_call;                                                    \
        __typeof__(&ha_call.data.args.op) ha_args = &ha_call.data.args.op;             \
        if (!ha_api_begin(&ha_call, HA_OP_##op)) {                                     \
            return HA_NEXT(HA_OP_##op, symbol) names;                                  \
        }                                                                              \
        (void)ha_args;                                                                 \
        __VA_ARGS__                                                                    \
        ha_api_enter(&ha_call);                                                        \
        type ha_result = HA_NEXT(HA_OP_##op, symbol) names;                            \
        ha_call.data.retval.member = ha_result;                                        \
        ha_api_exit(&ha_call);                                                         \
        return ha_result;                                                              \
    }                                                                                  \
    static type wrap_##op parameters                                                   \
    {                                                                                  \
        return ha_api_wanted(HA_OP_##op) ? told_##op names                             \
                                         : HA_NEXT(HA_OP_##op, symbol) names;          \
    }

#define HA_WRAP_VOID(op, symbol, parameters, names, ...)                               \
    static __attribute__((noinline)) void told_##op parameters                         \
    {                                                                                  \
        struct ha_api_call ha_call;                                                    \
        __typeof__(&ha_call.data.args.op) ha_args = &ha_call.data.args.op;             \
        if (!ha_api_begin(&ha_call, HA_OP_##op)) {                                     \
            HA_NEXT(HA_OP_##op, symbol) names;                                         \
            return;                                                                    \
        }                                                                              \
        (void)ha_args;                                                                 \
        __VA_ARGS__                                                                    \
        ha_api_enter(&ha_call);                                                        \
        HA_NEXT(HA_OP_##op, symbol) names;                                             \
        ha_api_exit(&ha_call);                                                         \
    }                                                                                  \
    static void wrap_##op parameters                                                   \
    {                                                                                  \
        if (ha_api_wanted(HA_OP_##op)) {                                               \
            told_##op names;                                                           \
        } else {                                                                       \
            HA_NEXT(HA_OP_##op, symbol) names;                                         \
        }                                                                              \
    }

#endif
