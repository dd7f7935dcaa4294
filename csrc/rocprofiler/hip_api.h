/* SPDX-License-Identifier: MIT */
/* What is known of HIP's functions (generated/hip_ops.c), and the functions of ours
 * that go into the slots of HIP's tables.
 *
 * Such a *wrapper* asks ha_api_begin whether anybody wants this operation.  If so, it
 * fills in the arguments and calls the next function between ha_api_enter and
 * ha_api_exit; else it only calls the next function. */
#ifndef HA_ROCPROFILER_HIP_API_H
#define HA_ROCPROFILER_HIP_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/hip.h"
/* After abi/hip.h, which has the types. */
#include "rocprofiler/api_call.h"
#include "rocprofiler/generated/hip_ops.h"

enum ha_op_arg_kind {
    HA_ARG_VOID, /* memory whose type isn't known */
    HA_ARG_POINTER,
    HA_ARG_TEXT,
    HA_ARG_RECORD,
    HA_ARG_DIM3,
    HA_ARG_CHAR,
    HA_ARG_I8,
    HA_ARG_U8,
    HA_ARG_I16,
    HA_ARG_U16,
    HA_ARG_I32,
    HA_ARG_U32,
    HA_ARG_I64,
    HA_ARG_U64,
    HA_ARG_F32,
    HA_ARG_F64,
};

struct ha_op_arg {
    uint16_t name; /* places for ha_op_text */
    uint16_t type; /* as C says it */
    uint16_t offset;
    uint16_t bytes;
    uint8_t kind;  /* enum ha_op_arg_kind, of what is at the end of the pointers */
    uint8_t stars; /* pointers that lead there */
};

struct ha_api_op {
    uint16_t name;  /* place for ha_op_text */
    uint16_t first; /* for ha_op_args */
    uint8_t count;
    uint8_t stream; /* 1 + which of them is a stream; 0: none */
};

extern const struct ha_api_op ha_ops[HA_OP_COUNT];
const char *ha_op_text(uint16_t place);
/* The `count` arguments of an operation. */
const struct ha_op_arg *ha_op_args(const struct ha_api_op *op);

/* The wrapper of each operation, and what it calls: set before it is put into a slot.
 */
extern void *const ha_wrappers[HA_OP_COUNT];
extern void *ha_originals[HA_OP_COUNT];

#define HA_ARG(op, member, name, type, kind, stars)                                    \
    {offsetof(struct texts, name),                                                     \
     offsetof(struct texts, type),                                                     \
     offsetof(rocprofiler_hip_api_args_t, op.member),                                  \
     sizeof(((rocprofiler_hip_api_args_t *)0)->op.member),                             \
     HA_ARG_##kind,                                                                    \
     stars},

#define HA_OP(op, name, count, stream)                                                 \
    {offsetof(struct texts, name),                                                     \
     offsetof(struct arguments, op) / sizeof(struct ha_op_arg), count, stream},

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
