/* SPDX-License-Identifier: MIT */
/* Conversions between float formats that a processor may have no instruction for, and
 * powers of integers, which it makes of others where it may be inexact.  The back end
 * calls functions of these names then.  They belong to the compiler's run-time library,
 * which is not there when an image is loaded, so the image brings them along. */
#include "cpu/compile/rewrite_half.h"

#include <string.h>

#include "cpu/compile/rewrite_state.h"

/*            sign   exponent, bias   fraction
 *     half     1      5      15       10        infinity 0x7c00 = 31744
 *     bfloat   1      8     127        7        the upper half of a float
 *     float    1      8     127       23        infinity 0x7f800000 = 2139095040
 *
 * 114688 is the difference of the biases of float and half, 112, at a half's exponent
 * (112 << 10); 0x46F0000000000000 is 2^112 as IR writes it; 947912704 is the smallest
 * normal half as a float (2^-14), and 1056964608 is 0.5.
 *
 * The names, types and results are the back end's convention.  Rounding is to nearest,
 * NaN stays NaN and becomes quiet.  A double is made a float by rounding to odd, so
 * that it is not rounded twice.  Subnormal halves are rounded by adding 0.5, whose last
 * bit weighs what theirs does. */
static const char functions[] =
    "define internal float @__ha_rt_odd(double %x) alwaysinline nounwind {\n"
    "  %near = fptrunc double %x to float\n"
    "  %back = fpext float %near to double\n"
    "  %negative = fcmp olt double %x, 0.0\n"
    "  %below = fcmp olt double %back, %x\n"
    "  %above = fcmp ogt double %back, %x\n"
    "  %away = select i1 %negative, i1 %below, i1 %above\n"
    "  %step = sext i1 %away to i32\n"
    "  %bits = bitcast float %near to i32\n"
    "  %down = add i32 %bits, %step\n"
    "  %odd = or i32 %down, 1\n"
    "  %other = bitcast i32 %odd to float\n"
    "  %inexact = fcmp one double %back, %x\n"
    "  %r = select i1 %inexact, float %other, float %near\n"
    "  ret float %r\n}\n"
    "define internal half @__ha_rt_to_half(float %x) alwaysinline nounwind {\n"
    "  %bits = bitcast float %x to i32\n"
    "  %a = and i32 %bits, 2147483647\n"
    "  %shifted = lshr i32 %a, 13\n"
    "  %last = and i32 %shifted, 1\n"
    "  %up = add i32 %a, 4095\n"
    "  %even = add i32 %up, %last\n"
    "  %short = lshr i32 %even, 13\n"
    "  %normal = sub i32 %short, 114688\n"
    "  %positive = bitcast i32 %a to float\n"
    "  %aligned = fadd float %positive, 0.5\n"
    "  %sum = bitcast float %aligned to i32\n"
    "  %tiny = sub i32 %sum, 1056964608\n"
    "  %small = icmp ult i32 %a, 947912704\n"
    "  %number = select i1 %small, i32 %tiny, i32 %normal\n"
    "  %large = icmp ugt i32 %number, 31744\n"
    "  %finite = select i1 %large, i32 31744, i32 %number\n"
    "  %payload = and i32 %shifted, 511\n"
    "  %quiet = or i32 %payload, 32256\n"
    "  %nan = icmp ugt i32 %a, 2139095040\n"
    "  %magnitude = select i1 %nan, i32 %quiet, i32 %finite\n"
    "  %high = lshr i32 %bits, 16\n"
    "  %sign = and i32 %high, 32768\n"
    "  %code = or i32 %magnitude, %sign\n"
    "  %cut = trunc i32 %code to i16\n"
    "  %r = bitcast i16 %cut to half\n"
    "  ret half %r\n}\n"
    "define internal bfloat @__ha_rt_to_bfloat(float %x) alwaysinline nounwind {\n"
    "  %bits = bitcast float %x to i32\n"
    "  %high = lshr i32 %bits, 16\n"
    "  %last = and i32 %high, 1\n"
    "  %up = add i32 %bits, 32767\n"
    "  %even = add i32 %up, %last\n"
    "  %number = lshr i32 %even, 16\n"
    "  %quiet = or i32 %high, 64\n"
    "  %nan = fcmp uno float %x, 0.0\n"
    "  %code = select i1 %nan, i32 %quiet, i32 %number\n"
    "  %cut = trunc i32 %code to i16\n"
    "  %r = bitcast i16 %cut to bfloat\n"
    "  ret bfloat %r\n}\n"
    "define hidden half @__truncsfhf2(float %x) nounwind {\n"
    "  %r = call half @__ha_rt_to_half(float %x)\n  ret half %r\n}\n"
    "define hidden half @__truncdfhf2(double %x) nounwind {\n"
    "  %f = call float @__ha_rt_odd(double %x)\n"
    "  %r = call half @__ha_rt_to_half(float %f)\n  ret half %r\n}\n"
    "define hidden bfloat @__truncsfbf2(float %x) nounwind {\n"
    "  %r = call bfloat @__ha_rt_to_bfloat(float %x)\n  ret bfloat %r\n}\n"
    "define hidden bfloat @__truncdfbf2(double %x) nounwind {\n"
    "  %f = call float @__ha_rt_odd(double %x)\n"
    "  %r = call bfloat @__ha_rt_to_bfloat(float %f)\n  ret bfloat %r\n}\n"
    "define hidden float @__extendhfsf2(half %x) nounwind {\n"
    "  %short = bitcast half %x to i16\n"
    "  %bits = sext i16 %short to i32\n"
    "  %code = and i32 %bits, 32767\n"
    "  %shifted = shl i32 %code, 13\n"
    "  %scaled = bitcast i32 %shifted to float\n"
    "  %value = fmul float %scaled, 0x46F0000000000000\n"
    "  %number = bitcast float %value to i32\n"
    "  %special = or i32 %shifted, 2139095040\n"
    "  %quiet = or i32 %special, 4194304\n"
    "  %beyond = icmp uge i32 %code, 31744\n"
    "  %nan = icmp ugt i32 %code, 31744\n"
    "  %infinite = select i1 %beyond, i32 %special, i32 %number\n"
    "  %magnitude = select i1 %nan, i32 %quiet, i32 %infinite\n"
    "  %sign = and i32 %bits, -2147483648\n"
    "  %whole = or i32 %magnitude, %sign\n"
    "  %r = bitcast i32 %whole to float\n"
    "  ret float %r\n}\n\n";

/* By squares, as that library does it; the last round is the one without a bit left. */
static void
write_power(struct ha_rewriter *rewriter, const char *name, const char *type)
{
    ir_print(&rewriter->out,
             "define hidden %s @%s(%s %%x, i32 %%n) nounwind {\n"
             "first:\n  br label %%loop\n"
             "loop:\n"
             "  %%square = phi %s [ %%x, %%first ], [ %%next, %%more ]\n"
             "  %%rest = phi i32 [ %%n, %%first ], [ %%half, %%more ]\n"
             "  %%power = phi %s [ 1.0, %%first ], [ %%product, %%more ]\n"
             "  %%bit = and i32 %%rest, 1\n"
             "  %%odd = icmp ne i32 %%bit, 0\n"
             "  %%larger = fmul %s %%power, %%square\n"
             "  %%product = select i1 %%odd, %s %%larger, %s %%power\n"
             "  %%half = sdiv i32 %%rest, 2\n"
             "  %%done = icmp eq i32 %%half, 0\n"
             "  br i1 %%done, label %%last, label %%more\n"
             "more:\n"
             "  %%next = fmul %s %%square, %%square\n"
             "  br label %%loop\n"
             "last:\n"
             "  %%negative = icmp slt i32 %%n, 0\n"
             "  %%inverse = fdiv %s 1.0, %%product\n"
             "  %%r = select i1 %%negative, %s %%inverse, %s %%product\n"
             "  ret %s %%r\n}\n",
             type, name, type, type, type, type, type, type, type, type, type, type,
             type);
}

void
ha_rewrite_half(struct ha_rewriter *rewriter)
{
    const char *ir = rewriter->text.at;
    size_t size = rewriter->text.size;

    if (memmem(ir, size, "half", strlen("half")) != NULL ||
        memmem(ir, size, "bfloat", strlen("bfloat")) != NULL) {
        ir_print(&rewriter->out, "%s", functions);
    }
    if (memmem(ir, size, "pow", strlen("pow")) != NULL) {
        write_power(rewriter, "__powisf2", "float");
        write_power(rewriter, "__powidf2", "double");
    }
}
