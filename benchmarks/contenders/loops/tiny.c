/* SPDX-License-Identifier: MIT */
/* A number for each block. */

void tiny(int *out, int blocks, int lanes);
void
tiny(int *out, int blocks, int lanes)
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < blocks; i++) {
        out[i] = i ^ lanes;
    }
}
