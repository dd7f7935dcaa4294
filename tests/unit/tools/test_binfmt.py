# SPDX-License-Identifier: MIT
"""The rule by which the kernel starts programs of another machine."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tools import binfmt


def takes(rule: bytes, header: bytes) -> bool:
    """What the kernel does with a rule."""
    _, _, _, _, magic, mask, _, _ = rule.split(b":")
    plain = [
        re.sub(rb"\\x(..)", lambda hit: bytes.fromhex(hit[1].decode()), part)
        for part in (magic, mask)
    ]
    return all(h & m == b & m for h, b, m in zip(header, *plain, strict=False))


def header(machine: int, kind: int, system: int = 0) -> bytes:
    ident = b"\x7fELF\2\1\1" + bytes([system]) + bytes(8)
    return ident + kind.to_bytes(2, "little") + machine.to_bytes(2, "little")


@pytest.mark.parametrize("kind", [2, 3])
@pytest.mark.parametrize("system", [0, 3])
def test_rule_takes_programs_of_its_machine(kind: int, system: int) -> None:
    rule = binfmt.rule("aarch64", "/usr/bin/qemu-aarch64")

    assert takes(rule, header(183, kind, system))
    assert rule.endswith(b":/usr/bin/qemu-aarch64:PF")


@pytest.mark.parametrize(("machine", "kind"), [(62, 2), (183, 1), (183, 4), (40, 3)])
def test_rule_takes_nothing_else(machine: int, kind: int) -> None:
    rule = binfmt.rule("aarch64", "/usr/bin/qemu-aarch64")

    assert not takes(rule, header(machine, kind))


def test_program_starts_or_does_not(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign"
    foreign.write_bytes(header(0x1234, 2))
    foreign.chmod(0o755)

    assert binfmt.starts(Path(sys.executable), {})
    assert not binfmt.starts(foreign, {})
    assert not binfmt.starts(tmp_path / "none", {})


def test_lacking_emulator_is_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(binfmt.RefusedError, match="qemu-aarch64 is not installed"):
        binfmt.enter("aarch64", tmp_path / "none", {})
