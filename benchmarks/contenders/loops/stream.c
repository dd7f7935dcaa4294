/* SPDX-License-Identifier: MIT */
/* Loops that read and write each element once. */

void saxpy(float a, const float *restrict x, float *restrict y, int n);
void
saxpy(float a, const float *restrict x, float *restrict y, int n)
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) {
        y[i] = a * x[i] + y[i];
    }
}

struct particle {
    float x, y, z;
};

void move_particles(struct particle *p, float dt, int n);
void
move_particles(struct particle *p, float dt, int n)
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) {
        struct particle mine = p[i];
        mine.x += dt * mine.y;
        mine.y += dt * mine.z;
        mine.z -= dt * mine.x;
        p[i] = mine;
    }
}

/* What a launch costs at the least: the threads come together. */
void empty(int n);
void
empty(int n)
{
    (void)n;
#pragma omp parallel
    __asm__ volatile("");
}
