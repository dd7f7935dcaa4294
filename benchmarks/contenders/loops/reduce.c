/* SPDX-License-Identifier: MIT */
/* A sum, and the softmax of each row. */
#include <math.h>

void sum(const float *in, float *total, int n);
void
sum(const float *in, float *total, int n)
{
    float all = 0.0f;
#pragma omp parallel for simd schedule(static) reduction(+ : all)
    for (int i = 0; i < n; i++) {
        all += in[i];
    }
    *total = all;
}

void softmax(const float *in, float *out, int columns, int rows);
void
softmax(const float *in, float *out, int columns, int rows)
{
#pragma omp parallel for schedule(static)
    for (int row = 0; row < rows; row++) {
        const float *from = in + (long)row * columns;
        float *to = out + (long)row * columns;
        float largest = from[0], all = 0.0f;
        for (int i = 1; i < columns; i++) {
            largest = from[i] > largest ? from[i] : largest;
        }
        for (int i = 0; i < columns; i++) {
            to[i] = expf(from[i] - largest);
            all += to[i];
        }
        for (int i = 0; i < columns; i++) {
            to[i] *= 1.0f / all;
        }
    }
}
