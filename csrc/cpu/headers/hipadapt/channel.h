/* SPDX-License-Identifier: MIT */
/* hipCreateChannelDesc<T>(): the element that a type of C++ stands for.  Host code
 * only; vectors of HIP where the compiler has them. */
#pragma once
#pragma GCC system_header

#ifdef __cplusplus
template <class _Tp> struct __ha_channel_type {
    static constexpr int bits = 0; /* no element */
    static constexpr int count = 0;
    static constexpr hipChannelFormatKind kind = hipChannelFormatKindNone;
};
#define __HA_CHANNEL__(_Tp, Kind)                                                      \
    template <> struct __ha_channel_type<_Tp> {                                        \
        static constexpr int bits = (int)sizeof(_Tp) * 8;                              \
        static constexpr int count = 1;                                                \
        static constexpr hipChannelFormatKind kind = hipChannelFormatKind##Kind;       \
    };
__HA_CHANNEL__(char, Signed)
__HA_CHANNEL__(signed char, Signed)
__HA_CHANNEL__(unsigned char, Unsigned)
__HA_CHANNEL__(short, Signed)
__HA_CHANNEL__(unsigned short, Unsigned)
__HA_CHANNEL__(int, Signed)
__HA_CHANNEL__(unsigned int, Unsigned)
__HA_CHANNEL__(float, Float)
#undef __HA_CHANNEL__
#ifdef __HIP__
template <class _Tp, unsigned int n> struct __ha_channel_type<HIP_vector_type<_Tp, n>> {
    static constexpr int bits = __ha_channel_type<_Tp>::bits;
    static constexpr int count = (int)n;
    static constexpr hipChannelFormatKind kind = __ha_channel_type<_Tp>::kind;
};
#endif

template <class _Tp>
static inline hipChannelFormatDesc
hipCreateChannelDesc()
{
    typedef __ha_channel_type<_Tp> found;
    return hipCreateChannelDesc(found::bits, found::count > 1 ? found::bits : 0,
                                found::count > 2 ? found::bits : 0,
                                found::count > 3 ? found::bits : 0, found::kind);
}
static inline hipChannelFormatDesc
hipCreateChannelDescHalf()
{
    return hipCreateChannelDesc(16, 0, 0, 0, hipChannelFormatKindFloat);
}
static inline hipChannelFormatDesc
hipCreateChannelDescHalf1()
{
    return hipCreateChannelDesc(16, 0, 0, 0, hipChannelFormatKindFloat);
}
static inline hipChannelFormatDesc
hipCreateChannelDescHalf2()
{
    return hipCreateChannelDesc(16, 16, 0, 0, hipChannelFormatKindFloat);
}
static inline hipChannelFormatDesc
hipCreateChannelDescHalf4()
{
    return hipCreateChannelDesc(16, 16, 16, 16, hipChannelFormatKindFloat);
}
#endif
