# SPDX-License-Identifier: MIT
"""The cache of compiled kernels: what is a hit, what is not, and who may touch it."""

from __future__ import annotations

import os
import random
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from .rtc_library import KERNEL, SUCCESS, Compiled, Rtc, library_path, zig_path

pytestmark = pytest.mark.usefixtures("work_dir")

# File times have a step; a header that is younger than the compilation is not trusted.
SETTLE_SECONDS = 0.03


def entries(cache: Path) -> dict[str, tuple[int, int]]:
    """Inode and time of each entry."""
    return {
        path.name: (path.stat().st_ino, path.stat().st_mtime_ns)
        for path in cache.glob("*.kernel")
    }


class Watch:
    """Compiles, and says whether a compiler ran: the entries tell."""

    def __init__(self, rtc: Rtc, cache: Path, folder: Path) -> None:
        self.rtc = rtc
        self.cache = cache
        self.count = folder / "count"
        script = folder / "zig"
        script.write_text(
            "#!/bin/sh\n"  # a prelude is for all kernels
            f'case "$*" in *-emit-pch*) ;; *) echo x >> "{self.count}" ;; esac\n'
            f'exec "{zig_path()}" "$@"\n'
        )
        script.chmod(0o755)

    def compile(
        self, source: str = KERNEL, options: Sequence[str] = (), **more: object
    ) -> tuple[Compiled, bool]:
        before = self.runs()
        compiled = self.rtc.compile(source, options, **more)  # type: ignore[arg-type]
        return compiled, self.runs() != before

    def runs(self) -> int:
        return self.count.read_text().count("x") if self.count.exists() else 0


@pytest.fixture
def watch(
    rtc: Rtc, cache_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Watch:
    made = Watch(rtc, cache_dir, tmp_path)
    monkeypatch.setenv("HIPADAPT_COMPILER", str(tmp_path / "zig"))
    return made


def settle() -> None:
    time.sleep(SETTLE_SECONDS)


def test_second_compilation_is_taken_from_the_cache(watch: Watch) -> None:
    first, ran_first = watch.compile(names=["fill"])
    second, ran_second = watch.compile(names=["fill"])

    assert (ran_first, ran_second) == (True, False)
    assert first == second
    assert first.lowered == {"fill": "fill"}


def test_log_comes_from_the_cache_too(watch: Watch) -> None:
    source = "#warning beware\n" + KERNEL

    first, _ = watch.compile(source)
    second, ran = watch.compile(source)

    assert not ran
    assert first.log == second.log
    assert "warning: beware" in first.log


def test_failure_is_not_cached(watch: Watch) -> None:
    for _ in range(2):
        compiled, ran = watch.compile("int x = ;")
        assert ran
        assert compiled.result != SUCCESS
    assert not entries(watch.cache)


CHANGES: list[dict[str, object]] = [
    {"source": KERNEL + "\n"},
    {"name": "other.hip"},
    {"options": ["-DX"]},
    {"options": ["-O1"]},
    {"options": ["-ffast-math"]},
    {"options": ["-std=c++20"]},
    {"options": ["-mcumode"]},
    {"options": ["-g"]},
    {"headers": {"h.h": ""}},
    {"headers": {"h.h": "// other\n"}},
    {"headers": {"g.h": ""}},
    {"names": ["fill"]},
    {"options": ["-DA", "-DB"]},
    {"options": ["-DB", "-DA"]},
]


def test_each_input_is_part_of_the_key(watch: Watch) -> None:
    plain = {"source": KERNEL, "options": [], "headers": {}, "names": []}
    watch.compile(**plain)  # type: ignore[arg-type]

    for number, change in enumerate(CHANGES):
        _, ran = watch.compile(**{**plain, **change})  # type: ignore[arg-type]

        assert ran, change
        assert len(entries(watch.cache)) == number + 2, change


def test_boundaries_between_inputs_are_part_of_the_key(watch: Watch) -> None:
    watch.compile(headers={"a.h": "bc"})

    for headers in ({"a.hb": "c"}, {"a.h": "b", "c": ""}):
        assert watch.compile(headers=headers)[1]


def test_warp_size_is_part_of_the_key(
    watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch.compile()
    monkeypatch.setenv("HIPADAPT_CPU_WARP_SIZE", "64")

    assert watch.compile()[1]


def test_compiler_is_part_of_the_key(watch: Watch, tmp_path: Path) -> None:
    watch.compile()
    os.utime(tmp_path / "zig", (1, 1))

    assert watch.compile()[1]


# ---- files that a source includes ----


@pytest.fixture
def folders(work_dir: Path) -> tuple[Path, Path]:
    first, second = work_dir / "first", work_dir / "second"
    first.mkdir()
    second.mkdir()
    (second / "value.h").write_text('#include "inner.h"\n#define VALUE INNER\n')
    (second / "inner.h").write_text("#define INNER 1\n")
    settle()
    return first, second


SOURCE = "#include <value.h>\nint a[VALUE];\n" + KERNEL


def test_included_file_is_a_hit_until_it_changes(
    watch: Watch, folders: tuple[Path, Path]
) -> None:
    options = [f"-I{folders[0]}", f"-I{folders[1]}"]

    assert watch.compile(SOURCE, options)[1]
    assert not watch.compile(SOURCE, options)[1]
    (folders[1] / "inner.h").write_text("#define INNER 2\n")
    settle()
    assert watch.compile(SOURCE, options)[1]
    assert not watch.compile(SOURCE, options)[1]
    (folders[1] / "inner.h").unlink()
    assert watch.compile(SOURCE, options)[0].result != SUCCESS


@pytest.mark.parametrize("name", ["value.h", "inner.h"])
def test_file_that_hides_an_included_one_is_a_miss(
    watch: Watch, folders: tuple[Path, Path], name: str
) -> None:
    options = [f"-I{folders[0]}", f"-I{folders[1]}"]
    watch.compile(SOURCE, options)
    assert not watch.compile(SOURCE, options)[1]

    (folders[0] / name).write_text("#define VALUE 3\n#define INNER 3\n")

    assert watch.compile(SOURCE, options)[1]


def test_file_that_changes_while_it_is_compiled_is_not_trusted(
    rtc: Rtc,
    cache_dir: Path,
    folders: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    header = folders[1] / "inner.h"
    script = tmp_path / "zig"
    script.write_text(
        f'#!/bin/sh\n"{zig_path()}" "$@"\nend=$?\n'
        f"echo '#define INNER 2' > '{header}'\nexit $end\n"
    )
    script.chmod(0o755)
    monkeypatch.setenv("HIPADAPT_COMPILER", str(script))

    compiled = rtc.compile(SOURCE, [f"-I{folders[1]}"])

    assert compiled.result == SUCCESS, compiled.log
    assert not entries(cache_dir)


def test_unrelated_file_is_no_miss(watch: Watch, folders: tuple[Path, Path]) -> None:
    options = [f"-I{folders[0]}", f"-I{folders[1]}"]
    watch.compile(SOURCE, options)

    (folders[0] / "result.txt").write_text("1")
    (folders[1] / "other.h").write_text("1")

    assert not watch.compile(SOURCE, options)[1]


def test_answer_of_has_include_is_watched(
    watch: Watch, folders: tuple[Path, Path]
) -> None:
    source = "#if __has_include(<late.h>)\n#include <late.h>\n#endif\n" + KERNEL
    options = [f"-I{folders[0]}"]
    watch.compile(source, options)
    assert not watch.compile(source, options)[1]

    (folders[0] / "late.h").write_text("#warning late\n")

    compiled, ran = watch.compile(source, options)
    assert ran
    assert "late" in compiled.log


@pytest.mark.parametrize(
    "text",
    [
        "const char *t = __TIME__;",
        "const char *t = __DATE__;",
        "#define H <late.h>\n#if __has_include(H)\n#endif\n",
    ],
)
def test_source_that_asks_what_we_cannot_watch_is_not_cached(
    watch: Watch, text: str
) -> None:
    for _ in range(2):
        compiled, ran = watch.compile(text + KERNEL)
        assert compiled.result == SUCCESS, compiled.log
        assert ran


def test_embedded_file_is_watched(watch: Watch, work_dir: Path) -> None:
    data = work_dir / "data.bin"
    data.write_bytes(b"\1")
    settle()
    source = (
        f'static const unsigned char d[] = {{\n#embed "{data}"\n}};\n'
        "static_assert(sizeof(d) < 3);\n" + KERNEL
    )
    options = ["-Wno-c23-extensions"]
    compiled, _ = watch.compile(source, options)
    assert compiled.result == SUCCESS, compiled.log
    assert not watch.compile(source, options)[1]

    data.write_bytes(b"\2\3")

    assert watch.compile(source, options)[1]


# ---- damage ----


def only_entry(cache: Path) -> Path:
    (path,) = cache.glob("*.kernel")
    return path


def test_entry_cut_short_anywhere_is_a_miss_and_written_anew(watch: Watch) -> None:
    good, _ = watch.compile()
    path = only_entry(watch.cache)
    whole = path.read_bytes()
    chance = random.Random(2)
    lengths = [0, 1, 95, 96, 97, len(whole) - 1]
    lengths += [chance.randrange(len(whole)) for _ in range(6)]
    for length in lengths:
        path.write_bytes(whole[:length])

        compiled, ran = watch.compile()

        assert ran
        assert compiled == good
        assert path.read_bytes() == whole
        assert not watch.compile()[1]


def test_entry_with_a_flipped_bit_is_a_miss(watch: Watch) -> None:
    good, _ = watch.compile()
    path = only_entry(watch.cache)
    whole = path.read_bytes()
    chance = random.Random(3)
    places = [0, 8, 16, 48, 80, 95]
    places += [chance.randrange(len(whole)) for _ in range(6)]
    for place in places:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << chance.randrange(8)
        path.write_bytes(damaged)

        compiled, ran = watch.compile()

        assert ran
        assert compiled == good
        assert path.read_bytes() == whole


def test_entry_with_bytes_behind_it_is_a_miss(watch: Watch) -> None:
    watch.compile()
    with only_entry(watch.cache).open("ab") as file:
        file.write(b"x")

    assert watch.compile()[1]


def test_entry_under_the_name_of_another_is_a_miss(watch: Watch) -> None:
    watch.compile()
    first = only_entry(watch.cache)
    saved = first.read_bytes()
    first.unlink()
    watch.compile(options=["-DX"])
    only_entry(watch.cache).write_bytes(saved)

    assert watch.compile(options=["-DX"])[1]


# ---- the folder ----


def test_folder_and_files_are_private(watch: Watch) -> None:
    watch.compile()

    assert stat.S_IMODE(watch.cache.stat().st_mode) == 0o700
    for path in watch.cache.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert path.name == "lock" or path.suffix in (".kernel", ".prelude")


def run_alone(environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Compiles twice in a process of its own."""
    script = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import rtc_library
rtc = rtc_library.Rtc({str(library_path())!r})
for turn in range(2):
    compiled = rtc.compile()
    assert compiled.result == 0, compiled.log
print("done")
"""
    return subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize("kind", ["open", "link", "file", "foreign", "unwritable"])
def test_folder_that_is_not_ours_alone_is_not_used(
    watch: Watch, tmp_path: Path, kind: str
) -> None:
    cache = watch.cache
    real = tmp_path / "real"
    if kind == "open":
        cache.mkdir()
        cache.chmod(0o777)
    elif kind == "link":
        real.mkdir(mode=0o700)
        cache.symlink_to(real)
    elif kind == "file":
        cache.write_text("")
    elif kind == "foreign":
        if os.geteuid() != 0:
            pytest.skip("only root can give a folder away")
        cache.mkdir(mode=0o700)
        os.chown(cache, 12345, 12345)
    else:
        cache = Path("/proc/nowhere")

    done = run_alone({"HIPADAPT_CACHE_DIR": str(cache)})

    assert done.stdout == "done\n", done.stderr
    assert done.stderr.count("hipadapt: ") == 1
    assert "kernels are not cached" in done.stderr
    assert str(cache) in done.stderr or "/proc/nowhere" in done.stderr
    if kind != "file" and cache.exists():
        assert not list(cache.iterdir())


@pytest.mark.parametrize("link", ["entry", "lock"])
def test_planted_link_is_not_followed(watch: Watch, tmp_path: Path, link: str) -> None:
    victim = tmp_path / "victim"
    watch.compile()
    entry = only_entry(watch.cache)
    victim.write_bytes(entry.read_bytes())
    content = victim.read_bytes()
    planted = entry if link == "entry" else watch.cache / "lock"
    planted.unlink()
    planted.symlink_to(victim)

    compiled, ran = watch.compile()

    assert compiled.result == SUCCESS
    assert ran == (link == "entry")
    assert victim.read_bytes() == content
    if link == "entry":
        assert not entry.is_symlink()


def test_lock_is_not_made_through_a_planted_link(watch: Watch, tmp_path: Path) -> None:
    watch.cache.mkdir(mode=0o700)
    (watch.cache / "lock").symlink_to(tmp_path / "victim")

    assert watch.compile()[0].result == SUCCESS
    assert not (tmp_path / "victim").exists()


def test_foreign_entry_is_not_used(watch: Watch) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    watch.compile()
    os.chown(only_entry(watch.cache), 12345, 12345)

    assert watch.compile()[1]


def test_default_folder_follows_xdg_then_home(
    watch: Watch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HIPADAPT_CACHE_DIR")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    watch.compile()
    monkeypatch.delenv("XDG_CACHE_HOME")
    watch.compile()

    assert entries(tmp_path / "xdg" / "hipadapt")
    assert entries(tmp_path / "home" / ".cache" / "hipadapt")


def test_cache_can_be_turned_off(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HIPADAPT_CACHE", "0")

    assert watch.compile()[1]
    assert watch.compile()[1]
    assert not watch.cache.exists()


def test_full_disk_is_no_failure(watch: Watch, tmp_path: Path) -> None:
    """Files of this process may not grow: like ENOSPC, an entry cannot be written."""
    script = f"""
import resource, signal, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import rtc_library
rtc = rtc_library.Rtc({str(library_path())!r})
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
real = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, real[1]))
compiled = rtc.compile("int a[1];" + rtc_library.KERNEL)
assert compiled.result in (0, 6, 11), compiled
resource.setrlimit(resource.RLIMIT_FSIZE, real)
assert rtc.compile().result == 0
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120
    )

    assert done.returncode == 0, done.stderr
    assert not list(watch.cache.glob(".*tmp"))


def test_old_entries_go_when_the_cache_is_full(
    watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HIPADAPT_CACHE_SIZE", "1")
    watch.compile(options=["-DOLD"])
    old = only_entry(watch.cache)
    watch.compile(options=["-DUSED"])
    (used,) = set(watch.cache.glob("*.kernel")) - {old}
    for number in range(12):
        path = watch.cache / f"{number:064x}.kernel"
        path.write_bytes(bytes(200_000))
        os.utime(path, (1_000_000 + number, 1_000_000 + number))
    os.utime(old, (1, 1))
    os.utime(used, (2, 2))
    stale = watch.cache / ".1-1.tmp"
    stale.write_text("")
    os.utime(stale, (1, 1))

    assert not watch.compile(options=["-DUSED"])[1]  # makes it young
    done = run_alone({})  # the first store of a process looks at the folder

    assert done.returncode == 0, done.stderr
    assert used.exists()
    assert not old.exists()
    assert not stale.exists()
    assert sum(p.stat().st_size for p in watch.cache.iterdir()) <= 1 << 20


# ---- many at once ----

RACER = """
import sys, time
sys.path.insert(0, {folder!r})
import rtc_library
rtc = rtc_library.Rtc({library!r})
while time.time() < {start!r}: time.sleep(0.001)
for key in range({keys}):
    compiled = rtc.compile(options=[f"-DKEY={{key}}"], names=["fill"])
    assert compiled.result == 0, compiled.log
    assert compiled.lowered == {{"fill": "fill"}}
    print(len(compiled.code))
"""


def test_many_processes_with_the_same_cold_keys_compile_each_once(watch: Watch) -> None:
    keys, processes = 4, 8
    script = RACER.format(
        folder=str(Path(__file__).parent),
        library=str(library_path()),
        start=time.time() + 1.5,
        keys=keys,
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-c", script],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(processes)
    ]
    outputs = [process.communicate(timeout=120) for process in running]

    assert [process.returncode for process in running] == [0] * processes, outputs
    assert len({out for out, _ in outputs}) == 1
    assert len(entries(watch.cache)) == keys
    assert watch.runs() == keys * 3  # front end, back end, linker


def test_many_threads_with_one_cold_key_compile_once(watch: Watch) -> None:
    results: list[int] = []
    threads = [
        threading.Thread(target=lambda: results.append(watch.rtc.compile().result))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert results == [SUCCESS] * 8
    assert watch.runs() == 3
