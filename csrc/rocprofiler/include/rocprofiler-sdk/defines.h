/* SPDX-License-Identifier: MIT */
/* Macros that the other headers are written with. */
#ifndef ROCPROFILER_SDK_DEFINES_H
#define ROCPROFILER_SDK_DEFINES_H

#include <stdint.h>

#define ROCPROFILER_ATTRIBUTE(...) __attribute__((__VA_ARGS__))
#define ROCPROFILER_PUBLIC_API ROCPROFILER_ATTRIBUTE(visibility("default"))
#define ROCPROFILER_HIDDEN_API ROCPROFILER_ATTRIBUTE(visibility("hidden"))
#define ROCPROFILER_EXPORT ROCPROFILER_PUBLIC_API
#define ROCPROFILER_IMPORT

#ifndef ROCPROFILER_API
#ifdef rocprofiler_EXPORTS
#define ROCPROFILER_API ROCPROFILER_EXPORT
#else
#define ROCPROFILER_API ROCPROFILER_IMPORT
#endif
#endif

/* The library itself looks at what it is given. */
#ifdef rocprofiler_EXPORTS
#define ROCPROFILER_NONNULL(...)
#else
#define ROCPROFILER_NONNULL(...) __attribute__((nonnull(__VA_ARGS__)))
#endif

#ifdef __cplusplus
#define ROCPROFILER_HANDLE_LITERAL(type, value) (type{value})
#define ROCPROFILER_EXTERN_C_INIT extern "C" {
#define ROCPROFILER_EXTERN_C_FINI }
#define ROCPROFILER_CXX_CODE(...) __VA_ARGS__
#define ROCPROFILER_UINT64_C(value) uint64_t(value)
#else
#define ROCPROFILER_HANDLE_LITERAL(type, value) ((type){value})
#define ROCPROFILER_EXTERN_C_INIT
#define ROCPROFILER_EXTERN_C_FINI
#define ROCPROFILER_CXX_CODE(...)
#define ROCPROFILER_UINT64_C(value) UINT64_C(value)
#endif

#define ROCPROFILER_SDK_DEPRECATED(...)
#define ROCPROFILER_SDK_EXPERIMENTAL

/* 1: names of before 1.0 are there too. */
#ifndef ROCPROFILER_SDK_BETA_COMPAT
#define ROCPROFILER_SDK_BETA_COMPAT 1
#endif

#define ROCPROFILER_SDK_COMPUTE_VERSION(major, minor, patch)                           \
    ((10000 * (major)) + (100 * (minor)) + (patch))

#endif
