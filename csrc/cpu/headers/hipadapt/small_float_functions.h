/* SPDX-License-Identifier: MIT */
/* What half and bfloat16 have in common; read once for each of them.
 * __HA_SMALL__: the start of a function template, with the type as N and the pair as P.
 * __HA_ISINF__: what __hisinf returns.  __HA_PAIR_NOT_EQUAL__: && or ||, for __hbneu2. */
#pragma clang system_header

#define __HA_W__(x) __ha_small<_Np>::wide(x)
#define __HA_OF__(x) __ha_small<_Np>::of(x)

/* ---- arithmetic ---- */

#define __HA_ARITHMETIC__(name, op)                                                     \
    __HA_SMALL__ _Np __h##name(__ha_in<_Np> a, __ha_in<_Np> b) {                        \
        return __HA_OF__(__HA_W__(a) op __HA_W__(b));                                   \
    }                                                                                   \
    __HA_SMALL__ _Pp __h##name##2(__ha_in<_Pp> a, __ha_in<_Pp> b) {                     \
        return _Pp(__h##name(a.x, b.x), __h##name(a.y, b.y));                           \
    }                                                                                   \
    __HA_SMALL__ _Np __h##name##_sat(__ha_in<_Np> a, __ha_in<_Np> b) {                  \
        return __ha_unit(__h##name(a, b));                                              \
    }                                                                                   \
    __HA_SMALL__ _Pp __h##name##2_sat(__ha_in<_Pp> a, __ha_in<_Pp> b) {                 \
        return _Pp(__h##name##_sat(a.x, b.x), __h##name##_sat(a.y, b.y));               \
    }                                                                                   \
    __HA_SMALL__ _Np __h##name##_rn(__ha_in<_Np> a, __ha_in<_Np> b) {                   \
        return __h##name(a, b);                                                         \
    }                                                                                   \
    __HA_SMALL__ _Pp __h##name##2_rn(__ha_in<_Pp> a, __ha_in<_Pp> b) {                  \
        return __h##name##2(a, b);                                                      \
    }
/* From 0 to 1; NaN stays what it is. */
__HA_SMALL__ _Np __ha_unit(__ha_in<_Np> x) {
    float wide = __HA_W__(x);
    return __HA_OF__(wide <= 0.0f ? 0.0f : wide > 1.0f ? 1.0f : wide);
}
__HA_ARITHMETIC__(add, +)
__HA_ARITHMETIC__(sub, -)
__HA_ARITHMETIC__(mul, *)
#undef __HA_ARITHMETIC__
__HA_SMALL__ _Np __hdiv(__ha_in<_Np> a, __ha_in<_Np> b) {
    return __HA_OF__(__HA_W__(a) / __HA_W__(b));
}
__HA_SMALL__ _Pp __h2div(__ha_in<_Pp> a, __ha_in<_Pp> b) {
    return _Pp(__hdiv(a.x, b.x), __hdiv(a.y, b.y));
}
__HA_SMALL__ _Np __hfma(__ha_in<_Np> a, __ha_in<_Np> b, __ha_in<_Np> c) {
    return __HA_OF__(__ha_fma_odd(__HA_W__(a), __HA_W__(b), __HA_W__(c)));
}
__HA_SMALL__ _Pp __hfma2(__ha_in<_Pp> a, __ha_in<_Pp> b, __ha_in<_Pp> c) {
    return _Pp(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
}
__HA_SMALL__ _Np __hfma_sat(__ha_in<_Np> a, __ha_in<_Np> b, __ha_in<_Np> c) {
    return __ha_unit(__hfma(a, b, c));
}
__HA_SMALL__ _Pp __hfma2_sat(__ha_in<_Pp> a, __ha_in<_Pp> b, __ha_in<_Pp> c) {
    return _Pp(__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y));
}
__HA_SMALL__ _Np __hneg(__ha_in<_Np> a) {
    return __HA_BITS__(_Np,
                       (unsigned short)(__HA_BITS__(unsigned short, a) ^ 0x8000));
}
__HA_SMALL__ _Np __habs(__ha_in<_Np> a) {
    return __HA_BITS__(_Np,
                       (unsigned short)(__HA_BITS__(unsigned short, a) & 0x7fff));
}
__HA_SMALL__ _Pp __hneg2(__ha_in<_Pp> a) { return _Pp(__hneg(a.x), __hneg(a.y)); }
__HA_SMALL__ _Pp __habs2(__ha_in<_Pp> a) { return _Pp(__habs(a.x), __habs(a.y)); }

/* ---- comparison; the forms with u are true for NaN ---- */

#define __HA_COMPARE_AS__(name, expression)                                             \
    __HA_SMALL__ bool __h##name(__ha_in<_Np> x, __ha_in<_Np> y) {                       \
        float a = __HA_W__(x), b = __HA_W__(y);                                         \
        return expression;                                                              \
    }                                                                                   \
    __HA_SMALL__ _Pp __h##name##2(__ha_in<_Pp> a, __ha_in<_Pp> b) {                     \
        return _Pp(__HA_OF__(__h##name(a.x, b.x) ? 1.0f : 0.0f),                        \
                        __HA_OF__(__h##name(a.y, b.y) ? 1.0f : 0.0f));                  \
    }
#define __HA_COMPARE__(name, expression)                                                \
    __HA_COMPARE_AS__(name, expression)                                                 \
    __HA_SMALL__ bool __hb##name##2(__ha_in<_Pp> a, __ha_in<_Pp> b) {                   \
        return __h##name(a.x, b.x) && __h##name(a.y, b.y);                              \
    }
__HA_COMPARE__(eq, a == b)
__HA_COMPARE__(ne, a != b)
__HA_COMPARE__(le, a <= b)
__HA_COMPARE__(ge, a >= b)
__HA_COMPARE__(lt, a < b)
__HA_COMPARE__(gt, a > b)
__HA_COMPARE__(equ, !(a < b) && !(a > b))
__HA_COMPARE__(leu, !(a > b))
__HA_COMPARE__(geu, !(a < b))
__HA_COMPARE__(ltu, !(a >= b))
__HA_COMPARE__(gtu, !(a <= b))
__HA_COMPARE_AS__(neu, !(a == b))
#undef __HA_COMPARE__
#undef __HA_COMPARE_AS__
__HA_SMALL__ bool __hbneu2(__ha_in<_Pp> a, __ha_in<_Pp> b) {
    return __hneu(a.x, b.x) __HA_PAIR_NOT_EQUAL__ __hneu(a.y, b.y);
}
__HA_SMALL__ bool __hisnan(__ha_in<_Np> a) { return __HA_W__(a) != __HA_W__(a); }
__HA_SMALL__ __HA_ISINF__ __hisinf(__ha_in<_Np> a) {
    return __HA_W__(__habs(a)) == __builtin_inff();
}
__HA_SMALL__ _Pp __hisnan2(__ha_in<_Pp> a) { return __hneu2(a, a); }
__HA_SMALL__ _Pp __hisinf2(__ha_in<_Pp> a) {
    return _Pp(__HA_OF__(__hisinf(a.x) ? 1.0f : 0.0f),
                    __HA_OF__(__hisinf(a.y) ? 1.0f : 0.0f));
}
/* Of a number and NaN the number; _nan: of a number and NaN NaN. -0 is below +0. */
#define __HA_EXTREME__(name, mine, zero)                                                \
    __HA_SMALL__ _Np __h##name(__ha_in<_Np> x, __ha_in<_Np> y) {                        \
        float a = __HA_W__(x), b = __HA_W__(y);                                         \
        bool first = a == b ? __HA_BITS__(unsigned short, x) >> 15 == zero : (mine);    \
        return b != b || (a == a && first) ? x : y;                                     \
    }                                                                                   \
    __HA_SMALL__ _Np __h##name##_nan(__ha_in<_Np> x, __ha_in<_Np> y) {                  \
        return __hisnan(x) ? x : __hisnan(y) ? y : __h##name(x, y);                     \
    }                                                                                   \
    __HA_SMALL__ _Pp __h##name##2(__ha_in<_Pp> a, __ha_in<_Pp> b) {                     \
        return _Pp(__h##name(a.x, b.x), __h##name(a.y, b.y));                           \
    }                                                                                   \
    __HA_SMALL__ _Pp __h##name##2_nan(__ha_in<_Pp> a, __ha_in<_Pp> b) {                 \
        return _Pp(__h##name##_nan(a.x, b.x), __h##name##_nan(a.y, b.y));               \
    }
__HA_EXTREME__(max, a > b, 0)
__HA_EXTREME__(min, a < b, 1)
#undef __HA_EXTREME__

/* ---- operators ---- */

#ifndef __HA_NO_OPERATORS__
#define __HA_OPERATOR__(op, name, name2)                                                \
    __HA_SMALL__ _Np operator op(__ha_in<_Np> a, __ha_in<_Np> b) {                      \
        return name(a, b);                                                              \
    }                                                                                   \
    __HA_SMALL__ _Pp operator op(__ha_in<_Pp> a, __ha_in<_Pp> b) {                      \
        return name2(a, b);                                                             \
    }                                                                                   \
    __HA_SMALL__ _Np &operator op##=(__ha_in_out<_Np> a, __ha_in<_Np> b) {              \
        return a = name(a, b);                                                          \
    }                                                                                   \
    __HA_SMALL__ _Pp &operator op##=(__ha_in_out<_Pp> a, __ha_in<_Pp> b) {              \
        return a = name2(a, b);                                                         \
    }
__HA_OPERATOR__(+, __hadd, __hadd2)
__HA_OPERATOR__(-, __hsub, __hsub2)
__HA_OPERATOR__(*, __hmul, __hmul2)
__HA_OPERATOR__(/, __hdiv, __h2div)
#undef __HA_OPERATOR__
__HA_SMALL__ _Np operator+(__ha_in<_Np> a) { return a; }
__HA_SMALL__ _Pp operator+(__ha_in<_Pp> a) { return a; }
__HA_SMALL__ _Np operator-(__ha_in<_Np> a) { return __hneg(a); }
__HA_SMALL__ _Pp operator-(__ha_in<_Pp> a) { return __hneg2(a); }
#define __HA_STEP__(_Tp, one)                                                           \
    __HA_SMALL__ _Tp &operator++(__ha_in_out<_Tp> a) { return a += one; }               \
    __HA_SMALL__ _Tp &operator--(__ha_in_out<_Tp> a) { return a -= one; }               \
    __HA_SMALL__ _Tp operator++(__ha_in_out<_Tp> a, int) {                              \
        _Tp old = a;                                                                    \
        a += one;                                                                       \
        return old;                                                                     \
    }                                                                                   \
    __HA_SMALL__ _Tp operator--(__ha_in_out<_Tp> a, int) {                              \
        _Tp old = a;                                                                    \
        a -= one;                                                                       \
        return old;                                                                     \
    }
__HA_STEP__(_Np, __HA_OF__(1.0f))
__HA_STEP__(_Pp, _Pp(__HA_OF__(1.0f), __HA_OF__(1.0f)))
#undef __HA_STEP__
/* Pairs are compared as a whole. */
#define __HA_OPERATOR__(op, name, pair)                                                 \
    __HA_SMALL__ bool operator op(__ha_in<_Np> a, __ha_in<_Np> b) {                     \
        return name(a, b);                                                              \
    }                                                                                   \
    __HA_SMALL__ bool operator op(__ha_in<_Pp> a, __ha_in<_Pp> b) { return pair; }
__HA_OPERATOR__(==, __heq, __hbeq2(a, b))
__HA_OPERATOR__(!=, __hne, !__hbeq2(a, b))
__HA_OPERATOR__(<, __hlt, __hblt2(a, b))
__HA_OPERATOR__(>, __hgt, __hbgt2(a, b))
__HA_OPERATOR__(<=, __hle, __hble2(a, b))
__HA_OPERATOR__(>=, __hge, __hbge2(a, b))
#undef __HA_OPERATOR__
#endif

/* ---- mathematics: computed in double, rounded once ---- */

#define __HA_FN1__(name, type, expression)                                              \
    __HA_SMALL__ _Np h##name(__ha_in<_Np> h) {                                          \
        type x = __HA_W__(h);                                                           \
        return __HA_OF__(expression);                                                   \
    }                                                                                   \
    __HA_SMALL__ _Pp h2##name(__ha_in<_Pp> h) {                                         \
        return _Pp(h##name(h.x), h##name(h.y));                                         \
    }
__HA_FN1__(ceil, float, __builtin_ceilf(x))
__HA_FN1__(floor, float, __builtin_floorf(x))
__HA_FN1__(rint, float, __builtin_rintf(x))
__HA_FN1__(trunc, float, __builtin_truncf(x))
__HA_FN1__(sqrt, float, __builtin_sqrtf(x))
__HA_FN1__(rcp, float, 1.0f / x)
__HA_FN1__(rsqrt, double, 1.0 / __builtin_sqrt(x))
__HA_FN1__(exp, double, __builtin_exp(x))
__HA_FN1__(exp2, double, __builtin_exp2(x))
__HA_FN1__(exp10, double, __builtin_exp10(x))
__HA_FN1__(log, double, __builtin_log(x))
__HA_FN1__(log2, double, __builtin_log2(x))
__HA_FN1__(log10, double, __builtin_log10(x))
__HA_FN1__(sin, double, __builtin_sin(x))
__HA_FN1__(cos, double, __builtin_cos(x))
#undef __HA_FN1__

/* Pairs are added as the 32 bits that they are. */
__HA_SMALL_DEVICE__ _Pp atomicAdd(__ha_in<_Pp *> p, __ha_in<_Pp> v) {
    unsigned *word = (unsigned *)p;
    unsigned old = __hip_atomic_load(word, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    while (!__hip_atomic_compare_exchange_strong(
        word, &old, __HA_BITS__(unsigned, __hadd2(__HA_BITS__(_Pp, old), v)),
        __ATOMIC_RELAXED, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)) {
    }
    return __HA_BITS__(_Pp, old);
}
__HA_SMALL_DEVICE__ _Pp unsafeAtomicAdd(__ha_in<_Pp *> p, __ha_in<_Pp> v) {
    return atomicAdd(p, v);
}

#undef __HA_W__
#undef __HA_OF__
