# SPDX-License-Identifier: MIT
"""Levels of x86-64 that all contenders compile for, however new the processor is."""

from __future__ import annotations

from collections.abc import Mapping

OURS = "HIPADAPT_CPU_TARGET"
LEVELS: Mapping[str, Mapping[str, str]] = {
    "x86-64-v3": {
        OURS: "x86-64-v3",
        "CL_CONFIG_CPU_TARGET_ARCH": "core-avx2",
        "POCL_LLVM_CPU_NAME": "haswell",
        "POCL_KERNELLIB_NAME": "avx2",
        "OPENBLAS_CORETYPE": "Haswell",
        "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
    },
    "x86-64-v4": {
        OURS: "x86-64-v4",
        "CL_CONFIG_CPU_TARGET_ARCH": "skx",
        "POCL_LLVM_CPU_NAME": "skylake-avx512",
        "POCL_KERNELLIB_NAME": "avx512",
        "OPENBLAS_CORETYPE": "SkylakeX",
    },
}


def environment(level: str | None) -> Mapping[str, str]:
    """What tells each contender; nothing for the processor as it is."""
    return LEVELS[level] if level else {}
