# SPDX-License-Identifier: MIT
"""The hiprtc C ABI: handles, NULL pointers, and which call may follow which."""

from __future__ import annotations

import ctypes
import random
import threading

import pytest

from .rtc_library import (
    COMPILATION,
    INVALID_INPUT,
    INVALID_OPTION,
    INVALID_PROGRAM,
    KERNEL,
    NAME_EXPRESSION_NOT_VALID,
    NO_LOWERED_NAMES_BEFORE_COMPILATION,
    NO_NAME_EXPRESSIONS_AFTER_COMPILATION,
    SUCCESS,
    Rtc,
)

pytestmark = pytest.mark.usefixtures("cache_dir", "work_dir")

TEMPLATE = "template<class T> __global__ void t(T *p) { *p = T(1); }\n" + KERNEL


def use_everywhere(rtc: Rtc, program: ctypes.c_void_p) -> list[int]:
    """The answers of every call that takes a program."""
    size = ctypes.c_size_t()
    text = ctypes.c_char_p()
    room = ctypes.create_string_buffer(16)
    c = rtc.c
    return [
        c.hiprtcAddNameExpression(program, b"fill"),
        c.hiprtcCompileProgram(program, 0, None),
        c.hiprtcGetLoweredName(program, b"fill", ctypes.byref(text)),
        c.hiprtcGetProgramLogSize(program, ctypes.byref(size)),
        c.hiprtcGetProgramLog(program, room),
        c.hiprtcGetCodeSize(program, ctypes.byref(size)),
        c.hiprtcGetCode(program, room),
        c.hiprtcGetBitcodeSize(program, ctypes.byref(size)),
        c.hiprtcGetBitcode(program, room),
        c.hiprtcDestroyProgram(ctypes.byref(program)),
    ]


def test_version(rtc: Rtc) -> None:
    major, minor = ctypes.c_int(-1), ctypes.c_int(-1)

    assert rtc.c.hiprtcVersion(ctypes.byref(major), ctypes.byref(minor)) == SUCCESS
    assert major.value == 7
    assert minor.value >= 0
    assert rtc.c.hiprtcVersion(None, ctypes.byref(minor)) == INVALID_INPUT
    assert rtc.c.hiprtcVersion(ctypes.byref(major), None) == INVALID_INPUT


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (0, b"HIPRTC_SUCCESS"),
        (6, b"HIPRTC_ERROR_COMPILATION"),
        (100, b"HIPRTC_ERROR_LINKING"),
        (77, b"Invalid HIPRTC error code"),
        (-1, b"Invalid HIPRTC error code"),
    ],
)
def test_error_string(rtc: Rtc, code: int, text: bytes) -> None:
    assert rtc.c.hiprtcGetErrorString(code) == text


@pytest.mark.parametrize("number", [0, 1, 8, 2**64 - 1, 5 << 56, 0x7FFF_FFFF_FFFF])
def test_made_up_program_is_refused(rtc: Rtc, number: int) -> None:
    answers = use_everywhere(rtc, ctypes.c_void_p(number))

    assert answers == [INVALID_PROGRAM] * len(answers)
    assert "is not a program" in rtc.error_text()


def test_random_programs_are_refused(rtc: Rtc) -> None:
    chance = random.Random(1)
    _, living = rtc.create(KERNEL)
    assert living.value is not None
    size = ctypes.c_size_t()
    for _ in range(20000):
        number = chance.choice(
            [
                chance.getrandbits(64),
                living.value ^ (1 << chance.randrange(64)),
                living.value + chance.randrange(1, 2**20),
            ]
        )
        answer = rtc.c.hiprtcGetProgramLogSize(
            ctypes.c_void_p(number & (2**64 - 1)), ctypes.byref(size)
        )
        assert answer == INVALID_PROGRAM
    assert rtc.destroy(living) == SUCCESS


def test_destroyed_program_is_refused_everywhere(rtc: Rtc) -> None:
    _, program = rtc.create(KERNEL)
    stale = ctypes.c_void_p(program.value)

    assert rtc.destroy(program) == SUCCESS

    assert program.value is None
    answers = use_everywhere(rtc, stale)
    assert answers == [INVALID_PROGRAM] * len(answers)


def test_new_program_does_not_revive_an_old_handle(rtc: Rtc) -> None:
    _, program = rtc.create(KERNEL)
    stale = ctypes.c_void_p(program.value)
    rtc.destroy(program)
    fresh = [rtc.create(KERNEL)[1] for _ in range(100)]
    size = ctypes.c_size_t()

    answer = rtc.c.hiprtcGetProgramLogSize(stale, ctypes.byref(size))

    assert answer == INVALID_PROGRAM
    for other in fresh:
        assert rtc.destroy(other) == SUCCESS


def test_create_checks_its_arguments(rtc: Rtc) -> None:
    program = ctypes.c_void_p()
    create = rtc.c.hiprtcCreateProgram
    one = (ctypes.c_char_p * 1)(b"text")
    none = (ctypes.c_char_p * 1)(None)
    ref = ctypes.byref(program)

    assert create(None, b"", None, 0, None, None) == INVALID_INPUT
    assert "hiprtcCreateProgram: argument 'prog' is NULL" in rtc.error_text()
    assert create(ref, None, None, 0, None, None) == INVALID_INPUT
    assert "argument 'src' is NULL" in rtc.error_text()
    assert create(ref, b"", None, -1, None, None) == INVALID_INPUT
    assert "'numHeaders' is -1" in rtc.error_text()
    assert create(ref, b"", None, 1, None, one) == INVALID_INPUT
    assert create(ref, b"", None, 1, one, None) == INVALID_INPUT
    assert create(ref, b"", None, 1, none, one) == INVALID_INPUT
    assert create(ref, b"", None, 1, one, none) == INVALID_INPUT
    assert "'includeNames': entry 0 is NULL" in rtc.error_text()
    assert program.value is None


@pytest.mark.parametrize(
    "name",
    ["", "/etc/x.h", "../x.h", "a/../x.h", "./x.h", "a//x.h", "a/", "a\nb", 'a"b'],
)
def test_header_name_that_could_leave_its_folder_is_refused(
    rtc: Rtc, name: str
) -> None:
    result, program = rtc.create(KERNEL, headers={name: ""})

    assert result == INVALID_INPUT
    assert program.value is None
    assert "header name" in rtc.error_text()


def test_null_arguments_are_refused(rtc: Rtc) -> None:
    _, program = rtc.create(KERNEL)
    text = ctypes.c_char_p()
    c = rtc.c
    answers = [
        c.hiprtcAddNameExpression(program, None),
        c.hiprtcAddNameExpression(program, b""),
        c.hiprtcCompileProgram(program, 1, None),
        c.hiprtcCompileProgram(program, -1, None),
        c.hiprtcCompileProgram(program, 1, (ctypes.c_char_p * 1)(None)),
        c.hiprtcGetLoweredName(program, None, ctypes.byref(text)),
        c.hiprtcGetLoweredName(program, b"fill", None),
        c.hiprtcGetProgramLogSize(program, None),
        c.hiprtcGetProgramLog(program, None),
        c.hiprtcGetCodeSize(program, None),
        c.hiprtcGetCode(program, None),
        c.hiprtcGetBitcodeSize(program, None),
        c.hiprtcGetBitcode(program, None),
        c.hiprtcDestroyProgram(None),
    ]

    assert answers == [INVALID_INPUT] * len(answers)
    assert rtc.compile_program(program) == SUCCESS
    assert rtc.destroy(program) == SUCCESS


def test_results_before_compilation_are_refused(rtc: Rtc) -> None:
    _, program = rtc.create(KERNEL)
    size = ctypes.c_size_t(5)
    rtc.c.hiprtcAddNameExpression(program, b"fill")

    lowered = rtc.lowered(program, "fill")
    code = rtc.c.hiprtcGetCodeSize(program, ctypes.byref(size))

    assert lowered == NO_LOWERED_NAMES_BEFORE_COMPILATION
    assert code == INVALID_PROGRAM
    assert size.value == 5
    assert rtc.log(program) == ""
    rtc.destroy(program)


@pytest.mark.parametrize("options", [["-fgpu-rdc"], []], ids=["rdc", "whole"])
def test_program_has_bitcode_or_code_and_says_which(
    rtc: Rtc, options: list[str]
) -> None:
    _, program = rtc.create(KERNEL)
    assert rtc.compile_program(program, options) == SUCCESS
    size = ctypes.c_size_t()
    refused, given = rtc.c.hiprtcGetBitcodeSize, rtc.c.hiprtcGetCodeSize
    if options:
        refused, given = given, refused

    assert refused(program, ctypes.byref(size)) == INVALID_PROGRAM
    assert "-fgpu-rdc" in rtc.error_text()
    assert given(program, ctypes.byref(size)) == SUCCESS
    assert size.value > 100
    rtc.destroy(program)


def test_name_that_was_not_added_is_not_valid(rtc: Rtc) -> None:
    _, program = rtc.create(TEMPLATE)
    rtc.c.hiprtcAddNameExpression(program, b"t<int>")
    assert rtc.compile_program(program) == SUCCESS

    assert rtc.lowered(program, "t<int>") == "_Z1tIiEvPT_"
    assert rtc.lowered(program, "t<float>") == NAME_EXPRESSION_NOT_VALID
    rtc.destroy(program)


def test_name_expression_after_compilation_is_refused(rtc: Rtc) -> None:
    _, program = rtc.create(TEMPLATE)
    assert rtc.compile_program(program) == SUCCESS

    answer = rtc.c.hiprtcAddNameExpression(program, b"t<int>")

    assert answer == NO_NAME_EXPRESSIONS_AFTER_COMPILATION
    rtc.destroy(program)


def test_name_expression_twice_is_one(rtc: Rtc) -> None:
    _, program = rtc.create(TEMPLATE)
    for _ in range(2):
        assert rtc.c.hiprtcAddNameExpression(program, b"t<int>") == SUCCESS

    assert rtc.compile_program(program) == SUCCESS
    assert rtc.lowered(program, "t<int>") == "_Z1tIiEvPT_"
    rtc.destroy(program)


NO_EXPRESSIONS = {
    "f;int x": "a ';'",
    "f, x = &f": "a ',' outside of brackets",
    "f<1, 2>, g": "a ',' outside of brackets",
    "f<&A::operator->>, g": "a ',' outside of brackets",
    "f);int x(1": "closes a bracket",
    "f = {": "leaves a bracket open",
    "f]": "closes a bracket",
    "f(]": "closes a bracket",
    "f\n#error mine": "a '#'",
    "f\n%:error mine": "a '%:'",
    "f//": "a comment",
    "f /* ": "a comment",
    "f\\\n": "a backslash",
    "f??/": "holds '??'",
    "f<'a>": "a literal that does not end",
    'f<"a\n">': "a literal that does not end",
    'f<R"(")">': "a raw literal",
    '_Pragma("clang attribute pop") f': "a pragma",
    "f\x01": "a control character",
    " ": "names nothing",
    "&": "names nothing",
    "(" * 257 + "f" + ")" * 257: "nested too deeply",
}


@pytest.mark.parametrize("text", NO_EXPRESSIONS)
def test_name_that_is_no_expression_is_refused(rtc: Rtc, text: str) -> None:
    _, program = rtc.create(TEMPLATE)

    answer = rtc.c.hiprtcAddNameExpression(program, text.encode())

    assert answer == NAME_EXPRESSION_NOT_VALID
    said = rtc.error_text()
    assert "hiprtcAddNameExpression: argument 'name_expression' is" in said
    assert NO_EXPRESSIONS[text] in said
    assert rtc.compile_program(program) == SUCCESS
    rtc.destroy(program)


def test_comma_in_a_name_expression_declares_nothing(rtc: Rtc) -> None:
    _, program = rtc.create("__device__ int a, *b;")
    # To the eye a list of arguments of a template.
    assert rtc.c.hiprtcAddNameExpression(program, b"a < b, c = &a") == SUCCESS

    assert rtc.compile_program(program) == COMPILATION
    assert "undeclared identifier 'c'" in rtc.log(program)
    rtc.destroy(program)


def test_compilation_after_a_failure(rtc: Rtc) -> None:
    _, program = rtc.create("#ifndef GOOD\n#error bad\n#endif\n" + KERNEL)

    assert rtc.compile_program(program) == COMPILATION
    assert "bad" in rtc.log(program)
    assert rtc.compile_program(program, ["-o", "x"]) == INVALID_OPTION
    assert rtc.compile_program(program, ["-DGOOD"]) == SUCCESS
    assert rtc.log(program) == ""
    rtc.destroy(program)


def test_lowered_name_outlives_a_second_compilation(rtc: Rtc) -> None:
    source = "#ifdef A\nnamespace a {\n#else\nnamespace b {\n#endif\n"
    source += "__global__ void k(int *p) { *p = 1; }\n}\n"
    source += "#ifdef A\nnamespace n = a;\n#else\nnamespace n = b;\n#endif\n"
    _, program = rtc.create(source)
    assert rtc.c.hiprtcAddNameExpression(program, b"n::k") == SUCCESS
    first, second = ctypes.c_char_p(), ctypes.c_char_p()

    assert rtc.compile_program(program, ["-DA"]) == SUCCESS
    rtc.c.hiprtcGetLoweredName(program, b"n::k", ctypes.byref(first))
    assert rtc.compile_program(program) == SUCCESS
    rtc.c.hiprtcGetLoweredName(program, b"n::k", ctypes.byref(second))

    assert first.value == b"_ZN1a1kEPi"
    assert second.value == b"_ZN1b1kEPi"
    rtc.destroy(program)


def test_lowered_name_keeps_its_address_when_nothing_changes(rtc: Rtc) -> None:
    _, program = rtc.create(KERNEL)
    rtc.c.hiprtcAddNameExpression(program, b"fill")
    addresses = []
    for options in ([], ["-DX"], []):
        assert rtc.compile_program(program, options) == SUCCESS
        pointer = ctypes.c_void_p()
        rtc.c.hiprtcGetLoweredName(program, b"fill", ctypes.byref(pointer))
        addresses.append(pointer.value)

    assert addresses[0] == addresses[1] == addresses[2]
    rtc.destroy(program)


def test_one_program_from_many_threads(rtc: Rtc) -> None:
    _, program = rtc.create(TEMPLATE)
    rtc.c.hiprtcAddNameExpression(program, b"t<int>")
    answers: list[object] = []

    def work(number: int) -> None:
        for turn in range(5):
            answers.append(rtc.compile_program(program, [f"-DN={(number + turn) % 3}"]))
            answers.append(int(rtc.log(program) != ""))
            answers.append(int(rtc.lowered(program, "t<int>") != "_Z1tIiEvPT_"))
            answers.append(int(rtc.code(program)[:4] != b"\x7fELF"))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(answers) == 4 * 5 * 4
    assert not any(answers)
    assert rtc.destroy(program) == SUCCESS


def test_destroying_while_another_thread_compiles(rtc: Rtc) -> None:
    for turn in range(5):
        _, program = rtc.create(f"#define TURN {turn}\n" + KERNEL)
        handle = ctypes.c_void_p(program.value)
        answers: list[int] = []
        thread = threading.Thread(
            target=lambda h=handle, a=answers: a.append(rtc.compile_program(h))
        )
        thread.start()
        while rtc.destroy(program) != SUCCESS:
            pass
        thread.join()
        assert answers[0] in (SUCCESS, INVALID_PROGRAM)
