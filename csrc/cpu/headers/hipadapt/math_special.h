/* SPDX-License-Identifier: MIT */
/* What the C library has no function for, or none that is good enough: cube roots,
 * inverses of the error function, the scaled one, modified Bessel functions, the normal
 * distribution, lengths of vectors.
 *
 * Numbers of double accuracy that need more on their way are pairs, high and low; they
 * are made as written (__HA_EXACT__).  The float functions are the double ones, rounded. */
#pragma once
#pragma clang system_header

struct __ha_pair {
    double high, low;
};
__HA_FN__ __ha_pair __ha_two_sum(double a, double b) {
    __HA_EXACT__
    double s = a + b, t = s - a;
    return {s, (a - (s - t)) + (b - t)};
}
__HA_FN__ __ha_pair __ha_two_product(double a, double b) {
    __HA_EXACT__
    double p = a * b;
    return {p, __builtin_fma(a, b, -p)};
}
__HA_FN__ __ha_pair __ha_pair_product(__ha_pair a, __ha_pair b) {
    __HA_EXACT__
    __ha_pair p = __ha_two_product(a.high, b.high);
    p.low += a.high * b.low + a.low * b.high;
    double s = p.high + p.low;
    return {s, p.low - (s - p.high)};
}
/* 1 + a / b, where a is not negative. */
__HA_FN__ __ha_pair __ha_pair_next(__ha_pair a, double b) {
    __HA_EXACT__
    double q = a.high / b;
    double rest = __builtin_fma(-q, b, a.high) + a.low;
    __ha_pair s = __ha_two_sum(1.0, q);
    return {s.high, s.low + rest / b};
}

/* ---- cube roots ---- */

/* The root or its reciprocal of a number whose size is moderate: the library's root, and
 * a step by the exact rest, which is that of x - r^3 or 1 - x r^3. */
__HA_FN__ double __ha_cbrt_moderate(double x, bool reciprocal) {
    __HA_EXACT__
    double r = __builtin_cbrt(x);
    r = reciprocal ? 1.0 / r : r;
    __ha_pair square = __ha_two_product(r, r), cube = __ha_two_product(square.high, r);
    cube.low += square.low * r;
    if (!reciprocal)
        return r + ((x - cube.high) - cube.low) / (3.0 * square.high);
    __ha_pair one = __ha_two_product(x, cube.high);
    return r + r * (((1.0 - one.high) - one.low) - x * cube.low) / 3.0;
}
/* Powers of eight are taken off exactly where r^3 would be out of range. */
__HA_FN__ double __ha_cbrt(double x, bool reciprocal) {
    __HA_EXACT__
    double a = __builtin_fabs(x);
    if (!(a > 0.0 && a < __builtin_inf()))
        return reciprocal ? 1.0 / x : x;
    if (a >= 0x1p-300 && a <= 0x1p300)
        return __ha_cbrt_moderate(x, reciprocal);
    bool large = a > 1.0;
    double r = __ha_cbrt_moderate(x * (large ? 0x1p-900 : 0x1p900), reciprocal);
    return r * (large == reciprocal ? 0x1p-300 : 0x1p300);
}
__HA_FN__ double cbrt(double x) { return __ha_cbrt(x, false); }
__HA_FN__ double rcbrt(double x) { return __ha_cbrt(x, true); }
template <class _Tp, class = __ha_integral<_Tp>> __HA_FN_T__ double cbrt(_Tp x) {
    return __ha_cbrt((double)x, false);
}
__HA_FN__ float cbrtf(float x) { return __builtin_cbrtf(x); }
__HA_FN__ float cbrt(float x) { return __builtin_cbrtf(x); }
__HA_FN__ float rcbrtf(float x) {
    __HA_EXACT__
    return (float)(1.0 / __builtin_cbrt((double)x));
}
__HA_FN__ float rcbrt(float x) { return rcbrtf(x); }

/* ---- the error function ---- */

/* What a function gives outside of its domain: NaN by an invalid operation, or the NaN
 * that x is. */
__HA_FN__ double __ha_outside(double x) {
    __HA_EXACT__
    return (x - x) / (x - x);
}

/* exp(x * x) * erfc(x): from both where both are in range, else by the series in
 * 1 / (2 x x), of which eight terms are enough there. */
__HA_FN__ double erfcx(double x) {
    __HA_EXACT__
    if (x < -27.0)
        return 2.0 * __builtin_exp(x * x);
    if (x < 25.0) {
        __ha_pair s = __ha_two_product(x, x);
        double e = __builtin_exp(s.high);
        return (e < __builtin_inf() ? e + e * s.low : e) * __builtin_erfc(x);
    }
    double t = 0.5 / x / x, sum = 1.0;
    for (int k = 8; k > 0; k--)
        sum = 1.0 - (2 * k - 1) * t * sum;
    return 0.56418958354775628695 / x * sum; /* 1 / sqrt(pi) */
}
__HA_FN__ float erfcxf(float x) { return (float)erfcx((double)x); }

/* A value near the y for which 1 - erf(y)^2 is exp(l): good to a third of a percent. */
__HA_FN__ double __ha_erf_guess(double l) {
    __HA_EXACT__
    const double a = 0.147;
    double t = 2.0 / (3.14159265358979323846 * a) + 0.5 * l;
    return __builtin_sqrt(__builtin_sqrt(t * t - l / a) - t);
}
/* For |x| <= 3/4: Halley's steps on erf(y) - x. */
__HA_FN__ double __ha_erfinv_middle(double x) {
    __HA_EXACT__
    double y = __builtin_copysign(__ha_erf_guess(__builtin_log1p(-x * x)), x);
    if (__builtin_fabs(x) < 1e-8)
        return x * 0.88622692545275801365; /* sqrt(pi) / 2 */
    for (int i = 0; i < 3; i++) {
        double f = (__builtin_erf(y) - x) * 0.88622692545275801365 * __builtin_exp(y * y);
        y -= f / (1.0 + y * f);
    }
    return y;
}
/* For 0 < q < 1/2: Newton's steps on log erfc(y) - log q, which is nearly a parabola. */
__HA_FN__ double __ha_erfcinv_tail(double q) {
    __HA_EXACT__
    double l = __builtin_log(q);
    double y = __ha_erf_guess(l + 0.69314718055994530942 + __builtin_log1p(-0.5 * q));
    for (int i = 0; i < 4; i++) {
        double e = erfcx(y);
        __ha_pair s = __ha_two_product(y, y);
        y += ((__builtin_log(e) - s.high - l) - s.low) * 0.88622692545275801365 * e;
    }
    return y;
}
__HA_FN__ double erfcinv(double q) {
    __HA_EXACT__
    if (!(q >= 0.0 && q <= 2.0))
        return __ha_outside(q);
    if (q >= 0.5 && q <= 1.5)
        return __ha_erfinv_middle(1.0 - q);
    if (q == 0.0 || q == 2.0)
        return __builtin_copysign(-__builtin_log(q * (2.0 - q)), 1.0 - q);
    return q < 1.0 ? __ha_erfcinv_tail(q) : -__ha_erfcinv_tail(2.0 - q);
}
__HA_FN__ double erfinv(double x) {
    __HA_EXACT__
    double a = __builtin_fabs(x);
    if (!(a <= 1.0))
        return __ha_outside(x);
    if (a <= 0.75)
        return __ha_erfinv_middle(x);
    double y = a == 1.0 ? -__builtin_log(1.0 - a) : __ha_erfcinv_tail(1.0 - a);
    return __builtin_copysign(y, x);
}
__HA_FN__ float erfcinvf(float q) { return (float)erfcinv((double)q); }
__HA_FN__ float erfinvf(float x) { return (float)erfinv((double)x); }

/* ---- the normal distribution ---- */

/* erfc(-x / sqrt(2)) / 2; the rounding of its argument is put right by the derivative. */
__HA_FN__ double normcdf(double x) {
    __HA_EXACT__
    const double high = 0.70710678118654757, low = -4.8336466567264567e-17;
    if (!(__builtin_fabs(x) < 39.0))
        return 0.5 * __builtin_erfc(-x * high);
    __ha_pair t = __ha_two_product(-x, high);
    double rest = t.low - x * low;
    double e = __builtin_erfc(t.high);
    return 0.5 * (e - 1.12837916709551257390 * __builtin_exp(-t.high * t.high) * rest);
}
__HA_FN__ float normcdff(float x) { return (float)normcdf((double)x); }
__HA_FN__ double normcdfinv(double p) {
    __HA_EXACT__
    if (!(p >= 0.0 && p <= 1.0))
        return __ha_outside(p);
    return 0.0 - 1.41421356237309504880 * erfcinv(2.0 * p);
}
__HA_FN__ float normcdfinvf(float p) {
    return (float)normcdfinv((double)p);
}

/* ---- modified Bessel functions ---- */

/* Of order 0 or 1, for x >= 0. */
__HA_FN__ double __ha_bessel_i(double x, int order) {
    __HA_EXACT__
    if (x < 40.0) { /* the power series, from its small end */
        __ha_pair q = __ha_two_product(0.5 * x, 0.5 * x), s = {1.0, 0.0};
        for (int k = 20 + (int)(1.5 * x); k > 0; k--)
            s = __ha_pair_next(__ha_pair_product(q, s), (double)k * (k + order));
        double sum = s.high + s.low;
        return order == 0 ? sum : sum * 0.5 * x;
    }
    double sum = 1.0, t = 1.0 / (8.0 * x);
    for (int k = 24; k > 0; k--)
        sum = 1.0 + ((2 * k - 1) * (2 * k - 1) - 4 * order) * t / k * sum;
    if (!(x < 720.0))
        return __builtin_exp(x); /* infinite, too */
    bool large = x >= 700.0; /* exp(x) may be out of range */
    double e = __builtin_exp(large ? x - 8.0 : x);
    /* sum / sqrt(2 pi x), with the rests of the product and the root */
    const double high = 6.2831853071795862, low = 2.4492935982947064e-16;
    __ha_pair y = __ha_two_product(high, x);
    double root = __builtin_sqrt(y.high), scaled = sum / root;
    double rest = (__builtin_fma(-root, root, y.high) + y.low + low * x) / (2.0 * root);
    scaled += (__builtin_fma(-scaled, root, sum) - scaled * rest) / root;
    __ha_pair whole = __ha_two_product(e, scaled);
    const double more = 2980.9579870417283; /* exp(8) */
    return large ? __builtin_fma(whole.high, more, whole.low * more) : whole.high;
}
__HA_FN__ double cyl_bessel_i0(double x) { return __ha_bessel_i(__builtin_fabs(x), 0); }
__HA_FN__ double cyl_bessel_i1(double x) {
    return __builtin_copysign(__ha_bessel_i(__builtin_fabs(x), 1), x);
}
__HA_FN__ float cyl_bessel_i0f(float x) { return (float)cyl_bessel_i0((double)x); }
__HA_FN__ float cyl_bessel_i1f(float x) { return (float)cyl_bessel_i1((double)x); }

/* ---- lengths ---- */

/* The sum of squares of v / 2^e, where 2^e is about the largest of them.  Without a
 * finite number but 0 among the largest, e is 0 and the sum is the length. */
struct __ha_length {
    __ha_pair sum;
    int e;
};
template <class At> __HA_FN_T__ __ha_length __ha_length_of(int n, At at) {
    __HA_EXACT__
    double most = 0.0;
    bool nan = false;
    for (int i = 0; i < n; i++) {
        double a = __builtin_fabs(at(i));
        nan |= a != a;
        most = a > most ? a : most;
    }
    if (most == 0.0 || most == __builtin_inf() || nan)
        return {{nan && most != __builtin_inf() ? __builtin_nan("") : most, 0.0}, 0};
    int e = __builtin_ilogb(most);
    __ha_pair sum = {0.0, 0.0};
    for (int i = 0; i < n; i++) {
        double v = __builtin_ldexp(at(i), -e);
        __ha_pair p = __ha_two_product(v, v), s = __ha_two_sum(sum.high, p.high);
        sum = {s.high, sum.low + (s.low + p.low)};
    }
    return {sum, e};
}
template <class At> __HA_FN_T__ double __ha_norm(int n, At at) {
    __HA_EXACT__
    __ha_length length = __ha_length_of(n, at);
    double s = length.sum.high + length.sum.low;
    return __builtin_ldexp(__builtin_sqrt(s), length.e);
}
/* With a step by the rest 1 - s r^2. */
template <class At> __HA_FN_T__ double __ha_rnorm(int n, At at) {
    __HA_EXACT__
    __ha_length length = __ha_length_of(n, at);
    double s = length.sum.high + length.sum.low, r = 1.0 / __builtin_sqrt(s);
    if (!(s > 0.0 && s < __builtin_inf()))
        return r;
    double low = length.sum.low - (s - length.sum.high);
    __ha_pair square = __ha_two_product(r, r), one = __ha_two_product(s, square.high);
    double rest = ((1.0 - one.high) - one.low) - (s * square.low + low * square.high);
    return __builtin_ldexp(r + 0.5 * r * rest, -length.e);
}
#define __HA_LENGTH__(name)                                                             \
    __HA_FN__ double name##3d(double x, double y, double z) {                           \
        double v[3] = {x, y, z};                                                        \
        return __ha_##name(3, [&](int i) __HA_IN__ { return v[i]; });                   \
    }                                                                                   \
    __HA_FN__ double name##4d(double x, double y, double z, double w) {                 \
        double v[4] = {x, y, z, w};                                                     \
        return __ha_##name(4, [&](int i) __HA_IN__ { return v[i]; });                   \
    }                                                                                   \
    __HA_FN__ double name(int n, const double *v) {                                     \
        return __ha_##name(n, [=](int i) __HA_IN__ { return v[i]; });                   \
    }
#define __HA_IN__ __attribute__((device, always_inline))
__HA_LENGTH__(norm)
__HA_LENGTH__(rnorm)
#undef __HA_LENGTH__
__HA_FN__ double rhypot(double x, double y) {
    double v[2] = {x, y};
    return __ha_rnorm(2, [&](int i) __HA_IN__ { return v[i]; });
}
#undef __HA_IN__

/* In double: no float overflows or underflows there. */
__HA_FN__ double __ha_square_of(int n, const float *v) {
    __HA_EXACT__
    double sum = 0;
    bool infinite = false;
    for (int i = 0; i < n; i++) {
        sum += (double)v[i] * v[i];
        infinite |= __builtin_isinf(v[i]);
    }
    return infinite ? __builtin_inf() : sum;
}
__HA_FN__ float norm3df(float x, float y, float z) {
    float v[3] = {x, y, z};
    return (float)__builtin_sqrt(__ha_square_of(3, v));
}
__HA_FN__ float norm4df(float x, float y, float z, float w) {
    float v[4] = {x, y, z, w};
    return (float)__builtin_sqrt(__ha_square_of(4, v));
}
__HA_FN__ float normf(int n, const float *v) {
    return (float)__builtin_sqrt(__ha_square_of(n, v));
}
__HA_FN__ float rhypotf(float x, float y) {
    __HA_EXACT__
    float v[2] = {x, y};
    return (float)(1.0 / __builtin_sqrt(__ha_square_of(2, v)));
}
__HA_FN__ float rnorm3df(float x, float y, float z) {
    __HA_EXACT__
    float v[3] = {x, y, z};
    return (float)(1.0 / __builtin_sqrt(__ha_square_of(3, v)));
}
__HA_FN__ float rnorm4df(float x, float y, float z, float w) {
    __HA_EXACT__
    float v[4] = {x, y, z, w};
    return (float)(1.0 / __builtin_sqrt(__ha_square_of(4, v)));
}
__HA_FN__ float rnormf(int n, const float *v) {
    __HA_EXACT__
    return (float)(1.0 / __builtin_sqrt(__ha_square_of(n, v)));
}
