/* SPDX-License-Identifier: MIT */
/* dim3, for kernels, and for programs in C and C++. */
#pragma once
#pragma GCC system_header

#if defined(__cplusplus) && defined(__HIP__)
struct dim3 {
    unsigned x, y, z;
    __attribute__((host, device)) constexpr dim3(unsigned x_ = 1, unsigned y_ = 1,
                                                 unsigned z_ = 1)
        : x(x_), y(y_), z(z_) {}
};
#elif defined(__cplusplus)
struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1)
        : x(x_), y(y_), z(z_) {}
};
#else
typedef struct dim3 {
    unsigned x, y, z;
} dim3;
#endif
