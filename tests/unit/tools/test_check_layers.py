# SPDX-License-Identifier: MIT
"""The layer check finds what it should, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import check_layers
from tools.rooms import ROOMS


def faults_of(folder: Path, name: str, text: str) -> list[str]:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return check_layers.check(folder)


def test_table_has_no_cycle() -> None:
    done: set[str] = set()
    while len(done) < len(ROOMS):
        ready = {
            name
            for name, room in ROOMS.items()
            if name not in done and room.may_include <= done
        }
        assert ready, f"rooms include each other: {set(ROOMS) - done}"
        done |= ready


@pytest.mark.parametrize(
    ("name", "include"),
    [
        ("core/ring.c", '"core/ring.h"'),
        ("core/ring.c", "<stdint.h>"),
        ("cpu/queue/stream.c", '"abi/hip.h"'),
        ("cpu/graph/graph.c", '"cpu/queue/stream.h"'),
        ("cpu/graph/graph.c", '"cpu/graph/graph_state.h"'),
        ("cpu/memory/texture.h", '"cpu/headers/hipadapt/texture_object.h"'),
        ("adapters/pointer.c", "<Python.h>"),
        ("api/call.c", '"adapters/adapter.h"'),
        ("module/module.c", '"api/call.h"'),
        ("cpu/headers/hip/hip_runtime.h", '"anything.h"'),
    ],
)
def test_allowed_include_is_accepted(tmp_path: Path, name: str, include: str) -> None:
    assert faults_of(tmp_path, name, f"#include {include}\n") == []


@pytest.mark.parametrize(
    ("name", "include"),
    [
        ("core/ring.c", '"cpu/queue/stream.h"'),
        ("abi/hip.h", '"core/status.h"'),
        ("adapters/pointer.c", '"api/call.h"'),
        ("api/call.c", '"module/state.h"'),
        ("api/call.c", '"cpu/base/device.h"'),
        ("module/module.c", '"cpu/base/device.h"'),
        ("cpu/queue/stream.c", '"rocprofiler/agent.h"'),
        ("cpu/queue/stream.c", '"cpu/graph/capture.h"'),
        ("cpu/exec/exec.c", '"cpu/compile/rewrite.h"'),
        ("cpu/base/error.c", '"cpu/queue/pool.h"'),
        ("cpu/entry/graph.c", '"cpu/graph/graph_state.h"'),
        ("core/ring.c", '"cpu/headers/hipadapt/texture_object.h"'),
        ("cpu/stream.c", "<stdint.h>"),  # of the device, but in none of its rooms
        ("cpu/queue/stream.c", "<Python.h>"),
        ("core/ring.c", '"Python.h"'),
        ("core/ring.c", '"ring.h"'),
        ("core/ring.c", '"../cpu/queue/stream.h"'),
        ("somewhere/new.c", "<stdint.h>"),
    ],
)
def test_other_include_is_a_fault(tmp_path: Path, name: str, include: str) -> None:
    assert len(faults_of(tmp_path, name, f"#include {include}\n")) == 1


def test_fault_names_file_and_line(tmp_path: Path) -> None:
    text = '/* one\n   two */\n\n#  include "cpu/queue/stream.h" /* why */\n'

    (found,) = faults_of(tmp_path, "core/ring.c", text)

    assert found.startswith("csrc/core/ring.c:4: ")
    assert '"cpu/queue/stream.h"' in found


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ('#include "core/ring.h"\n\n#include <stdint.h>\n', 0),
        ('#include <Python.h>\n\n#include "core/ring.h"\n', 1),  # core is plain C
        ('#include <stdint.h>\n\n#include "core/ring.h"\n', 1),
        ('#include "core/log.h"\n#include "core/ring.h"\n', 1),
        ('#include "core/log.h"\n', 0),
    ],
)
def test_own_header_comes_first(tmp_path: Path, text: str, count: int) -> None:
    (tmp_path / "core").mkdir()
    (tmp_path / "core" / "ring.h").touch()

    assert len(faults_of(tmp_path, "core/ring.c", text)) == count


@pytest.mark.parametrize(
    ("header", "line", "count"),
    [
        ("cpu/queue/stream.h", "hipError_t ha_open(int a);", 0),
        ("cpu/graph/graph.h", "hipError_t ha_open(int a);", 1),
        ("cpu/graph/graph.h", "struct ha_stream *ha_open(int a,\n    int b);", 1),
        ("cpu/graph/graph.h", "/* as\nint ha_open(void);\n*/", 0),
        ("cpu/graph/graph.h", "static inline int ha_open(void);", 0),
    ],
)
def test_function_is_declared_in_its_own_room(
    tmp_path: Path, header: str, line: str, count: int
) -> None:
    for name, text in (
        ("cpu/queue/stream.c", "int\nha_open(int a)\n{\n}\n"),
        (header, line),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)

    assert len(check_layers.check_declarations(tmp_path)) == count


def test_include_in_a_comment_is_none(tmp_path: Path) -> None:
    assert faults_of(tmp_path, "core/a.c", '/*\n#include "cpu/x.h"\n*/\n') == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "struct ha_ticket {\n    int a;\n};\n",
            "struct ha_ticket {\n    long b;\n};\n",
        ),
        ("enum ha_place {\n    HA_A\n};\n", "struct ha_place {\n    int a;\n};\n"),
        ("int\nha_open(void)\n{\n}\n", "bool\nha_open(int a)\n{\n}\n"),
    ],
)
def test_name_defined_twice_is_a_fault(tmp_path: Path, one: str, other: str) -> None:
    for name, text in (("core/a.c", one), ("cpu/base/b.c", other)):
        (tmp_path / "csrc" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "csrc" / name).write_text(text)

    (found,) = check_layers.check_names(tmp_path / "csrc")

    assert found.startswith("csrc/cpu/base/b.c:1: ")
    assert "csrc/core/a.c" in found


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ("rocprofiler", "struct ha_ticket {\n    int a;\n};\n"),  # another product
        ("cpu/base", "static int\nha_open(void)\n{\n}\n"),
        ("cpu/base", "struct ha_ticket;\n"),
        ("cpu/base", "/*\nstruct ha_ticket {\n*/\n"),
    ],
)
def test_name_of_another_product_is_no_fault(
    tmp_path: Path, where: str, text: str
) -> None:
    first = "struct ha_ticket {\n    int a;\n};\n\nint\nha_open(void)\n{\n}\n"
    for name, content in (("cpu/base/a.c", first), (f"{where}/b.c", text)):
        (tmp_path / "csrc" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "csrc" / name).write_text(content)

    assert check_layers.check_names(tmp_path / "csrc") == []


def test_files_of_machines_define_the_same_functions(tmp_path: Path) -> None:
    folder = tmp_path / "csrc" / "cpu" / "machine"
    folder.mkdir(parents=True)
    text = "int\nha_leave(void)\n{\n}\n"
    (folder / "one.c").write_text(text + "int\nha_open(void)\n{\n}\n")
    (folder / "other.c").write_text(text)

    (lacks,) = check_layers.check_machines(tmp_path / "csrc")

    assert lacks.startswith("csrc/cpu/machine/other.c:1: lacks function ha_open")
    assert check_layers.check_names(tmp_path / "csrc") == []


def test_this_tree_has_no_fault() -> None:
    assert check_layers.check_machines(check_layers.ROOT / "csrc") == []
    assert check_layers.check(check_layers.ROOT / "csrc") == []
    assert check_layers.check_names(check_layers.ROOT / "csrc") == []
    assert check_layers.check_declarations(check_layers.ROOT / "csrc") == []
