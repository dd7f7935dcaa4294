/* SPDX-License-Identifier: MIT */
/* Types of elements by the names of numpy and ml_dtypes: those that tensors of a debug
 * stream can have. */
#ifndef HA_CORE_DTYPE_H
#define HA_CORE_DTYPE_H

#include <stdint.h>

enum ha_dtype_kind {
    HA_DTYPE_BOOL,
    HA_DTYPE_INT,
    HA_DTYPE_UINT,
    HA_DTYPE_FLOAT,   /* 4 or 8 bytes: C's float and double */
    HA_DTYPE_COMPLEX, /* two of those */
    HA_DTYPE_SMALL,   /* floats of 1 or 2 bytes: struct ha_small_float */
};

/* What the largest exponent is for. */
enum ha_small_end {
    HA_SMALL_IEEE, /* infinities and NaNs */
    HA_SMALL_FN,   /* numbers; all ones is NaN, and there are no infinities */
    HA_SMALL_FNUZ, /* numbers; the bits of -0 are NaN, and there are no infinities */
};

/* Sign, exponent, fraction, from the top bit of its bytes. */
struct ha_small_float {
    uint8_t exponent_bits;
    uint8_t fraction_bits;
    uint8_t bias;
    enum ha_small_end end;
};

struct ha_dtype {
    const char *name;
    uint32_t bytes; /* of an element */
    enum ha_dtype_kind kind;
    struct ha_small_float small; /* HA_DTYPE_SMALL */
};

/* NULL: no dtype has this name. */
const struct ha_dtype *ha_dtype_find(const char *name);

#endif
