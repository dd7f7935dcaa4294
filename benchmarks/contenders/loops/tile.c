/* SPDX-License-Identifier: MIT */
/* What the kernels do by way of a tile, without one. */

void conv1d(const float *restrict in, const float *restrict taps, float *restrict out,
            int n);
void
conv1d(const float *restrict in, const float *restrict taps, float *restrict out, int n)
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n - 15; i++) {
        float sum = 0.0f;
        for (int k = 0; k < 16; k++) {
            sum += taps[k] * in[i + k];
        }
        out[i] = sum;
    }
    for (int i = n - 15; i < n; i++) {
        float sum = 0.0f;
        for (int k = 0; k < n - i; k++) {
            sum += taps[k] * in[i + k];
        }
        out[i] = sum;
    }
}

void mirror(const float *restrict in, float *restrict out, int n);
void
mirror(const float *restrict in, float *restrict out, int n)
{
#pragma omp parallel for schedule(static)
    for (int first = 0; first < n; first += 256) {
        for (int i = 0; i < 256; i++) {
            out[first + i] = 0.5f * (in[first + i] + in[first + 255 - i]);
        }
    }
}
