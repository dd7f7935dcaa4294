# SPDX-License-Identifier: MIT
"""Verbose lines of hipadapt and oneDNN, as they stand in files of all kinds."""

from __future__ import annotations

import io
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipadapt._trace.verbose import Line, Reader, VerboseError, read
from hipadapt._trace.verbose_summary import summarize
from tests.unit.cli.verbose_lines import COLUMNS, HAND, ONEDNN, header, line

# The other shapes that its releases have had.
OLD_ONEDNN = {
    "3.3": (
        "onednn_verbose,primitive,info,template:{columns}\n"
        "onednn_verbose,primitive,exec,{line}\n"
        "onednn_verbose,primitive,exec:check,primitive,unused argument (1),a.cpp:74\n"
    ),
    "3.0": (
        "onednn_verbose,info,prim_template:{columns}\n"
        "onednn_verbose,info,graph_template:operation,engine,partition_id,exec_time\n"
        "onednn_verbose,exec,{line}\n"
        "onednn_verbose,graph,compile,cpu,100002,2.5\n"
        "onednn_verbose,exec:check,primitive,unused argument (1),a.cpp:74\n"
    ),
    "3.0 with times": (
        "onednn_verbose,info,prim_template:timestamp,{columns}\n"
        "onednn_verbose,1795391452061.531006,exec,{line}\n"
        "onednn_verbose,1795391452061.6,exec:check,primitive,unused argument,a.cpp:74\n"
    ),
    "1.3": (
        "dnnl_verbose,info,DNNL v1.3.0 (commit d0fc158e98590dfad0165e568ca466876a794597)\n"
        "dnnl_verbose,info,prim_template:{columns}\n"
        "dnnl_verbose,exec,{line}\n"
        "dnnl_verbose,exec:check,primitive,unused argument (1),a.cpp:74\n"
    ),
}


def summed(path: Path, data: bytes, *by: str) -> Any:
    path.write_bytes(data)
    with open(path, "rb") as file:
        reader = Reader(file, str(path))
        return summarize(reader, by) if by else summarize(reader)


def lines_of(path: Path, data: bytes) -> list[Line]:
    path.write_bytes(data)
    return list(read(path))


# Every character that a name can hold.


def names_read(path: Path, names: list[bytes]) -> list[bytes]:
    data = header() + b"".join(line(implementation=name) for name in names)
    assert data.count(b"\n") == 3 + len(names)
    found = lines_of(path, data)
    assert all(one["problem_desc"] == "grid:4x1x1 block:64x1x1" for one in found)
    return [one["implementation"].encode("utf-8", "surrogateescape") for one in found]


def test_every_byte_and_every_pair_comes_back(tmp_path: Path) -> None:
    singles = [bytes([first]) for first in range(256)]
    names = singles + [first + second for first in singles for second in singles]

    assert names_read(tmp_path / "lines", names) == names


def test_every_character_of_unicode_comes_back(tmp_path: Path) -> None:
    signs = [chr(n) for n in range(0x110000) if not 0xD800 <= n < 0xE000]
    names = ["".join(signs[at : at + 512]).encode() for at in range(0, len(signs), 512)]

    assert names_read(tmp_path / "lines", names) == names


PIECES = [
    *(b"%", b"%2C", b"%%", b",", b"\n", b"\r", b"\r\n", b"\0", b"\x7f", b" ", b":"),
    *(b"hipadapt_verbose,v1,kernel,exec", b"onednn_verbose", b",info,", b"template:"),
    *("é𝄞\u2028\x85".encode(), b"\xff", b"\xc3", b"std::vector<int, x>", b"0.5", b"v1"),
]


@pytest.mark.parametrize("seed", range(4))
def test_random_fields_come_back(seed: int, tmp_path: Path) -> None:
    chosen = random.Random(seed)

    def text() -> bytes:
        whole = [
            chosen.choice([*PIECES, chosen.randbytes(3)])
            for _ in range(chosen.randrange(9))
        ]
        return b"".join(whole)

    def values() -> dict[str, bytes]:
        made = {column: text() for column in COLUMNS[1:9]}
        return {**made, "operation": b"exec", "exec_time": b"%.9g" % chosen.random()}

    wanted = [values() for _ in range(2000)]

    found = lines_of(
        tmp_path / "lines", header() + b"".join(line(**one) for one in wanted)
    )

    got = [
        {c: one[c].encode("utf-8", "surrogateescape") for c in COLUMNS} for one in found
    ]
    assert got == wanted
    assert [one.duration_ns for one in found] == [
        round(float(one["exec_time"]) * 1e6) for one in wanted
    ]


# Headers.


@given(st.permutations([*COLUMNS, "registers", "new"]), st.booleans())
def test_columns_are_where_the_header_says(columns: list[str], timestamp: bool) -> None:
    stamp = "1795219941631.560059" if timestamp else ""
    values = {column: f" {column} " for column in columns}
    values |= {"operation": "exec", "exec_time": "2.5"}
    data = header(columns, timestamp=timestamp) + line(
        columns, timestamp=stamp, **values
    )

    (found,) = read_bytes(data)

    assert {column: found[column] for column in columns} == values
    assert (found.operation, found.duration_ns) == ("exec", 2_500_000)
    assert found.start_ns == (1795219941631560059 if timestamp else None)


def read_bytes(data: bytes) -> list[Line]:
    return list(Reader(io.BytesIO(data), "bytes").lines())


def test_processes_with_different_headers_share_a_file(tmp_path: Path) -> None:
    wide = (*COLUMNS[:3], "registers", *COLUMNS[3:])
    stamp = "1795219941631.560059"
    data = (
        header(pid=1)
        + line(implementation="first")
        + header(wide, pid=2, timestamp=True)
        + line(implementation="first")
        + line(wide, timestamp=stamp, implementation="second", registers="32")
        + ONEDNN.encode()
        + line(implementation="first")
        + b"hipadapt_verbose,v1,info,lost:2\nhipadapt_verbose,v1,info,lost:3\n"
    )

    found = summed(tmp_path / "lines", data, "implementation")

    rows = {row["implementation"]: row["count"] for row in found["exec"]}
    assert rows == {"first": 3, "second": 1, "jit:blk": 1, "jit:avx512_core": 1}
    assert (found["processes"], found["lost"], found["damaged"]) == ([1, 2], 5, 0)


# oneDNN.


def test_lines_of_onednn_are_read(tmp_path: Path) -> None:
    found = summed(tmp_path / "lines", ONEDNN.encode())

    assert [(row["primitive"], row["total_ns"]) for row in found["exec"]] == [
        ("convolution", 57_149_200),
        ("reorder", 44_471_900),
    ]
    assert [(row["operation"], row["total_ns"]) for row in found["create"]] == [
        ("create:cache_miss", 80_078)
    ]
    (error,) = found["errors"]
    assert error["message"].startswith("primitive,unused primitive execution argument")
    assert found["told"] == {"create:dispatch": 1}
    assert (found["damaged"], found["foreign"]) == (0, 0)
    assert found["producers"][0].startswith("oneDNN v3.12.0 ")


@pytest.mark.parametrize("release", OLD_ONEDNN)
def test_lines_of_older_onednn_are_read(release: str, tmp_path: Path) -> None:
    exec_line = "cpu,matmul,brg:avx2,undef,src_f32::blocked:ab:f0,,,64x64:64x64,1.5"
    text = OLD_ONEDNN[release].format(columns=",".join(COLUMNS), line=exec_line)

    found = summed(tmp_path / "lines", text.encode())

    assert [row["implementation"] for row in found["exec"]] == ["brg:avx2"]
    assert found["exec"][0]["total_ns"] == 1_500_000
    assert found["errors"][0]["operation"] == "exec:check"
    assert (found["damaged"], found["headless"]) == (0, 0)


def test_percent_signs_of_onednn_stand_for_themselves(tmp_path: Path) -> None:
    data = ONEDNN.replace("jit:blk", "jit%2Cblk").encode()

    names = {
        one["implementation"]
        for one in lines_of(tmp_path / "lines", data)
        if one.duration_ns
    }

    assert names == {"jit%2Cblk", "jit:avx512_core"}


# What else is in files.


def test_lines_with_something_before_them_and_windows_ends(tmp_path: Path) -> None:
    data = b"[1,0]<stdout>:" + header().replace(b"\n", b"\r\n[1,0]<stdout>:")
    data += b"progress 50 %..." + line() + b"\xff\xfe\0binary\n" + line() + b"unended"

    found = summed(tmp_path / "lines", data)

    assert found["exec"][0]["count"] == 2
    assert (found["foreign"], found["damaged"], found["complete"]) == (1, 0, True)


def test_a_file_cut_anywhere_has_its_whole_lines(tmp_path: Path) -> None:
    data = header() + b"".join(line(exec_time=f"{n}.125") for n in range(4))
    begin = len(header())
    path = tmp_path / "lines"

    for end in range(begin, len(data) + 1):
        whole = data[:end].count(b"\n") - 3
        found = summed(path, data[:end])
        assert sum(row["count"] for row in found["exec"]) == whole
        last = data[:end].rpartition(b"\n")[2]
        assert found["complete"] is (not last.startswith(b"hipadapt_verbose,"))
        assert found["damaged"] == 0


def test_a_line_cut_anywhere_harms_no_other(tmp_path: Path) -> None:
    """A process was killed in its line, and another's line follows at once."""
    one, path = line(implementation="whole"), tmp_path / "lines"
    headers, theirs = ONEDNN.encode().split(b"\nonednn_verbose,v1,primitive,create", 1)

    for begun in (
        line(implementation="cut"),
        b"hipadapt_verbose,v1,info,lost:12",
        b"onednn_verbose,v1,primitive,create" + theirs.partition(b"\n")[0],
    ):
        for end in range(len(begun)):
            found = summed(path, header() + headers + b"\n" + begun[:end] + one)

            rows = [(row["implementation"], row["count"]) for row in found["exec"]]
            assert rows == [("whole", 1)], begun[:end]
            assert found["damaged"] == (b"_verbose," in begun[:end])
            assert (found["lost"], found["told"]) == (0, {})


def test_lines_that_do_not_fit_their_header_are_counted(tmp_path: Path) -> None:
    wrong = ["nan", "inf", "-1", "1e300", "x", "", "1,2"]
    bad = b"".join(line().replace(b"0.0123", time.encode()) for time in wrong)

    found = summed(tmp_path / "lines", line() + header() + line() + bad)

    assert found["exec"][0]["count"] == 1
    assert (found["damaged"], found["headless"]) == (len(wrong), 1)


def test_a_line_without_end_takes_no_memory_and_no_other_line(tmp_path: Path) -> None:
    long = b"x" * (9 << 20) + line()[:-1] + b"\n"

    found = summed(tmp_path / "lines", header() + long + line())

    assert (found["exec"][0]["count"], found["foreign"]) == (1, 1)


@pytest.mark.parametrize("seed", range(3))
def test_damaged_files_are_read_or_refused_with_a_sentence(
    seed: int, tmp_path: Path
) -> None:
    chosen = random.Random(seed)
    whole, refused = HAND + ONEDNN.encode(), list[str]()
    for _ in range(400):
        data = bytearray(whole)
        for _ in range(chosen.randrange(1, 8)):
            at = chosen.randrange(len(data))
            data[at : at + chosen.randrange(3)] = chosen.choice([*PIECES, b",", b""])
        try:
            json.dumps(summed(tmp_path / "lines", bytes(data)))
        except VerboseError as error:
            refused.append(str(error))
    assert all(text.startswith(f"{tmp_path / 'lines'}: ") for text in refused)


def test_a_line_says_what_columns_it_has(tmp_path: Path) -> None:
    (one,) = lines_of(tmp_path / "lines", header() + line())

    assert one.values("attributes") == {"corr": "12", "ext": "0", "tid": "77"}
    assert (one.get("registers"), one.get("engine")) == ("", "gpu:0")
    with pytest.raises(KeyError, match="no column 'registers'; there are operation,"):
        one["registers"]
