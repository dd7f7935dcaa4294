/* SPDX-License-Identifier: MIT */
/* Sweeps by one team of threads, with a barrier behind each. */

void sweeps(float *a, float *b, int n, int count);
void
sweeps(float *a, float *b, int n, int count)
{
#pragma omp parallel
    for (int sweep = 0; sweep < count; sweep++) {
        const float *restrict now = sweep % 2 == 0 ? a : b;
        float *restrict then = sweep % 2 == 0 ? b : a;
#pragma omp for schedule(static)
        for (int i = 1; i < n - 1; i++) {
            then[i] = 0.25f * now[i - 1] + 0.5f * now[i] + 0.25f * now[i + 1];
        }
    }
}
