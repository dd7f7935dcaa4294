// SPDX-License-Identifier: MIT
// Numbers and addresses as text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iomanip>
#include <sstream>
#include <string>
#include <type_traits>

namespace rocprofiler::sdk::utility
{
// With 0x, filled with zeros up to `width` digits.
template <typename T>
std::string
as_hex(T value, size_t width = 0)
{
    std::ostringstream text;
    uintptr_t number;

    if constexpr (std::is_pointer_v<T>) {
        number = reinterpret_cast<uintptr_t>(value);
    } else {
        number = static_cast<uintptr_t>(value);
    }
    text << "0x" << std::hex << std::setfill('0') << std::setw(static_cast<int>(width))
         << number;
    return text.str();
}
} // namespace rocprofiler::sdk::utility
