// SPDX-License-Identifier: MIT
// Names of all kinds and operations, in vectors with their numbers.
#pragma once

#include <rocprofiler-sdk/buffer_tracing.h>
#include <rocprofiler-sdk/callback_tracing.h>
#include <rocprofiler-sdk/fwd.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rocprofiler::sdk
{
namespace utility
{
// One kind and its operations.
template <typename Enum, typename Value = std::string_view> struct name_info_impl {
    using enum_type = Enum;
    using value_type = Value;
    using return_type = Value;
    using item_type = std::pair<rocprofiler_tracing_operation_t, const Value *>;
    using item_array_t = std::vector<item_type>;

    return_type operator()() const { return name; }
    return_type operator()(size_t operation) const { return operations.at(operation); }
    return_type operator[](size_t operation) const { return operations.at(operation); }

    item_array_t items() const
    {
        item_array_t all;
        for (const auto &operation : operations) {
            all.emplace_back(static_cast<rocprofiler_tracing_operation_t>(all.size()),
                             &operation);
        }
        return all;
    }

    Enum value = static_cast<Enum>(0);
    Value name{};
    std::vector<Value> operations;
};

// All kinds; entries stand at their numbers.
template <typename Enum, typename Value = std::string_view> struct name_info {
    using value_type = name_info_impl<Enum, Value>;
    using enum_type = Enum;
    using return_type = typename value_type::return_type;
    using item_type = const value_type *;
    using item_array_t = std::vector<item_type>;

    void emplace(Enum kind, const char *name)
    {
        auto &entry = make(kind);
        entry.value = kind;
        entry.name = Value{name};
    }

    void emplace(Enum kind, rocprofiler_tracing_operation_t operation, const char *name)
    {
        auto &names = make(kind).operations;
        const auto place = static_cast<size_t>(operation);
        if (names.size() <= place) {
            names.resize(place + 1);
        }
        names[place] = Value{name};
    }

    return_type at(Enum kind) const { return entries.at(kind).name; }
    return_type at(Enum kind, rocprofiler_tracing_operation_t operation) const
    {
        return entries.at(kind).operations.at(static_cast<size_t>(operation));
    }

    item_array_t items() const
    {
        item_array_t all;
        for (const auto &entry : entries) {
            all.emplace_back(&entry);
        }
        return all;
    }

    auto size() const { return entries.size(); }
    auto begin() { return entries.begin(); }
    auto begin() const { return entries.begin(); }
    auto end() { return entries.end(); }
    auto end() const { return entries.end(); }

    value_type &operator[](size_t kind) { return entries.at(kind); }
    const value_type &operator[](size_t kind) const { return entries.at(kind); }

  private:
    value_type &make(Enum kind)
    {
        const auto place = static_cast<size_t>(kind);
        if (entries.size() <= place) {
            entries.resize(place + 1);
        }
        return entries[place];
    }

    std::vector<value_type> entries;
};
} // namespace utility

template <typename Value = std::string_view>
using callback_name_info_t =
    utility::name_info<rocprofiler_callback_tracing_kind_t, Value>;
template <typename Value = std::string_view>
using buffer_name_info_t = utility::name_info<rocprofiler_buffer_tracing_kind_t, Value>;

using callback_name_info = callback_name_info_t<std::string_view>;
using buffer_name_info = buffer_name_info_t<std::string_view>;

template <typename Value = std::string_view>
callback_name_info_t<Value>
get_callback_tracing_names()
{
    using names = callback_name_info_t<Value>;
    names found;
    const auto on_operation = [](rocprofiler_callback_tracing_kind_t kind,
                                 rocprofiler_tracing_operation_t operation, void *data) {
        const char *name = nullptr;
        if (rocprofiler_query_callback_tracing_kind_operation_name(
                kind, operation, &name, nullptr) == ROCPROFILER_STATUS_SUCCESS) {
            static_cast<names *>(data)->emplace(kind, operation, name);
        }
        return 0;
    };
    static rocprofiler_callback_tracing_kind_operation_cb_t operation_function =
        on_operation;
    const auto on_kind = [](rocprofiler_callback_tracing_kind_t kind, void *data) {
        const char *name = nullptr;
        if (rocprofiler_query_callback_tracing_kind_name(kind, &name, nullptr) ==
            ROCPROFILER_STATUS_SUCCESS) {
            static_cast<names *>(data)->emplace(kind, name);
        }
        rocprofiler_iterate_callback_tracing_kind_operations(kind, operation_function,
                                                             data);
        return 0;
    };
    rocprofiler_iterate_callback_tracing_kinds(on_kind, &found);
    return found;
}

template <typename Value = std::string_view>
buffer_name_info_t<Value>
get_buffer_tracing_names()
{
    using names = buffer_name_info_t<Value>;
    names found;
    const auto on_operation = [](rocprofiler_buffer_tracing_kind_t kind,
                                 rocprofiler_tracing_operation_t operation, void *data) {
        const char *name = nullptr;
        if (rocprofiler_query_buffer_tracing_kind_operation_name(
                kind, operation, &name, nullptr) == ROCPROFILER_STATUS_SUCCESS) {
            static_cast<names *>(data)->emplace(kind, operation, name);
        }
        return 0;
    };
    static rocprofiler_buffer_tracing_kind_operation_cb_t operation_function =
        on_operation;
    const auto on_kind = [](rocprofiler_buffer_tracing_kind_t kind, void *data) {
        const char *name = nullptr;
        if (rocprofiler_query_buffer_tracing_kind_name(kind, &name, nullptr) ==
            ROCPROFILER_STATUS_SUCCESS) {
            static_cast<names *>(data)->emplace(kind, name);
        }
        rocprofiler_iterate_buffer_tracing_kind_operations(kind, operation_function,
                                                           data);
        return 0;
    };
    rocprofiler_iterate_buffer_tracing_kinds(on_kind, &found);
    return found;
}
} // namespace rocprofiler::sdk
