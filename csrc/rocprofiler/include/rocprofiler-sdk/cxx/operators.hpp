// SPDX-License-Identifier: MIT
// Comparison of handles and small types.
#pragma once

#include <rocprofiler-sdk/agent.h>
#include <rocprofiler-sdk/counters.h>
#include <rocprofiler-sdk/experimental/thread-trace/trace_decoder.h>
#include <rocprofiler-sdk/fwd.h>
#include <rocprofiler-sdk/internal_threading.h>

#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>

namespace rocprofiler::sdk::operators
{
// What a value is compared by; of types that aren't named here there is none.
template <typename T> struct key;

#define ROCPROFILER_CXX_KEY(type, ...)                                                 \
    template <> struct key<type> {                                                     \
        static auto of(const type &value) { return __VA_ARGS__; }                      \
    };

ROCPROFILER_CXX_KEY(rocprofiler_context_id_t, value.handle)
ROCPROFILER_CXX_KEY(rocprofiler_address_t, value.handle)
ROCPROFILER_CXX_KEY(rocprofiler_agent_id_t, value.handle)
ROCPROFILER_CXX_KEY(rocprofiler_queue_id_t, value.handle)
ROCPROFILER_CXX_KEY(rocprofiler_stream_id_t, value.handle)
ROCPROFILER_CXX_KEY(rocprofiler_buffer_id_t, value.handle)
ROCPROFILER_CXX_KEY(rocprofiler_counter_id_t, value.handle)
ROCPROFILER_CXX_KEY(rocprofiler_counter_config_id_t, value.handle)
ROCPROFILER_CXX_KEY(rocprofiler_callback_thread_t, value.handle)
ROCPROFILER_CXX_KEY(rocprofiler_thread_trace_decoder_handle_t, value.handle)
ROCPROFILER_CXX_KEY(rocprofiler_agent_v0_t, value.id.handle)
ROCPROFILER_CXX_KEY(rocprofiler_version_triplet_t,
                    std::make_tuple(value.major, value.minor, value.patch))
// By the number of items first.
ROCPROFILER_CXX_KEY(rocprofiler_dim3_t, std::make_tuple(value.x *value.y *value.z,
                                                        value.x, value.y, value.z))
ROCPROFILER_CXX_KEY(rocprofiler_counter_dimension_info_t,
                    std::make_tuple(std::string_view{value.dimension_name},
                                    value.index))
ROCPROFILER_CXX_KEY(rocprofiler_counter_record_dimension_info_t,
                    std::make_tuple(value.id, value.instance_size,
                                    std::string_view{value.name}))

#undef ROCPROFILER_CXX_KEY

template <typename T, typename = decltype(key<T>::of(std::declval<const T &>()))>
using result = bool;
} // namespace rocprofiler::sdk::operators

#define ROCPROFILER_CXX_COMPARE(symbol)                                                \
    template <typename T>                                                              \
    inline ::rocprofiler::sdk::operators::result<T> operator symbol(const T & left,    \
                                                                    const T & right)   \
    {                                                                                  \
        using key = ::rocprofiler::sdk::operators::key<T>;                             \
        return key::of(left) symbol key::of(right);                                    \
    }

ROCPROFILER_CXX_COMPARE(==)
ROCPROFILER_CXX_COMPARE(!=)
ROCPROFILER_CXX_COMPARE(<)
ROCPROFILER_CXX_COMPARE(>)
ROCPROFILER_CXX_COMPARE(<=)
ROCPROFILER_CXX_COMPARE(>=)

#undef ROCPROFILER_CXX_COMPARE
