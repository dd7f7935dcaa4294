# SPDX-License-Identifier: MIT
"""Tools and contexts of Python, and the calls under their C names."""

from __future__ import annotations

import copy
import inspect
import os
import pickle
import re
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
from hipadapt import rocprofiler
from hipadapt.rocprofiler import Context, RocprofilerError, Tool
from tests.conftest import ROOT, Run

STATUS = rocprofiler.rocprofiler_status_t
CALLBACK = rocprofiler.rocprofiler_callback_tracing_kind_t
BUFFER = rocprofiler.rocprofiler_buffer_tracing_kind_t
CALLS = CALLBACK.ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API
HEADERS = ROOT / "csrc" / "rocprofiler" / "include"


def test_tool_goes_through_its_three_functions(cpu: ModuleType) -> None:
    cpu.hipGetDevice()
    order: list[str] = []
    events: list[rocprofiler.Event] = []

    def configure(info: rocprofiler.ClientInfo) -> None:
        order.append("configure")
        assert info.runtime_version == ".".join(map(str, rocprofiler.version()))
        assert info.handle > 0

    def initialize(tool: Tool) -> None:
        order.append("initialize")
        tool.context = Context()
        tool.context.trace([CALLS], on_event=events.append, interval=3600)
        tool.context.start()

    def finalize(tool: Tool) -> None:
        order.append(f"finalize after {len(events)}")

    tool = Tool("t", configure=configure, initialize=initialize, finalize=finalize)
    tool.register()
    cpu.hipGetDevice()

    assert tool.registered and tool.context is not None and tool.context.active
    tool.close()
    tool.close()

    assert order == ["configure", "initialize", "finalize after 1"]
    assert not tool.registered and not tool.context.active
    with pytest.raises(RocprofilerError):
        tool.context.start()
    cpu.hipGetDevice()
    assert len(events) == 1


def test_tool_that_declines_is_not_initialized() -> None:
    called: list[str] = []
    tool = Tool(
        "declines",
        configure=lambda info: False,
        initialize=lambda tool: called.append("initialize"),
        finalize=lambda tool: called.append("finalize"),
    ).register()
    tool.close()

    assert called == []
    assert not tool.registered
    assert "not registered" in repr(tool)


def test_tools_that_decline_give_their_places_back(run_python: Run) -> None:
    done = run_python(
        """
        from hipadapt import rocprofiler
        from hipadapt.rocprofiler import RocprofilerError, Tool

        def fail(info):
            raise LookupError

        for _ in range(100):
            assert not Tool("declines", configure=lambda info: False).register().registered
            try:
                Tool("fails", configure=fail).register()
            except LookupError:
                pass
        late = Tool("late", configure=lambda info: late.name == "now")
        late.register()
        late.name = "now"
        tools = [late.register()] + [Tool("takes part").register() for _ in range(63)]
        assert all(tool.registered for tool in tools)
        try:
            Tool("one more").register()
        except RocprofilerError as error:
            print(error.status.name)
        print(rocprofiler.rocprofiler_force_configure(lambda *info: None)[0].name)
        """
    )

    limit = "ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES\n"
    assert (done.stdout, done.stderr) == (2 * limit, "")


@pytest.mark.parametrize("where", ["configure", "initialize"])
def test_what_a_tool_raises_is_raised_by_register(where: str) -> None:
    def fail(_: Any) -> None:
        raise LookupError(where)

    options: dict[str, Any] = {where: fail}
    tool = Tool("raises", **options)

    with pytest.raises(LookupError, match=where):
        tool.register()
    assert not tool.registered


def test_tool_whose_initialize_fails_is_dropped() -> None:
    contexts: list[Context] = []

    def initialize(tool: Tool) -> int:
        contexts.append(Context())
        return 3

    tool = Tool("fails", initialize=initialize).register()

    assert not tool.registered
    with pytest.raises(RocprofilerError):
        contexts[0].start()


def test_context_outside_of_initialize_is_refused() -> None:
    with pytest.raises(RocprofilerError) as raised:
        Context()

    assert raised.value.status == STATUS.ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED
    assert raised.value.function == "rocprofiler_create_context"
    again = pickle.loads(pickle.dumps(raised.value))
    assert (again.status, str(again)) == (raised.value.status, str(raised.value))


def test_context_with_and_external_identifiers(cpu: ModuleType) -> None:
    collectors: list[rocprofiler.EventCollector] = []

    def initialize(tool: Tool) -> None:
        tool.context = Context()
        collectors.append(tool.context.trace([CALLS]))

    tool = Tool("external", initialize=initialize).register()
    context = tool.context
    assert context is not None and context.valid and not context.active
    with context:
        assert context.active
        cpu.hipGetDevice()
        with context.external(77):
            cpu.hipGetDevice()
            with context.external(2**64 - 1):
                cpu.hipGetDevice()
        cpu.hipGetDevice()
    cpu.hipGetDevice()
    batch = collectors[0].take()
    tool.close()

    assert [event.external for event in batch or ()] == [0, 77, 2**64 - 1, 0]


def test_buffers_have_their_own_kinds(cpu: ModuleType) -> None:
    events: list[rocprofiler.Event] = []
    buffers: list[rocprofiler.Buffer] = []
    kinds = [
        BUFFER.ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API,
        BUFFER.ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT,
        BUFFER.ROCPROFILER_BUFFER_TRACING_MEMORY_COPY,
    ]

    def initialize(tool: Tool) -> None:
        tool.context = Context()
        buffers.append(tool.context.buffer(kinds, on_event=events.append, interval=99))

    tool = Tool("buffer", initialize=initialize).register()
    assert tool.context is not None
    data = bytearray(100)
    memory = cpu.hipMalloc(100)[1]
    stream = cpu.hipStreamCreate()[1]
    to_device = cpu.hipMemcpyKind.hipMemcpyHostToDevice
    with tool.context:
        cpu.hipMemcpyWithStream(memory, data, 100, to_device, stream)
    cpu.hipDeviceSynchronize()
    buffers[0].flush()
    tool.close()
    cpu.hipFree(memory)
    cpu.hipStreamDestroy(stream)

    calls, retired, copies = ([e for e in events if e.kind == kind] for kind in kinds)
    assert len(calls) == len(retired) == len(copies) == 1
    assert calls[0].correlation == retired[0].correlation == copies[0].correlation
    assert copies[0].bytes == 100 and copies[0].device == 0
    assert copies[0].stream == int(stream)
    assert calls[0].thread == threading.get_native_id()


def test_counters_count(cpu: ModuleType) -> None:
    agents = rocprofiler.agents()
    counters = rocprofiler.counters(agents[-1])
    if not counters:
        pytest.skip("nothing can be counted on this machine")
    clock = next((c for c in counters if c.name == "TASK_CLOCK"), counters[0])

    def initialize(tool: Tool) -> None:
        tool.context = Context()
        tool.context.count(agents[-1], [clock])

    tool = Tool("counters", initialize=initialize).register()
    assert tool.context is not None
    with tool.context:
        first = tool.context.sample()
        sum(range(1_000_000))
        second = tool.context.sample()
    tool.close()

    assert list(first) == [clock.name]
    assert second[clock.name] > first[clock.name] >= 0


def test_agents_are_the_host_and_the_devices(cpu: ModuleType) -> None:
    count = cpu.hipGetDeviceCount()[1]  # devices are known once HIP was used
    host, *devices = rocprofiler.agents()

    assert not host.is_device and host.device == -1 and "host" in repr(host)
    assert host.cpu_cores_count == os.cpu_count()
    assert [agent.device for agent in devices] == list(range(count))
    assert all(agent.uuid != bytes(16) for agent in devices)


def test_agents_of_devices_that_were_used_before(run_python: Run) -> None:
    done = run_python("""
        from hipadapt import hip
        count = hip.hipGetDeviceCount()[1]
        from hipadapt import rocprofiler
        print([agent.device for agent in rocprofiler.agents()] == [-1, *range(count)])
    """)

    assert done.stdout == "True\n", done.stderr


def test_c_names_do_what_the_seed_tool_does(cpu: ModuleType) -> None:
    order: list[Any] = []
    data = object()
    kinds = rocprofiler.rocprofiler_callback_tracing_kind_t

    def initialize(finalizer: Any, tool_data: Any) -> int:
        assert tool_data is data
        order.append(finalizer)
        status, context = rocprofiler.rocprofiler_create_context()
        assert status == 0 and context != 0
        names = rocprofiler.operations("HIP_RUNTIME_API")
        (status,) = rocprofiler.rocprofiler_configure_callback_tracing_service(
            context,
            kinds.ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API,
            [names["hipGetDevice"]],
            lambda event, args: order.append((event.operation, args)),
            "mine",
        )
        assert status == 0
        assert rocprofiler.rocprofiler_start_context(context_id=context) == (status,)
        assert rocprofiler.rocprofiler_context_is_active(context) == (status, 1)
        return 0

    def configure(version: int, text: str, priority: int, client: Any) -> Any:
        client.name = "seed"
        return rocprofiler.rocprofiler_tool_configure_result_t(
            initialize, lambda tool_data: order.append(tool_data), data
        )

    (status,) = rocprofiler.rocprofiler_force_configure(configure)
    cpu.hipGetDevice()
    cpu.hipGetDeviceCount()
    finalizer = order[0]
    finalizer()

    number = rocprofiler.operations("HIP_RUNTIME_API")["hipGetDevice"]
    assert status == STATUS.ROCPROFILER_STATUS_SUCCESS
    assert order[1:] == [(number, "mine"), data]


def test_force_configure_within_initialize_is_locked() -> None:
    inner: list[Any] = []

    def initialize(tool: Tool) -> None:
        try:
            Tool("inner").register()
        except RocprofilerError as error:
            inner.append(error.status)

    Tool("outer", initialize=initialize).register().close()

    assert inner == [STATUS.ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED]


def test_second_service_of_a_kind_is_refused() -> None:
    found: list[Any] = []

    def initialize(tool: Tool) -> None:
        context = Context()
        context.trace([CALLS])
        try:
            context.trace([CALLS])
        except RocprofilerError as error:
            found.append(error.status)

    Tool("twice", initialize=initialize).register().close()

    assert found == [STATUS.ROCPROFILER_STATUS_ERROR_SERVICE_ALREADY_CONFIGURED]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: rocprofiler.rocprofiler_start_context("x"),  # type: ignore[arg-type]
            TypeError,
            "rocprofiler_start_context: argument 'context_id' must be an int, not 'str'",
        ),
        (
            lambda: rocprofiler.rocprofiler_start_context(True),
            TypeError,
            "argument 'context_id' must be an int, not 'bool'",
        ),
        (
            lambda: rocprofiler.rocprofiler_start_context(-1),
            OverflowError,
            "argument 'context_id' must be 0 .. 2**64-1, not -1",
        ),
        (
            lambda: rocprofiler.rocprofiler_start_context(),  # type: ignore[call-arg]
            TypeError,
            "rocprofiler_start_context() takes 1 arguments (context_id); 0 were given",
        ),
        (
            lambda: rocprofiler.rocprofiler_start_context(1, 2),  # type: ignore[call-arg]
            TypeError,
            "rocprofiler_start_context() takes 1 arguments (context_id); 2 were given",
        ),
        (
            lambda: rocprofiler.rocprofiler_stop_context(id=3),  # type: ignore[call-arg]
            TypeError,
            "rocprofiler_stop_context() got an unexpected keyword argument 'id'",
        ),
        (
            lambda: rocprofiler.rocprofiler_create_buffer(1, 2, 3, 1, "x"),  # type: ignore[arg-type]
            TypeError,
            "argument 'callback' must be callable, an EventCollector or a C function",
        ),
        (
            lambda: rocprofiler.rocprofiler_force_configure(3),  # type: ignore[arg-type]
            TypeError,
            "argument 'configure_func' must be callable or None, not 'int'",
        ),
        (
            lambda: rocprofiler.load_tool("/nowhere/tool.so"),
            OSError,
            "load_tool: argument 'path': /nowhere/tool.so",
        ),
        (
            lambda: rocprofiler.EventCollector(0, 10),
            ValueError,
            "EventCollector: 'watermark' and 'limit' must not be 0",
        ),
    ],
)
def test_wrong_arguments_name_function_and_argument(
    call: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as raised:
        call()

    assert message in str(raised.value)


def test_force_configure_of_none_succeeds_without_a_tool() -> None:
    for _ in range(2):
        (status,) = rocprofiler.rocprofiler_force_configure(None)
        assert status == STATUS.ROCPROFILER_STATUS_SUCCESS
    assert rocprofiler.rocprofiler_is_initialized() == (status, 1)


def test_made_up_handles_answer_codes() -> None:
    for function in (
        rocprofiler.rocprofiler_start_context,
        rocprofiler.rocprofiler_stop_context,
        rocprofiler.rocprofiler_flush_buffer,
        rocprofiler.rocprofiler_destroy_buffer,
        rocprofiler.rocprofiler_destroy_counter_config,
    ):
        for handle in (0, 1, 2**64 - 1):
            assert function(handle)[0] != 0, function
    assert rocprofiler.rocprofiler_query_callback_tracing_kind_name(999) == (
        STATUS.ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND,
        None,
    )
    assert rocprofiler.rocprofiler_iterate_agent_supported_counters(5)[0] != 0
    assert rocprofiler.rocprofiler_query_counter_info(5)[0] != 0


def test_every_function_without_arguments_answers() -> None:
    functions = [
        value
        for name, value in vars(rocprofiler).items()
        if name.startswith("rocprofiler_") and inspect.isbuiltin(value)
    ]
    assert len(functions) >= 35
    for function in functions:
        if not inspect.signature(function).parameters:
            result = function()
            assert isinstance(result[0], STATUS), function


def test_enums_are_those_of_the_headers() -> None:
    headers = [p for p in sorted(HEADERS.rglob("*.h")) if "experimental" not in p.parts]
    text = "\n".join(path.read_text() for path in headers)
    names = set(re.findall(r"typedef enum (rocprofiler_\w+) \{", text))
    shown = {name for name in names if hasattr(rocprofiler, name)}

    assert names - shown <= {
        "rocprofiler_hip_table_id_t",
        "rocprofiler_marker_table_id_t",
    }
    for member in STATUS:
        name = rocprofiler.rocprofiler_get_status_name(member)
        assert name in (member.name, None), member
    assert STATUS(9999).name == "unknown(9999)" and STATUS(9999) == 9999


def test_operation_ids_are_those_of_the_library() -> None:
    known = rocprofiler.operations("HIP_RUNTIME_API")
    ids = rocprofiler.rocprofiler_hip_runtime_api_id_t
    prefix = "ROCPROFILER_HIP_RUNTIME_API_ID_"

    assert {
        member.name.removeprefix(prefix): int(member)
        for member in ids
        if member.name not in (prefix + "NONE", prefix + "LAST")
    } == known


def test_kinds_say_what_has_events() -> None:
    every, some = rocprofiler.kinds(), rocprofiler.kinds(produced=True)

    assert set(some) < set(every)
    assert "RCCL_API" in every and "RCCL_API" not in some
    assert rocprofiler.operations("RCCL_API") == {}
    assert rocprofiler.kind_name(9999) == "kind 9999"
    assert rocprofiler.library()[1]


def test_unproduced_kind_is_taken_and_gives_nothing(cpu: ModuleType) -> None:
    with rocprofiler.trace(kinds=["RCCL_API", "OMPT"]) as trace:
        cpu.hipGetDevice()

    assert trace.poll() is None


TOOL = r"""
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>
#include <stdio.h>

static void seen(rocprofiler_callback_tracing_record_t record,
                 rocprofiler_user_data_t *user, void *data)
{
    if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER)
        ++*(int *)data;
}
static int count;
static int init(rocprofiler_client_finalize_t fini, void *data)
{
    rocprofiler_context_id_t context = {0};
    rocprofiler_create_context(&context);
    rocprofiler_configure_callback_tracing_service(
        context, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, NULL, 0, seen, &count);
    return rocprofiler_start_context(context);
}
static void fini(void *data) { printf("tool saw %d calls\n", count); fflush(stdout); }
rocprofiler_tool_configure_result_t *
rocprofiler_configure(uint32_t version, const char *text, uint32_t priority,
                      rocprofiler_client_id_t *id)
{
    static rocprofiler_tool_configure_result_t result = {sizeof result, init, fini, NULL};
    id->name = "c tool";
    return &result;
}
"""


@pytest.fixture(scope="module")
def c_tool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tool library in C, compiled against the headers of the package."""
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    folder = tmp_path_factory.mktemp("tool")
    source, library = folder / "tool.c", folder / "tool.so"
    source.write_text(TOOL)
    words = ["gcc", "-std=c11", "-shared", "-fPIC", "-D__HIP_PLATFORM_AMD__=1"]
    words += [f"-I{hipadapt.get_include()}", str(source), "-o", str(library)]
    subprocess.run(words, check=True)
    return library


def test_tool_library_is_loaded_late(run_python: Run, c_tool: Path) -> None:
    done = run_python(
        f"""
        from hipadapt import hip, rocprofiler
        hip.hipGetDevice()
        rocprofiler.load_tool({str(c_tool)!r})
        for _ in range(3):
            hip.hipGetDevice()
        try:
            rocprofiler.load_tool({str(c_tool)!r})
        except rocprofiler.RocprofilerError as error:
            print(error.status.name)
        """
    )

    assert done.stdout.splitlines() == [
        "ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED",
        "tool saw 3 calls",
    ]


def test_library_without_configure_is_refused() -> None:
    library = Path(rocprofiler.library()[0]).with_name("libroctx64.so.4")

    with pytest.raises(ValueError, match=r"libroctx64.* has no rocprofiler_configure"):
        rocprofiler.load_tool(library)


def test_get_include_has_the_headers() -> None:
    folder = Path(hipadapt.get_include())

    for name in ("rocprofiler.h", "registration.h"):
        assert (folder / "rocprofiler-sdk" / name).is_file()
    assert (folder / "hip" / "hip_runtime.h").is_file()


def test_import_of_the_package_does_not_import_the_profiler(run_python: Run) -> None:
    done = run_python(
        """
        import sys, hipadapt
        from hipadapt import hip
        hip.hipGetDevice()
        print([name for name in sys.modules if "rocprofiler" in name])
        hipadapt.rocprofiler.trace
        print("hipadapt.rocprofiler" in sys.modules)
        """
    )

    assert done.stdout.split() == ["[]", "True"]


def test_finalize_at_exit_comes_after_all_events(run_python: Run) -> None:
    done = run_python(
        """
        import threading
        from hipadapt import hip, rocprofiler
        hip.hipGetDevice()
        seen = []
        def initialize(tool):
            tool.context = rocprofiler.Context()
            tool.context.trace(["HIP_RUNTIME_API"], on_event=seen.append, interval=3600)
            tool.context.start()
        def finalize(tool):
            print("finalize", len(seen), threading.current_thread().name)
        rocprofiler.Tool("t", initialize=initialize, finalize=finalize).register()
        for _ in range(7):
            hip.hipGetDevice()
        """
    )

    assert done.stdout.split() == ["finalize", "7", "MainThread"]
    assert done.stderr == ""


def example_lines(*words: str, **settings: str) -> list[str]:
    """What a tool has printed while a program ran, with letters for numbers."""
    done = subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env={
            **os.environ,
            "HIPADAPT_PROVIDER": "cpu",
            "PYTHONPATH": str(ROOT),
            **settings,
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "result        same as numpy" in done.stdout
    lines = [line for line in done.stdout.splitlines() if line.startswith("[tool] ")]
    # Sizes, times and addresses of images differ; their numbers are in order.
    return [re.sub(r"memory://\S*|(?<=, )file://\S*", "URI", line) for line in lines]


def test_example_prints_what_the_tool_library_prints(tmp_path: Path) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    library = tmp_path / "libtool.so"
    source = ROOT / "examples" / "tool_library" / "tool.c"
    words = ["gcc", "-std=c11", "-shared", "-fPIC", "-D__HIP_PLATFORM_AMD__=1"]
    words += [f"-I{hipadapt.get_include()}", str(source), "-o", str(library)]
    subprocess.run(words, check=True, timeout=60)
    small = ("--size", "64", "--steps", "3")

    in_c = example_lines(
        "-m", "hipadapt", "demo", *small, ROCP_TOOL_LIBRARIES=str(library)
    )
    in_python = example_lines("examples/profiler_tool.py", *small)

    assert len(in_c) >= 6 and in_c[-1].startswith("[tool] ExampleTool: ")
    assert sorted(in_python) == sorted(in_c)


@pytest.mark.parametrize("result", [1, (), (1,), (0,), None, "text", [0]])
def test_check_of_what_is_no_result_is_a_type_error(result: Any) -> None:
    with pytest.raises(TypeError, match=r"check: argument 'result' must be a tuple"):
        rocprofiler.check("rocprofiler_start_context", result)
    with pytest.raises(TypeError, match="check"):
        rocprofiler.check(result)  # type: ignore[call-arg]


@pytest.mark.parametrize("action", [copy.copy, copy.deepcopy, pickle.dumps])
def test_contexts_and_tools_have_no_copies(action: Callable[[Any], Any]) -> None:
    with rocprofiler.trace(kinds=["HIP_RUNTIME_API"]) as trace:
        owners = [Tool("copied"), trace, trace.context]
        for owner in owners:
            with pytest.raises(TypeError, match="cannot pickle or copy"):
                action(owner)
