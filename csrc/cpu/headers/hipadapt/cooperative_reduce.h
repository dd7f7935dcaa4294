/* SPDX-License-Identifier: MIT */
/* Reductions and scans of groups within a warp.  Values are combined in the order of
 * ranks, so that an operation need not be commutative, and all members of a group get the
 * same sum. */
#pragma once
#pragma clang system_header

namespace cooperative_groups {

template <class _Tp> struct plus {
    __HA_CG__ _Tp operator()(_Tp a, _Tp b) const { return a + b; }
};
template <class _Tp> struct less {
    __HA_CG__ _Tp operator()(_Tp a, _Tp b) const { return a < b ? a : b; }
};
template <class _Tp> struct greater {
    __HA_CG__ _Tp operator()(_Tp a, _Tp b) const { return a < b ? b : a; }
};
template <class _Tp> struct bit_and {
    __HA_CG__ _Tp operator()(_Tp a, _Tp b) const { return a & b; }
};
template <class _Tp> struct bit_or {
    __HA_CG__ _Tp operator()(_Tp a, _Tp b) const { return a | b; }
};
template <class _Tp> struct bit_xor {
    __HA_CG__ _Tp operator()(_Tp a, _Tp b) const { return a ^ b; }
};

namespace internal {

template <class _Tp> struct bounds_of;
#define __HA_BOUNDS__(_Tp, lowest, largest)                                             \
    template <> struct bounds_of<_Tp> {                                                 \
        static constexpr _Tp low = lowest;                                              \
        static constexpr _Tp high = largest;                                            \
    };
__HA_BOUNDS__(char, -__SCHAR_MAX__ - 1, __SCHAR_MAX__)
__HA_BOUNDS__(signed char, -__SCHAR_MAX__ - 1, __SCHAR_MAX__)
__HA_BOUNDS__(unsigned char, 0, 255)
__HA_BOUNDS__(short, -__SHRT_MAX__ - 1, __SHRT_MAX__)
__HA_BOUNDS__(unsigned short, 0, 65535)
__HA_BOUNDS__(int, -__INT_MAX__ - 1, __INT_MAX__)
__HA_BOUNDS__(unsigned int, 0, ~0u)
__HA_BOUNDS__(long, -__LONG_MAX__ - 1, __LONG_MAX__)
__HA_BOUNDS__(unsigned long, 0, ~0ul)
__HA_BOUNDS__(long long, -__LONG_LONG_MAX__ - 1, __LONG_LONG_MAX__)
__HA_BOUNDS__(unsigned long long, 0, ~0ull)
__HA_BOUNDS__(float, -__FLT_MAX__, __FLT_MAX__)
__HA_BOUNDS__(double, -__DBL_MAX__, __DBL_MAX__)
#undef __HA_BOUNDS__

/* What the first member of an exclusive scan gets. */
template <class _Tp, class Op> struct identity {
    static __HA_CG__ _Tp value() { return _Tp{}; }
};
template <class _Tp> struct identity<_Tp, bit_and<_Tp>> {
    static __HA_CG__ _Tp value() { return (_Tp)~_Tp{}; }
};
template <class _Tp> struct identity<_Tp, less<_Tp>> {
    static __HA_CG__ _Tp value() { return bounds_of<_Tp>::high; }
};
template <class _Tp> struct identity<_Tp, greater<_Tp>> {
    static __HA_CG__ _Tp value() { return bounds_of<_Tp>::low; }
};

template <class Group> __HA_CG__ unsigned members(const Group &group) {
    return (unsigned)__builtin_popcountll(group._lanes());
}

} // namespace internal

template <class Group, class _Tp, class Op>
__HA_CG__ _Tp inclusive_scan(const Group &group, _Tp value, Op op) {
    unsigned rank = internal::rank_in(group._lanes());
    for (unsigned step = 1; step < internal::members(group); step *= 2) {
        _Tp before = group.shfl_up(value, step);
        value = rank >= step ? op(before, value) : value;
    }
    return value;
}
template <class Group, class _Tp>
__HA_CG__ _Tp inclusive_scan(const Group &group, _Tp value) {
    return inclusive_scan(group, value, plus<_Tp>());
}
template <class Group, class _Tp, class Op>
__HA_CG__ _Tp exclusive_scan(const Group &group, _Tp value, Op op) {
    _Tp before = group.shfl_up(inclusive_scan(group, value, op), 1);
    return internal::rank_in(group._lanes()) > 0 ? before
                                                 : internal::identity<_Tp, Op>::value();
}
template <class Group, class _Tp>
__HA_CG__ _Tp exclusive_scan(const Group &group, _Tp value) {
    return exclusive_scan(group, value, plus<_Tp>());
}
template <class Group, class _Tp, class Op>
__HA_CG__ _Tp reduce(const Group &group, _Tp value, Op op) {
    return group.shfl(inclusive_scan(group, value, op),
                      (int)internal::members(group) - 1);
}

} // namespace cooperative_groups
