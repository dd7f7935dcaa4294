// SPDX-License-Identifier: MIT
// All of C++ around the kernels: exceptions, run-time types, algorithms, strings, streams;
// and classes inside them.
// expect: sorted 1 2 3
// expect: caught negative size
// expect: dynamic cast 1
// expect: areas 12.57 6.00
// expect: string map 2
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <vector>

#include "check.h"

struct Shape {
    __device__ virtual float area() const = 0;
};
struct Circle : Shape {
    float r;
    __device__ Circle(float r_) : r(r_) {}
    __device__ float area() const override { return 3.14159265f * r * r; }
};
struct Box : Shape {
    float a, b;
    __device__ Box(float a_, float b_) : a(a_), b(b_) {}
    __device__ float area() const override { return a * b; }
};

__global__ void areas(float *x) {
    Circle circle(2);
    Box box(2, 3);
    const Shape *shapes[] = {&circle, &box};
    for (int i = 0; i < 2; i++)
        x[i] = shapes[i]->area();
}

struct Base {
    virtual ~Base() = default;
};
struct Derived : Base {};

static std::vector<float> allocate(int n) {
    if (n < 0)
        throw std::runtime_error("negative size");
    return std::vector<float>(n);
}

int main() {
    std::vector<int> values{3, 1, 2};
    std::sort(values.begin(), values.end());
    std::cout << "sorted " << values[0] << " " << values[1] << " " << values[2] << "\n";
    try {
        allocate(-1);
    } catch (const std::exception &error) {
        std::cout << "caught " << error.what() << "\n";
    }
    std::unique_ptr<Base> base = std::make_unique<Derived>();
    std::cout << "dynamic cast " << (dynamic_cast<Derived *>(base.get()) != nullptr)
              << std::endl;

    float *d;
    auto x = allocate(2);
    CHECK(hipMalloc(&d, 2 * sizeof(float)));
    areas<<<1, 1>>>(d);
    CHECK(hipMemcpy(x.data(), d, 2 * sizeof(float), hipMemcpyDeviceToHost));
    printf("areas %.2f %.2f\n", x[0], x[1]);
    std::map<std::string, int> names{{"a", 1}, {"b", 2}};
    printf("string map %d\n", names["b"]);
    CHECK(hipFree(d));
}
