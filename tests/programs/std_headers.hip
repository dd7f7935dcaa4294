// SPDX-License-Identifier: MIT
// What is constexpr in C++'s library works in kernels.
// flags: -std=c++20
// expect: 0 of 46 wrong
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "check.h"

struct Results {
    double value[64];
    int count;
    __host__ __device__ void put(double x) { value[count++] = x; }
};

template <class T, std::size_t... I>
__host__ __device__ T sum_of(const std::array<T, sizeof...(I)> &a, std::index_sequence<I...>)
{
    return (a[I] + ...);
}

struct Scaled {
    int by;
    constexpr int operator()(int x) const { return by * x; }
};

__host__ __device__ void compute(Results &r, int n)
{
    r.count = 0;
    // algorithm
    r.put(std::min(n, 7));
    r.put(std::max(n, 7));
    r.put(std::max({n, 2, 11}));
    r.put(std::clamp(n, 5, 6));
    auto both = std::minmax(n, 9);
    r.put(both.first * 100 + both.second);
    int x[] = {n, 1, 8, 2, n};
    std::swap(x[0], x[1]);
    r.put(x[0] * 10 + x[1]);
    std::sort(x, x + 5);
    r.put(x[0] * 10 + x[4]);
    r.put(static_cast<double>(std::lower_bound(x, x + 5, 2) - x));
    r.put(static_cast<double>(std::count(x, x + 5, n)));
    r.put(std::all_of(x, x + 5, [](int i) { return i > 0; }));
    std::reverse(x, x + 5);
    std::fill(x + 3, x + 5, 4);
    r.put(std::accumulate(x, x + 5, 0));
    // array, span
    std::array<int, 4> a{n, 2, 3, 4};
    a[1] = 5;
    r.put(a[1] + a.front() + a.back());
    r.put(static_cast<double>(a.size()));
    for (int &item : a)
        item *= 2;
    r.put(sum_of(a, std::make_index_sequence<4>()));
    r.put(std::get<2>(a));
    std::span<const int> part(a.data() + 1, 2);
    r.put(part[0] + part[1]);
    // utility, tuple
    std::pair<int, float> p(n, 1.5f);
    p = std::make_pair(4, 2.5f);
    r.put(p.first + p.second);
    auto [first, second] = p;
    r.put(first - second);
    std::tuple<int, double, char> t = std::make_tuple(n, 0.25, 'a');
    r.put(std::get<1>(t) + std::get<char>(t));
    int i;
    double d;
    std::tie(i, d, std::ignore) = t;
    r.put(i + d);
    r.put(std::apply([](auto... each) { return (0.0 + ... + each); }, t));
    r.put(std::exchange(i, 8) + i);
    r.put(std::move(i));
    // functional
    r.put(std::plus<>()(1, 2.5));
    r.put(std::less<int>()(n, 4));
    r.put(std::invoke(Scaled{3}, n));
    r.put(std::multiplies<int>()(n, n));
    // numeric, bit, numbers, limits
    r.put(std::gcd(n * 4, 18));
    r.put(std::lcm(n, 4));
    r.put(std::popcount(static_cast<unsigned>(n)));
    r.put(std::countl_zero(static_cast<std::uint32_t>(n)));
    r.put(std::bit_cast<std::uint32_t>(1.0f));
    r.put(std::has_single_bit(64u));
    r.put(std::numbers::pi * n);
    r.put(std::max(std::numbers::e, 1.0));
    r.put(std::numeric_limits<float>::epsilon());
    r.put(std::numeric_limits<int>::max());
    // type_traits, optional
    r.put(std::is_same_v<std::common_type_t<int, float>, float>);
    r.put(std::is_constant_evaluated());
    std::optional<int> maybe;
    r.put(maybe.value_or(6));
    maybe = n;
    r.put(*maybe);
    // cmath
    r.put(std::abs(-n) + std::abs(-2.5f) + std::abs(-1.5) + std::abs(-3L));
    r.put(std::pow(2.0f, n) + std::pow(n, 2));
    r.put(std::sqrt(n * n) + std::floor(2.5f) + std::fmax(1, 2.5));
    r.put(std::isnan(0.0f) + std::isfinite(1.0) + std::signbit(-1.0f));
    r.put(std::lerp(1.0, 3.0, 0.5));
}

__global__ void kernel(Results *out, int n)
{
    compute(*out, n);
}

int main()
{
    Results *device, found, wanted;
    CHECK(hipMalloc(&device, sizeof found));
    kernel<<<1, 1>>>(device, 3);
    CHECK(hipMemcpy(&found, device, sizeof found, hipMemcpyDeviceToHost));
    CHECK(hipFree(device));
    compute(wanted, 3);
    int wrong = found.count != wanted.count;
    for (int i = 0; i < wanted.count; i++)
        if (found.value[i] != wanted.value[i]) {
            std::printf("%d: %g, not %g\n", i, found.value[i], wanted.value[i]);
            wrong++;
        }
    std::printf("%d of %d wrong\n", wrong, wanted.count);
}
