/* SPDX-License-Identifier: MIT */
/* What is known of HIP's functions: names, arguments, which of them is a stream
 * (generated/hip_ops.c). */
#ifndef HA_ROCPROFILER_HIP_OP_H
#define HA_ROCPROFILER_HIP_OP_H

#include <stddef.h>
#include <stdint.h>

#include "rocprofiler/generated/op_numbers.h"
#include "rocprofiler/sdk.h"

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

#endif
