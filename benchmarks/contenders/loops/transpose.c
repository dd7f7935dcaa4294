/* SPDX-License-Identifier: MIT */
/* A square matrix. */

void transpose(const float *restrict in, float *restrict out, int n);
void
transpose(const float *restrict in, float *restrict out, int n)
{
#pragma omp parallel for schedule(static)
    for (int y = 0; y < n; y++) {
        for (int x = 0; x < n; x++) {
            out[y * n + x] = in[x * n + y];
        }
    }
}
