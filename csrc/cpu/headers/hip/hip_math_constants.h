/* SPDX-License-Identifier: MIT */
/* HIP's constants, as literals of the nearest value; _HI and _LO add up to the number. */
#pragma once
#pragma clang system_header
#include <hip/hip_runtime.h>

#undef HIP_INF_F
#undef HIP_NAN_F
#undef HIP_INF
#undef HIP_NAN
#define HIP_INF_F __builtin_inff()
#define HIP_NAN_F __builtin_bit_cast(float, 0x7fffffffu)
#define HIP_MIN_DENORM_F 0x1p-149f
#define HIP_MAX_NORMAL_F 0x1.fffffep127f
#define HIP_NEG_ZERO_F (-0.0f)
#define HIP_ZERO_F 0.0f
#define HIP_ONE_F 1.0f
#define HIP_SQRT_HALF_F 0x1.6a09e6p-1f
#define HIP_SQRT_HALF_HI_F 0x1.6a09e6p-1f
#define HIP_SQRT_HALF_LO_F 0x1.9fcef4p-27f
#define HIP_SQRT_TWO_F 0x1.6a09e6p0f
#define HIP_THIRD_F 0x1.555556p-2f
#define HIP_PIO4_F 0x1.921fb6p-1f
#define HIP_PIO2_F 0x1.921fb6p0f
#define HIP_3PIO4_F 0x1.2d97c8p1f
#define HIP_2_OVER_PI_F 0x1.45f306p-1f
#define HIP_SQRT_2_OVER_PI_F 0x1.988454p-1f
#define HIP_PI_F 0x1.921fb6p1f
#define HIP_L2E_F 0x1.715476p0f
#define HIP_L2T_F 0x1.a934fp1f
#define HIP_LG2_F 0x1.344136p-2f
#define HIP_LGE_F 0x1.bcb7b2p-2f
#define HIP_LN2_F 0x1.62e43p-1f
#define HIP_LNT_F 0x1.26bb1cp1f
#define HIP_LNPI_F 0x1.250d04p0f
#define HIP_TWO_TO_M126_F 0x1p-126f
#define HIP_TWO_TO_126_F 0x1p126f
#define HIP_NORM_HUGE_F 0x1.fffffep127f
#define HIP_TWO_TO_23_F 0x1p23f
#define HIP_TWO_TO_24_F 0x1p24f
#define HIP_TWO_TO_31_F 0x1p31f
#define HIP_TWO_TO_32_F 0x1p32f
#define HIP_REMQUO_BITS_F 3u
#define HIP_REMQUO_MASK_F (~((~0u) << HIP_REMQUO_BITS_F))
#define HIP_TRIG_PLOSS_F 105615.0f

#define HIP_INF __builtin_inf()
#define HIP_NAN __builtin_bit_cast(double, 0xfff8000000000000ull)
#define HIP_NEG_ZERO (-0.0)
#define HIP_MIN_DENORM 0x1p-1074
#define HIP_ZERO 0.0
#define HIP_ONE 1.0
#define HIP_SQRT_TWO 0x1.6a09e667f3bcdp0
#define HIP_SQRT_HALF 0x1.6a09e667f3bcdp-1
#define HIP_SQRT_HALF_HI 0x1.6a09e667f3bcdp-1
#define HIP_SQRT_HALF_LO (-0x1.bdd3413b26456p-55)
#define HIP_THIRD 0x1.5555555555555p-2
#define HIP_TWOTHIRD 0x1.5555555555555p-1
#define HIP_PIO4 0x1.921fb54442d18p-1
#define HIP_PIO4_HI 0x1.921fb54442d18p-1
#define HIP_PIO4_LO 0x1.1a62633145c07p-55
#define HIP_PIO2 0x1.921fb54442d18p0
#define HIP_PIO2_HI 0x1.921fb54442d18p0
#define HIP_PIO2_LO 0x1.1a62633145c07p-54
#define HIP_3PIO4 0x1.2d97c7f3321d2p1
#define HIP_2_OVER_PI 0x1.45f306dc9c883p-1
#define HIP_PI 0x1.921fb54442d18p1
#define HIP_PI_HI 0x1.921fb54442d18p1
#define HIP_PI_LO 0x1.1a62633145c07p-53
#define HIP_SQRT_2PI 0x1.40d931ff62706p1
#define HIP_SQRT_2PI_HI 0x1.40d931ff62706p1
#define HIP_SQRT_2PI_LO (-0x1.a6a0d6f814637p-53)
#define HIP_SQRT_PIO2 0x1.40d931ff62706p0
#define HIP_SQRT_PIO2_HI 0x1.40d931ff62706p0
#define HIP_SQRT_PIO2_LO (-0x1.a6a0d6f814637p-54)
#define HIP_SQRT_2OPI 0x1.9884533d43651p-1
#define HIP_L2E 0x1.71547652b82fep0
#define HIP_L2E_HI 0x1.71547652b82fep0
#define HIP_L2E_LO 0x1.777d0ffda0d24p-56
#define HIP_L2T 0x1.a934f0979a371p1
#define HIP_LG2 0x1.34413509f79ffp-2
#define HIP_LG2_HI 0x1.34413509f79ffp-2
#define HIP_LG2_LO (-0x1.9dc1da994fd21p-59)
#define HIP_LGE 0x1.bcb7b1526e50ep-2
#define HIP_LGE_HI 0x1.bcb7b1526e50ep-2
#define HIP_LGE_LO 0x1.95355baaafad3p-57
#define HIP_LN2 0x1.62e42fefa39efp-1
#define HIP_LN2_HI 0x1.62e42fefa39efp-1
#define HIP_LN2_LO 0x1.abc9e3b39803fp-56
#define HIP_LNT 0x1.26bb1bbb55516p1
#define HIP_LNT_HI 0x1.26bb1bbb55516p1
#define HIP_LNT_LO (-0x1.f48ad494ea3e9p-53)
#define HIP_LNPI 0x1.250d048e7a1bdp0
#define HIP_LN2_X_1024 0x1.62e42fefa39efp9
#define HIP_LN2_X_1025 0x1.633ce8fb9f87ep9
#define HIP_LN2_X_1075 0x1.74910d52d3052p9
#define HIP_LG2_X_1024 0x1.34413509f79ffp8
#define HIP_LG2_X_1075 0x1.439b746e36b52p8
#define HIP_TWO_TO_23 0x1p23
#define HIP_TWO_TO_52 0x1p52
#define HIP_TWO_TO_53 0x1p53
#define HIP_TWO_TO_54 0x1p54
#define HIP_TWO_TO_M54 0x1p-54
#define HIP_TWO_TO_M1022 0x1p-1022
#define HIP_TRIG_PLOSS 2147483648.0
#define HIP_DBL2INT_CVT 6755399441055744.0
