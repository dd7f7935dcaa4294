/* SPDX-License-Identifier: MIT */
#include "core/dtype.h"

#include <stddef.h>
#include <string.h>

static const struct ha_dtype dtypes[] = {
    {"bool", 1, HA_DTYPE_BOOL, {0}},
    {"int8", 1, HA_DTYPE_INT, {0}},
    {"int16", 2, HA_DTYPE_INT, {0}},
    {"int32", 4, HA_DTYPE_INT, {0}},
    {"int64", 8, HA_DTYPE_INT, {0}},
    {"uint8", 1, HA_DTYPE_UINT, {0}},
    {"uint16", 2, HA_DTYPE_UINT, {0}},
    {"uint32", 4, HA_DTYPE_UINT, {0}},
    {"uint64", 8, HA_DTYPE_UINT, {0}},
    {"float32", 4, HA_DTYPE_FLOAT, {0}},
    {"float64", 8, HA_DTYPE_FLOAT, {0}},
    {"complex64", 8, HA_DTYPE_COMPLEX, {0}},
    {"complex128", 16, HA_DTYPE_COMPLEX, {0}},
    {"float16", 2, HA_DTYPE_SMALL, {5, 10, 15, HA_SMALL_IEEE}},
    {"bfloat16", 2, HA_DTYPE_SMALL, {8, 7, 127, HA_SMALL_IEEE}},
    {"float8_e4m3", 1, HA_DTYPE_SMALL, {4, 3, 7, HA_SMALL_IEEE}},
    {"float8_e4m3fn", 1, HA_DTYPE_SMALL, {4, 3, 7, HA_SMALL_FN}},
    {"float8_e4m3fnuz", 1, HA_DTYPE_SMALL, {4, 3, 8, HA_SMALL_FNUZ}},
    {"float8_e5m2", 1, HA_DTYPE_SMALL, {5, 2, 15, HA_SMALL_IEEE}},
    {"float8_e5m2fnuz", 1, HA_DTYPE_SMALL, {5, 2, 16, HA_SMALL_FNUZ}},
};

const struct ha_dtype *
ha_dtype_find(const char *name)
{
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        if (strcmp(dtypes[i].name, name) == 0) {
            return &dtypes[i];
        }
    }
    return NULL;
}
