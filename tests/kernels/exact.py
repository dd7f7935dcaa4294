# SPDX-License-Identifier: MIT
"""Mathematical functions to any number of digits, for tests of accuracy.

Written with `decimal` alone: series whose terms are added until they no longer count, in a
precision that covers what cancels.  Every function takes and gives `Decimal`; the digits
that are right are those of the current context, up to a few at its end.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache, wraps
from math import comb

Function = Callable[..., Decimal]
ONE, TWO, HALF = Decimal(1), Decimal(2), Decimal("0.5")


def extra(digits: int) -> Callable[[Function], Function]:
    """Run the function with more digits than its caller has."""

    def decorate(function: Function) -> Function:
        @wraps(function)
        def run(*arguments: Decimal | int) -> Decimal:
            with localcontext() as context:
                context.prec += digits
                return function(*arguments)

        return run

    return decorate


def digits() -> int:
    with localcontext() as context:
        return context.prec


@cache
def pi_of(precision: int) -> Decimal:
    """Machin's formula."""
    with localcontext() as context:
        context.prec = precision + 10

        def arctangent(n: int) -> Decimal:
            term = total = ONE / n
            k = 1
            while total + term != total or k < 3:
                term = -term / (n * n)
                k += 2
                total += term / k
            return total

        return 4 * (4 * arctangent(5) - arctangent(239))


def pi() -> Decimal:
    return pi_of(digits())


def series(term: Decimal, following: Callable[[Decimal, int], Decimal]) -> Decimal:
    """term + following(term, 1) + ... until nothing changes."""
    total, k = term, 0
    while True:
        k += 1
        term = following(term, k)
        before, total = total, total + term
        if before == total and k > 3:
            return total


# ---- circles -----------------------------------------------------------------------


@extra(20)
def sine_cosine(x: Decimal, which: int) -> Decimal:
    """sin (0) or cos (1), after the multiples of a quarter turn are taken off."""
    with localcontext() as context:
        context.prec += max(0, x.adjusted()) + 5
        quarters = (x / (pi() / 2)).to_integral_value()
        rest = x - quarters * (pi() / 2)
    number = (int(quarters) + which) % 4
    square = rest * rest
    if number % 2 == 0:
        value = series(rest, lambda t, k: -t * square / ((2 * k) * (2 * k + 1)))
    else:
        value = series(ONE, lambda t, k: -t * square / ((2 * k) * (2 * k - 1)))
    return value if number < 2 else -value


def sin(x: Decimal) -> Decimal:
    return sine_cosine(x, 0) if x else x


def cos(x: Decimal) -> Decimal:
    return sine_cosine(x, 1)


@extra(10)
def tan(x: Decimal) -> Decimal:
    return sin(x) / cos(x)


@extra(20)
def sinpi(x: Decimal) -> Decimal:
    return sin((x % 2) * pi())


@extra(20)
def cospi(x: Decimal) -> Decimal:
    return cos((x % 2) * pi())


@extra(20)
def atan(x: Decimal) -> Decimal:
    if abs(x) > 1:
        return (pi() / 2).copy_sign(x) - atan(1 / x)
    halvings = 0
    while abs(x) > Decimal("0.1"):
        x = x / (1 + (1 + x * x).sqrt())
        halvings += 1
    square = x * x
    power = total = x
    k = 1
    while True:
        power = -power * square
        k += 2
        before, total = total, total + power / k
        if before == total:
            return total * 2**halvings


@extra(30)
def asin(x: Decimal) -> Decimal:
    if abs(x) == 1:
        return (pi() / 2).copy_sign(x)
    return atan(x / ((1 - x) * (1 + x)).sqrt())


@extra(30)
def acos(x: Decimal) -> Decimal:
    if x == -1:
        return pi()
    return 2 * atan(((1 - x) / (1 + x)).sqrt())


@extra(20)
def atan2(y: Decimal, x: Decimal) -> Decimal:
    if x > 0:
        return atan(y / x)
    if x < 0:
        return atan(y / x) + pi().copy_sign(y)
    return (pi() / 2).copy_sign(y)


# ---- exponentials ------------------------------------------------------------------


@extra(10)
def exp2(x: Decimal) -> Decimal:
    return (x * TWO.ln()).exp()


@extra(10)
def exp10(x: Decimal) -> Decimal:
    return (x * Decimal(10).ln()).exp()


def expm1(x: Decimal) -> Decimal:
    with localcontext() as context:
        context.prec += 10 + max(0, -x.adjusted())
        return x.exp() - 1


def log1p(x: Decimal) -> Decimal:
    with localcontext() as context:
        context.prec += 10 + max(0, -x.adjusted())
        return (1 + x).ln()


@extra(10)
def log2(x: Decimal) -> Decimal:
    return x.ln() / TWO.ln()


@extra(30)
def power(x: Decimal, y: Decimal) -> Decimal:
    return (y * x.ln()).exp()


def cbrt(x: Decimal) -> Decimal:
    return power(abs(x), ONE / 3).copy_sign(x) if x else x


@extra(10)
def sinh(x: Decimal) -> Decimal:
    return (expm1(x) - expm1(-x)) / 2


@extra(10)
def cosh(x: Decimal) -> Decimal:
    return (x.exp() + (-x).exp()) / 2


@extra(10)
def tanh(x: Decimal) -> Decimal:
    grown = expm1(2 * x)
    return grown / (grown + 2)


@extra(30)
def asinh(x: Decimal) -> Decimal:
    a = abs(x)
    return log1p(a + a * a / (1 + (1 + a * a).sqrt())).copy_sign(x)


@extra(30)
def acosh(x: Decimal) -> Decimal:
    t = x - 1
    return log1p(t + (2 * t + t * t).sqrt())


@extra(30)
def atanh(x: Decimal) -> Decimal:
    return (log1p(x) - log1p(-x)) / 2


@extra(10)
def length(*values: Decimal) -> Decimal:
    return sum((v * v for v in values), Decimal(0)).sqrt()


# ---- the error function ------------------------------------------------------------


@extra(20)
def erf(x: Decimal) -> Decimal:
    """2 / sqrt(pi) exp(-x x) sum of 2^n x^(2n+1) / (2n+1)!!: no term is negative."""
    if abs(x) > 40:
        return ONE.copy_sign(x)
    total = series(x, lambda t, k: t * 2 * x * x / (2 * k + 1))
    return 2 / pi().sqrt() * (-x * x).exp() * total


def erfc(x: Decimal) -> Decimal:
    with localcontext() as context:
        context.prec += 20 + (int(x * x / 2) if x > 0 else 0)
        if x < 40:
            return 1 - erf(x)
    return erfcx(x) * (-x * x).exp()


def erfcx(x: Decimal) -> Decimal:
    if x < 40:
        with localcontext() as context:
            context.prec += 20
            return (x * x).exp() * erfc(x)
    with localcontext() as context:  # the continued fraction
        context.prec += 20
        tail = x
        for k in range(200, 0, -1):
            tail = x + Decimal(k) / 2 / tail
        return 1 / (tail * pi().sqrt())


def solve(function: Function, slope: Function, aim: Decimal, guess: Decimal) -> Decimal:
    """Newton's steps from a guess that is right to some digits."""
    with localcontext() as context:
        context.prec += 20
        for _ in range(60):
            step = (function(guess) - aim) / slope(guess)
            guess -= step
            if abs(step) <= abs(guess) * Decimal(10) ** (15 - context.prec):
                break
        return guess


def erfcinv(q: Decimal) -> Decimal:
    """By log erfc, which is nearly a parabola."""
    if q > 1:
        return -erfcinv(2 - q)
    if q > Decimal("0.5"):
        return erfinv(1 - q)
    aim = q.ln()
    guess = (-aim).sqrt()
    return solve(
        lambda y: erfcx(y).ln() - y * y,
        lambda y: -2 / (pi().sqrt() * erfcx(y)),
        aim,
        guess,
    )


def erfinv(x: Decimal) -> Decimal:
    if abs(x) > HALF:
        with localcontext() as context:
            context.prec += 20
            return erfcinv(1 - abs(x)).copy_sign(x)
    with localcontext() as context:
        context.prec += 10
        scale = pi().sqrt() / 2
        return solve(erf, lambda y: (-y * y).exp() / scale, x, x * scale)


@extra(20)
def normcdf(x: Decimal) -> Decimal:
    return erfc(-x / TWO.sqrt()) / 2


@extra(20)
def normcdfinv(p: Decimal) -> Decimal:
    return -TWO.sqrt() * erfcinv(2 * p)


# ---- the gamma function ------------------------------------------------------------


@cache
def bernoulli(n: int) -> Fraction:
    if n == 0:
        return Fraction(1)
    total = sum((comb(n + 1, k) * bernoulli(k) for k in range(n)), Fraction(0))
    return -total / (n + 1)


@extra(30)
def lgamma_positive(x: Decimal) -> Decimal:
    """Stirling's series, once x was moved far enough."""
    product = ONE
    while x < 60:
        product *= x
        x += 1
    total = (x - HALF) * x.ln() - x + (2 * pi()).ln() / 2
    for k in range(2, 80, 2):
        b = bernoulli(k)
        total += Decimal(b.numerator) / b.denominator / (k * (k - 1)) / x ** (k - 1)
    return total - product.ln()


@extra(40)
def lgamma(x: Decimal) -> Decimal:
    if x > 0:
        return lgamma_positive(x)
    return (pi() / abs(sinpi(x))).ln() - lgamma_positive(1 - x)


@extra(40)
def tgamma(x: Decimal) -> Decimal:
    if x > 0:
        return lgamma_positive(x).exp()
    return pi() / (sinpi(x) * lgamma_positive(1 - x).exp())


# ---- Bessel functions --------------------------------------------------------------


def bessel_series(n: int, x: Decimal, sign: int) -> Decimal:
    """The power series of J (sign -1) or I (sign 1); e^x of it may cancel."""
    with localcontext() as context:
        context.prec += 20 + int(abs(x))
        quarter = sign * x * x / 4
        first = ONE
        for k in range(1, n + 1):
            first *= x / 2 / k
        return series(first, lambda t, k: t * quarter / (k * (n + k)))


def jn(n: int, x: Decimal) -> Decimal:
    return bessel_series(n, x, -1)


def i_order(n: int, x: Decimal) -> Decimal:
    return bessel_series(n, x, 1)


@cache
def euler_gamma(precision: int) -> Decimal:
    """Brent and McMillan's way."""
    with localcontext() as context:
        context.prec = precision + 15
        n = int(precision * 0.6) + 10
        a, b = -Decimal(n).ln(), ONE
        u, v = a, b
        k = 1
        while True:
            b = b * n * n / (k * k)
            a = (a * n * n / k + b) / k
            before, u, v = u, u + a, v + b
            if before == u:
                return u / v
            k += 1


def yn(n: int, x: Decimal) -> Decimal:
    with localcontext() as context:
        context.prec += 30 + int(abs(x))
        square = x * x / 4
        gamma = euler_gamma(context.prec)
        total = 2 * ((x / 2).ln() + gamma) * jn(n, x)
        term = (x / 2) ** -n if n else ONE
        for k in range(n):  # the finite sum
            factorial_left = ONE
            for m in range(1, n - k):
                factorial_left *= m
            factorial_k = ONE
            for m in range(1, k + 1):
                factorial_k *= m
            total -= term * factorial_left / factorial_k
            term *= square
        term = (x / 2) ** n if n else ONE
        harmonic_k, harmonic_n = (
            Decimal(0),
            sum((ONE / m for m in range(1, n + 1)), Decimal(0)),
        )
        for m in range(1, n + 1):
            term /= m
        k = 0
        while True:
            before = total
            total -= term * (harmonic_k + harmonic_n)
            k += 1
            if before == total and k > 3:
                return total / pi()
            term = -term * square / (k * (n + k))
            harmonic_k += ONE / k
            harmonic_n += ONE / (n + k)
