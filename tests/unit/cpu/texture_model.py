# SPDX-License-Identifier: MIT
"""The rule of docs/textures.md in numpy: what a texture gives for coordinates.

Everything is float32, one operation at a time, so that results can be compared bit for
bit.  `texels` has the shape (slices, rows, columns, channels); what comes out has the
shape (samples, 4).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

WRAP, CLAMP, MIRROR, BORDER = range(4)
F = np.float32


@dataclass
class Texture:
    """How texels are sampled."""

    texels: np.ndarray
    mode: tuple[int, int, int] = (CLAMP, CLAMP, CLAMP)
    linear: bool = False
    normalized: bool = False
    as_float: bool = False
    border: tuple[float, float, float, float] = (0, 0, 0, 0)
    dimensions: int = 2  # that are sampled; others are slices
    levels: list[np.ndarray] = field(default_factory=list)  # below `texels`


@dataclass
class Axis:
    """Two neighbouring texels and the weight of the second one."""

    low: np.ndarray
    high: np.ndarray
    weight: np.ndarray


def weight_of(fraction: np.ndarray) -> np.ndarray:
    return (np.floor(fraction * F(256) + F(0.5)) / F(256)).astype(F)


def place(texture: Texture, axis: int, x: np.ndarray, size: int) -> Axis:
    mode, between = texture.mode[axis], texture.linear
    if not texture.normalized and mode in (WRAP, MIRROR):
        mode = CLAMP
    x = x.astype(F)
    with np.errstate(invalid="ignore"):
        if texture.normalized:
            if mode == WRAP:
                x = x - np.floor(x)
            elif mode == MIRROR and between:
                x = np.abs(x - F(2) * np.rint(F(0.5) * x))
            elif mode == MIRROR:
                x = x - F(2) * np.floor(F(0.5) * x)
            x = x * F(size)
            if mode == MIRROR and not between:
                x = np.where(x >= F(size), F(2 * size - 1) - np.floor(x), x)
        x = np.where(x > F(-2), x, F(-2))
        x = np.where(x < F(size) + F(2), x, F(size) + F(2)).astype(F)
    if between:
        x = x - F(0.5)
    floor = np.floor(x)
    low = floor.astype(int)
    high = low + 1
    weight = weight_of(x - floor) if between else np.zeros_like(x)
    if mode == WRAP:
        low, high = low % size, high % size
    if mode != BORDER:
        low, high = low.clip(0, size - 1), high.clip(0, size - 1)
    return Axis(low, high, weight)


def channel_limits(dtype: np.dtype) -> tuple[float, float]:
    info = np.iinfo(dtype)
    return float(info.min), float(info.max)


def texel_at(
    texture: Texture, image: np.ndarray, x: np.ndarray, y: np.ndarray, z: np.ndarray
) -> np.ndarray:
    """Texels as floats or integers; the border's colour outside of the image."""
    channels = image.shape[3]
    kind = F if texture.as_float else np.int64
    out = np.zeros((len(x), 4), kind)
    out[:, 3] = 1
    border = np.array(texture.border[:channels])
    if not texture.as_float:
        least, most = channel_limits(image.dtype)
        border = np.trunc(border.clip(least, most))
    out[:, :channels] = border.astype(kind)
    depth, height, width = image.shape[:3]
    good = (x >= 0) & (x < width) & (y >= 0) & (y < height) & (z >= 0) & (z < depth)
    found = image[z[good], y[good], x[good]]
    if texture.as_float:
        found = values_of(found)
    out[good, :channels] = found
    return out


def values_of(found: np.ndarray) -> np.ndarray:
    """Channels as floats: integers from 0 or -1 to 1."""
    if found.dtype.kind == "f":
        return found.astype(F)
    most = F(np.iinfo(found.dtype).max)
    return np.maximum(found.astype(F) / most, F(-1))


def sample_level(
    texture: Texture,
    image: np.ndarray,
    coordinates: list[np.ndarray],
    slices: np.ndarray | None,
) -> np.ndarray:
    sizes = image.shape[2::-1]
    zeros = np.zeros(len(coordinates[0]), int)
    nowhere = Axis(zeros, zeros, zeros.astype(F))
    axes = [nowhere] * 3
    for axis in range(texture.dimensions):
        axes[axis] = place(texture, axis, coordinates[axis], sizes[axis])
    if slices is not None:
        slices = slices.clip(0, sizes[2] - 1)
        axes[2] = Axis(slices, slices, zeros.astype(F))
    if not texture.linear:
        return texel_at(texture, image, *(axis.low for axis in axes))
    total = np.zeros((len(zeros), 4), F)
    for corner in range(8):
        weight = np.ones(len(zeros), F)
        at = []
        for axis, found in enumerate(axes):
            second = corner >> axis & 1
            at.append(found.high if second else found.low)
            weight = weight * (found.weight if second else F(1) - found.weight)
        texels = texel_at(texture, image, *at)
        with np.errstate(invalid="ignore"):
            part = total + texels * weight[:, None]
        total = np.where(weight[:, None] != 0, part, total)
    return total


def sample(
    texture: Texture, *coordinates: np.ndarray, slices: np.ndarray | None = None
) -> np.ndarray:
    """Level 0."""
    return sample_level(texture, texture.texels, list(coordinates), slices)


def sample_levels(
    texture: Texture, level: np.ndarray, mip_linear: bool, *coordinates: np.ndarray
) -> np.ndarray:
    """Each sample at a level that is inside of what there is."""
    images = [texture.texels, *texture.levels]
    all_levels = np.stack(
        [sample_level(texture, image, list(coordinates), None) for image in images]
    )
    rows = np.arange(len(level))
    if not mip_linear:
        return all_levels[(level + F(0.5)).astype(int), rows]
    near = level.astype(int)
    weight = weight_of(level - near.astype(F))[:, None]
    far = np.minimum(near + 1, len(images) - 1)
    a, b = all_levels[near, rows], all_levels[far, rows]
    return np.where(
        weight == 0, a, np.where(weight == 1, b, a * (F(1) - weight) + b * weight)
    )
