/* SPDX-License-Identifier: MIT */
/* char1 .. double4 with HIP's names, sizes and alignments, make_*, and the operators.
 * Two and four elements are aligned like one value of that size, three like an element.
 * Operators work element by element, and a scalar stands for a vector of it; == and !=
 * say whether all elements are equal. */
#pragma once
#pragma clang system_header

template <class _Tp, unsigned int n> struct HIP_vector_base;
template <class _Tp> struct HIP_vector_base<_Tp, 1> {
    _Tp x;
};
template <class _Tp> struct alignas(2 * sizeof(_Tp)) HIP_vector_base<_Tp, 2> {
    _Tp x, y;
};
template <class _Tp> struct HIP_vector_base<_Tp, 3> {
    _Tp x, y, z;
};
template <class _Tp> struct alignas(4 * sizeof(_Tp)) HIP_vector_base<_Tp, 4> {
    _Tp x, y, z, w;
};

#if __cplusplus >= 201402L
#define __HA_HD__ __attribute__((host, device, always_inline)) constexpr
#else /* C++11 has one statement in such functions */
#define __HA_HD__ __attribute__((host, device, always_inline)) inline
#endif

template <class _Tp, unsigned int n> struct HIP_vector_type : HIP_vector_base<_Tp, n> {
    typedef _Tp value_type;
    HIP_vector_type() = default;
    template <class _Ap, class = __ha_if<__is_convertible(_Ap, _Tp)>>
    __HA_HD__ explicit HIP_vector_type(_Ap a) : HIP_vector_base<_Tp, n>{} {
        _Tp v = static_cast<_Tp>(a);
        for (unsigned i = 0; i < n; i++)
            at(i) = v;
    }
    template <class _Ap, class _Bp>
    __HA_HD__ HIP_vector_type(_Ap a, _Bp b)
        : HIP_vector_base<_Tp, n>{static_cast<_Tp>(a), static_cast<_Tp>(b)} {}
    template <class _Ap, class _Bp, class _Cp>
    __HA_HD__ HIP_vector_type(_Ap a, _Bp b, _Cp c)
        : HIP_vector_base<_Tp, n>{static_cast<_Tp>(a), static_cast<_Tp>(b),
                                  static_cast<_Tp>(c)} {}
    template <class _Ap, class _Bp, class _Cp, class _Dp>
    __HA_HD__ HIP_vector_type(_Ap a, _Bp b, _Cp c, _Dp d)
        : HIP_vector_base<_Tp, n>{static_cast<_Tp>(a), static_cast<_Tp>(b),
                                  static_cast<_Tp>(c), static_cast<_Tp>(d)} {}
    template <class _Up>
    __HA_HD__ explicit HIP_vector_type(const HIP_vector_type<_Up, n> &other)
        : HIP_vector_base<_Tp, n>{} {
        for (unsigned i = 0; i < n; i++)
            at(i) = static_cast<_Tp>(other[i]);
    }
    __HA_HD__ _Tp &at(unsigned i) {
        if constexpr (n > 1) {
            if (i == 1)
                return this->y;
        }
        if constexpr (n > 2) {
            if (i == 2)
                return this->z;
        }
        if constexpr (n > 3) {
            if (i == 3)
                return this->w;
        }
        return this->x;
    }
    __HA_HD__ _Tp &operator[](unsigned i) { return at(i); }
    __HA_HD__ const _Tp &operator[](unsigned i) const {
        return const_cast<HIP_vector_type *>(this)->at(i);
    }
};

/* Free functions and not members: a class is instantiated with all its members' types. */
#define __HA_BINARY__(op)                                                                \
    template <class _Tp, unsigned n>                                                     \
    __HA_HD__ HIP_vector_type<_Tp, n> &operator op## =                                   \
        (HIP_vector_type<_Tp, n> & a, const HIP_vector_type<_Tp, n> &b) {                \
        for (unsigned i = 0; i < n; i++)                                                 \
            a.at(i) op## = b[i];                                                         \
        return a;                                                                        \
    }                                                                                    \
    template <class _Tp, unsigned n, class _Up,                                          \
              class = __ha_if<__is_convertible(_Up, _Tp)>>                               \
    __HA_HD__ HIP_vector_type<_Tp, n> &operator op## =                                   \
        (HIP_vector_type<_Tp, n> & a, _Up b) {                                           \
        return a op## = HIP_vector_type<_Tp, n>(b);                                      \
    }                                                                                    \
    template <class _Tp, unsigned n>                                                     \
    __HA_HD__ HIP_vector_type<_Tp, n> operator op(const HIP_vector_type<_Tp, n> &a,      \
                                                  const HIP_vector_type<_Tp, n> &b) {    \
        HIP_vector_type<_Tp, n> r = a;                                                   \
        return r op## = b;                                                               \
    }                                                                                    \
    template <class _Tp, unsigned n, class _Up,                                          \
              class = __ha_if<__is_convertible(_Up, _Tp)>>                               \
    __HA_HD__ HIP_vector_type<_Tp, n> operator op(const HIP_vector_type<_Tp, n> &a,      \
                                                  _Up b) {                               \
        return a op HIP_vector_type<_Tp, n>(b);                                          \
    }                                                                                    \
    template <class _Tp, unsigned n, class _Up,                                          \
              class = __ha_if<__is_convertible(_Up, _Tp)>>                               \
    __HA_HD__ HIP_vector_type<_Tp, n> operator op(_Up a,                                 \
                                                  const HIP_vector_type<_Tp, n> &b) {    \
        return HIP_vector_type<_Tp, n>(a) op b;                                          \
    }
__HA_BINARY__(+)
__HA_BINARY__(-)
__HA_BINARY__(*)
__HA_BINARY__(/)
__HA_BINARY__(%)
__HA_BINARY__(&)
__HA_BINARY__(|)
__HA_BINARY__(^)
__HA_BINARY__(<<)
__HA_BINARY__(>>)
#undef __HA_BINARY__

#define __HA_STEP__(op)                                                                 \
    template <class _Tp, unsigned n>                                                    \
    __HA_HD__ HIP_vector_type<_Tp, n> &operator op##op(HIP_vector_type<_Tp, n> &a) {    \
        return a op##= HIP_vector_type<_Tp, n>(_Tp(1));                                 \
    }                                                                                   \
    template <class _Tp, unsigned n>                                                    \
    __HA_HD__ HIP_vector_type<_Tp, n> operator op##op(HIP_vector_type<_Tp, n> &a, int) { \
        HIP_vector_type<_Tp, n> old = a;                                                \
        a op##= HIP_vector_type<_Tp, n>(_Tp(1));                                        \
        return old;                                                                     \
    }
__HA_STEP__(+)
__HA_STEP__(-)
#undef __HA_STEP__

#define __HA_UNARY__(op)                                                                \
    template <class _Tp, unsigned n>                                                    \
    __HA_HD__ HIP_vector_type<_Tp, n> operator op(const HIP_vector_type<_Tp, n> &a) {   \
        HIP_vector_type<_Tp, n> r = a;                                                  \
        for (unsigned i = 0; i < n; i++)                                                \
            r.at(i) = op r.at(i);                                                       \
        return r;                                                                       \
    }
__HA_UNARY__(-)
__HA_UNARY__(~)
#undef __HA_UNARY__

template <class _Tp, unsigned n>
__HA_HD__ bool
operator==(const HIP_vector_type<_Tp, n> &a, const HIP_vector_type<_Tp, n> &b) {
    for (unsigned i = 0; i < n; i++)
        if (!(a[i] == b[i]))
            return false;
    return true;
}
template <class _Tp, unsigned n, class _Up, class = __ha_if<__is_convertible(_Up, _Tp)>>
__HA_HD__ bool operator==(const HIP_vector_type<_Tp, n> &a, _Up b) {
    return a == HIP_vector_type<_Tp, n>(b);
}
template <class _Tp, unsigned n, class _Up, class = __ha_if<__is_convertible(_Up, _Tp)>>
__HA_HD__ bool operator==(_Up a, const HIP_vector_type<_Tp, n> &b) {
    return HIP_vector_type<_Tp, n>(a) == b;
}
template <class _Tp, unsigned n>
__HA_HD__ bool
operator!=(const HIP_vector_type<_Tp, n> &a, const HIP_vector_type<_Tp, n> &b) {
    return !(a == b);
}
template <class _Tp, unsigned n, class _Up, class = __ha_if<__is_convertible(_Up, _Tp)>>
__HA_HD__ bool operator!=(const HIP_vector_type<_Tp, n> &a, _Up b) {
    return !(a == b);
}
template <class _Tp, unsigned n, class _Up, class = __ha_if<__is_convertible(_Up, _Tp)>>
__HA_HD__ bool operator!=(_Up a, const HIP_vector_type<_Tp, n> &b) {
    return !(a == b);
}

/* A vector of one value; a vector of other elements, filled up with 0. */
template <class _Tp, unsigned n, class _Up>
__HA_HD__ HIP_vector_type<_Tp, n> make_vector_type(_Up value) {
    return HIP_vector_type<_Tp, n>(value);
}
template <class _Tp, unsigned n, class _Up, unsigned m>
__HA_HD__ HIP_vector_type<_Tp, n> __hipMapVector(const HIP_vector_type<_Up, m> &from) {
    HIP_vector_type<_Tp, n> r(0);
    for (unsigned i = 0; i < n && i < m; i++)
        r.at(i) = static_cast<_Tp>(from[i]);
    return r;
}

/* Templates only so that nothing is instantiated before it is used. */
template <class _Tp> using __ha_same = typename __ha_select<true, _Tp>::type;
#define __HA_VECTOR__(name, _Tp)                                                         \
    typedef HIP_vector_type<_Tp, 1> name##1;                                             \
    typedef HIP_vector_type<_Tp, 2> name##2;                                             \
    typedef HIP_vector_type<_Tp, 3> name##3;                                             \
    typedef HIP_vector_type<_Tp, 4> name##4;                                             \
    template <class _Ap = _Tp>                                                           \
    __HA_HD__ HIP_vector_type<_Ap, 1> make_##name##1(__ha_same<_Ap> x) {                 \
        return HIP_vector_type<_Ap, 1>(x);                                               \
    }                                                                                    \
    template <class _Ap = _Tp>                                                           \
    __HA_HD__ HIP_vector_type<_Ap, 2> make_##name##2(__ha_same<_Ap> x,                   \
                                                     __ha_same<_Ap> y) {                 \
        return HIP_vector_type<_Ap, 2>(x, y);                                            \
    }                                                                                    \
    template <class _Ap = _Tp>                                                           \
    __HA_HD__ HIP_vector_type<_Ap, 3> make_##name##3(__ha_same<_Ap> x, __ha_same<_Ap> y, \
                                                     __ha_same<_Ap> z) {                 \
        return HIP_vector_type<_Ap, 3>(x, y, z);                                         \
    }                                                                                    \
    template <class _Ap = _Tp>                                                           \
    __HA_HD__ HIP_vector_type<_Ap, 4> make_##name##4(                                    \
        __ha_same<_Ap> x, __ha_same<_Ap> y, __ha_same<_Ap> z, __ha_same<_Ap> w) {        \
        return HIP_vector_type<_Ap, 4>(x, y, z, w);                                      \
    }
__HA_VECTOR__(char, char)
__HA_VECTOR__(uchar, unsigned char)
__HA_VECTOR__(short, short)
__HA_VECTOR__(ushort, unsigned short)
__HA_VECTOR__(int, int)
__HA_VECTOR__(uint, unsigned int)
__HA_VECTOR__(long, long)
__HA_VECTOR__(ulong, unsigned long)
__HA_VECTOR__(longlong, long long)
__HA_VECTOR__(ulonglong, unsigned long long)
__HA_VECTOR__(float, float)
__HA_VECTOR__(double, double)
#undef __HA_VECTOR__
#undef __HA_HD__
