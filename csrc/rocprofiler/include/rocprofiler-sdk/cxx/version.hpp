// SPDX-License-Identifier: MIT
// Versions that are one number.
#pragma once

#include <rocprofiler-sdk/fwd.h>

#include <cstdint>

namespace rocprofiler::sdk::version
{
// 30201 with a factor of 100, and 3002001 with one of 1000, is 3.2.1.
template <uint64_t Factor = 100>
constexpr rocprofiler_version_triplet_t
compute_version_triplet(uint64_t version)
{
    return {static_cast<uint32_t>(version / (Factor * Factor)),
            static_cast<uint32_t>(version / Factor % Factor),
            static_cast<uint32_t>(version % Factor)};
}
} // namespace rocprofiler::sdk::version
