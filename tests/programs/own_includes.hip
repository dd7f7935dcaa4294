// SPDX-License-Identifier: MIT
// HIP's header brings parts of the C and C++ libraries that programs then use.
//
// expect: 3 0 1 2147483647 2 7

#include <hip/hip_runtime.h>

__device__ int largest(int a) { return a < INT_MAX ? INT_MAX : a; }
__global__ void limit(int *out) { *out = largest(std::numeric_limits<int>::min()); }

int main()
{
    std::array<int, 3> three = {2, 0, 1};
    std::sort(three.begin(), three.end());
    std::tuple<int, int> pair(2, 3);
    std::function<int(int)> add = [&](int x) { return x + std::get<1>(pair); };
    assert(three[0] == 0);

    int *out, found = 0;
    if (hipMalloc(&out, sizeof *out) != hipSuccess)
        return EXIT_FAILURE;
    limit<<<1, 1>>>(out);
    if (hipMemcpy(&found, out, sizeof found, hipMemcpyDefault) != hipSuccess)
        return EXIT_FAILURE;
    printf("%zu %d %d %d %d %d\n", three.size(), three[0],
           int(std::is_same<decltype(add(1)), int>::value), found,
           std::min(std::get<0>(pair), 5), add(4));
    return hipFree(out) == hipSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
