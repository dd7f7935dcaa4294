# SPDX-License-Identifier: MIT
"""Compiling: messages, limits, and what the compiler's process can and cannot do."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from . import rtc_library
from .rtc_library import (
    COMPILATION,
    INTERNAL_ERROR,
    KERNEL,
    SUCCESS,
    TRAILER_BYTES,
    Rtc,
    zig_path,
)
from .test_contraction import HEADERS

pytestmark = pytest.mark.usefixtures("no_cache", "work_dir")


def test_code_is_an_elf_file_with_its_trailer(rtc: Rtc) -> None:
    compiled = rtc.compile()

    assert compiled.result == SUCCESS, compiled.log
    assert compiled.log == ""
    assert compiled.code[:4] == b"\x7fELF"
    trailer = compiled.code[-TRAILER_BYTES:]
    assert trailer[:8] == b"HAIMAGE1"
    assert int.from_bytes(trailer[8:16], sys.byteorder) + 64 == len(compiled.code)


def test_same_source_gives_the_same_code(rtc: Rtc) -> None:
    headers = {"a.h": "inline const char *where() { return __FILE__; }\n"}
    source = '#include "a.h"\n' + KERNEL

    first = rtc.compile(source, ["-g"], headers=headers)
    second = rtc.compile(source, ["-g"], headers=headers)

    assert first.result == SUCCESS, first.log
    assert first.code == second.code


@pytest.mark.parametrize(
    "name", ["user.hip", "dir/user file.hip", 'quo"te.hip', "back\\slash.hip", "é.hip"]
)
def test_error_has_the_users_file_line_and_column(rtc: Rtc, name: str) -> None:
    source = 'extern "C" __global__ void k(int *p)\n{\n    *p = missing_value;\n}\n'

    compiled = rtc.compile(source, name=name)

    assert compiled.result == COMPILATION
    first = compiled.log.splitlines()[0]
    assert first == f"{name}:3:10: error: use of undeclared identifier 'missing_value'"
    assert "1 error generated.\n" in compiled.log


def test_source_without_a_name_has_one(rtc: Rtc) -> None:
    compiled = rtc.compile("int x = ;\n", name=None)

    assert compiled.log.startswith("program.hip:1:9: error: ")


def test_line_break_in_the_name_cannot_add_source(rtc: Rtc) -> None:
    compiled = rtc.compile(KERNEL, name='x"\n#error injected\n')

    assert compiled.result == SUCCESS, compiled.log


def test_error_in_a_registered_header_names_the_header(rtc: Rtc) -> None:
    headers = {"lib/a.h": '#include "lib/b.h"\n', "lib/b.h": "\nint x = ;\n"}

    compiled = rtc.compile('#include "lib/a.h"\n', headers=headers)

    assert compiled.result == COMPILATION
    assert "lib/b.h:2:9: error: expected expression" in compiled.log
    assert "In file included from user.hip:1:" in compiled.log
    assert "hipadapt-" not in compiled.log
    assert "./" not in compiled.log


def test_registered_header_is_found_quoted_and_in_angles(rtc: Rtc) -> None:
    headers = {"sub/a.h": '#include "b.h"\n', "sub/b.h": "#define B 1\n", "c.h": ""}
    source = '#include <sub/a.h>\n#include "c.h"\nint b[B];\n' + KERNEL

    compiled = rtc.compile(source, headers=headers)

    assert compiled.result == SUCCESS, compiled.log


def test_bad_name_expression_is_told_in_the_log(rtc: Rtc) -> None:
    compiled = rtc.compile(names=["no_such_kernel<int>"])

    assert compiled.result == COMPILATION
    assert "no_such_kernel" in compiled.log
    assert "name expression" in compiled.log


@pytest.mark.parametrize(
    "type_name", ["__half", "__hip_bfloat16", "hip_bfloat16", "hipFloatComplex"]
)
def test_built_in_type_needs_no_include(rtc: Rtc, type_name: str) -> None:
    """Neither where the source names it, nor where only a name expression does."""
    named = f"__global__ void of_one({type_name} *x) {{ x[0] = x[1]; }}"
    template = "template <class T> __global__ void of_any(T *x) { x[0] = x[1]; }"
    expression = f"of_any<{type_name}>"

    in_source = rtc.compile(named)
    in_expression = rtc.compile(template, names=[expression])

    assert in_source.result == SUCCESS, in_source.log
    assert in_expression.result == SUCCESS, in_expression.log


def test_headers_leave_capital_letters_to_the_program(rtc: Rtc) -> None:
    headers = """algorithm complex initializer_list iterator limits tuple type_traits
        utility hip/hip_bf16.h hip/hip_complex.h hip/hip_cooperative_groups.h
        hip/hip_fp16.h hip/hip_fp8.h""".split()
    source = "".join(f"#include <{name}>\n" for name in headers) + KERNEL
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

    compiled = rtc.compile(source, [f"-D{letter}=3" for letter in letters])

    assert compiled.result == SUCCESS, compiled.log


def test_headers_leave_layout_and_warnings_to_the_program(rtc: Rtc) -> None:
    program = """
        struct Row { char c; int i; };
        static_assert(sizeof(Row) == 8, "packed");
        extern "C" __global__ void warned(Row *r) { int forgotten; r->i = r->c; }
        extern "C" __global__ void narrowed(char *c, int i) { *c = i; }
    """
    source = "".join(f"#include <{name}>\n" for name in HEADERS) + program

    compiled = rtc.compile(source, ["-Wall", "-Wconversion"])

    assert compiled.result == SUCCESS, compiled.log
    assert "unused variable 'forgotten'" in compiled.log
    assert "implicit conversion loses integer precision" in compiled.log


def test_lowered_names(rtc: Rtc) -> None:
    source = (
        """
    namespace ns { template<class T, int N> __global__ void k(T *p) { *p = N; } }
    __device__ int variable;
    __constant__ float constants[4];
    """
        + KERNEL
    )
    names = ["ns::k<float, 3>", "&ns::k<int, 1>", "&variable", "constants", "fill"]

    compiled = rtc.compile(source, names=names)

    assert compiled.result == SUCCESS, compiled.log
    assert compiled.lowered == {
        "ns::k<float, 3>": "_ZN2ns1kIfLi3EEEvPT_",
        "&ns::k<int, 1>": "_ZN2ns1kIiLi1EEEvPT_",
        "&variable": "variable",
        "constants": "constants",
        "fill": "fill",
    }


def test_literals_in_name_expressions(rtc: Rtc) -> None:
    source = "template <char c, long n> __global__ void k(long *p) { *p = c + n; }"
    names = [
        "k<'a', 8 >= 3>",
        "k<';', 1'000>",
        "k<'\\'', (1 << 2)>",
        "k<u8')', 0x1'f>",
        "&k<'\"', 2>",
    ]

    compiled = rtc.compile(source, names=names)

    assert compiled.result == SUCCESS, compiled.log
    assert [*compiled.lowered.values()] == [
        "_Z1kILc97ELl1EEvPl",
        "_Z1kILc59ELl1000EEvPl",
        "_Z1kILc39ELl4EEvPl",
        "_Z1kILc41ELl31EEvPl",
        "_Z1kILc34ELl2EEvPl",
    ]


FILE_ASSEMBLY = {
    "plain": 'asm("nop");',
    "other spelling": '__asm__\n(".globl x");',
    "file": 'asm(".incbin \\"/etc/hostname\\"");',
    "in a namespace": 'namespace n { extern "C" { __asm("nop"); } }',
    "language without braces": 'extern "C" asm("nop");',
    "by a macro": '#define LINE asm\nLINE("nop");',
    "of an option": "LINE",
    "of a header": "#include <given.h>",
    "of a file": "#include <file.h>",
}


@pytest.mark.parametrize(
    ("what", "more"),
    [*((what, ()) for what in FILE_ASSEMBLY), ("plain", ("-fgpu-rdc",))],
)
def test_assembly_outside_of_functions_is_refused(
    rtc: Rtc, tmp_path: Path, what: str, more: tuple[str, ...]
) -> None:
    text = 'asm("nop");\n'
    (tmp_path / "file.h").write_text(text)
    options = [f"-DLINE={text}".strip(), f"-I{tmp_path}", *more]

    compiled = rtc.compile(
        FILE_ASSEMBLY[what] + "\n" + KERNEL, options, headers={"given.h": text}
    )

    assert compiled.result == COMPILATION
    assert "the program contains assembly outside of functions" in compiled.log
    assert "__asm (" in compiled.log


def test_other_uses_of_the_word_asm_are_no_assembly(rtc: Rtc) -> None:
    source = """
        // asm("in a comment");
        #define UNUSED asm("nop");
        #if 0
        asm("nop");
        #endif
        __device__ int named(int x) asm("another name");
        __device__ int named(int x) { asm("" ::: "memory"); return x; }
        __constant__ const char text[] = "\\n__asm (\\"nop\\")", quote = '"';
        extern "C" __global__ void k(int *p) { *p = named(text[*p]) + quote; }
    """

    compiled = rtc.compile(source)

    assert compiled.result == SUCCESS, compiled.log


@pytest.mark.parametrize(
    "variable",
    [
        "CPATH",
        "C_INCLUDE_PATH",
        "CPLUS_INCLUDE_PATH",
        "OBJC_INCLUDE_PATH",
        "COMPILER_PATH",
        "CCC_OVERRIDE_OPTIONS",
        "CLANG_CONFIG_FILE_USER_DIR",
    ],
)
def test_environment_does_not_change_the_compilation(
    rtc: Rtc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    folder = tmp_path / "hostile"
    folder.mkdir()
    (folder / "hostile.h").write_text("")
    value = "# +-DHOSTILE" if variable == "CCC_OVERRIDE_OPTIONS" else str(folder)
    monkeypatch.setenv(variable, value)
    source = (
        "#if defined(HOSTILE) || __has_include(<hostile.h>)\n#error hostile\n#endif\n"
    )

    compiled = rtc.compile(source + KERNEL)

    assert compiled.result == SUCCESS, compiled.log


def test_missing_compiler_is_explained(
    rtc: Rtc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = tmp_path / "none" / "zig"
    monkeypatch.setenv("HIPADAPT_COMPILER", str(missing))

    compiled = rtc.compile()

    assert compiled.result == INTERNAL_ERROR
    assert str(missing) in compiled.log
    assert "No such file or directory" in compiled.log
    assert "pip install ziglang==0.15.2" in compiled.log
    assert "HIPADAPT_COMPILER" in compiled.log


def test_every_place_tried_is_listed(rtc: Rtc) -> None:
    if (zig := zig_path()) is None:
        pytest.skip("ziglang is not installed")
    library = rtc_library.library_path()
    assert library is not None
    rtc.c.hipadaptSetCompiler(None)
    try:
        compiled = rtc.compile()
    finally:
        rtc.c.hipadaptSetCompiler(zig.encode())

    if compiled.result != SUCCESS:  # else a ziglang lies above the library
        assert compiled.result == INTERNAL_ERROR
        for folder in library.resolve().parent.parents:
            assert str(folder / "ziglang" / "zig") in compiled.log


def test_other_program_as_compiler_is_refused(
    rtc: Rtc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "zig"
    script.write_text("#!/bin/sh\ncat\n")
    script.chmod(0o755)
    monkeypatch.setenv("HIPADAPT_COMPILER", str(script))

    compiled = rtc.compile()

    assert compiled.result == INTERNAL_ERROR
    assert "not the compiler of ziglang 0.15.2" in compiled.log


@pytest.mark.parametrize(
    "body",
    ["exit 3", "kill -SEGV $$", "echo half; kill -KILL $$", "true"],
    ids=["fails", "crashes", "is killed", "writes nothing"],
)
def test_compiler_that_breaks_is_an_error(
    rtc: Rtc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str
) -> None:
    script = tmp_path / "zig"
    script.write_text(f"#!/bin/sh\n{body}\n")
    script.chmod(0o755)
    monkeypatch.setenv("HIPADAPT_COMPILER", str(script))

    compiled = rtc.compile()

    assert compiled.result == COMPILATION
    assert "the front end" in compiled.log


CONSTEXPR_BOMB = """
constexpr int spin(int n) { int s = 0; for (int i = 0; i < n; i++) s ^= i; return s; }
constexpr int value = spin(2000000000);
"""


def test_endless_constexpr_ends_at_the_time_limit(
    rtc: Rtc, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HIPADAPT_COMPILE_TIMEOUT", "1")
    others = children()
    before = time.monotonic()

    compiled = rtc.compile(CONSTEXPR_BOMB + KERNEL, ["-fconstexpr-steps=999999999"])

    assert compiled.result == COMPILATION
    assert "did not end within 1 s (HIPADAPT_COMPILE_TIMEOUT)" in compiled.log
    assert time.monotonic() - before < 3
    assert children() == others


def test_interrupt_ends_the_compilation(rtc: Rtc) -> None:
    """In a process of its own: the check of this one belongs to hipadapt."""
    del rtc
    script = f"""
import ctypes, os, sys, time
sys.path.insert(0, {str(Path(__file__).parent)!r})
import rtc_library
rtc = rtc_library.Rtc({str(rtc_library.library_path())!r})
asked, start = [], time.monotonic()
@ctypes.CFUNCTYPE(ctypes.c_int)
def check():
    asked.append(time.monotonic())
    return int(time.monotonic() - start > 0.3)
rtc.c.hipadaptSetInterruptCheck(check)
compiled = rtc.compile({CONSTEXPR_BOMB!r}, ["-fconstexpr-steps=999999999"])
assert compiled.result == {COMPILATION}
assert "interrupted" in compiled.log
assert time.monotonic() - start < 1.5
assert len(asked) >= 3
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("alone")
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60
    )

    assert done.stdout == "alone\n", done.stderr


def test_memory_bomb_ends_at_the_memory_limit(
    rtc: Rtc, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HIPADAPT_COMPILE_MEMORY", "400")
    source = """
    template<class T, T... I> struct sequence { static const T size = sizeof...(I); };
    int size = __make_integer_seq<sequence, int, 100000000>::size;
    """

    compiled = rtc.compile(source + KERNEL, ["-ftemplate-depth=30000"])

    assert compiled.result == COMPILATION
    assert "needs more than 400 MiB (HIPADAPT_COMPILE_MEMORY)" in compiled.log


def test_deep_recursion_of_the_parser_is_survived(rtc: Rtc) -> None:
    source = "int x = " + "(" * 100000 + "1" + ")" * 100000 + ";\n"

    compiled = rtc.compile(source, ["-fbracket-depth=999999"])

    assert compiled.result == COMPILATION
    assert compiled.log


def test_large_source_compiles(rtc: Rtc) -> None:
    line = "// 0123456789 0123456789 0123456789 0123456789 0123456789 01234\n"
    source = line * 150000 + KERNEL

    compiled = rtc.compile(source)

    assert compiled.result == SUCCESS, compiled.log


def test_many_messages_are_bounded(rtc: Rtc) -> None:
    source = "".join(f"int x{i} = missing{i};\n" for i in range(15000))

    compiled = rtc.compile(source, ["-ferror-limit=0"])

    assert compiled.result == COMPILATION
    assert len(compiled.log) < 1_100_000
    assert "more bytes of messages" in compiled.log


def test_source_ends_at_nul(rtc: Rtc) -> None:
    compiled = rtc.compile(KERNEL.encode() + b"\0#error not seen\n")

    assert compiled.result == SUCCESS, compiled.log


@pytest.mark.parametrize("source", ["", "\n", "// nothing\n", "\ufeff" + KERNEL])
def test_source_at_the_edges_compiles(rtc: Rtc, source: str) -> None:
    compiled = rtc.compile(source)

    assert compiled.result == SUCCESS, compiled.log


def test_source_of_arbitrary_bytes_is_an_error(rtc: Rtc) -> None:
    compiled = rtc.compile(bytes(range(1, 256)) * 10)

    assert compiled.result == COMPILATION


def children() -> list[str]:
    """Processes whose parent is this one."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rsplit(")", 1)[1].split()
        except (OSError, IndexError):
            continue
        if int(fields[1]) == os.getpid():
            found.append(entry.parent.name)
    return sorted(found)


def test_no_descriptor_and_no_process_is_left_behind(rtc: Rtc) -> None:
    headers = {"a.h": ""}
    others = children()
    rtc.compile(headers=headers)
    before = sorted(os.listdir("/proc/self/fd"))

    for options in ([], ["-bad"], ["-DX"]):
        rtc.compile(options=options, headers=headers)
        rtc.compile("int x = ;", options, headers=headers)

    assert sorted(os.listdir("/proc/self/fd")) == before
    assert children() == others


def test_descriptors_of_the_program_do_not_reach_the_compiler(
    rtc: Rtc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listing = tmp_path / "listing"
    script = tmp_path / "zig"
    script.write_text(
        f"#!/bin/bash\nls -l /proc/$$/fd > {listing}\nenv >> {listing}\nexit 1\n"
    )
    script.chmod(0o755)
    monkeypatch.setenv("HIPADAPT_COMPILER", str(script))
    monkeypatch.setenv("SECRET", "topsecret")
    mine = os.open("/dev/zero", os.O_RDONLY)
    os.set_inheritable(mine, True)
    try:
        rtc.compile()
    finally:
        os.close(mine)

    text = listing.read_text()
    assert "/dev/zero" not in text
    assert "topsecret" not in text
    assert "LANG=C" in text


@pytest.mark.parametrize("setup", ["ignore", "reaper", "closed"])
def test_works_in_a_process_that(rtc: Rtc, setup: str) -> None:
    """SIGCHLD ignored; another thread reaps all children; descriptors 0 to 2 closed."""
    library = rtc_library.library_path()
    script = f"""
import os, signal, sys, threading, types
setup = {setup!r}
if setup == "closed":
    for fd in range(3): os.close(fd)
elif setup == "ignore":
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
else:
    def reap():
        while True:
            try: os.waitpid(-1, 0)
            except ChildProcessError: pass
    threading.Thread(target=reap, daemon=True).start()
sys.path.insert(0, {str(Path(__file__).parent)!r})
import rtc_library
rtc = rtc_library.Rtc({str(library)!r})
for _ in range(5):
    good = rtc.compile(headers={{"a.h": ""}})
    bad = rtc.compile("int x = ;")
    assert good.result == 0, good.log
    assert bad.result == 6, bad.log
os._exit(7)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120
    )

    assert done.returncode == 7, done.stderr


def test_many_threads_compile_at_once(rtc: Rtc) -> None:
    failures: list[str] = []

    def work(number: int) -> None:
        for turn in range(3):
            source = f"#define N {number * 10 + turn}\nint a[N + 1];\n" + KERNEL
            compiled = rtc.compile(source, headers={"h.h": "\n"})
            if compiled.result != SUCCESS:
                failures.append(compiled.log)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert not failures


def test_library_says_where_time_went(rtc: Rtc) -> None:
    """HIPADAPT_LOG=3 writes a line a step."""
    library = rtc_library.library_path()
    script = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import rtc_library
assert rtc_library.Rtc({str(library)!r}).compile().result == 0
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "HIPADAPT_LOG": "3"},
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert done.returncode == 0, done.stderr
    for step in ("the front end", "the rewriter", "the back end", "the linker"):
        assert re.search(rf"hipadapt: {step} took [0-9.]+ ms", done.stderr)
