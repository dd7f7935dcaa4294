// SPDX-License-Identifier: MIT
// Arguments of odd sizes and alignments, by value.
// expect: 1 2 3 4 5.5 6 7
// expect: vector 10 20 30 40
// expect: big 99
#include "check.h"

struct Odd {
    char a[3];
};
struct Mixed {
    char a;
    double b;
    short c;
};
struct Big {
    int x[100];
};

__global__ void odd(char first, Odd odd, Mixed mixed, bool flag, long long last) {
    printf("%d %d %d %d %.1f %d %d\n", first, odd.a[0], odd.a[2], mixed.a, mixed.b,
           mixed.c, flag ? (int)last : -1);
}

__global__ void vector(char, float4 v, uint3) {
    printf("vector %.0f %.0f %.0f %.0f\n", v.x, v.y, v.z, v.w);
}

__global__ void big(Big b, int i) { printf("big %d\n", b.x[i]); }

int main() {
    Big b = {};
    b.x[99] = 99;
    odd<<<1, 1>>>(1, Odd{{2, 0, 3}}, Mixed{4, 5.5, 6}, true, 7);
    vector<<<1, 1>>>(0, make_float4(10, 20, 30, 40), make_uint3(1, 2, 3));
    big<<<1, 1>>>(b, 99);
    CHECK(hipDeviceSynchronize());
}
