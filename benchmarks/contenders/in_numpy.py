# SPDX-License-Identifier: MIT
"""The rows in numpy, as its users write them, with results in arrays that stay."""

from __future__ import annotations

from typing import Any

import numpy as np

from hipadapt._cli import demo

from .row import NUMPY, Array, Data, Results, Row


class ReadyInNumpy:
    """Arrays of its own."""

    def __init__(self, row: Row, data: Data) -> None:
        assert row.numpy is not None
        self.function = row.numpy
        self.data: Data = {k: v.copy() for k, v in data.items()}
        self.found: Results = {}

    def run(self) -> None:
        """Do it."""
        self.found = self.function(self.data)

    def results(self) -> Results:
        """What the function returned."""
        return self.found

    def close(self) -> None:
        """Let go of the arrays."""
        self.data.clear()
        self.found = {}


class Numpy:
    """numpy as it is installed."""

    name = NUMPY

    def ready(self, row: Row, data: Data) -> ReadyInNumpy | None:
        """Rows that are no single expression have no form here."""
        return None if row.numpy is None else ReadyInNumpy(row, data)


def saxpy(d: Any) -> Results:
    d["y"] += d["a"] * d["x"]
    return {"y": d["y"]}


def move_particles(d: Any) -> Results:
    x, y, z = d["p"].reshape(-1, 3).T
    x += d["dt"] * y
    y += d["dt"] * z
    z -= d["dt"] * x
    return {"p": d["p"]}


def stencil(d: Any) -> Results:
    f = d["in"]
    inner = f[1:-1, 1:-1] + f[1:-1, :-2]
    inner += f[1:-1, 2:]
    inner += f[:-2, 1:-1]
    inner += f[2:, 1:-1]
    np.multiply(inner, np.float32(0.2), out=d["out"][1:-1, 1:-1])
    return {"out": d["out"]}


def demo_step(d: Any) -> Results:
    return {"out": demo.simulate_in_numpy(d["in"], 1, demo.Progress())}


def demo_total(d: Any) -> Results:
    return {"sum": d["in"].sum(dtype=np.float64, keepdims=True).reshape(1)}


def matmul(d: Any) -> Results:
    np.matmul(d["a"], d["b"], out=d["c"])
    return {"c": d["c"]}


def total(d: Any) -> Results:
    return {"total": d["in"].sum(keepdims=True)}


def softmax(d: Any) -> Results:
    f, out = d["in"], d["out"]
    np.subtract(f, f.max(axis=1, keepdims=True), out=out)
    np.exp(out, out=out)
    out /= out.sum(axis=1, keepdims=True)
    return {"out": out}


def scan_exclusive(d: Any) -> Results:
    out = d["out"]
    out[0] = 0
    np.cumsum(d["in"][:-1], out=out[1:])
    return {"out": out}


def scan_inclusive(d: Any) -> Results:
    np.cumsum(d["in"], out=d["out"])
    return {"out": d["out"]}


def sweeps(d: Any) -> Results:
    now, then = d["a"], d["b"]
    for _ in range(int(d["count"])):
        inner = np.float32(0.5) * now[1:-1]
        inner += np.float32(0.25) * now[:-2]
        inner += np.float32(0.25) * now[2:]
        then[1:-1] = inner
        now, then = then, now
    return {"a": d["a"], "b": d["b"]}


def transpose(d: Any) -> Results:
    np.copyto(d["out"], d["in"].T)
    return {"out": d["out"]}


def histogram(d: Any) -> Results:
    d["bins"] += np.bincount(d["in"], minlength=256).astype(np.int32)
    return {"bins": d["bins"]}


def sort(d: Any) -> Results:
    out: Array = np.sort(d["in"].reshape(-1, 512), axis=1)
    return {"out": out.reshape(-1)}


def conv1d(d: Any) -> Results:
    padded = np.pad(d["in"], (0, 15))
    return {"out": np.correlate(padded, d["taps"], "valid")}


def mirror(d: Any) -> Results:
    n = int(d["n"])
    tiles = d["in"][:n].reshape(-1, 256)
    inner = tiles + tiles[:, ::-1]
    inner *= np.float32(0.5)
    d["out"][:n] = inner.reshape(-1)
    return {"out": d["out"]}


def spmv(d: Any) -> Results:
    products = d["values"] * d["x"][d["columns"]]
    return {"y": np.add.reduceat(products, d["starts"][:-1])}


def sin_exp_log(d: Any) -> Results:
    x, y = d["x"], d["y"]
    np.multiply(np.sin(x), np.exp(-x), out=y)
    y += np.log(x + np.float32(1))
    return {"y": y}


def normal_distribution(x: Any) -> Any:
    one = np.float32(1)
    k = one / (one + np.float32(0.2316419) * np.abs(x))
    poly = np.float32(1.330274429) * k
    for term in (-1.821255978, 1.781477937, -0.356563782, 0.31938153):
        poly += np.float32(term)
        poly *= k
    tail = np.float32(0.39894228) * np.exp(np.float32(-0.5) * x * x) * poly
    return np.where(x > 0, one - tail, tail)


def black_scholes(d: Any) -> Results:
    price, strike, years = d["price"], d["strike"], d["years"]
    rate, volatility = np.float32(0.02), np.float32(0.3)
    root = np.sqrt(years)
    drift = (rate + np.float32(0.5) * volatility * volatility) * years
    d1 = (np.log(price / strike) + drift) / (volatility * root)
    c1 = normal_distribution(d1)
    c2 = normal_distribution(d1 - volatility * root)
    later = strike * np.exp(-rate * years)
    np.subtract(price * c1, later * c2, out=d["call"])
    np.subtract(later * (1 - c2), price * (1 - c1), out=d["put"])
    return {"call": d["call"], "put": d["put"]}


def double_polynomial(d: Any) -> Results:
    x, y = d["x"], d["y"]
    y.fill(0.1)
    for term in (0.2, -0.3, 0.4, -0.5, 0.6, -0.7, 0.8):
        y *= x
        y += term
    return {"y": y}


def double_exp_sin(d: Any) -> Results:
    np.multiply(np.exp(-d["x"]), np.sin(d["x"]), out=d["y"])
    return {"y": d["y"]}
