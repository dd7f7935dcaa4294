/* SPDX-License-Identifier: MIT */
/* saxpy and the 2-D stencil as a C programmer writes them for all cores of the host:
 * gcc -O3 -march=native -fopenmp. */
#include <stddef.h>

void saxpy(float a, const float *restrict x, float *restrict y, long count);
void
saxpy(float a, const float *restrict x, float *restrict y, long count)
{
#pragma omp parallel for simd schedule(static)
    for (long i = 0; i < count; i++) {
        y[i] = a * x[i] + y[i];
    }
}

void stencil(const float *restrict in, float *restrict out, long width, long height);
void
stencil(const float *restrict in, float *restrict out, long width, long height)
{
#pragma omp parallel for schedule(static)
    for (long y = 1; y < height - 1; y++) {
        const float *row = in + y * width;
        float *target = out + y * width;
        for (long x = 1; x < width - 1; x++) {
            target[x] = 0.2f * (row[x] + row[x - 1] + row[x + 1] + row[x - width] +
                                row[x + width]);
        }
    }
}
