# SPDX-License-Identifier: MIT
"""Verbose lines that the tool library has written, read back."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from hipadapt._trace.verbose import Line, Reader, read
from hipadapt._trace.verbose_summary import summarize
from tests.conftest import Run

# A program is made under each name, and its kernel launched as often as words say.
MADE = """
    import json, sys
    from hipadapt import hiprtc

    for name in json.loads(sys.argv[1]):
        source = b'extern "C" __global__ void put(int *x) { *x = 1; }'
        name = name.encode("utf-8", "surrogateescape")
        status, program = hiprtc.hiprtcCreateProgram(source, name, 0, None, None)
        assert int(status) == 0, status
        (status,) = hiprtc.hiprtcCompileProgram(program, 0, None)
        assert int(status) == 0, status
"""
LAUNCHED = """
    import sys, threading
    import hipadapt

    source = '''
    template <typename T, int N, char C> struct Pair {};
    template <typename T, int N> __global__ void put(T *x) { *x = N; }
    template <typename P> __global__ void nothing() {}
    __global__ void gr\\u00f6\\u00dfe() {}
    '''
    names = ["put<int, 3>", "put<unsigned long long, 4>", "gr\\u00f6\\u00dfe",
             "nothing<Pair<float, 7, '%'>>", "nothing<Pair<int(*)(int, char), -1, ','>>"]
    program = hipadapt.Program(source, name_expressions=names).compile()
    kernels = [program.kernel(name) for name in names]
    x = hipadapt.zeros(1, dtype="int64")

    def work(count):
        stream = hipadapt.Stream()
        for i in range(count):
            for j, kernel in enumerate(kernels):
                kernel[1, 1, 0, stream](*([x] if j < 2 else []))
        stream.synchronize()

    threads = [threading.Thread(target=work, args=(200,)) for _ in range(4)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    print("done")
"""


TRACKED = """
    import ctypes, pathlib, random, sys
    import hipadapt
    from hipadapt import hip

    tool = ctypes.CDLL(str(next(pathlib.Path(hipadapt.__path__[0]).glob("_lib/libhipadapt_tool*"))))
    chosen = random.Random(int(sys.argv[1]))
    pieces = [b"%", b",", b"\\n", b"\\r", b"%2C", b"hipadapt_verbose,v1,", b" ", b":", b"std::map<int, x>"]
    kernel = hipadapt.compile_kernel('extern "C" __global__ void none() {}', "none")
    stream = hipadapt.Stream()
    infos = []
    for i in range(1500):
        parts = [chosen.choice([*pieces, chosen.randbytes(3)]) for _ in range(chosen.randrange(8))]
        infos.append(b"".join(parts).replace(b"\\0", b"") + str(i).encode())
        kernel[1, 1, 0, stream]()
        text = ctypes.c_char_p(infos[-1])
        code = tool.hipadapt_verbose_register_async_tracker(ctypes.c_void_p(stream.handle), None, text)
        assert code == 0, code
        if i % 100 == 0:
            stream.synchronize()
    stream.synchronize()
    sys.stdout.buffer.write(b"\\0".join(infos))
"""


def written(
    run: Run, path: Path, code: str, *words: str, verbose: str = "all"
) -> list[Line]:
    run(
        code,
        *words,
        HIPADAPT_VERBOSE=verbose,
        HIPADAPT_VERBOSE_FILE=str(path),
        HIPADAPT_VERBOSE_TIMESTAMP="1",
    )
    return list(read(path))


def test_names_of_all_bytes_come_back(run_python: Run, tmp_path: Path) -> None:
    every = bytes(n for n in range(1, 256)).decode("utf-8", "surrogateescape")
    names = [
        every,
        "a,%2C,b.hip",
        "\ud7ff\ue000\U0010ffff\u2028.hip",
        "x (cached)",
        "n" * 255,
    ]

    found = written(run_python, tmp_path / "lines", MADE, json.dumps(names))

    made = [one for one in found if one["primitive"] == "compile"]
    assert [one["implementation"] for one in made] == names
    assert {one.operation.partition(":")[0] for one in made} == {"create"}


def test_launches_of_several_threads_are_all_there(
    run_python: Run, tmp_path: Path
) -> None:
    path = tmp_path / "lines"

    found = written(run_python, path, LAUNCHED, verbose="profile_exec")

    kernels = [one for one in found if one["primitive"] == "kernel"]
    counts = Counter(one["implementation"] for one in kernels)
    assert len(counts) == 5 and set(counts.values()) == {800}, counts
    assert any("größe" in name for name in counts)
    assert "void put<int, 3>(int*)" in counts
    correlations = [one.values("attributes")["corr"] for one in kernels]
    assert len(set(correlations)) == len(kernels)
    for one in kernels:
        times = one.values("auxiliary")
        start, end = int(times["start"]), int(times["end"])
        assert one.duration_ns == end - start >= 0
    ends = [int(one.values("auxiliary")["end"]) for one in kernels]
    assert ends == sorted(ends)
    with path.open("rb") as file:
        sums = summarize(Reader(file, "lines"), ["engine"])
    assert (sums["damaged"], sums["lost"], sums["foreign"]) == (0, 0, 0)
    assert sum(row["count"] for row in sums["exec"]) == len(found)
    assert sum(row["total_ns"] for row in sums["exec"]) == sum(
        one.duration_ns or 0 for one in found
    )


@pytest.mark.parametrize("seed", ["1", "2"])
def test_random_texts_of_trackers_come_back(
    run_python: Run, tmp_path: Path, seed: str
) -> None:
    path, seen = tmp_path / "lines", tmp_path / "infos"
    code = TRACKED.replace(
        "sys.stdout.buffer.write(", f"open({str(seen)!r}, 'wb').write("
    )

    found = written(run_python, path, code, seed, verbose="profile_exec")

    infos = seen.read_bytes().split(b"\0")
    trackers = [one for one in found if one["primitive"] == "tracker"]
    texts = [
        one["implementation"].encode("utf-8", "surrogateescape") for one in trackers
    ]
    assert len(infos) == 1500
    assert sorted(texts) == sorted(infos)


@pytest.mark.parametrize("count", [3])
def test_processes_append_to_one_file(
    run_python: Run, tmp_path: Path, count: int
) -> None:
    path = tmp_path / "lines"

    for _ in range(count):
        written(run_python, path, LAUNCHED, verbose="profile_exec")

    with path.open("rb") as file:
        sums = summarize(Reader(file, "lines"))
    assert len(sums["processes"]) == count
    assert {row["count"] for row in sums["exec"] if row["primitive"] == "kernel"} == {
        count * 800
    }
