/* SPDX-License-Identifier: MIT */
/* Kernels send tensors to hipadapt's debug stream, while they run:
 *
 *     ha_debug_tensor("weights", 1, w, 64, 128);            each lane that comes here
 *     ha_debug_tensor_block("tile", 1, &tile[0][0], 8, 8);  one lane of each block
 *     ha_debug_tensor_launch("loss", 2, loss);              one lane of the launch
 *
 * The arguments: a prefix of at most 511 bytes; a pipe, the reader's to interpret (1
 * stdout, 2 stderr); memory in C order; its shape, none for a single value, 8 dimensions at
 * most.  The dtype is that of the pointer, or a name of numpy's before the shape:
 *
 *     ha_debug_tensor("raw", 1, bytes, "bfloat16", 16);
 *
 * The value is copied at once, and nobody waits: what finds no room, or no reader, is
 * dropped.  The result is 0, or 1 where the tensor was refused, as memory that can't be
 * read, or a shape beyond its allocation; the log has a line about the first of a launch.
 * The one lane of a block is that of threadIdx 0, and that of a launch is in block 0. */
#pragma once

/* The host pass of a program has the target of its device too. */
#if defined(__AMDGCN__) && defined(__HIP_DEVICE_COMPILE__)
#ifndef HIPADAPT_DEBUG_TENSOR_HOST
#error "hipadapt/debug_tensor.h: kernels of AMD's GPUs can't send tensors; send them from \
the host (hipadapt.debug_tensor), and define HIPADAPT_DEBUG_TENSOR_HOST to leave the calls \
in kernels out"
#endif
#define __HA_DEBUG_SEND__(tensor) ((void)(tensor), 0u)
#else
#define __HA_DEBUG_SEND__(tensor) __ha_debug_tensor(tensor)
#endif

/* The layout of struct ha_image_tensor. */
struct __ha_tensor {
    const char *prefix;
    const char *dtype;
    const void *data;
    unsigned pipe;
    unsigned dimensions;
    unsigned long shape[8];
};

#if !defined(__AMDGCN__) || !defined(__HIP_DEVICE_COMPILE__)
extern "C" __attribute__((device, nothrow)) unsigned
__ha_debug_tensor(const __ha_tensor *tensor);
#endif

template <class _Tp> struct __ha_dtype;
#define __HA_DTYPE__(type, string)                                                       \
    template <> struct __ha_dtype<type> {                                               \
        static __attribute__((device)) const char *text() { return string; }              \
    };
__HA_DTYPE__(bool, "bool")
__HA_DTYPE__(char, "int8")
__HA_DTYPE__(signed char, "int8")
__HA_DTYPE__(unsigned char, "uint8")
__HA_DTYPE__(short, "int16")
__HA_DTYPE__(unsigned short, "uint16")
__HA_DTYPE__(int, "int32")
__HA_DTYPE__(unsigned, "uint32")
__HA_DTYPE__(long, "int64")
__HA_DTYPE__(unsigned long, "uint64")
__HA_DTYPE__(long long, "int64")
__HA_DTYPE__(unsigned long long, "uint64")
__HA_DTYPE__(_Float16, "float16")
__HA_DTYPE__(float, "float32")
__HA_DTYPE__(double, "float64")
#undef __HA_DTYPE__

#define __HA_DEBUG_FN__ static inline __attribute__((device))
template <class... _Sp>
__HA_DEBUG_FN__ unsigned __ha_debug_send(const char *prefix, unsigned pipe,
                                         const void *data, const char *dtype,
                                         _Sp... shape) {
    static_assert(sizeof...(_Sp) <= 8, "a tensor has at most 8 dimensions");
    const __ha_tensor tensor = {prefix, dtype, data, pipe, (unsigned)sizeof...(_Sp),
                                {(unsigned long)shape...}};
    return __HA_DEBUG_SEND__(&tensor);
}

#define __HA_DEBUG_FAMILY__(name, condition)                                            \
    template <class _Tp>                                                                \
    __HA_DEBUG_FN__ unsigned name(const char *prefix, unsigned pipe, const _Tp *data) { \
        return condition ? __ha_debug_send(prefix, pipe, data, __ha_dtype<_Tp>::text()) \
                         : 0u;                                                          \
    }                                                                                   \
    template <class _Tp, class... _Sp>                                                  \
    __HA_DEBUG_FN__ unsigned name(const char *prefix, unsigned pipe, const _Tp *data,   \
                                  unsigned long first, _Sp... rest) {                   \
        return condition ? __ha_debug_send(prefix, pipe, data, __ha_dtype<_Tp>::text(), \
                                           first, rest...)                              \
                         : 0u;                                                          \
    }                                                                                   \
    template <class... _Sp>                                                             \
    __HA_DEBUG_FN__ unsigned name(const char *prefix, unsigned pipe, const void *data,  \
                                  const char *dtype, _Sp... shape) {                    \
        return condition ? __ha_debug_send(prefix, pipe, data, dtype, shape...) : 0u;   \
    }
#define __HA_DEBUG_FIRST__(index) (index.x == 0 && index.y == 0 && index.z == 0)
__HA_DEBUG_FAMILY__(ha_debug_tensor, true)
__HA_DEBUG_FAMILY__(ha_debug_tensor_block, __HA_DEBUG_FIRST__(threadIdx))
__HA_DEBUG_FAMILY__(ha_debug_tensor_launch,
                    (__HA_DEBUG_FIRST__(threadIdx) && __HA_DEBUG_FIRST__(blockIdx)))
#undef __HA_DEBUG_FAMILY__
