# SPDX-License-Identifier: MIT
"""The activity profiler: what a program did on devices, as a trace in a file."""

from __future__ import annotations

import functools
import html
import json
import os
from collections.abc import Callable, Generator, Iterable
from contextlib import AbstractContextManager, contextmanager
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, NamedTuple, ParamSpec, TypeVar

from .. import _core
from .profile_client import DETAILS, ProfileChild, ProfileClient, bits_of, register
from .profile_schedule import RECORD, WARMUP, ProfileSchedule
from .profile_schedule import checked as checked_schedule

__all__ = ["ProfileStatus", "annotate", "profile"]

_P = ParamSpec("_P")
_T = TypeVar("_T")

_STATES = ("idle", "warmup", "collecting", "processing")
_OPERATION, _USER = 0, 1


class ProfileStatus(NamedTuple):
    """What the profiler does, and how its last recording went."""

    state: str
    """idle, warmup, collecting or processing."""
    on_demand: bool
    """The recording is that of a request."""
    request: int
    """Number of the last request; 0 for none."""
    request_waits: bool
    """It has not begun."""
    step: int
    """The iteration, from 0; -1 before the first `profile.step`."""
    events: int
    """Events of this recording, or of the last one, as what follows."""
    kernels: int
    """Kernels in its trace."""
    lost_events: int
    """Events that found no room."""
    out_of_window_events: int
    """Events that were not wholly between start and stop."""
    bytes: int
    """Bytes of the file so far."""
    message: str
    """Why the last one failed; empty for none."""
    url: str
    """The last file that is complete."""
    trace_id: str
    """Of the request."""
    activities: tuple[str, ...]
    """That this recording, or the last one, has, by libkineto's names."""


class profile:
    """Records what HIP does in this process, as a trace for Perfetto and other readers.

    ``with`` prepares and starts, and at its end waits for the devices, stops, and
    completes the file.  A process has one recording at a time.

    Parameters
    ----------
    url : str or path, optional
        File of the trace, which grows while it is recorded.  The suffix says its
        format: .json (Chrome), .json.gz or .pftrace (Perfetto).  Without one events are
        kept in memory, for `save`.
    activities : str or iterable of str, optional
        What is recorded, by libkineto's names, such as ``kernel`` or ``gpu_memcpy``.
    memory : bool
        Memory in use, as counters over time, and allocations, as instants.
    stacks : bool
        Launches show the stack of Python that they were made from.
    queue_length : bool
        How much work waits or runs in each stream, as counters over time.
    metadata : dict, optional
        Entries of the trace, of what JSON can have.
    distributed : dict, optional
        The trace's distributedInfo: ``rank``, ``world_size``, ``backend`` and so on.
        By default what the environment says: RANK and WORLD_SIZE, or those of Open MPI,
        MPICH or Slurm.
    api_names : str
        ``hip``, or ``cuda`` for readers that know CUDA's names of calls only.
    buffer_events : int
        Events that wait for being written, of 128 bytes.  More are lost and counted.
    keep_events : int
        Events that are kept in memory without `url`.
    detail : iterable of str
        What registered clients are asked for: ``input_shapes``, ``stacks``,
        ``memory``, ``flops``, ``modules``.
    schedule : ProfileSchedule, optional
        Which iterations of the ``with`` block are recorded: `profile.schedule` makes
        it, and each iteration ends with `step`.  ``%n`` in `url` is the number of the
        round, from 0.
    counters : iterable of str
        What the devices count, as rows over time, by the names of
        `hipadapt.rocprofiler.counters`: sums since the start, about a hundred samples
        a second.

    Raises
    ------
    ValueError
        No such activity, or no such format: the message has the right ones.
    OSError
        The file can't be written.
    RuntimeError
        Another recording is there; a forked child; the profiler's library was
        configured before and takes nobody any more.

    Examples
    --------
    >>> import hipadapt, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "out.json")
    >>> with hipadapt.profile(path):
    ...     with hipadapt.annotate("ones"):
    ...         ones = hipadapt.full(1000, 1.0)
    >>> os.path.getsize(path) > 0
    True
    >>> path = os.path.join(tempfile.mkdtemp(), "round_%n.json")
    >>> rounds = hipadapt.profile.schedule(wait=2, warmup=1, active=3, repeat=2)
    >>> with hipadapt.profile(path, schedule=rounds) as recording:
    ...     for _ in range(20):
    ...         ones = hipadapt.full(1000, 1.0)
    ...         recording.step()
    >>> sorted(os.listdir(os.path.dirname(path)))
    ['round_0.json', 'round_1.json']
    """

    _scheduled: profile | None = None  # whose iterations count; of the process

    def __init__(
        self,
        url: str | os.PathLike[str] | None = None,
        *,
        activities: str | Iterable[str] | None = None,
        memory: bool = False,
        stacks: bool = False,
        queue_length: bool = False,
        metadata: dict[str, Any] | None = None,
        distributed: dict[str, Any] | None = None,
        api_names: str = "hip",
        buffer_events: int = 0,
        keep_events: int = 0,
        detail: Iterable[str] = (),
        schedule: ProfileSchedule | None = None,
        counters: Iterable[str] = (),
    ) -> None:
        if api_names not in ("hip", "cuda"):
            raise ValueError(
                f"profile: argument 'api_names' must be 'hip' or 'cuda', not "
                f"{api_names!r}"
            )
        try:
            self._url = None if url is None else os.fsdecode(url)
        except TypeError:
            raise TypeError(
                f"profile: argument 'url' must be a path, not {type(url).__name__!r}"
            ) from None
        if self._url is not None and "\0" in self._url:
            raise ValueError(f"profile: argument 'url' has a NUL: {self._url!r}")
        self._activities = _activity_text(
            activities,
            {"memory": memory, "python_stack": stacks, "queue_length": queue_length},
        )
        self._metadata = dict(metadata or {})
        self._distributed = None if distributed is None else json.dumps(distributed)
        self._cuda_names = api_names == "cuda"
        self._buffer_events = buffer_events
        self._keep_events = keep_events
        self._detail = bits_of("profile", "detail", detail, DETAILS)
        wanted = counters.split(",") if isinstance(counters, str) else counters
        self._counters = ",".join(_names("counters", wanted)) or None
        self._pattern = self._url
        self._schedule = _schedule_for(schedule, self._url)
        self._steps = 0

    def prepare(self) -> profile:
        """Starts to watch, so that `start` costs nothing; what is seen is dropped."""
        if self._counters is not None:
            from .. import hip

            hip.hipGetDeviceCount()  # devices are known from now on
        _core.profile_prepare(
            self._url,
            self._activities,
            self._buffer_events,
            self._keep_events,
            self._cuda_names,
            self._distributed,
            self._detail,
            self._counters,
        )
        try:
            for key, value in self._metadata.items():
                self.add_metadata(key, value)
        except BaseException:
            _core.profile_cancel()
            raise
        return self

    def start(self) -> profile:
        """Begins the trace; prepares first where nobody has."""
        if _core.profile_status()[0] == 0:
            self.prepare()
        _core.profile_start()
        return self

    def stop(self) -> None:
        """Waits for all devices, so that their work is in the trace, and ends it."""
        _synchronize()
        _core.profile_stop()

    def save(self, url: str | os.PathLike[str] | None = None) -> None:
        """Waits until the file is complete, or writes what was kept to `url`."""
        _core.profile_save(url if url is not None else self._url)

    def summary(self) -> dict[str, Any]:
        """Kernels, copies, idle time and calls, as ``trace summary --json`` has them.

        The trace must be complete.  Of one without a URL a copy is written to a folder
        of its own, which goes again.
        """
        from .._trace.summary import summarize

        with self._file() as path:
            return summarize(path)

    @contextmanager
    def _file(self) -> Generator[str]:
        """The trace as a file."""
        if self._url is not None:
            yield self._url.removeprefix("file://")
            return
        with TemporaryDirectory(prefix="hipadapt-profile-") as folder:
            path = os.path.join(folder, "profile.json")
            self.save(path)
            yield path

    def __repr__(self) -> str:
        where = "in memory" if self._url is None else repr(self._url)
        return f"<hipadapt.profile {where}>"

    def _repr_html_(self) -> str:
        from .._trace.summary import summarize
        from .profile_html import Timeline, kernel_table

        timeline = Timeline()
        title = f"<b>{html.escape(repr(self))}</b>"
        try:
            with self._file() as path:
                numbers = summarize(path, see=timeline.add)
        except (OSError, RuntimeError, ValueError) as error:
            return f"{title}<p>{html.escape(str(error))}</p>"
        return f"{title}<br>{timeline.svg()}{kernel_table(numbers)}"

    def add_metadata(self, key: str, value: Any) -> None:
        """Adds an entry to the trace; `value` is what JSON can have."""
        _core.profile_add_metadata(key, json.dumps(value))

    def __enter__(self) -> profile:
        if self._schedule is None:
            return self.prepare().start()
        if profile._scheduled is not None:
            raise RuntimeError("profile: another one with a schedule is there")
        self._steps = 0
        self._begin_step(self._schedule)
        profile._scheduled = self
        return self

    def _begin_step(self, schedule: ProfileSchedule) -> None:
        """Records, watches or leaves the iteration, as the schedule says."""
        state = _STATES[_core.profile_status()[0]]
        wanted, number = schedule.at(self._steps)
        changes = self._steps == 0 or schedule.at(self._steps - 1) != (wanted, number)
        self._steps += 1
        if changes and state == "collecting":
            self._finish()
            state = "idle"
        if changes and wanted in (WARMUP, RECORD) and state != "warmup":
            if self._pattern is not None:
                self._url = self._pattern.replace("%n", str(number))
            self.prepare()
        if changes and wanted == RECORD:
            self.start()

    def _finish(self) -> None:
        self.stop()
        if self._url is not None:
            self.save()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        state = _STATES[_core.profile_status()[0]]
        if self._schedule is not None:
            profile._scheduled = None
            if state == "warmup":
                self.cancel()
        if state == "collecting":  # not stopped within the block
            self._finish()

    @staticmethod
    def schedule(
        wait: int = 0,
        warmup: int = 0,
        active: int = 1,
        repeat: int = 1,
        skip_first: int = 0,
    ) -> ProfileSchedule:
        """Which iterations are recorded, for ``hipadapt.profile(schedule=...)``.

        The numbers are those of ``torch.profiler.schedule``, but that `repeat` is 1
        where it is not given.

        Parameters
        ----------
        wait, warmup, active : int
            Iterations of a round: nothing is watched, then what is seen is dropped,
            then it is recorded.
        repeat : int
            Rounds, each with a trace of its own; 0 goes on until the ``with`` block
            ends.
        skip_first : int
            Iterations before the first round.

        Raises
        ------
        TypeError, ValueError
            A number is no int, or negative; `active` is 0.
        """
        return checked_schedule(
            ProfileSchedule(wait, warmup, active, repeat, skip_first)
        )

    @staticmethod
    def step() -> None:
        """The next iteration of the program's loop begins.

        It counts for requests by iterations, and for the profile with a `schedule`
        whose ``with`` block this is.
        """
        _core.profile_step()
        scheduled = profile._scheduled
        if scheduled is not None and scheduled._schedule is not None:
            scheduled._begin_step(scheduled._schedule)

    @staticmethod
    def cancel() -> None:
        """Drops the recording or the request that is there, and its file."""
        _core.profile_cancel()

    @staticmethod
    def request(text: str) -> int:
        """A recording by libkineto's configuration text; returns its number.

        It begins and ends by itself.  See `status` for how it went.
        """
        return _core.profile_request(text)

    @staticmethod
    def listen() -> None:
        """From now on ``python -m hipadapt trace attach`` can record this process.

        ``HIPADAPT_PROFILE=on-demand`` does the same from the first call of HIP on.

        Raises
        ------
        RuntimeError
            A forked child, or a profiler's library that takes nobody any more.
        OSError
            The socket can't be opened.

        Examples
        --------
        >>> import hipadapt
        >>> hipadapt.profile.listen()
        """
        _core.profile_listen()

    @staticmethod
    def status() -> ProfileStatus:
        """What the profiler does now, and how its last recording went."""
        now = _core.profile_status()
        activities = tuple(filter(None, now[-1].split(",")))
        return ProfileStatus(_STATES[now[0]], *now[1:-1], activities)

    @staticmethod
    def register_client(
        client: object, *, name: str | None = None, clock: str = "monotonic"
    ) -> ProfileClient:
        """A framework takes part in recordings and hands its operations over.

        Parameters
        ----------
        client : object
            Its methods ``prepare(setup)``, ``start()``, ``step(iteration)``,
            ``stop()`` and ``cancel()`` are called, those that it has, on a thread of
            its own.  `setup` is a `ProfileSetup`.  What they raise goes to
            sys.unraisablehook and into the trace, and the recording goes on.
        name : str, optional
            For messages; the name of its class.
        clock : str
            Of its times: ``monotonic``, ``boottime`` or ``realtime``, as
            time.CLOCK_MONOTONIC and so on.

        Returns
        -------
        ProfileClient
            By which it hands operations over.
        """
        return ProfileClient(register(client, name, clock, child=False))

    @staticmethod
    def register_child(
        child: object, *, name: str | None = None, clock: str = "monotonic"
    ) -> ProfileChild:
        """A profiler of another device takes part in recordings.

        As `register_client`, with the methods ``configure(setup)``, ``start()``,
        ``stop()``, ``collect(output)``, which it must have, and ``cancel()``.
        `output` is a `ProfileChild`.
        """
        if not callable(getattr(child, "collect", None)):
            raise TypeError(
                "profile.register_child: argument 'child' must have a method "
                f"'collect'; {type(child).__name__!r} has none"
            )
        return ProfileChild(register(child, name, clock, child=True))

    @staticmethod
    def operation(number: int) -> AbstractContextManager[None]:
        """Calls and work of the ``with`` block get this "External id"."""
        return _pushed(_OPERATION, number)

    @staticmethod
    def user(number: int) -> AbstractContextManager[None]:
        """Work of the ``with`` block gets a row of annotations with this id."""
        return _pushed(_USER, number)


class annotate:
    """A named range of roctx: traces show it, and the work that it caused.

    A context manager, and a decorator of functions.

    Examples
    --------
    >>> import hipadapt
    >>> with hipadapt.annotate("load"):
    ...     pass
    >>> @hipadapt.annotate("step")
    ... def step() -> int:
    ...     return 1
    >>> step()
    1
    """

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> annotate:
        _core.annotate_push(self._name)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _core.annotate_pop()

    def __call__(self, function: Callable[_P, _T]) -> Callable[_P, _T]:
        name = self._name

        @functools.wraps(function)
        def annotated(*args: _P.args, **kwargs: _P.kwargs) -> _T:
            _core.annotate_push(name)
            try:
                return function(*args, **kwargs)
            finally:
                _core.annotate_pop()

        return annotated


_DEFAULT = (
    "cpu_op,user_annotation,gpu_user_annotation,gpu_memcpy,gpu_memset,kernel,"
    "external_correlation,cuda_runtime,cpu_instant_event,python_function,overhead,"
    "cuda_sync"
)


@contextmanager
def _pushed(domain: int, number: int) -> Generator[None]:
    _core.profile_push(domain, number)
    try:
        yield
    finally:
        _core.profile_pop(domain)


def _schedule_for(schedule: object, url: str | None) -> ProfileSchedule | None:
    if schedule is None:
        return None
    if not isinstance(schedule, ProfileSchedule):
        raise TypeError(
            "profile: argument 'schedule' must be of profile.schedule(...), not "
            f"{type(schedule).__name__!r}"
        )
    if schedule.repeat != 1 and url is not None and "%n" not in url:
        raise ValueError(
            "profile: argument 'url' must have %n, the number of the round, not "
            f"{url!r}"
        )
    return schedule


def _names(argument: str, given: Iterable[object]) -> list[str]:
    names: list[str] = []
    for name in given:
        if not isinstance(name, str):
            raise TypeError(
                f"profile: argument {argument!r} must be names, not {name!r}"
            )
        names.append(name)
    return names


def _activity_text(
    activities: str | Iterable[str] | None, more: dict[str, bool]
) -> str | None:
    added = [name for name, wanted in more.items() if wanted]
    if activities is None:
        return ",".join([_DEFAULT, *added]) if added else None
    names = _names(
        "activities",
        activities.split(",") if isinstance(activities, str) else activities,
    )
    if not any(names + added):
        raise ValueError("profile: argument 'activities' names none")
    return ",".join([*names, *added])


def _synchronize() -> None:
    """Waits for all devices, without showing that in the trace."""
    from .. import hip

    _core.profile_mute(True)
    try:
        current, count = hip.hipGetDevice()[1], hip.hipGetDeviceCount()[1]
        for device in range(count):
            hip.hipSetDevice(device)
            hip.hipDeviceSynchronize()
        hip.hipSetDevice(current)
    finally:
        _core.profile_mute(False)
