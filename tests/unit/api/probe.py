# SPDX-License-Identifier: MIT
"""Tries functions in a process of its own, which may crash.

    python -m tests.unit.api.probe MODE PROGRESS < names of functions, as JSON

MODE is `kinds` (wrong arguments), `memory` (each allocation fails once) or `leaks`
(repeated calls leave nothing).  The file PROGRESS always says what is being tried, so
that whoever started this knows what crashed.  Prints one line of JSON for each problem,
as it is found, and the number of calls in the end.  tests/unit/api/batches.py starts it.
"""

from __future__ import annotations

import ctypes
import gc
import json
import mmap
import os
import resource
import sys
from collections.abc import Callable
from typing import Any

from tools.codegen import forms, model

from . import calls, graph_calls, wrong_kinds
from .world import API, LACKING, CallFailed, World

PROGRESS_BYTES = 512
MEMORY_MAX_BYTES = 6 << 30  # of address space; what asks for more is to fail
REFUSALS = (TypeError, ValueError, OverflowError, BufferError, MemoryError)
HOLD_BACK_US = 2000
ALLOCATIONS_MAX = 60  # allocations of one call that fail in turn
TURNS = 60
WARM_UP_TURNS = 120  # more than CPython's free lists hold
ALLOWED_BLOCKS = 3
ATTEMPTS = 12
# Each call keeps something on purpose until the stream or the process has passed.
WAITS = {"hipDeviceReset"}


class Progress:
    """Says in a file what is being tried."""

    def __init__(self, path: str) -> None:
        with open(path, "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), PROGRESS_BYTES)

    def say(self, text: str) -> None:
        line = text.encode("ascii", "replace")[:PROGRESS_BYTES]
        self.memory[:] = line.ljust(PROGRESS_BYTES, b"\0")


class Trial:
    """What is known while functions are tried."""

    def __init__(self, progress: Progress, skip: set[str]) -> None:
        self.progress = progress
        self.skip = skip
        self.calls = 0
        self.world = World()
        self.recording = not is_cpu()

    def begin(self, case: str) -> bool:
        """Whether the case is to be tried; a case that crashed before is not."""
        self.progress.say(case)
        return case not in self.skip

    def problem(self, case: str, text: str) -> None:
        print(json.dumps(f"{case}: {text}"), flush=True)

    def renew(self) -> None:
        """A new world, after a call that may have changed the old one."""
        self.world.close()
        self.world = World()

    def check_state(self, case: str) -> None:
        """The process still works: memory can be copied to the device and back."""
        if self.recording:
            return
        hip = self.world.hip
        status = hip.hipDeviceSynchronize()[0]
        # While a stream is captured nobody waits for its device.
        if status not in (0, hip.hipError_t.hipErrorStreamCaptureUnsupported):
            self.problem(case, f"the device is left with {status!r}")
            hip.hipDeviceReset()
            self.world = World()
        array, back = self.world.array, bytearray(8)
        self.world.ok("hipMemcpyHtoD", array, b"12345678", 8)
        self.world.ok("hipMemcpyDtoH", back, array, 8)
        if back != b"12345678" or sys.exc_info() != (None, None, None):
            self.problem(case, "the process is damaged")


def is_cpu() -> bool:
    import hipadapt

    return hipadapt.provider().name == "cpu"


def attempt(
    trial: Trial,
    function: model.Function,
    case: str,
    arguments: tuple[Any, ...],
    keywords: dict[str, Any],
    kind: wrong_kinds.Kind | None = None,
    refused: bool = True,
    form: int = 0,
) -> None:
    """One call with something wrong: an exception that says so, or a status."""
    trial.calls += 1
    try:
        if keywords or kind is None:
            result = calls.callable_of(function)(*arguments, **keywords)
        else:
            result = calls.invoke(function, form, arguments)
    except (MemoryError, UnicodeEncodeError):
        return
    except REFUSALS as error:
        own = kind is not None and kind.own
        # Only this library gives memory of any size.
        own = own or (trial.recording and isinstance(error, OverflowError))
        named = {function.name, *RECORDS}
        if not own and not any(name in str(error) for name in named):
            trial.problem(case, f"no name in {error!r}")
        return
    except ZeroDivisionError as error:  # from the wrong object itself
        if kind is None or not kind.own:
            trial.problem(case, f"{error!r}")
        return
    except BaseException as error:
        trial.problem(case, f"{error!r}")
        return
    if refused:
        trial.problem(case, f"accepted: {result!r}")
    if type(result) is not tuple or type(result[0]).__name__ not in STATUSES:
        trial.problem(case, f"answers {result!r}")
    elif result[0] == 0:
        if not trial.recording:
            undo_quietly(trial, function, arguments, result[1:], form)
            trial.renew()
    elif any(empty_after_failure(function, form, result)):
        trial.problem(case, f"outputs of a failure: {result!r}")


def empty_after_failure(
    function: model.Function, form: int, result: tuple[Any, ...]
) -> list[Any]:
    """The outputs of a failed call that have to be 0 or None."""
    outputs = list(result[1:])
    written = [p for p in function.params if p.role == "inout" or p.on_failure]
    if not written:
        return outputs
    returned = forms.form_results(function, form)
    if len(returned) != len(outputs):  # the arguments were those of another form
        return []
    return [v for p, v in zip(returned, outputs, strict=True) if p not in written]


def undo_quietly(
    trial: Trial,
    function: model.Function,
    arguments: tuple[Any, ...],
    outputs: tuple[Any, ...],
    form: int = 0,
) -> None:
    """Ends what a call made, unless it belongs to other arguments than usual."""
    try:
        calls.undo(trial.world, function, arguments, outputs, form)
    except CallFailed:
        pass


# A value inside of a record is named by its record.
RECORDS = {r.name for r in API.all_records()}
STATUSES = ("hipError_t", "hiprtcResult")


def try_kinds(trial: Trial, function: model.Function) -> None:
    """Each argument of each form with each wrong kind."""
    present = not trial.recording and function.name not in LACKING
    for form, params in enumerate(forms.form_params(function)):
        for number, kind in wrong_kinds.cases(function, params, present):
            case = f"{function.name}({params[number].python_name}={kind.name}) #{form}"
            if not trial.begin(case):
                continue
            arguments = list(calls.arguments_of(trial.world, function, form))
            try:
                arguments[number] = kind.make(trial.world, params[number])
            except wrong_kinds.NotHere:
                continue
            given = dict(zip((p.name for p in params), arguments, strict=True))
            refused = wrong_kinds.must_refuse(function, params[number], kind, given)
            attempt(trial, function, case, tuple(arguments), {}, kind, refused, form)
            given.clear()
            del arguments  # now, so that damage to them shows under this case
    arguments_ = calls.arguments_of(trial.world, function)
    for name, wrong, keywords in wrong_kinds.lists(function, arguments_):
        case = f"{function.name}: {name}"
        if trial.begin(case):
            attempt(trial, function, case, wrong, keywords)
    trial.check_state(function.name)


def try_memory(trial: Trial, function: model.Function) -> None:
    """A call in which the first, the second, ... allocation of Python fails."""
    import _testcapi

    variants: list[tuple[str, tuple[Any, ...]]] = []
    for form in range(len(forms.form_params(function))):
        variants.append((f"#{form}", calls.arguments_of(trial.world, function, form)))
    bad = tuple(object() for _ in variants[0][1])
    variants.append(("refused", bad))
    # Enum members are made by Python code when they are first needed, and CPython's own
    # answer to a failure inside of that is at times a SystemError.
    for form, (_, arguments) in enumerate(variants[:-1]):
        result = calls.invoke(function, form, arguments)
        if result[0] == 0 and not trial.recording:
            undo_quietly(trial, function, arguments, result[1:], form)
    for label, arguments in variants:
        for number in range(ALLOCATIONS_MAX):
            case = f"{function.name} {label}, allocation {number}"
            if not trial.begin(case):
                continue
            form = int(label[1:]) if label != "refused" else 0
            if label != "refused":
                arguments = calls.arguments_of(trial.world, function, form)
            if any(p.role == "callback" for p in function.params):
                hold_back(trial, arguments)
            trial.calls += 1
            failed: BaseException | None = None
            result: Any = None
            _testcapi.set_nomemory(number, number + 1)
            try:
                result = calls.invoke(function, form, arguments)
            except BaseException as error:
                failed = error
            finally:
                _testcapi.remove_mem_hooks()
            if failed is None:
                if result[0] == 0 and not trial.recording:
                    undo_quietly(trial, function, arguments, result[1:], form)
            elif function.name == "hipHostRegister" and label != "refused":
                trial.world.hip.hipHostUnregister(arguments[0])  # C had it already
            elif label == "refused" and isinstance(failed, REFUSALS):
                pass
            elif not isinstance(failed, MemoryError):
                trial.problem(case, f"{failed!r}")
            if number >= 8 and not isinstance(failed, MemoryError):
                break  # the call makes fewer allocations
    trial.renew()
    trial.check_state(function.name)


def hold_back(trial: Trial, arguments: tuple[Any, ...]) -> None:
    """Keeps the host function from running until allocations work again.

    The failing allocator is that of the whole process, and CPython does not survive a
    new thread state without memory.
    """
    if not trial.recording and arguments[0] is trial.world.stream:
        usleep = ctypes.CDLL(None).usleep
        trial.world.ok("hipLaunchHostFunc", arguments[0], usleep, HOLD_BACK_US)


def growth(
    call: Callable[[], object], turns: int = TURNS, warm_up: int = WARM_UP_TURNS
) -> int:
    """Blocks that `turns` calls leave behind."""
    for _ in range(warm_up):
        call()
    grown = 0
    for _ in range(ATTEMPTS):  # free lists and other threads disturb a measurement
        gc.collect()
        before = sys.getallocatedblocks()
        for _ in range(turns):
            call()
        gc.collect()
        grown = sys.getallocatedblocks() - before
        if grown <= ALLOWED_BLOCKS:
            break
    return grown


def try_leaks(trial: Trial, function: model.Function) -> None:
    """Calls that work and calls that are refused, many times."""
    call = calls.callable_of(function)
    world = trial.world

    def works(form: int) -> Callable[[], None]:
        def turn() -> None:
            arguments = calls.arguments_of(world, function, form)
            result = calls.invoke(function, form, arguments)
            if result[0] == 0:
                calls.undo(world, function, arguments, result[1:], form)
            else:
                graph_calls.end(world)
            if function.stream or "Launch" in function.name:
                world.ok("hipStreamSynchronize", None)
                world.ok("hipStreamSynchronize", world.stream)

        return turn

    def refused(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        try:
            call(*arguments, **keywords)
        except REFUSALS:
            pass

    accepted = forms.form_params(function)
    turns: list[tuple[str, Callable[[], None]]] = []
    if function.name not in WAITS:
        turns += [(f"form {form}", works(form)) for form in range(len(accepted))]
    usual = calls.arguments_of(world, function)
    turns.append(("too many", lambda: refused((None,) * 40, {})))
    if usual:
        turns.append(("keyword", lambda: refused(usual[:-1], {"nothing": 1})))
    for number, param in enumerate(accepted[0]):
        wrong = list(usual)
        wrong[number] = REFUSED.get(param.role, REFUSED_ELSE)
        turns.append((param.name, lambda wrong=tuple(wrong): refused(wrong, {})))
    for label, turn in turns:
        case = f"{function.name}, {label}"
        if not trial.begin(case):
            continue
        trial.calls += TURNS
        grown = growth(turn)
        if grown > ALLOWED_BLOCKS:
            trial.problem(case, f"{grown} blocks after {TURNS} calls")
    trial.renew()


# What each role refuses, late enough that earlier arguments are already converted.
REFUSED_ELSE = 1.5
REFUSED: dict[str, Any] = {
    "enum": -12345,
    "handle": "text",
    "list": [object()],
    "text_list": [1.5],
    "value": "text",
}

MODES = {"kinds": try_kinds, "memory": try_memory, "leaks": try_leaks}


def main() -> int:
    """Tries all the functions that standard input names."""
    mode, path = sys.argv[1:]
    wanted = json.load(sys.stdin)
    if "HIPADAPT_SANITIZER" not in os.environ:  # a sanitizer maps terabytes
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MAX_BYTES, MEMORY_MAX_BYTES))
    trial = Trial(Progress(path), set(wanted["skip"]))
    trial.world.ok("hipInit", 0)
    gc.collect()
    gc.freeze()
    for name in wanted["functions"]:
        try:
            MODES[mode](trial, calls.function_named(name))
        except Exception as error:
            trial.problem(name, f"the trial itself: {error!r}")
            trial.renew()
    trial.progress.say("end")
    print(json.dumps(trial.calls), flush=True)
    if trial.recording:
        os._exit(0)  # an exit would wait for host functions that nobody calls
    return 0


if __name__ == "__main__":
    sys.exit(main())
