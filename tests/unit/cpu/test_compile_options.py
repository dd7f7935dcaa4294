# SPDX-License-Identifier: MIT
"""hiprtc options: what is accepted, and that nothing else reaches the compiler."""

from __future__ import annotations

import string
from pathlib import Path

import pytest

from .rtc_library import COMPILATION, INVALID_OPTION, KERNEL, SUCCESS, Rtc

pytestmark = pytest.mark.usefixtures("no_cache", "work_dir")

# Each would write the file {marker}, read {secret} or load code if clang saw it.
HOSTILE = [
    ["@{response}"],
    ["-o", "{marker}"],
    ["-o{marker}"],
    ["-MD", "-MF", "{marker}"],
    ["-MF{marker}"],
    ["-MMD"],
    ["-M"],
    ["-MJ", "{marker}"],
    ["-dependency-file", "{marker}"],
    ["-ftime-trace={marker}"],
    ["-ftime-trace"],
    ["-foptimization-record-file={marker}"],
    ["-fsave-optimization-record"],
    ["--serialize-diagnostics", "{marker}"],
    ["-serialize-diagnostic-file", "{marker}"],
    ["-diagnostic-log-file", "{marker}"],
    ["-header-include-file", "{marker}"],
    ["-stack-usage-file={marker}"],
    ["-fprofile-instr-generate={marker}"],
    ["-fcrash-diagnostics-dir={marker}"],
    ["-save-temps"],
    ["-save-stats={marker}"],
    ["-stats-file={marker}"],
    ["-fmodules-cache-path={marker}"],
    ["-emit-pch"],
    ["-fplugin={secret}"],
    ["-fpass-plugin={secret}"],
    ["-load", "{secret}"],
    ["-Xclang", "-load", "-Xclang", "{secret}"],
    ["-mllvm"],
    ["-mllvm=-time-passes"],
    ["-B{secret}"],
    ["-B", "{secret}"],
    ["--sysroot={secret}"],
    ["-isysroot", "{secret}"],
    ["--config={secret}"],
    ["--config", "{secret}"],
    ["-wrapper", "/bin/sh"],
    ["-fuse-ld=/bin/sh"],
    ["-Wp,-MD,{marker}"],
    ["-Wa,--listing={marker}"],
    ["-Wl,-o,{marker}"],
    ["-Xpreprocessor", "-MD"],
    ["-Xlinker", "-o{marker}"],
    ["-Xassembler", "-o{marker}"],
    ["-Xarch_device", "-o{marker}"],
    ["-include", "{secret}"],
    ["-include{secret}"],
    ["-imacros", "{secret}"],
    ["-include-pch", "{secret}"],
    ["-ivfsoverlay", "{secret}"],
    ["-resource-dir", "{secret}"],
    ["-working-directory", "/"],
    ["-fmodule-file={secret}"],
    ["-mlink-builtin-bitcode", "{secret}"],
    ["-fembed-offload-object={secret}"],
    ["-triple", "x86_64-linux-gnu"],
    ["--target=x86_64-linux-gnu"],
    ["-target-cpu", "znver3"],
    ["-march=native"],
    ["-x", "c"],
    ["-xir"],
    ["-E"],
    ["-S"],
    ["-c"],
    ["-v"],
    ["--help"],
    ["-cc1"],
    ["-###"],
    ["--"],
    ["-"],
    ["/etc/passwd"],
    ["user.cpp"],
    ["-std=c99"],
    ["-std=c++17 -o {marker}"],
    ["-O3 -o {marker}"],
    ["-O9"],
    ["-I"],
    ["-D"],
    ["-I-"],
    ['-DX=1\n#include "/etc/passwd"'],
    ["-ftemplate-depth=10 -o {marker}"],
    ["-ftemplate-depth="],
    ["-ftemplate-depth=99999999999999999999"],
    ["-ffp-contract=sometimes"],
    ["-cuid=/tmp"],
    ["-cuid="],
    ["--offload-arch=gfx90a"],
    ["--gpu-architecture=gfx1100"],
    ["--offload-arch"],
    ["-fsanitize=address"],
    ["-fprofile-generate"],
]


@pytest.mark.parametrize("options", HOSTILE, ids=lambda options: " ".join(options))
def test_option_outside_the_list_is_refused_by_name(
    rtc: Rtc, tmp_path: Path, work_dir: Path, options: list[str]
) -> None:
    marker = tmp_path / "marker"
    secret = tmp_path / "secret"
    response = tmp_path / "response"
    secret.write_text("topsecret\n")
    response.write_text(f"-o {marker}\n")
    filled = [
        o.replace("{marker}", str(marker))
        .replace("{secret}", str(secret))
        .replace("{response}", str(response))
        for o in options
    ]

    compiled = rtc.compile(options=filled)

    assert compiled.result == INVALID_OPTION
    assert any(option[:100] in compiled.log for option in filled)
    assert compiled.log.strip() in "error: " + rtc.error_text().split(": ", 1)[1]
    assert "topsecret" not in compiled.log
    assert not marker.exists()
    assert not list(work_dir.iterdir())


ONE_LINE = [text for option in HOSTILE for text in option if "\n" not in text]
AT_ONCE = 32


def compile_by_halves(rtc: Rtc, flag: str, texts: list[str]) -> None:
    """With all of them as values; where one is refused, each half alone."""
    values = [word for text in texts for word in (flag, text)]
    compiled = rtc.compile(options=["-ferror-limit=0", *values])
    if compiled.result == INVALID_OPTION and len(texts) > 1:
        middle = len(texts) // 2
        compile_by_halves(rtc, flag, texts[:middle])
        compile_by_halves(rtc, flag, texts[middle:])


@pytest.mark.parametrize("first", range(0, len(ONE_LINE), AT_ONCE))
@pytest.mark.parametrize("flag", ["-I", "-D"])
def test_hostile_text_behind_an_accepted_option_stays_its_value(
    rtc: Rtc, tmp_path: Path, work_dir: Path, flag: str, first: int
) -> None:
    marker = tmp_path / "marker"
    some = ONE_LINE[first : first + AT_ONCE]
    texts = [text.replace("{marker}", str(marker)) for text in some]

    def harm_of(values: list[str]) -> list[str]:
        compile_by_halves(rtc, flag, values)
        found = [path for path in (marker, *work_dir.iterdir()) if path.exists()]
        for path in found:
            path.unlink()
        return [path.name for path in found]

    harm = harm_of(texts)

    assert not harm, {text: made for text in texts if (made := harm_of([text]))}


@pytest.mark.parametrize(
    "options",
    [
        ["-O0"],
        ["-O1"],
        ["-O2"],
        ["-O3"],
        ["-Os"],
        ["-Ofast"],
        ["-ffast-math"],
        ["-ffast-math", "-fno-finite-math-only"],
        ["-fno-fast-math"],
        ["-ffp-contract=off"],
        ["-ffp-contract=on"],
        ["-std=c++11"],
        ["-std=c++14"],
        ["-std=c++17"],
        ["-std=c++20"],
        ["--std=c++20"],
        ["-std=gnu++17"],
        ["-g"],
        ["-w"],
        ["-Wall", "-Wextra", "-Wno-unused"],
        ["-fgpu-rdc"],
        ["-fgpu-rdc", "-cuid=0123abcd"],
        ["-munsafe-fp-atomics"],
        ["-mcumode"],
        ["-mllvm", "-inline-threshold=1", "-mllvm", "-time-passes"],
        ["-fno-vectorize", "-fno-slp-vectorize", "-ftrapping-math"],
        ["-mamdgpu-ieee", "-mno-amdgpu-ieee", "-mprintf-kind=buffered"],
        ["-fhip-fp32-correctly-rounded-divide-sqrt"],
        ["-fno-hip-fp32-correctly-rounded-divide-sqrt"],
        ["-Rpass=inline", "-Rpass-missed=.*", "-Rpass-analysis=loop-vectorize"],
        ["-mno-wavefrontsize64"],
        ["-fno-strict-aliasing"],
        ["-fwrapv"],
        ["-ftemplate-depth=2000"],
        ["-ferror-limit=3"],
        ["-fbracket-depth=300"],
        ["-fconstexpr-steps=2000000"],
        ["--offload-arch=native"],
        ["-x", "hip"],
        [""],
        ["-U", "UNKNOWN", "-UOTHER"],
    ],
    ids=" ".join,
)
def test_ordinary_option_is_accepted(rtc: Rtc, options: list[str]) -> None:
    compiled = rtc.compile(options=options)

    assert compiled.result == SUCCESS, compiled.log


def test_option_for_gpus_only_is_noted(rtc: Rtc) -> None:
    compiled = rtc.compile(options=["-mcumode"])

    assert compiled.log == "note: option '-mcumode' has no effect on the CPU device\n"


def test_wrong_warp_size_is_refused(rtc: Rtc, monkeypatch: pytest.MonkeyPatch) -> None:
    assert rtc.compile(options=["-mwavefrontsize64"]).result == INVALID_OPTION
    monkeypatch.setenv("HIPADAPT_CPU_WARP_SIZE", "64")
    assert rtc.compile(options=["-mwavefrontsize64"]).result == SUCCESS


@pytest.mark.parametrize(
    "options",
    [
        ["-DA=1", "-DB"],
        ["-D", "A=1", "-D", "B"],
        ["-D A=1", "-DB=2"],
        ["-DA=2", "-UA", "-DA=1", "-DB"],
    ],
    ids=" ".join,
)
def test_define_reaches_the_source_joined_and_separate(
    rtc: Rtc, options: list[str]
) -> None:
    source = "#if A != 1 || !defined(B)\n#error wrong\n#endif\n" + KERNEL

    compiled = rtc.compile(source, options)

    assert compiled.result == SUCCESS, compiled.log


def test_short_macro_does_not_break_the_device_headers(rtc: Rtc) -> None:
    names = [*string.ascii_letters, "size", "value", "index", "Type", "result"]
    options = [f"-D{name}=:" for name in names]

    compiled = rtc.compile("", options)

    assert compiled.result == SUCCESS, compiled.log


@pytest.mark.parametrize(
    ("option", "type_name"),
    [
        ("-D__HIPRTC_PTRDIFF_T_IS_LONG_LONG__", "long long"),
        ("-D__HIPRTC_PTRDIFF_T_IS_LONG_LONG__=1", "long long"),
        ("-D__HIPRTC_PTRDIFF_T_IS_LONG_LONG__=0", "long"),
        ("-D__HIPRTC_PTRDIFF_T_IS_LONG_LONG__X=1", "long"),
    ],
)
def test_macro_of_hiprtc_says_what_ptrdiff_t_is(
    rtc: Rtc, option: str, type_name: str
) -> None:
    source = f'static_assert(__is_same(ptrdiff_t, {type_name}), "");\n'

    compiled = rtc.compile(source + KERNEL, options=[option])

    assert compiled.result == SUCCESS, compiled.log


def test_function_like_macro(rtc: Rtc) -> None:
    source = "static_assert(TWICE(3) == 6);\n" + KERNEL

    compiled = rtc.compile(source, ["-DTWICE(x)=((x)+(x))"])

    assert compiled.result == SUCCESS, compiled.log


def test_mistake_in_a_macro_is_told_where_it_is(rtc: Rtc) -> None:
    compiled = rtc.compile(KERNEL, ["-D1X=2"])

    assert compiled.result == COMPILATION
    assert "<command line>:1:8: error: macro name must be an identifier" in compiled.log


@pytest.mark.parametrize("form", ["joined", "separate", "spaced", "system", "relative"])
def test_include_folder_is_searched(rtc: Rtc, work_dir: Path, form: str) -> None:
    folder = work_dir / "inc lude"
    folder.mkdir()
    (folder / "mine.h").write_text("#define VALUE 1\n")
    options = {
        "joined": [f"-I{folder}"],
        "separate": ["-I", str(folder)],
        "spaced": [f"-I {folder}"],
        "system": ["-isystem", str(folder)],
        "relative": ["-Iinc lude"],
    }[form]

    compiled = rtc.compile("#include <mine.h>\nint a[VALUE];" + KERNEL, options)

    assert compiled.result == SUCCESS, compiled.log


def test_current_folder_is_not_searched(rtc: Rtc, work_dir: Path) -> None:
    (work_dir / "local.h").write_text("")

    compiled = rtc.compile('#include "local.h"\n' + KERNEL)

    assert compiled.result == COMPILATION
    assert "'local.h' file not found" in compiled.log


def test_include_option_takes_a_registered_header_only(rtc: Rtc) -> None:
    headers = {"sub/given.h": "#define GIVEN 1\n"}
    source = "#ifndef GIVEN\n#error missing\n#endif\n" + KERNEL

    good = rtc.compile(source, ["-include", "sub/given.h"], headers=headers)
    bad = rtc.compile(source, ["-include", "other.h"], headers=headers)

    assert good.result == SUCCESS, good.log
    assert bad.result == INVALID_OPTION


def test_language_standard_reaches_the_front_end(rtc: Rtc) -> None:
    source = "template<class T> requires (sizeof(T) > 1) void f();\n" + KERNEL

    assert rtc.compile(source, ["-std=c++20"]).result == SUCCESS
    assert rtc.compile(source, ["-std=c++17"]).result == COMPILATION


@pytest.mark.parametrize(
    ("options", "macro"),
    [(["-ffast-math"], True), (["-ffast-math", "-fno-fast-math"], False), ([], False)],
)
def test_fast_math_macro_follows_the_last_option(
    rtc: Rtc, options: list[str], macro: bool
) -> None:
    condition = "#ifndef" if macro else "#ifdef"
    source = f"{condition} __FAST_MATH__\n#error wrong\n#endif\n" + KERNEL

    compiled = rtc.compile(source, options)

    assert compiled.result == SUCCESS, compiled.log


def test_warnings_as_errors(rtc: Rtc) -> None:
    source = "#warning beware\n" + KERNEL

    warned = rtc.compile(source)
    failed = rtc.compile(source, ["-Werror"])
    silent = rtc.compile(source, ["-w"])

    assert warned.result == silent.result == SUCCESS
    assert failed.result == COMPILATION
    assert "user.hip:1:2: warning: beware" in warned.log
    assert silent.log == ""
