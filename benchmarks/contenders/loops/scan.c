/* SPDX-License-Identifier: MIT */
/* Sums of all elements before each one: two passes, and a part for each thread. */
#include <omp.h>

enum { THREADS_MAX = 1024 };

static void
scan(const int *in, int *out, int n, int inclusive)
{
    int sums[THREADS_MAX + 1] = {0};
#pragma omp parallel num_threads(omp_get_max_threads() < THREADS_MAX                   \
                                     ? omp_get_max_threads()                           \
                                     : THREADS_MAX)
    {
        int me = omp_get_thread_num(), all = omp_get_num_threads();
        int begin = (int)((long)n * me / all), end = (int)((long)n * (me + 1) / all);
        int sum = 0;
        for (int i = begin; i < end; i++) {
            sum += in[i];
        }
        sums[me + 1] = sum;
#pragma omp barrier
        sum = 0;
        for (int other = 0; other <= me; other++) {
            sum += sums[other];
        }
        for (int i = begin; i < end; i++) {
            int mine = in[i];
            out[i] = inclusive ? sum + mine : sum;
            sum += mine;
        }
    }
}

void scan_exclusive(const int *in, int *out, int n);
void
scan_exclusive(const int *in, int *out, int n)
{
    scan(in, out, n, 0);
}

void scan_inclusive(const int *in, int *out, int n);
void
scan_inclusive(const int *in, int *out, int n)
{
    scan(in, out, n, 1);
}
