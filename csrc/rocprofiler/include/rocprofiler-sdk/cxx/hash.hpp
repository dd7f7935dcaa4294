// SPDX-License-Identifier: MIT
// Handles as keys of unordered containers.
#pragma once

#include <rocprofiler-sdk/experimental/thread-trace/trace_decoder.h>
#include <rocprofiler-sdk/fwd.h>
#include <rocprofiler-sdk/internal_threading.h>

#include <cstddef>
#include <functional>

namespace rocprofiler::sdk::hash
{
template <typename T> struct handle_hasher {
    size_t operator()(T value) const { return value.handle; }
};
} // namespace rocprofiler::sdk::hash

#define ROCPROFILER_CXX_HASH(type)                                                     \
    template <>                                                                        \
    struct std::hash<type> : ::rocprofiler::sdk::hash::handle_hasher<type> {           \
    };

ROCPROFILER_CXX_HASH(rocprofiler_context_id_t)
ROCPROFILER_CXX_HASH(rocprofiler_address_t)
ROCPROFILER_CXX_HASH(rocprofiler_agent_id_t)
ROCPROFILER_CXX_HASH(rocprofiler_queue_id_t)
ROCPROFILER_CXX_HASH(rocprofiler_stream_id_t)
ROCPROFILER_CXX_HASH(rocprofiler_buffer_id_t)
ROCPROFILER_CXX_HASH(rocprofiler_counter_id_t)
ROCPROFILER_CXX_HASH(rocprofiler_counter_config_id_t)
ROCPROFILER_CXX_HASH(rocprofiler_callback_thread_t)
ROCPROFILER_CXX_HASH(rocprofiler_thread_trace_decoder_handle_t)

#undef ROCPROFILER_CXX_HASH
