# SPDX-License-Identifier: MIT
"""``%%hip`` and ``%hip_time`` in a real IPython."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

pytest.importorskip("IPython", reason="needs ipython: pip install ipython")

from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell

from hipadapt import Kernel, empty
from hipadapt._notebook import HipTime, kernel_names

CELL = """%%hip
__global__ void put(int *x, int value) { *x = value; }
"""


@pytest.fixture(scope="module")
def shell() -> Iterator[Any]:
    shell = InteractiveShell()
    shell.run_line_magic("load_ext", "hipadapt")
    yield shell
    shell.history_manager.end_session()
    shell.restore_sys_module_state()


def run(shell: Any, text: str) -> Any:
    result = shell.run_cell(text)
    result.raise_error()
    return result.result


def test_cell_defines_its_kernels(
    cpu: ModuleType, shell: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    run(shell, CELL)

    assert isinstance(shell.user_ns["put"], Kernel)
    assert "kernels: put" in capsys.readouterr().out
    x = empty(1, "int32")
    shell.user_ns["x"] = x
    run(shell, "put[1, 1](x, 7)")
    assert int(x.get()[0]) == 7


def test_unchanged_cell_is_not_compiled_again(cpu: ModuleType, shell: Any) -> None:
    run(shell, CELL)
    first = shell.user_ns["put"].module
    run(shell, CELL)
    second = shell.user_ns["put"].module
    run(shell, CELL.replace("%%hip", "%%hip --option=-DX"))

    assert second is first
    assert shell.user_ns["put"].module is not first


def test_instances_of_templates_are_named(cpu: ModuleType, shell: Any) -> None:
    run(
        shell,
        '%%hip --name "scale<float>" --std c++17 --quiet\n'
        "template <class T> __global__ void scale(T *x) { *x *= 2; }",
    )

    assert isinstance(shell.user_ns["scale_float"], Kernel)


def test_compile_error_is_a_readable_block(
    cpu: ModuleType, shell: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    result = shell.run_cell("%%hip\n__global__ void bad(int *x) { *x = y; }")

    assert not result.success
    out = capsys.readouterr().out
    assert "undeclared identifier 'y'" in out
    assert "*x = y" in out
    assert "Traceback" not in out
    assert "bad" not in shell.user_ns


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ('extern "C" __global__ void a(int *x) {}', ["a"]),
        ("__global__ void __launch_bounds__(64) b() {}", ["b"]),
        ("__global__ __launch_bounds__(64, 2) void c() {}", ["c"]),
        ("template <class T> __global__ void d(T x) {}", []),
        ("// __global__ void e() {}\n/* __global__ void f() {} */", []),
        ('const char *s = "__global__ void g() {}"; __device__ void h() {}', []),
        (
            "__global__ void i();\n__global__ void i() {}\nstatic __global__ void j() {}",
            ["i", "j"],
        ),
        ("", []),
    ],
)
def test_kernels_of_a_text_are_found(source: str, names: list[str]) -> None:
    assert kernel_names(source) == names


def test_time_is_measured_on_device_and_host(cpu: ModuleType, shell: Any) -> None:
    run(shell, CELL)
    shell.user_ns["x"] = empty(1, "int32")

    times = shell.run_line_magic("hip_time", "-n 3 -r 2 -o put[1, 1](x, 5)")

    assert isinstance(times, HipTime)
    assert times.loops == 3
    assert len(times.device) == len(times.wall) == 2
    assert all(0 <= d <= w for d, w in zip(times.device, times.wall, strict=True))
    assert "median" in str(times)
    assert int(shell.user_ns["x"].get()[0]) == 5


def test_time_without_numbers_prints_a_table(
    cpu: ModuleType, shell: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    run(shell, CELL)
    shell.user_ns["x"] = empty(1, "int32")

    shell.run_line_magic("hip_time", "-r 1 put[1, 1](x, -5)")

    out = capsys.readouterr().out
    assert "device" in out
    assert "wall" in out
    assert int(shell.user_ns["x"].get()[0]) == -5


@pytest.mark.parametrize("line", ["", "-n 0 1 + 1", "-r 0 1 + 1", "-n 3"])
def test_time_refuses_what_makes_no_sense(
    shell: Any, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    result = shell.run_cell(f"%hip_time {line}")

    assert not result.success


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("%%hip --", {"--name", "--std", "--quiet"}),
        ("%%hip --q", {"--quiet"}),
        ("%%hip --std ", {"c++17", "c++20"}),
        ("%hip_time -", {"-n", "-r", "-o"}),
        ("%%hip_check m", {"memory"}),
        ("%%hip_check ", {"all", "race", "leaks"}),
    ],
)
def test_options_are_completed(shell: Any, line: str, expected: set[str]) -> None:
    with provisionalcompleter():
        found = {one.text for one in shell.Completer.completions(line, len(line))}

    assert expected <= found


WRONG = """%%hip
__global__ void fill(int *x, int n) { if (threadIdx.x <= n) x[threadIdx.x] = 1; }
__global__ void wait(int *x) { *x = 1; }
"""


def test_check_shows_what_kernels_of_cells_do_wrong(
    cpu: ModuleType, shell: Any
) -> None:
    run(shell, WRONG)
    run(shell, "import hipadapt\nx = hipadapt.zeros(8, 'int32')")
    before = shell.user_ns["fill"]
    for _ in range(2):
        run(shell, "%%hip_check memory\nfill[1, 32](x, 8)\ny = 5")
        (one,) = shell.user_ns["_"]
        assert one.kind == "out-of-bounds"
        assert one.kernel == "fill(int*, int)"
        assert one.here.text == WRONG.splitlines()[1]
    assert shell.user_ns["fill"] is before
    assert shell.user_ns["y"] == 5
    run(shell, "%%hip_check\nfill[1, 32](x, 7)")
    assert shell.user_ns["_"] == []


def test_check_of_a_cell_that_fails_has_its_findings(
    cpu: ModuleType, shell: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    run(shell, WRONG)
    shell.run_cell("%%hip_check\nfill[1, 32](x, 8)\nfill = 7\n1 / 0")

    assert "ZeroDivisionError" in capsys.readouterr().out
    assert [one.kind for one in shell.user_ns["_"]] == ["out-of-bounds"]
    assert shell.user_ns["fill"] == 7  # what the cell has defined stays


def test_check_refuses_other_words(
    cpu: ModuleType, shell: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.run_cell("%%hip_check memory,raze\npass")
    assert "'raze' is no kind of check" in capsys.readouterr().err


def test_extension_can_be_unloaded(shell: Any) -> None:
    shell.run_line_magic("unload_ext", "hipadapt")
    assert shell.find_cell_magic("hip") is None
    shell.run_line_magic("load_ext", "hipadapt")
    assert shell.find_cell_magic("hip") is not None
