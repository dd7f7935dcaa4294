/* SPDX-License-Identifier: MIT */
/* The bitonic network over each 512 numbers, one after the other in one thread. */
#include <string.h>

void bitonic(const int *restrict in, int *restrict out, int n);
void
bitonic(const int *restrict in, int *restrict out, int n)
{
#pragma omp parallel for schedule(static)
    for (int first = 0; first < n; first += 512) {
        int part[512];
        memcpy(part, in + first, sizeof part);
        for (int size = 2; size <= 512; size *= 2) {
            for (int distance = size / 2; distance > 0; distance /= 2) {
                for (int i = 0; i < 512; i++) {
                    int other = i ^ distance;
                    if (other > i && (part[i] > part[other]) == ((i & size) == 0)) {
                        int swap = part[i];
                        part[i] = part[other];
                        part[other] = swap;
                    }
                }
            }
        }
        memcpy(out + first, part, sizeof part);
    }
}
