/* SPDX-License-Identifier: MIT */
/* The pull of all bodies on each; the mass is in w. */
#include <math.h>

struct float4 {
    float x, y, z, w;
};

void nbody(const struct float4 *restrict bodies, struct float4 *restrict pulls, int n);
void
nbody(const struct float4 *restrict bodies, struct float4 *restrict pulls, int n)
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) {
        struct float4 me = bodies[i];
        float ax = 0.0f, ay = 0.0f, az = 0.0f;
#pragma omp simd reduction(+ : ax, ay, az)
        for (int j = 0; j < n; j++) {
            float dx = bodies[j].x - me.x, dy = bodies[j].y - me.y;
            float dz = bodies[j].z - me.z;
            float inverse = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + 1.0e-3f);
            float pull = bodies[j].w * inverse * inverse * inverse;
            ax += pull * dx;
            ay += pull * dy;
            az += pull * dz;
        }
        pulls[i] = (struct float4){ax, ay, az, 0.0f};
    }
}
