/* SPDX-License-Identifier: MIT */
/* Makers of the records that describe boxes of memory.  Host code, C or C++. */
#pragma once
#pragma GCC system_header

static inline hipPitchedPtr
make_hipPitchedPtr(void *memory, size_t pitch, size_t width, size_t height)
{
    hipPitchedPtr made;
    made.ptr = memory;
    made.pitch = pitch;
    made.xsize = width;
    made.ysize = height;
    return made;
}
static inline hipPos
make_hipPos(size_t x, size_t y, size_t z)
{
    hipPos made;
    made.x = x;
    made.y = y;
    made.z = z;
    return made;
}
static inline hipExtent
make_hipExtent(size_t width, size_t height, size_t depth)
{
    hipExtent made;
    made.width = width;
    made.height = height;
    made.depth = depth;
    return made;
}
