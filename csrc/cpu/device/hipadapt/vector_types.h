/* SPDX-License-Identifier: MIT */
/* char1 .. double4 with HIP's names, sizes and alignments, make_*, and the operators.
 * Two and four elements are aligned like one value of that size, three like an element.
 * Operators work element by element, and a scalar stands for a vector of it; == and != say
 * whether all elements are equal. */
#pragma once
#pragma clang system_header

template <class T, unsigned int n> struct HIP_vector_base;
template <class T> struct HIP_vector_base<T, 1> {
    T x;
};
template <class T> struct alignas(2 * sizeof(T)) HIP_vector_base<T, 2> {
    T x, y;
};
template <class T> struct HIP_vector_base<T, 3> {
    T x, y, z;
};
template <class T> struct alignas(4 * sizeof(T)) HIP_vector_base<T, 4> {
    T x, y, z, w;
};

#define __HA_HD__ __attribute__((host, device, always_inline)) constexpr

template <class T, unsigned int n> struct HIP_vector_type : HIP_vector_base<T, n> {
    typedef T value_type;
    HIP_vector_type() = default;
    template <class A, class = __ha_if<__is_convertible(A, T)>>
    __HA_HD__ explicit HIP_vector_type(A a) : HIP_vector_base<T, n>{} {
        T v = static_cast<T>(a);
        for (unsigned i = 0; i < n; i++)
            at(i) = v;
    }
    template <class A, class B>
    __HA_HD__ HIP_vector_type(A a, B b)
        : HIP_vector_base<T, n>{static_cast<T>(a), static_cast<T>(b)} {}
    template <class A, class B, class C>
    __HA_HD__ HIP_vector_type(A a, B b, C c)
        : HIP_vector_base<T, n>{static_cast<T>(a), static_cast<T>(b), static_cast<T>(c)} {}
    template <class A, class B, class C, class D>
    __HA_HD__ HIP_vector_type(A a, B b, C c, D d)
        : HIP_vector_base<T, n>{static_cast<T>(a), static_cast<T>(b), static_cast<T>(c),
                                static_cast<T>(d)} {}
    template <class U>
    __HA_HD__ explicit HIP_vector_type(const HIP_vector_type<U, n> &other)
        : HIP_vector_base<T, n>{} {
        for (unsigned i = 0; i < n; i++)
            at(i) = static_cast<T>(other[i]);
    }
    __HA_HD__ T &at(unsigned i) {
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
    __HA_HD__ T &operator[](unsigned i) { return at(i); }
    __HA_HD__ const T &operator[](unsigned i) const {
        return const_cast<HIP_vector_type *>(this)->at(i);
    }
};

/* Free functions and not members: a class is instantiated with all its members' types. */
#define __HA_BINARY__(op)                                                               \
    template <class T, unsigned n>                                                      \
    __HA_HD__ HIP_vector_type<T, n> &operator op##=(HIP_vector_type<T, n> &a,           \
                                                    const HIP_vector_type<T, n> &b) {   \
        for (unsigned i = 0; i < n; i++)                                                \
            a.at(i) op##= b[i];                                                         \
        return a;                                                                       \
    }                                                                                   \
    template <class T, unsigned n, class U, class = __ha_if<__is_convertible(U, T)>>    \
    __HA_HD__ HIP_vector_type<T, n> &operator op##=(HIP_vector_type<T, n> &a, U b) {    \
        return a op##= HIP_vector_type<T, n>(b);                                        \
    }                                                                                   \
    template <class T, unsigned n>                                                      \
    __HA_HD__ HIP_vector_type<T, n> operator op(const HIP_vector_type<T, n> &a,         \
                                                const HIP_vector_type<T, n> &b) {       \
        HIP_vector_type<T, n> r = a;                                                    \
        return r op##= b;                                                               \
    }                                                                                   \
    template <class T, unsigned n, class U, class = __ha_if<__is_convertible(U, T)>>    \
    __HA_HD__ HIP_vector_type<T, n> operator op(const HIP_vector_type<T, n> &a, U b) {  \
        return a op HIP_vector_type<T, n>(b);                                           \
    }                                                                                   \
    template <class T, unsigned n, class U, class = __ha_if<__is_convertible(U, T)>>    \
    __HA_HD__ HIP_vector_type<T, n> operator op(U a, const HIP_vector_type<T, n> &b) {  \
        return HIP_vector_type<T, n>(a) op b;                                           \
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
    template <class T, unsigned n>                                                      \
    __HA_HD__ HIP_vector_type<T, n> &operator op##op(HIP_vector_type<T, n> &a) {        \
        return a op##= HIP_vector_type<T, n>(T(1));                                     \
    }                                                                                   \
    template <class T, unsigned n>                                                      \
    __HA_HD__ HIP_vector_type<T, n> operator op##op(HIP_vector_type<T, n> &a, int) {    \
        HIP_vector_type<T, n> old = a;                                                  \
        a op##= HIP_vector_type<T, n>(T(1));                                            \
        return old;                                                                     \
    }
__HA_STEP__(+)
__HA_STEP__(-)
#undef __HA_STEP__

#define __HA_UNARY__(op)                                                                \
    template <class T, unsigned n>                                                      \
    __HA_HD__ HIP_vector_type<T, n> operator op(const HIP_vector_type<T, n> &a) {       \
        HIP_vector_type<T, n> r = a;                                                    \
        for (unsigned i = 0; i < n; i++)                                                \
            r.at(i) = op r.at(i);                                                       \
        return r;                                                                       \
    }
__HA_UNARY__(-)
__HA_UNARY__(~)
#undef __HA_UNARY__

template <class T, unsigned n>
__HA_HD__ bool
operator==(const HIP_vector_type<T, n> &a, const HIP_vector_type<T, n> &b) {
    for (unsigned i = 0; i < n; i++)
        if (!(a[i] == b[i]))
            return false;
    return true;
}
template <class T, unsigned n, class U, class = __ha_if<__is_convertible(U, T)>>
__HA_HD__ bool operator==(const HIP_vector_type<T, n> &a, U b) {
    return a == HIP_vector_type<T, n>(b);
}
template <class T, unsigned n, class U, class = __ha_if<__is_convertible(U, T)>>
__HA_HD__ bool operator==(U a, const HIP_vector_type<T, n> &b) {
    return HIP_vector_type<T, n>(a) == b;
}
template <class T, unsigned n>
__HA_HD__ bool
operator!=(const HIP_vector_type<T, n> &a, const HIP_vector_type<T, n> &b) {
    return !(a == b);
}
template <class T, unsigned n, class U, class = __ha_if<__is_convertible(U, T)>>
__HA_HD__ bool operator!=(const HIP_vector_type<T, n> &a, U b) {
    return !(a == b);
}
template <class T, unsigned n, class U, class = __ha_if<__is_convertible(U, T)>>
__HA_HD__ bool operator!=(U a, const HIP_vector_type<T, n> &b) {
    return !(a == b);
}

/* A vector of one value; a vector of other elements, filled up with 0. */
template <class T, unsigned n, class U>
__HA_HD__ HIP_vector_type<T, n> make_vector_type(U value) {
    return HIP_vector_type<T, n>(value);
}
template <class T, unsigned n, class U, unsigned m>
__HA_HD__ HIP_vector_type<T, n> __hipMapVector(const HIP_vector_type<U, m> &from) {
    HIP_vector_type<T, n> r(0);
    for (unsigned i = 0; i < n && i < m; i++)
        r.at(i) = static_cast<T>(from[i]);
    return r;
}

/* Templates only so that nothing is instantiated before it is used. */
template <class T> using __ha_same = typename __ha_select<true, T>::type;
#define __HA_VECTOR__(name, T)                                                          \
    typedef HIP_vector_type<T, 1> name##1;                                              \
    typedef HIP_vector_type<T, 2> name##2;                                              \
    typedef HIP_vector_type<T, 3> name##3;                                              \
    typedef HIP_vector_type<T, 4> name##4;                                              \
    template <class A = T>                                                              \
    __HA_HD__ HIP_vector_type<A, 1> make_##name##1(__ha_same<A> x) {                    \
        return HIP_vector_type<A, 1>(x);                                                \
    }                                                                                   \
    template <class A = T>                                                              \
    __HA_HD__ HIP_vector_type<A, 2> make_##name##2(__ha_same<A> x, __ha_same<A> y) {    \
        return HIP_vector_type<A, 2>(x, y);                                             \
    }                                                                                   \
    template <class A = T>                                                              \
    __HA_HD__ HIP_vector_type<A, 3> make_##name##3(__ha_same<A> x, __ha_same<A> y,      \
                                                   __ha_same<A> z) {                    \
        return HIP_vector_type<A, 3>(x, y, z);                                          \
    }                                                                                   \
    template <class A = T>                                                              \
    __HA_HD__ HIP_vector_type<A, 4> make_##name##4(__ha_same<A> x, __ha_same<A> y,      \
                                                   __ha_same<A> z, __ha_same<A> w) {    \
        return HIP_vector_type<A, 4>(x, y, z, w);                                       \
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
