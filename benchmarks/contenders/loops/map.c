/* SPDX-License-Identifier: MIT */
/* Mathematical functions, element by element. */
#include <math.h>

void sin_exp_log(const float *restrict x, float *restrict y, int n);
void
sin_exp_log(const float *restrict x, float *restrict y, int n)
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) {
        y[i] = sinf(x[i]) * expf(-x[i]) + logf(x[i] + 1.0f);
    }
}

static float
normal_distribution(float d)
{
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float poly =
        k * (0.31938153f +
             k * (-0.356563782f +
                  k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    float tail = 0.39894228f * expf(-0.5f * d * d) * poly;
    return d > 0.0f ? 1.0f - tail : tail;
}

void black_scholes(const float *restrict price, const float *restrict strike,
                   const float *restrict years, float *restrict call,
                   float *restrict put, int n);
void
black_scholes(const float *restrict price, const float *restrict strike,
              const float *restrict years, float *restrict call, float *restrict put,
              int n)
{
    const float rate = 0.02f, volatility = 0.3f;
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) {
        float root = sqrtf(years[i]);
        float d1 = (logf(price[i] / strike[i]) +
                    (rate + 0.5f * volatility * volatility) * years[i]) /
                   (volatility * root);
        float d2 = d1 - volatility * root;
        float c1 = normal_distribution(d1), c2 = normal_distribution(d2);
        float later = strike[i] * expf(-rate * years[i]);
        call[i] = price[i] * c1 - later * c2;
        put[i] = later * (1.0f - c2) - price[i] * (1.0f - c1);
    }
}

void double_polynomial(const double *restrict x, double *restrict y, int n);
void
double_polynomial(const double *restrict x, double *restrict y, int n)
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) {
        double t = x[i], sum = 0.1;
        sum = sum * t + 0.2;
        sum = sum * t - 0.3;
        sum = sum * t + 0.4;
        sum = sum * t - 0.5;
        sum = sum * t + 0.6;
        sum = sum * t - 0.7;
        sum = sum * t + 0.8;
        y[i] = sum;
    }
}

void double_exp_sin(const double *restrict x, double *restrict y, int n);
void
double_exp_sin(const double *restrict x, double *restrict y, int n)
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) {
        y[i] = exp(-x[i]) * sin(x[i]);
    }
}
