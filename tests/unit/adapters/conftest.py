# SPDX-License-Identifier: MIT
"""Inputs that several tests of the adapters need."""

from __future__ import annotations

import ctypes
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]


class CudaArray:
    """An object with __cuda_array_interface__ and nothing else."""

    def __init__(self, address: Any = 4096, shape: Any = (4,), **more: Any) -> None:
        self.interface: dict[str, Any] = {
            "shape": shape,
            "typestr": more.pop("typestr", "<f4"),
            "data": (address, more.pop("readonly", False)),
            "version": 3,
            **more,
        }

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return self.interface


class Index:
    """An object with __index__ and nothing else."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


class AsVoidPointer:
    """An object with as_c_void_p() and nothing else."""

    def __init__(self, address: int) -> None:
        self.address = address

    def as_c_void_p(self) -> ctypes.c_void_p:
        """The address."""
        return ctypes.c_void_p(self.address)


def read(address: object, size: int) -> bytes:
    """Bytes of this process at an address."""
    return ctypes.string_at(int(address), size)  # type: ignore[call-overload]


def run_python(code: str, *options: str, **env: str) -> str:
    """Runs code in a new interpreter; its output, or a failed test."""
    import os

    done = subprocess.run(
        [sys.executable, *options, "-c", textwrap.dedent(code)],
        cwd=ROOT,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture
def isolated() -> Callable[..., str]:
    """run(code, *interpreter options, **environment) in a new interpreter."""
    return run_python
