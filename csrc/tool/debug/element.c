/* SPDX-License-Identifier: MIT */
#include "tool/debug/element.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(__LDBL_MANT_DIG__ >= 64, "it has every 64-bit integer");

/* ---- numbers ---- */

static long double
load_int(const void *at, uint32_t bytes)
{
    int8_t byte;
    int16_t two;
    int32_t four;
    int64_t eight;

    switch (bytes) {
    case 1:
        memcpy(&byte, at, sizeof byte);
        return byte;
    case 2:
        memcpy(&two, at, sizeof two);
        return two;
    case 4:
        memcpy(&four, at, sizeof four);
        return four;
    default:
        memcpy(&eight, at, sizeof eight);
        return (long double)eight;
    }
}

static uint64_t
load_bits(const void *at, uint32_t bytes)
{
    uint64_t bits = 0;

    memcpy(&bits, at, bytes); /* little-endian, as all that HIP runs on */
    return bits;
}

static long double
load_float(const void *at, uint32_t bytes)
{
    float four;
    double eight;

    if (bytes == sizeof four) {
        memcpy(&four, at, sizeof four);
        return four;
    }
    memcpy(&eight, at, sizeof eight);
    return eight;
}

/* `exponent` and `fraction` are the largest where all their bits are set. */
static bool
is_special(const struct ha_small_float *small, unsigned exponent, unsigned fraction)
{
    bool all = exponent == (1u << small->exponent_bits) - 1;

    return (small->end == HA_SMALL_IEEE && all) ||
           (small->end == HA_SMALL_FN && all &&
            fraction == (1u << small->fraction_bits) - 1);
}

static long double
load_small(const struct ha_dtype *dtype, const void *at)
{
    const struct ha_small_float *small = &dtype->small;
    unsigned bits = (unsigned)load_bits(at, dtype->bytes);
    unsigned fraction = bits & ((1u << small->fraction_bits) - 1);
    unsigned sign = bits >> (8 * dtype->bytes - 1);
    unsigned exponent =
        bits >> small->fraction_bits & ((1u << small->exponent_bits) - 1);
    int power = 1 - small->bias - small->fraction_bits;

    if (is_special(small, exponent, fraction)) {
        bool nan = small->end == HA_SMALL_FN || fraction != 0;
        return nan ? (long double)NAN : sign ? -(long double)INFINITY : INFINITY;
    }
    if (small->end == HA_SMALL_FNUZ && sign && exponent == 0 && fraction == 0) {
        return NAN;
    }
    if (exponent > 0) {
        fraction |= 1u << small->fraction_bits;
        power += (int)exponent - 1;
    }
    long double value = ldexpl(fraction, power);
    return sign ? -value : value;
}

struct ha_element
ha_element_load(const struct ha_dtype *dtype, const void *at)
{
    const uint32_t half = dtype->bytes / 2;

    switch (dtype->kind) {
    case HA_DTYPE_BOOL:
        return (struct ha_element){load_bits(at, 1) != 0, 0};
    case HA_DTYPE_INT:
        return (struct ha_element){load_int(at, dtype->bytes), 0};
    case HA_DTYPE_UINT:
        return (struct ha_element){(long double)load_bits(at, dtype->bytes), 0};
    case HA_DTYPE_FLOAT:
        return (struct ha_element){load_float(at, dtype->bytes), 0};
    case HA_DTYPE_COMPLEX:
        return (struct ha_element){load_float(at, half),
                                   load_float((const char *)at + half, half)};
    case HA_DTYPE_SMALL:
        return (struct ha_element){load_small(dtype, at), 0};
    }
    return (struct ha_element){NAN, 0};
}

/* ---- texts ---- */

/* Whether no neighbour of a small float is as near to what the text says. */
static bool
tells_small(const char *text, const struct ha_small_float *small, double value)
{
    int exponent, least = 2 - small->bias;
    bool power_of_two = fabs(frexp(value, &exponent)) == 0.5;

    if (exponent < least) {
        exponent = least;
        power_of_two = false;
    }
    double half = ldexp(0.5, exponent - small->fraction_bits - 1);
    return fabs(strtod(text, NULL) - value) < (power_of_two ? half / 2 : half);
}

/* As many as stand before the point, so that 448 is not 4e+02. */
static int
digits_of_whole(double value)
{
    value = fabs(value);
    return value >= 1 && value < 1e6 ? (int)log10(value) + 1 : 1;
}

static int
put_float(char *text, size_t room, const struct ha_dtype *dtype, double value)
{
    uint32_t bytes = dtype->kind == HA_DTYPE_COMPLEX ? dtype->bytes / 2 : dtype->bytes;
    bool small = dtype->kind == HA_DTYPE_SMALL, single = bytes == sizeof(float);
    int digits = small ? digits_of_whole(value) : single ? FLT_DIG : DBL_DIG;
    bool told = isinf(value) || value == 0;
    int used;

    if (isnan(value)) {
        return snprintf(text, room, "nan"); /* without a sign */
    }
    do {
        used = snprintf(text, room, "%.*g", digits, value);
        told = told || (small    ? tells_small(text, &dtype->small, value)
                        : single ? strtof(text, NULL) == (float)value
                                 : strtod(text, NULL) == value);
    } while (!told && digits++ < DBL_DECIMAL_DIG);
    return used;
}

void
ha_element_text(const struct ha_dtype *dtype, const struct ha_element *element,
                char text[HA_ELEMENT_TEXT])
{
    const size_t room = HA_ELEMENT_TEXT;

    switch (dtype->kind) {
    case HA_DTYPE_BOOL:
        (void)snprintf(text, room, "%s", element->real != 0 ? "True" : "False");
        break;
    case HA_DTYPE_INT:
    case HA_DTYPE_UINT:
        (void)snprintf(text, room, "%.0Lf", element->real);
        break;
    case HA_DTYPE_COMPLEX: {
        int used = put_float(text, room / 2, dtype, (double)element->real);
        text[used++] = '+';
        used -= signbit(element->imaginary) && !isnan(element->imaginary);
        used += put_float(text + used, room / 2, dtype, (double)element->imaginary);
        (void)snprintf(text + used, room - (size_t)used, "j");
        break;
    }
    case HA_DTYPE_FLOAT:
    case HA_DTYPE_SMALL:
        (void)put_float(text, room, dtype, (double)element->real);
        break;
    }
}
