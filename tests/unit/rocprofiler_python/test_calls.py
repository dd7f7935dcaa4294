# SPDX-License-Identifier: MIT
"""The functions of rocprofiler-sdk under their C names."""

from __future__ import annotations

import ctypes
import gc
import inspect
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import hipadapt
from hipadapt import _core, rocprofiler
from hipadapt.rocprofiler import Context, Tool, _callbacks
from tests.conftest import Run
from tools.codegen import profiler_model
from tools.codegen.profiler_text import optional, result_types

SDK = profiler_model.load()
CALLS = [call for call in SDK.calls if not call.manual]
STATUS = rocprofiler.rocprofiler_status_t
KIND = rocprofiler.rocprofiler_callback_tracing_kind_t
HIP = KIND.ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API
NOT_IMPLEMENTED = STATUS.ROCPROFILER_STATUS_ERROR_NOT_IMPLEMENTED

# What no wrapper knows to refuse: numbers that are no handles, no kinds, no callbacks.
HARMLESS: dict[str, Any] = {
    "handle": 2**64 - 7,
    "user": 0,
    "number": 3,
    "enum": 2**20,
    "text": "text",
    "list": [2**20],
    "function": lambda *_: 0,
    "data": None,
    "record": bytes(128),
}
# A service that is taken with these would change the tests that follow.
UNCALLED = {"at_internal_thread_create", "at_intercept_table_registration"}


def arguments_of(call: profiler_model.Call) -> list[Any]:
    harmless = HARMLESS | {"sink": rocprofiler.EventCollector(1, 1)}
    return [harmless[param.role] for param in call.inputs()]


def raw(call: profiler_model.Call) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(_core, call.name)
    return function


def test_every_exported_function_is_there() -> None:
    library = Path(rocprofiler.library()[0])
    if shutil.which("nm") is None:
        pytest.skip("needs nm")
    shown = subprocess.run(
        ["nm", "-D", "--defined-only", str(library)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    exported = {line.split()[-1].partition("@")[0] for line in shown.splitlines()}
    exported = {name for name in exported if name.startswith("rocprofiler_")}
    # The runtime's side of registration, and what isn't in the stable headers.
    runtime = {
        name
        for name in exported
        if name.startswith(("rocprofiler_register_", "rocprofiler_set_api_table"))
        or "thread_trace" in name
        or "spm" in name
        or "trace_decode" in name
        or "ompt" in name
    }
    runtime |= {  # of experimental/counters.h and deprecated/counters.h
        "rocprofiler_load_counter_definition",
        "rocprofiler_iterate_counter_dimensions",
        "rocprofiler_query_counter_instance_count",
    }

    names = {call.name for call in SDK.calls}
    assert names - exported == set()
    assert exported - runtime - names == set()
    assert {name for name in names if not hasattr(rocprofiler, name)} == set()
    assert names <= set(rocprofiler.__all__)


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.short)
def test_signature_and_docstring_are_those_of_the_header(
    call: profiler_model.Call,
) -> None:
    function = raw(call)
    parameters = inspect.signature(function).parameters

    assert list(parameters) == [param.name for param in call.inputs()]
    left_out = [p.name for p in parameters.values() if p.default is not p.empty]
    assert left_out == list(parameters)[len(parameters) - optional(call) :]
    text = function.__doc__ or ""
    assert text.startswith(call.doc) and call.declaration() in text


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.short)
def test_result_is_a_status_and_the_outputs(call: profiler_model.Call) -> None:
    if call.short in UNCALLED:
        pytest.skip("a call of it would end or take over this process's tools")
    result = raw(call)(*arguments_of(call))
    named = raw(call)(
        **{
            p.name: value
            for p, value in zip(call.inputs(), arguments_of(call), strict=True)
        }
    )

    if call.is_text:
        assert result is None and named is None
        return
    types = result_types(call)
    for answer in (result, named):
        assert isinstance(answer, tuple) and len(answer) == 1 + len(types)
        assert isinstance(answer[0], STATUS)
    if call.inputs() and result[0] != 0:
        empty = {"int": 0, "str | None": None, "dict[str, Any] | None": None}
        for value, kind in zip(result[1:], types, strict=True):
            assert value == empty.get(kind, [])


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.short)
def test_wrong_kinds_name_function_and_argument(call: profiler_model.Call) -> None:
    function = raw(call)
    params = call.inputs()
    for at, param in enumerate(params):
        given = arguments_of(call)
        given[at] = {"text": 3.5}.get(param.role, "wrong")
        if param.role in ("data", "record"):
            given[at] = 3.5
        with pytest.raises(TypeError) as raised:
            function(*given)
        assert str(raised.value).startswith(
            f"{call.name}: argument '{param.name}' must be "
        )
        if param.role in ("handle", "user", "number", "enum"):
            given[at] = 2**64
            with pytest.raises(OverflowError, match=f"argument '{param.name}'"):
                function(*given)
    with pytest.raises(TypeError, match=rf"{call.name}\(\) takes"):
        function(*[0] * (len(params) + 1))
    if params:
        with pytest.raises(TypeError, match="unexpected keyword argument 'nothing'"):
            function(*arguments_of(call)[1:], nothing=1)


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.short)
def test_calls_leave_no_objects(call: profiler_model.Call) -> None:
    if call.short in UNCALLED:
        pytest.skip("a call of it would end or take over this process's tools")
    function, given = raw(call), arguments_of(call)

    def use() -> None:
        function(*given)
        for at in range(len(given)):
            try:
                function(*given[:at], object(), *given[at + 1 :])
            except TypeError:
                pass

    growth = []
    for _ in range(5):  # the first rounds fill caches of the interpreter
        gc.collect()
        before = sys.getallocatedblocks()
        for _ in range(50):
            use()
        gc.collect()
        growth.append(sys.getallocatedblocks() - before)

    assert min(growth) < 25, growth


def test_member_of_another_enum_is_refused() -> None:
    other = rocprofiler.rocprofiler_buffer_tracing_kind_t
    member = other.ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API

    with pytest.raises(TypeError, match=r"must be .*callback_tracing_kind_t"):
        rocprofiler.rocprofiler_query_callback_tracing_kind_name(member)


def test_handle_is_no_bool() -> None:
    with pytest.raises(TypeError, match="'context_id' must be an int, not 'bool'"):
        rocprofiler.rocprofiler_start_context(True)


def test_list_is_no_address_alone() -> None:
    with pytest.raises(TypeError, match="'operations' must be a list of ints or None"):
        rocprofiler.rocprofiler_configure_buffer_tracing_service(
            1,
            1,
            ctypes.c_void_p(16),  # type: ignore[arg-type]
            1,
        )


def test_what_is_not_implemented_says_so() -> None:
    agent = rocprofiler.agents()[0].id

    assert rocprofiler.rocprofiler_query_pc_sampling_agent_configurations(agent) == (
        NOT_IMPLEMENTED,
        [],
    )
    assert rocprofiler.rocprofiler_create_counter("a", "b", "c", agent) == (
        NOT_IMPLEMENTED,
        0,
    )


def use_in_tool(
    cpu: ModuleType, configure: Callable[[Context], Any], work: Callable[[], Any]
) -> None:
    """Work in a context that was configured in a tool."""
    context: list[Context] = []

    def initialize(tool: Tool) -> None:
        context.append(Context())
        configure(context[0])

    tool = Tool("calls", initialize=initialize).register()
    with context[0]:
        work()
    cpu.hipDeviceSynchronize()
    tool.close()


def test_c_callback_is_called_at_once_and_has_arguments(cpu: ModuleType) -> None:
    phases: list[int] = []
    arguments: list[tuple[bytes, bytes]] = []
    threads: set[int] = set()

    def argument(*words: Any) -> int:
        arguments.append((words[6], words[7]))
        return 0

    def seen(record: Any, user: Any, data: int) -> None:
        phases.append(record.phase)
        threads.add(threading.get_native_id())
        assert data == 1234
        if record.phase == 2:
            (status,) = (
                rocprofiler.rocprofiler_iterate_callback_tracing_kind_operation_args(
                    record, argument, 1
                )
            )
            assert status == 0

    callback = _callbacks.rocprofiler_callback_tracing_cb_t(seen)
    number = rocprofiler.operations("HIP_RUNTIME_API")["hipDeviceGetName"]

    def configure(context: Context) -> None:
        function = rocprofiler.rocprofiler_configure_callback_tracing_service
        assert function(context.handle, HIP, [number], callback, 1234) == (0,)

    use_in_tool(cpu, configure, lambda: cpu.hipDeviceGetName(64, 0))

    assert phases == [1, 2]
    assert [name for name, _ in arguments] == [b"name", b"len", b"device"]
    assert arguments[1][1] == b"64"
    assert threads == {threading.get_native_id()}


def test_external_identifiers_are_asked_for(cpu: ModuleType) -> None:
    collectors: list[rocprofiler.EventCollector] = []
    asked: list[tuple[Any, ...]] = []

    def request(*words: Any) -> int:
        asked.append(words[:5])
        words[5][0] = 4711
        return 0

    def configure(context: Context) -> None:
        collectors.append(context.trace([HIP]))
        service = (
            rocprofiler.rocprofiler_configure_external_correlation_id_request_service
        )
        assert service(context.handle, None, request) == (0,)

    use_in_tool(cpu, configure, lambda: cpu.hipGetDevice())
    gc.collect()

    assert [event.external for event in collectors[0].take() or ()] == [4711]
    assert asked[0][0] == threading.get_native_id()


def test_raising_c_callback_is_told(
    cpu: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda args: told.append(args.exc_value))

    def request(*_: Any) -> int:
        raise LookupError("no")

    def configure(context: Context) -> None:
        context.trace([HIP])
        service = (
            rocprofiler.rocprofiler_configure_external_correlation_id_request_service
        )
        assert service(context.handle, None, request) == (0,)

    use_in_tool(cpu, configure, lambda: cpu.hipGetDevice())

    assert [str(error) for error in told] == ["no"]


def test_tables_and_threads_call_back(run_python: Run) -> None:
    done = run_python(
        """
        from hipadapt import hip, rocprofiler
        tables, threads = [], []
        def initialize(tool):
            rocprofiler.rocprofiler_at_internal_thread_create(
                lambda library, data: threads.append("before"),
                lambda library, data: threads.append("after"),
                rocprofiler.rocprofiler_runtime_library_t.ROCPROFILER_LIBRARY,
            )
            tool.context = rocprofiler.Context()
            tool.context.buffer([1])
        def configure(info):
            status, = rocprofiler.rocprofiler_at_intercept_table_registration(
                lambda *words: tables.append((words[0], words[4])),
                rocprofiler.rocprofiler_intercept_table_t.ROCPROFILER_HIP_RUNTIME_TABLE,
                None,
            )
            print(status.name)
        rocprofiler.Tool("t", configure=configure, initialize=initialize).register()
        hip.hipGetDevice()
        print(tables, sorted(threads))
        """
    )

    lines = done.stdout.splitlines()
    assert lines[0] == "ROCPROFILER_STATUS_SUCCESS"
    table = int(rocprofiler.rocprofiler_intercept_table_t.ROCPROFILER_HIP_RUNTIME_TABLE)
    assert f"({table}, 1)" in lines[1]
    assert done.stderr == ""


def test_structures_are_those_of_the_headers(tmp_path: Path) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    shown = {
        name: kind
        for name, kind in vars(_callbacks).items()
        if isinstance(kind, type) and issubclass(kind, ctypes.Structure)
        if name.startswith("rocprofiler_")
    }
    lines = ["#include <rocprofiler-sdk/rocprofiler.h>", "#include <stddef.h>"]
    for name, kind in shown.items():
        lines.append(f'_Static_assert(sizeof({name}) == {ctypes.sizeof(kind)}, "");')
        for member, *_ in kind._fields_:
            offset = getattr(kind, member).offset
            lines.append(
                f'_Static_assert(offsetof({name}, {member}) == {offset}, "{member}");'
            )
    source = tmp_path / "layout.c"
    source.write_text("\n".join([*lines, ""]))
    words = ["gcc", "-std=c11", "-fsyntax-only", "-D__HIP_PLATFORM_AMD__=1"]
    words += [f"-I{hipadapt.get_include()}", str(source)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)

    assert len(shown) >= 7 and done.stderr == ""
