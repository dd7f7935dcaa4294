/* SPDX-License-Identifier: MIT */
#ifndef ROCPROFILER_SDK_ROCTX_DEFINES_H
#define ROCPROFILER_SDK_ROCTX_DEFINES_H

#define ROCTX_ATTRIBUTE(...) __attribute__((__VA_ARGS__))
#define ROCTX_PUBLIC_API ROCTX_ATTRIBUTE(visibility("default"))
#define ROCTX_API ROCTX_PUBLIC_API

#ifdef __cplusplus
#define ROCTX_EXTERN_C_INIT extern "C" {
#define ROCTX_EXTERN_C_FINI }
#else
#define ROCTX_EXTERN_C_INIT
#define ROCTX_EXTERN_C_FINI
#endif

#endif
