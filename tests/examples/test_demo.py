# SPDX-License-Identifier: MIT
"""`python -m hipadapt demo` and `info`, as a user starts them."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from hipadapt._cli import demo

ROOT = Path(__file__).resolve().parents[2]
# Also where the package is not installed, with whatever else is on the path.
PYTHONPATH = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
SMALL = ("--size", "64", "--steps", "3")


def hipadapt(
    *arguments: str, folder: Path | None = None, **settings: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hipadapt", *arguments],
        cwd=folder or ROOT,
        env={
            **os.environ,
            "HIPADAPT_PROVIDER": "cpu",
            "PYTHONPATH": PYTHONPATH,
            **settings,
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def save(path: Path, array: object) -> str:
    np.save(path, array, allow_pickle=True)
    return str(path)


def test_demo_prints_every_line_of_the_table() -> None:
    done = hipadapt("demo", *SMALL)

    assert done.returncode == 0, done.stderr
    table, why = done.stdout.split("\n\n")
    labels = [line[:14].strip() for line in table.splitlines()]
    assert labels == [
        *("provider", "device", "field", "compile"),
        *("stencil", "shared memory", "reduction"),
        *("numpy", "largest error", "heat", "result"),
    ]
    assert "64 x 64 float32, 3 steps" in table
    assert table.endswith("same as numpy")
    assert "The CPU device runs both as vectors of lanes" in " ".join(why.split())
    # Nobody looks at a terminal here, so nothing is drawn.
    assert "\r" not in done.stderr


def test_demo_as_json_has_numbers() -> None:
    done = hipadapt("demo", "--json", *SMALL)

    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["ok"] is True
    assert report["largest_error"] <= report["allowed_error"]
    assert report["compile_ms"] > 0
    assert report["stencil_ms"] > 0
    assert report["tiled_ms"] > 0
    # The edge is repeated, so no heat is lost.
    assert report["heat_after"] == pytest.approx(report["heat_before"], rel=1e-5)


@pytest.mark.parametrize("executor", ["reference", "fast"])
def test_demo_on_a_field_of_odd_size_in_both_executors(
    tmp_path: Path, executor: str
) -> None:
    field = np.random.default_rng(3).normal(size=(37, 101))

    done = hipadapt(
        *("demo", "--json", "--steps", "7"),
        *("--input", save(tmp_path / "f.npy", field)),
        HIPADAPT_CPU_EXEC=executor,
    )

    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["width"], report["height"], report["steps"]) == (101, 37, 7)
    assert report["heat_before"] == pytest.approx(field.sum(), abs=1e-3)


@pytest.mark.parametrize(
    "field",
    [
        np.arange(80).reshape(8, 10),
        np.asfortranarray(np.ones((9, 5))),
        np.zeros((6, 6), bool),
        np.linspace(0, 1, 128).reshape(8, 16)[::2, ::3],
    ],
    ids=["integers", "fortran order", "booleans", "strided"],
)
def test_demo_takes_fields_of_real_numbers(tmp_path: Path, field: np.ndarray) -> None:
    path = save(tmp_path / "f.npy", field)

    done = hipadapt("demo", "--steps", "2", "--input", path)

    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("field", "words"),
    [
        (np.zeros(50), "needs two dimensions, not shape (50,)"),
        (np.zeros((5, 5, 5)), "needs two dimensions"),
        (np.zeros((5, 5), complex), "needs real numbers, not dtype complex128"),
        (np.full((5, 5), "text"), "needs real numbers"),
        (np.full((5, 5), None, object), "not a readable .npy file"),
        (np.zeros((3, 50)), "needs at least 4 x 4 cells"),
        (np.zeros((0, 50)), "needs at least 4 x 4 cells"),
        (np.full((5, 5), np.nan), "25 cells are NaN, infinite, or too large"),
        (np.full((5, 5), 1e300), "25 cells are NaN, infinite, or too large"),
    ],
)
def test_demo_refuses_a_field_that_it_cannot_use(
    tmp_path: Path, field: np.ndarray, words: str
) -> None:
    path = save(tmp_path / "f.npy", field)

    done = hipadapt("demo", "--input", path)

    assert done.returncode == 2
    assert words in done.stderr
    assert path in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_demo_refuses_files_that_are_no_arrays(tmp_path: Path) -> None:
    np.savez(tmp_path / "many.npz", np.zeros((5, 5)))
    (tmp_path / "text.npy").write_text("not an array")
    (tmp_path / "empty.npy").touch()

    for name, words in (
        ("many.npz", "an .npz archive"),
        ("text.npy", "not a readable .npy file"),
        ("empty.npy", "not a readable .npy file"),
        ("absent.npy", "there is no such file"),
        (".", "not a readable .npy file"),
    ):
        done = hipadapt("demo", "--input", str(tmp_path / name))

        assert done.returncode == 2
        assert words in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("demo", "--size", "3"), "needs at least 4"),
        (("demo", "--size", "0"), "needs a whole number above 0"),
        (("demo", "--steps", "-1"), "needs a whole number above 0"),
        (("demo", "--steps", "many"), "needs a whole number above 0"),
        (("demo", "--unknown"), "unrecognized arguments"),
        (("--unknown",), "unrecognized arguments"),
    ],
)
def test_wrong_command_lines_are_explained(
    arguments: tuple[str, ...], words: str
) -> None:
    done = hipadapt(*arguments)

    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_demo_without_numpy_says_how_to_get_it(tmp_path: Path) -> None:
    (tmp_path / "numpy.py").write_text(
        "raise ModuleNotFoundError('No module', name='numpy')"
    )

    done = hipadapt("demo", PYTHONPATH=os.pathsep.join([str(tmp_path), PYTHONPATH]))

    assert done.returncode == 2
    assert "pip install numpy" in done.stderr
    assert "Traceback" not in done.stderr


def test_demo_without_matplotlib_says_how_to_get_it(tmp_path: Path) -> None:
    (tmp_path / "matplotlib.py").write_text(
        "raise ModuleNotFoundError('No module', name='matplotlib')"
    )

    done = hipadapt(
        *("demo", "--plot", "x.png"),
        PYTHONPATH=os.pathsep.join([str(tmp_path), PYTHONPATH]),
    )

    assert done.returncode == 2
    assert "hipadapt[plot]" in done.stderr


@pytest.mark.skipif(
    importlib.util.find_spec("matplotlib") is None, reason="matplotlib is missing"
)
def test_demo_draws_a_picture(tmp_path: Path) -> None:
    picture = tmp_path / "p.png"

    done = hipadapt("demo", "--plot", str(picture), *SMALL)

    assert done.returncode == 0, done.stderr
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert str(picture) in done.stdout


def demo_with_other_source(old: str, new: str) -> subprocess.CompletedProcess[str]:
    code = (
        "import sys; from hipadapt import __main__; from hipadapt._cli import demo\n"
        "demo.SOURCE = demo.SOURCE.replace(*sys.argv[1:], 1)\n"
        "sys.exit(__main__.main(['demo', '--size', '64', '--steps', '3']))"
    )
    return subprocess.run(
        [sys.executable, "-c", code, old, new],
        env={**os.environ, "HIPADAPT_PROVIDER": "cpu", "PYTHONPATH": PYTHONPATH},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_demo_has_a_plain_stencil_that_the_fast_executor_runs() -> None:
    # Given: the source of the kernels, in the demo's order.
    plain, tiled = demo.SOURCE.split('extern "C"')[1:3]

    # Then
    assert "__shared__" not in plain and "__syncthreads" not in plain
    assert "__shared__" in tiled and "__syncthreads" in tiled


@pytest.mark.parametrize("which", ["above + below - 4.0f", "around - 4.0f"])
def test_demo_with_wrong_numbers_fails(which: str) -> None:
    """One of the two stencils spreads the heat a little too fast."""
    done = demo_with_other_source(which, which.replace("4.0f", "3.99f"))

    assert done.returncode == 1, done.stderr
    assert "DIFFERS FROM NUMPY" in done.stdout


def test_demo_shows_the_compilers_words_about_a_broken_kernel() -> None:
    done = demo_with_other_source("__syncthreads();", "nonsense;")

    assert done.returncode == 2
    assert "demo.hip:" in done.stderr
    assert "nonsense" in done.stderr
    assert "Traceback" not in done.stderr


def test_info_names_provider_and_device() -> None:
    done = hipadapt("info", "--json")

    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["provider"] == "cpu"
    assert Path(report["library"]).exists()
    assert report["why"]
    (device,) = report["devices"]
    assert device["architecture"].startswith("gfx")
    assert device["warp_size"] == 32
    assert device["memory_bytes"] > 0
