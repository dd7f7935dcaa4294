# SPDX-License-Identifier: MIT
"""Ends, threads, garbage and missing memory: nothing crashes, hangs or leaks."""

from __future__ import annotations

import gc
import shutil
import subprocess
import sys
import threading
import weakref
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from hipadapt import _core, rocprofiler
from hipadapt.rocprofiler import Context, Tool, _trace
from tests.conftest import Run, in_threads

from .test_calls import CALLS, UNCALLED, arguments_of

KINDS = ["HIP_RUNTIME_API"]
ALLOCATIONS = 40


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.short)
def test_failing_allocations_are_memory_errors(call: Any) -> None:
    _testcapi = pytest.importorskip("_testcapi")
    if call.short in UNCALLED:
        pytest.skip("a call of it would end or take over this process's tools")
    function, given = getattr(_core, call.name), arguments_of(call)
    for index, param in enumerate(call.inputs()):
        if param.role == "function":  # ctypes has an answer of its own
            given[index] = 4096
    function(*given)
    for number in range(ALLOCATIONS):
        failed: BaseException | None = None
        _testcapi.set_nomemory(number, number + 1)
        try:
            function(*given)
        except BaseException as error:
            failed = error
        finally:
            _testcapi.remove_mem_hooks()
        assert failed is None or isinstance(failed, MemoryError), (number, failed)


def test_failing_allocations_of_batches(cpu: ModuleType) -> None:
    _testcapi = pytest.importorskip("_testcapi")
    failures = 0
    with rocprofiler.trace(kinds=KINDS, arguments=True) as trace:
        for number in range(60):
            cpu.hipGetDevice()
            batch = None
            _testcapi.set_nomemory(number, number + 1)
            try:
                batch = trace.poll()
                if batch is not None:
                    batch[0]
                    repr(batch)
            except MemoryError:
                failures += 1
            finally:
                _testcapi.remove_mem_hooks()
    assert failures >= 5
    cpu.hipGetDevice()
    trace.poll()


def test_forgotten_trace_is_used_again_and_lets_go(cpu: ModuleType) -> None:
    class Callback:
        def __call__(self, batch: rocprofiler.EventBatch) -> None: ...

    callback = Callback()
    gone = weakref.ref(callback)
    options: dict[str, Any] = {"kinds": KINDS, "operations": ["hipGetDevice"]}
    trace = rocprofiler.trace(callback, limit=3210, **options)
    with trace:
        cpu.hipGetDevice()
    context = trace.context
    del trace, callback
    gc.collect()
    again = rocprofiler.trace(limit=3210, **options)

    assert again.context is context
    gc.collect()
    assert gone() is None
    again.close()


def test_trace_may_be_collected_while_the_lock_is_held(cpu: ModuleType) -> None:
    # A finalizer runs wherever garbage is collected, on a thread that may hold it.
    trace = rocprofiler.trace(kinds=KINDS, limit=1234)
    with _trace._lock:
        del trace
        gc.collect()
    rocprofiler.trace(kinds=KINDS, limit=1234).close()


def test_traces_on_many_threads(cpu: ModuleType) -> None:
    def work() -> None:
        for _ in range(20):
            events: list[rocprofiler.Event] = []
            with rocprofiler.trace(on_event=events.append, kinds=KINDS) as trace:
                cpu.hipGetDevice()
            trace.close()
            me = threading.get_native_id()
            assert sum(event.thread == me for event in events) >= 1

    in_threads(6, work)


@pytest.mark.parametrize("answer", [2**32, -1, 7])
def test_initialize_that_answers_a_number_drops_the_tool(answer: int) -> None:
    tool = Tool("number", initialize=lambda tool: answer).register()

    assert not tool.registered


def test_initialize_that_answers_something_else_is_refused() -> None:
    function: Any = lambda tool: "text"  # noqa: E731
    tool = Tool("text", initialize=function)

    with pytest.raises(TypeError, match="must return an int or None, not 'str'"):
        tool.register()
    assert not tool.registered


def test_finalizer_may_be_called_again() -> None:
    ends: list[Any] = []
    finalizers: list[Any] = []

    def initialize(finalizer: Any, data: Any) -> int:
        finalizers.append(finalizer)
        return 0

    def configure(version: int, text: str, priority: int, client: Any) -> Any:
        return rocprofiler.rocprofiler_tool_configure_result_t(
            initialize, ends.append, "data"
        )

    assert rocprofiler.rocprofiler_force_configure(configure)[0] == 0
    finalizers[0]()
    finalizers[0](None)

    assert ends == ["data"]


def test_finalize_that_raises_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda args: told.append(args.exc_value))

    def fail(tool: Tool) -> None:
        raise LookupError("no")

    Tool("fails", finalize=fail).register().close()

    assert [str(error) for error in told] == ["no"]


def test_interrupt_in_a_callable_stops_the_delivery(cpu: ModuleType) -> None:
    calls: list[int] = []

    def interrupt(event: rocprofiler.Event) -> None:
        calls.append(1)
        raise KeyboardInterrupt

    trace = rocprofiler.trace(on_event=interrupt, kinds=KINDS, interval=3600).start()
    cpu.hipGetDevice()
    cpu.hipGetDevice()
    trace.stop()
    with pytest.raises(KeyboardInterrupt):
        trace.flush()
    trace.close()

    assert calls == [1]


@pytest.mark.parametrize(
    "code",
    [
        "t = rocprofiler.trace(print, kinds=KINDS)",
        "t = rocprofiler.trace(print, kinds=KINDS); del t",
        "t = rocprofiler.trace(print, kinds=KINDS); c = [t]; c.append(c); del t, c",
        "rocprofiler.EventCollector(1, 1)",
        "t = rocprofiler.Tool('t', initialize=lambda t: rocprofiler.Context() and None);"
        "t.register()",
        "t = rocprofiler.trace(kinds=KINDS).start(); hip.hipGetDevice();"
        "b = t.poll(); m = memoryview(b)",
        "import os; rocprofiler.trace(kinds=KINDS).start(); os.fork()",
        "import threading; rocprofiler.trace(kinds=KINDS).start();"
        "threading.Thread(target=lambda: [hip.hipGetDevice() for _ in range(10**7)],"
        " daemon=True).start()",
        "rocprofiler.rocprofiler_force_configure(lambda *a: None)",
    ],
)
def test_process_ends_quietly(run_python: Run, code: str) -> None:
    done = run_python(
        f"""
        from hipadapt import hip, rocprofiler
        KINDS = ["HIP_RUNTIME_API"]
        hip.hipGetDevice()
        {code}
        """
    )

    assert (done.returncode, done.stderr) == (0, "")


def test_exit_within_a_callable(run_python: Run) -> None:
    done = run_python(
        """
        import os, sys
        from hipadapt import hip, rocprofiler
        hip.hipGetDevice()
        def leave(batch):
            sys.exit(3)
        trace = rocprofiler.trace(leave, kinds=["HIP_RUNTIME_API"], interval=3600)
        with trace:
            hip.hipGetDevice()
        print("here")
        """
    )

    assert done.stdout.split() == ["here"]
    assert "SystemExit: 3" in done.stderr


def test_subinterpreter_does_not_crash(run_python: Run) -> None:
    pytest.importorskip("_testcapi")
    done = run_python(
        """
        import _testcapi
        from hipadapt import hip, rocprofiler
        hip.hipGetDevice()
        trace = rocprofiler.trace(kinds=["HIP_RUNTIME_API"]).start()
        code = '''
        try:
            from hipadapt import hip, rocprofiler
            hip.hipGetDevice()
            rocprofiler.kinds()
        except ImportError:
            pass
        '''
        import textwrap
        _testcapi.run_in_subinterp(textwrap.dedent(code))
        hip.hipGetDevice()
        trace.stop()
        print(len(trace.poll()) >= 1)
        """
    )

    assert (done.returncode, done.stdout.split()) == (0, ["True"]), done.stderr


def test_context_is_made_in_initialize_of_any_thread() -> None:
    made: list[Context] = []

    def initialize(tool: Tool) -> None:
        made.append(Context())

    thread = threading.Thread(
        target=lambda: Tool("thread", initialize=initialize).register()
    )
    thread.start()
    thread.join()

    assert made[0].valid


FOREIGN = """
from hipadapt import hip, rocprofiler
print(*rocprofiler.library())
def initialize(tool):
    tool.context = rocprofiler.Context()
    tool.context.trace(["HIP_RUNTIME_API"])
    tool.context.start()
def finalize(tool):
    print("finalize", tool.name)
rocprofiler.Tool("one", initialize=initialize, finalize=finalize).register()
two = rocprofiler.Tool("two", initialize=initialize, finalize=finalize).register()
two.close()
print(rocprofiler.rocprofiler_create_callback_thread()[0].name)
print(rocprofiler.rocprofiler_query_intercept_table_name(1)[0].name)
"""


@pytest.mark.parametrize("registers", [True, False])
def test_another_library_is_used_by_its_c_interface(
    run_python: Run, tmp_path: Path, registers: bool
) -> None:
    # AMD's, as far as this can be had here: another path, without what ours alone has,
    # and without a function, as an older one.
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    folder = tmp_path / "lib"
    folder.mkdir()
    own = Path(_core.__file__).with_name("_lib") / "librocprofiler-sdk.so.1"
    image = own.read_bytes()
    for name in (
        b"hipadapt_rocprofiler_finalize",
        b"hipadapt_rocprofiler_copy_stream",
        b"hipadapt_rocprofiler_fill_bytes",
        b"hipadapt_rocprofiler_work_status",
        b"rocprofiler_query_intercept_table_name",
    ):
        image = image.replace(name, name[:-1] + b"X")
    library = folder / own.name
    library.write_bytes(image)
    if registers:
        subprocess.run(
            [
                "gcc",
                "-shared",
                "-o",
                folder / "librocprofiler-register.so.0",
                "-xc",
                "-",
            ],
            input=b"int nothing;",
            check=True,
        )

    done = run_python(FOREIGN, ROCM_PATH=str(tmp_path), HIPADAPT_PROVIDER="auto")

    where = f"{library} False" if registers else f"{own} True"
    code = "ERROR_NOT_IMPLEMENTED" if registers else "SUCCESS"
    assert done.stdout.splitlines() == [
        where,
        "finalize two",
        "ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED",
        f"ROCPROFILER_STATUS_{code}",
        "finalize one",
    ], done.stderr
