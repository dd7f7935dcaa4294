/* SPDX-License-Identifier: MIT */
/* Traces of instructions: no agent here has them. */
#ifndef ROCPROFILER_SDK_EXPERIMENTAL_THREAD_TRACE_H
#define ROCPROFILER_SDK_EXPERIMENTAL_THREAD_TRACE_H

#include <rocprofiler-sdk/experimental/thread-trace/agent.h>
#include <rocprofiler-sdk/experimental/thread-trace/core.h>
#include <rocprofiler-sdk/experimental/thread-trace/dispatch.h>
#include <rocprofiler-sdk/experimental/thread-trace/trace_decoder.h>

#endif
