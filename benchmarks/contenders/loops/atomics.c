/* SPDX-License-Identifier: MIT */
/* Counters: one set for each thread, or one for all. */

void histogram_private(const int *in, int *bins, int n);
void
histogram_private(const int *in, int *bins, int n)
{
#pragma omp parallel for schedule(static) reduction(+ : bins[:256])
    for (int i = 0; i < n; i++) {
        bins[in[i]]++;
    }
}

void histogram_atomic(const int *in, int *bins, int n);
void
histogram_atomic(const int *in, int *bins, int n)
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) {
#pragma omp atomic
        bins[in[i]]++;
    }
}

void count_one(int *counter, int n);
void
count_one(int *counter, int n)
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) {
#pragma omp atomic
        (*counter)++;
    }
}

void add_floats(const float *in, float *sums, int n);
void
add_floats(const float *in, float *sums, int n)
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) {
#pragma omp atomic
        sums[i & 1023] += in[i];
    }
}
