/* SPDX-License-Identifier: MIT */
/* Descriptions of C structs and unions, opaque handles and function pointer types.
 *
 * The API tables (generated, static) hold them; the Python types are made from them on
 * first use, all by one implementation.  An *index* is the position in such a table. */
#ifndef HA_ADAPTERS_DESCRIPTION_H
#define HA_ADAPTERS_DESCRIPTION_H

#include <Python.h>

#include <stdint.h>

#include "adapters/kind.h"
#include "adapters/message.h"

enum ha_field_flags {
    HA_FIELD_READONLY = 1,
    HA_FIELD_BYTES = 2, /* char array that is data, not text: read as bytes, in full */
};

struct ha_field {
    const char *name; /* Python name */
    const char *doc;  /* or NULL */
    uint32_t offset;  /* bytes from the start of the record */
    uint32_t count;   /* 0 = one value, n = array of n */
    uint16_t index;   /* of the enum, handle, function or record */
    uint8_t kind;     /* enum ha_kind */
    uint8_t flags;    /* enum ha_field_flags */
    uint8_t bit_offset;
    uint8_t
        bit_width; /* 0 = no bit field; else bits [offset, offset+width) of the value */
};

struct ha_record_info {
    const char *name; /* dotted: "hipadapt.hip.dim3" */
    const char *doc;
    const struct ha_field *fields;
    const void
        *initial; /* `size` bytes that a new record starts with, or NULL = zero */
    uint32_t field_count;
    uint32_t size;
    uint32_t align;
};

enum ha_handle_flags {
    HA_HANDLE_STREAM = 1, /* objects with __cuda_stream__ are accepted */
};

struct ha_handle_info {
    const char *name; /* dotted: "hipadapt.hip.ihipStream_t" */
    const char *doc;
    unsigned flags;
};

struct ha_function_info {
    const char *name; /* dotted: "hipadapt.hip.hipHostFn_t" */
    const char *doc;
    /* Result, then parameters, one letter each: v void, P pointer, i int, I unsigned,
     * l long, L unsigned long, q/Q 64 bit, f float, d double.  hipHostFn_t is "vP". */
    const char *signature;
};

struct ha_tables {
    const struct ha_record_info *records;
    const struct ha_handle_info *handles;
    const struct ha_function_info *functions;
    unsigned record_count;
    unsigned handle_count;
    unsigned function_count;
    /* Member of enum number `index` for `value` (owned), an int-valued stand-in or
     * plain int where the value is unknown.  NULL: enum fields read as int. */
    PyObject *(*enum_member)(PyObject *module, unsigned index, int value);
    /* Value of what was given for enum number `index`; 0 or -1 with an exception. NULL:
     * ints and IntEnum members pass. */
    int (*enum_value)(PyObject *module, unsigned index, PyObject *object,
                      const struct ha_where *where, int *out);
};

#endif
