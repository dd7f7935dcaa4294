# SPDX-License-Identifier: MIT
"""What the profiler's library knows: kinds, operations, agents, counters."""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from .._core import (
    event_format,
    profiler_library,
    profiler_name,
    rocprofiler_get_status_string,
    rocprofiler_get_version,
    rocprofiler_iterate_agent_supported_counters,
    rocprofiler_iterate_callback_tracing_kind_operations,
    rocprofiler_iterate_callback_tracing_kinds,
    rocprofiler_query_available_agents,
    rocprofiler_query_callback_tracing_kind_name,
    rocprofiler_query_callback_tracing_kind_operation_name,
    rocprofiler_query_counter_info,
)
from ._base import RocprofilerError
from ._enums import (
    rocprofiler_agent_type_t,
    rocprofiler_callback_tracing_kind_t,
    rocprofiler_status_t,
)

_PREFIX = "ROCPROFILER_CALLBACK_TRACING_"
_operations: dict[int, dict[str, int]] = {}
_names: dict[tuple[int, int], str] = {}


def check(function: str, result: Any) -> Any:
    """Takes the status off the result of a call; raises where it isn't success.

    Returns None for no other output, the output where there is one, else a tuple.

    Raises
    ------
    RocprofilerError
        The status is not success.
    TypeError
        `result` is not a tuple that begins with a status.
    """
    size: int = len(result) if issubclass(type(result), tuple) else 0
    status: Any = result[0] if size > 0 else None
    if not isinstance(status, rocprofiler_status_t):
        raise TypeError(
            "check: argument 'result' must be a tuple that begins with a "
            f"rocprofiler_status_t, not {result!r:.200}"
        )
    if status != 0:
        text = rocprofiler_get_status_string(status)
        raise RocprofilerError(function, status, text or "")
    if size == 1:
        return None
    return result[1] if size == 2 else result[1:]


def version() -> tuple[int, int, int]:
    """Version of the profiler's library."""
    found: tuple[int, int, int] = check(
        "rocprofiler_get_version", rocprofiler_get_version()
    )
    return found


def library() -> tuple[str, bool]:
    """Path of the profiler's library, and whether it is hipadapt's own."""
    return profiler_library()


def kinds(*, produced: bool = False) -> list[str]:
    """Names of the kinds of events.

    Parameters
    ----------
    produced : bool
        Only those that something here has events of, which have operations.  The others
        can be asked for, and nothing ever comes.
    """
    numbers = check(
        "rocprofiler_iterate_callback_tracing_kinds",
        rocprofiler_iterate_callback_tracing_kinds(),
    )
    names = [kind_name(number) for number in numbers]
    return [name for name in names if not produced or operations(name)]


def kind_name(kind: int) -> str:
    """Name of a kind; ``kind 99`` for a number that is none."""
    status, name = rocprofiler_query_callback_tracing_kind_name(kind)
    return name if status == 0 and name else f"kind {int(kind)}"


def operations(kind: int | str) -> dict[str, int]:
    """Names and numbers of the operations of a kind.

    Examples
    --------
    >>> from hipadapt import rocprofiler
    >>> "hipMalloc" in rocprofiler.operations("HIP_RUNTIME_API")
    True
    """
    number = kind_number(kind, "operations")
    if number not in _operations:
        found = check(
            "rocprofiler_iterate_callback_tracing_kind_operations",
            rocprofiler_iterate_callback_tracing_kind_operations(number),
        )
        _operations[number] = {operation_name(number, one): one for one in found}
    return dict(_operations[number])


def operation_name(kind: int, operation: int) -> str:
    """Name of an operation: ``hipMalloc`` or ``MEMORY_COPY_HOST_TO_DEVICE``."""
    key = (int(kind), int(operation))
    if key not in _names:
        status, name = rocprofiler_query_callback_tracing_kind_operation_name(*key)
        _names[key] = name if status == 0 and name else f"operation {key[1]}"
    return _names[key]


def name_text(number: int) -> str:
    """The text of the field ``name`` of an array of events."""
    return profiler_name(int(number))


def kind_number(kind: object, function: str) -> int:
    """The number of a kind that is given by number, member or name."""
    if isinstance(kind, str):
        short = kind.removeprefix(_PREFIX)
        member = rocprofiler_callback_tracing_kind_t.__members__.get(_PREFIX + short)
        if member is None or short in ("NONE", "LAST"):
            near = difflib.get_close_matches(short, kinds(), 1)
            raise ValueError(
                f"{function}: no kind {kind!r}"
                + (f"; did you mean {near[0]!r}?" if near else "")
            )
        return int(member)
    if isinstance(kind, bool) or not isinstance(kind, int):
        raise TypeError(
            f"{function}: a kind must be a name or a member of "
            f"rocprofiler_callback_tracing_kind_t, not {type(kind).__name__!r}"
        )
    return int(kind)


def choose(
    kinds: Iterable[int | str], chosen: Iterable[int | str] | None, function: str
) -> list[tuple[int, tuple[int, ...]]]:
    """Kinds, each with the numbers of the operations that are wanted; none: all.

    A name, or a pattern such as ``hipMemcpy*``, chooses in each kind that has such
    operations; a kind in which nothing is chosen has all of them.
    """
    numbers = [kind_number(kind, function) for kind in kinds]
    wanted = [] if chosen is None else list(chosen)
    if len(set(numbers)) != len(numbers):
        raise ValueError(f"{function}: argument 'kinds' names a kind twice")
    if not numbers:
        raise ValueError(f"{function}: argument 'kinds' is empty")
    if any(not isinstance(one, str) for one in wanted) and len(numbers) > 1:
        raise ValueError(
            f"{function}: argument 'operations': numbers go with one kind only"
        )
    found: dict[int, set[int]] = {number: set() for number in numbers}
    for one in wanted:
        if not isinstance(one, str):
            found[numbers[0]].add(int(one))
        elif not _choose_by_name(one, found):
            known = [name for number in numbers for name in operations(number)]
            near = difflib.get_close_matches(one, known, 1)
            raise ValueError(
                f"{function}: argument 'operations': the kinds have no {one!r}"
                + (f"; did you mean {near[0]!r}?" if near else "")
            )
    return [(number, tuple(sorted(found[number]))) for number in numbers]


def _choose_by_name(name: str, found: dict[int, set[int]]) -> bool:
    some = False
    for number, chosen in found.items():
        for known, operation in operations(number).items():
            if known == name or fnmatch.fnmatchcase(known, name):
                chosen.add(operation)
                some = True
    return some


@dataclass(frozen=True)
class Agent:
    """The host's processor, or a device.

    Sizes are in bytes unless the name says otherwise; 0 where nothing is known.
    """

    id: int
    type: rocprofiler_agent_type_t
    name: str
    vendor_name: str
    product_name: str
    model_name: str
    node_id: int
    logical_node_id: int
    logical_node_type_id: int
    cpu_cores_count: int
    simd_count: int
    cu_count: int
    wave_front_size: int
    lds_size_in_kb: int
    gfx_target_version: int
    local_mem_size: int
    workgroup_max_size: int
    workgroup_max_dim: tuple[int, int, int]
    grid_max_size: int
    grid_max_dim: tuple[int, int, int]
    uuid: bytes

    @property
    def is_device(self) -> bool:
        """True for what HIP calls a device, False for the host."""
        return self.type == rocprofiler_agent_type_t.ROCPROFILER_AGENT_TYPE_GPU

    @property
    def device(self) -> int:
        """HIP's number of the device; -1 for the host."""
        return self.logical_node_type_id if self.is_device else -1

    def __repr__(self) -> str:
        if not self.is_device:
            return f"<Agent host {self.name!r}, {self.cpu_cores_count} cores>"
        return f"<Agent device {self.device} {self.name!r}, {self.cu_count} units>"


def agents() -> list[Agent]:
    """The host and the devices; devices from when HIP has been used in this process."""
    found: list[dict[str, Any]] = check(
        "rocprofiler_query_available_agents", rocprofiler_query_available_agents()
    )
    return [
        Agent(type=rocprofiler_agent_type_t(one.pop("type")), **one) for one in found
    ]


@dataclass(frozen=True)
class Counter:
    """Something that an agent can count."""

    id: int
    name: str
    description: str
    block: str
    expression: str
    is_constant: bool
    is_derived: bool
    agent: int


def counters(agent: Agent | int | None = None) -> list[Counter]:
    """Counters of an agent, or of all."""
    if agent is None:
        return [one for some in agents() for one in counters(some)]
    handle = agent.id if isinstance(agent, Agent) else agent
    status, numbers = rocprofiler_iterate_agent_supported_counters(handle)
    if status.name == "ROCPROFILER_STATUS_ERROR_NO_HARDWARE_COUNTERS":
        return []
    check("rocprofiler_iterate_agent_supported_counters", (status, numbers))
    return [_counter(number, handle) for number in numbers]


def _counter(number: int, agent: int) -> Counter:
    info = check(
        "rocprofiler_query_counter_info", rocprofiler_query_counter_info(number)
    )
    return Counter(
        id=info["id"],
        name=info["name"] or "",
        description=info["description"] or "",
        block=info["block"] or "",
        expression=info["expression"] or "",
        is_constant=info["is_constant"],
        is_derived=info["is_derived"],
        agent=agent,
    )


def event_dtype() -> Any:
    """The numpy dtype of events; ``np.asarray(batch)`` has it without a copy."""
    import numpy as np

    fields: list[Any] = []
    for item in event_format[2:-1].split(":"):
        if fields and len(fields[-1]) == 1:
            fields[-1].append(item)
        elif item:
            fields.append([item])
    scalars = {"H": "u2", "h": "i2", "i": "i4", "I": "u4", "Q": "u8"}
    return np.dtype(
        [
            (name, scalars[code[-1]], (3,)) if code[0] == "(" else (name, scalars[code])
            for code, name in fields
        ]
    )


def names(numbers: Sequence[int]) -> list[str]:
    """Texts of several numbers of the field ``name``."""
    return [name_text(number) for number in numbers]
