/* SPDX-License-Identifier: MIT */
/* Protocol buffers, written by hand to memory that has room.
 *
 * A message within another has its length before it.  That length is written as a
 * varint of fixed width, which the message's writer chooses before it begins: readers
 * take varints with needless bytes. */
#ifndef HA_TOOL_PROFILER_PROTO_H
#define HA_TOOL_PROFILER_PROTO_H

#include <stdint.h>
#include <string.h>

enum ha_proto_wire { HA_PROTO_VARINT = 0, HA_PROTO_FIXED64 = 1, HA_PROTO_BYTES = 2 };

enum { HA_PROTO_SHORT_MAX = 1 << 14 }; /* bytes of a message with a length of two */

static inline char *
ha_proto_varint(char *to, uint64_t value)
{
    while (value >= 0x80) {
        *to++ = (char)(value | 0x80);
        value >>= 7;
    }
    *to++ = (char)value;
    return to;
}

static inline char *
ha_proto_tag(char *to, uint32_t field, enum ha_proto_wire wire)
{
    return ha_proto_varint(to, field << 3 | wire);
}

static inline char *
ha_proto_uint(char *to, uint32_t field, uint64_t value)
{
    return ha_proto_varint(ha_proto_tag(to, field, HA_PROTO_VARINT), value);
}

static inline char *
ha_proto_fixed64(char *to, uint32_t field, const void *value)
{
    to = ha_proto_tag(to, field, HA_PROTO_FIXED64);
    memcpy(to, value, 8); /* little endian, as all our machines */
    return to + 8;
}

static inline char *
ha_proto_bytes(char *to, uint32_t field, const void *bytes, size_t size)
{
    to = ha_proto_varint(ha_proto_tag(to, field, HA_PROTO_BYTES), size);
    memcpy(to, bytes, size);
    return to + size;
}

/* Begins a message; the result is the place of its first byte. */
static inline char *
ha_proto_begin(char *to, uint32_t field, int width)
{
    return ha_proto_tag(to, field, HA_PROTO_BYTES) + width;
}

/* Writes the length of what lies between `begin` and `end`. */
static inline void
ha_proto_end(char *begin, const char *end, int width)
{
    uint64_t size = (uint64_t)(end - begin);
    char *at = begin - width;

    for (int i = 0; i < width - 1; i++) {
        *at++ = (char)(size | 0x80);
        size >>= 7;
    }
    *at = (char)size;
}

#endif
