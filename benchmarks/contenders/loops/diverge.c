/* SPDX-License-Identifier: MIT */
/* Loops whose length differs by element; chunks, because the work does too. */

void mandelbrot(int *counts, int w, int h, int most);
void
mandelbrot(int *counts, int w, int h, int most)
{
#pragma omp parallel for schedule(dynamic, 8)
    for (int y = 0; y < h; y++) {
        for (int x = 0; x < w; x++) {
            float cr = -2.0f + 2.5f * (float)x / (float)w;
            float ci = -1.25f + 2.5f * (float)y / (float)h;
            float zr = 0.0f, zi = 0.0f;
            int count = 0;
            while (count < most && zr * zr + zi * zi < 4.0f) {
                float next = zr * zr - zi * zi + cr;
                zi = 2.0f * zr * zi + ci;
                zr = next;
                count++;
            }
            counts[y * w + x] = count;
        }
    }
}

void collatz(int *steps, int n);
void
collatz(int *steps, int n)
{
#pragma omp parallel for schedule(dynamic, 4096)
    for (int i = 0; i < n; i++) {
        unsigned number = (unsigned)(i % 99999 + 1);
        int count = 0;
        while (number != 1) {
            number = number % 2 == 0 ? number / 2 : 3 * number + 1;
            count++;
        }
        steps[i] = count;
    }
}

void spmv(const int *starts, const int *columns, const float *values, const float *x,
          float *restrict y, int rows);
void
spmv(const int *starts, const int *columns, const float *values, const float *x,
     float *restrict y, int rows)
{
#pragma omp parallel for schedule(static)
    for (int row = 0; row < rows; row++) {
        float sum = 0.0f;
        for (int k = starts[row]; k < starts[row + 1]; k++) {
            sum += values[k] * x[columns[k]];
        }
        y[row] = sum;
    }
}
