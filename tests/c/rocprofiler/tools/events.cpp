// SPDX-License-Identifier: MIT
// Kernels, copies, memory, code objects and streams of the device, in a buffer and by
// callbacks; says at the end how many of each there were.
#include "tool.h"

#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <string>

namespace
{
struct Counts {
    std::mutex mutex;
    std::map<std::string, long> numbers;
    std::map<uint64_t, std::string> kernels;
    std::set<uint64_t> open; // correlation identifiers of HIP's calls
    std::set<uint64_t> apis;

    void add(const std::string &name)
    {
        std::lock_guard<std::mutex> guard(mutex);
        numbers[name]++;
    }
};

Counts *counts = new Counts; // it outlives everything
rocprofiler_context_id_t context{};
rocprofiler_buffer_id_t buffer{};

void
on_event(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
         void *)
{
    const char *name = nullptr;
    GOOD(rocprofiler_query_callback_tracing_kind_operation_name(
        record.kind, record.operation, &name, nullptr));
    if (record.kind == ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT &&
        record.operation == ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER) {
        auto *data = static_cast<
            rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t *>(
            record.payload);
        std::lock_guard<std::mutex> guard(counts->mutex);
        counts->kernels[data->kernel_id] = data->kernel_name;
    }
    if (record.kind == ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API) {
        std::lock_guard<std::mutex> guard(counts->mutex);
        counts->apis.insert(record.correlation_id.internal);
        return;
    }
    if (record.kind == ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH) {
        if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER) {
            user->value = record.correlation_id.internal;
        } else if (user->value != record.correlation_id.internal) {
            say("FAILED: user data of a launch is lost");
        }
    }
    counts->add(std::string(name) + "/" + std::to_string(record.phase));
}

void
on_batch(rocprofiler_context_id_t, rocprofiler_buffer_id_t,
         rocprofiler_record_header_t **headers, size_t count, void *, uint64_t dropped)
{
    if (dropped != 0) {
        say("FAILED: %llu dropped", static_cast<unsigned long long>(dropped));
    }
    for (size_t i = 0; i < count; i++) {
        const auto *header = headers[i];
        const char *name = nullptr;
        GOOD(rocprofiler_query_buffer_tracing_kind_name(
            static_cast<rocprofiler_buffer_tracing_kind_t>(header->kind), &name,
            nullptr));
        counts->add(name);
        if (header->kind == ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH) {
            auto *record =
                static_cast<rocprofiler_buffer_tracing_kernel_dispatch_record_t *>(
                    header->payload);
            std::lock_guard<std::mutex> guard(counts->mutex);
            counts->numbers["kernel " +
                            counts->kernels[record->dispatch_info.kernel_id]]++;
            if (counts->apis.count(record->correlation_id.internal) == 0) {
                say("FAILED: a launch without its call");
            }
            if (record->start_timestamp == 0 ||
                record->start_timestamp > record->end_timestamp) {
                say("FAILED: times of a launch");
            }
        }
    }
}
} // namespace

static int
tool_initialize(rocprofiler_client_finalize_t, void *)
{
    GOOD(rocprofiler_create_context(&context));
    GOOD(rocprofiler_create_buffer(context, 16384, 8192,
                                   ROCPROFILER_BUFFER_POLICY_LOSSLESS, on_batch, nullptr,
                                   &buffer));
    for (auto kind : {ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API,
                      ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT,
                      ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH,
                      ROCPROFILER_CALLBACK_TRACING_MEMORY_COPY,
                      ROCPROFILER_CALLBACK_TRACING_MEMORY_ALLOCATION,
                      ROCPROFILER_CALLBACK_TRACING_HIP_STREAM,
                      ROCPROFILER_CALLBACK_TRACING_RUNTIME_INITIALIZATION}) {
        GOOD(rocprofiler_configure_callback_tracing_service(context, kind, nullptr, 0,
                                                            on_event, nullptr));
    }
    for (auto kind : {ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API,
                      ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH,
                      ROCPROFILER_BUFFER_TRACING_MEMORY_COPY,
                      ROCPROFILER_BUFFER_TRACING_MEMORY_ALLOCATION,
                      ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT}) {
        GOOD(rocprofiler_configure_buffer_tracing_service(context, kind, nullptr, 0,
                                                          buffer));
    }
    GOOD(rocprofiler_start_context(context));
    return 0;
}

static void
tool_finalize(void *)
{
    for (const auto &[name, number] : counts->numbers) {
        say("%s = %ld", name.c_str(), number);
    }
}
