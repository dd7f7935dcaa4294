# SPDX-License-Identifier: MIT
"""The device as the function of a pair sees it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from hipadapt import hip
from tests.kernels.gpu import Extent, Gpu, Module, ok

from .pair import Pair


class Twin(Gpu):
    """One of the two of a pair, while it runs."""

    def __init__(self, pair: Pair, wrong: bool) -> None:
        super().__init__()
        self.pair = pair
        self.wrong = wrong
        self.streams: list[Any] = []
        self.events: list[Any] = []
        self.built: Module | None = None

    @property
    def module(self) -> Module:
        """The pair's source, compiled for this twin."""
        if self.built is None:
            self.built = self.build(
                self.pair.placed,
                options=[f"-DWRONG={int(self.wrong)}"],
                names=self.pair.names,
                file=Path(self.pair.file).name,
            )
        return self.built

    def go(
        self,
        grid: Extent,
        block: Extent,
        *args: Any,
        kernel: str = "k",
        **how: Any,
    ) -> None:
        """Enqueue a kernel of the source: addresses are int, numbers are numpy's."""
        self.launch(self.module.function(kernel), grid, block, args, **how)

    def zeros(self, count: int, dtype: Any = np.int32) -> int:
        """New device memory of zeros."""
        return self.upload(np.zeros(count, dtype))

    def fresh(self, size: int) -> int:
        """New device memory that nobody wrote."""
        memory = ok(hip.hipMalloc(size))
        self.allocations.append(memory)
        return int(memory)

    def loose(self, size: int) -> int:
        """Device memory of zeros that the pair frees itself."""
        memory = int(ok(hip.hipMalloc(size)))
        ok(hip.hipMemset(memory, 0, size))
        return memory

    def get(self, address: int, count: int, dtype: Any = np.int32) -> np.ndarray:
        """What stands in device memory; waits for the device first."""
        self.wait()
        return self.download(address, np.empty(count, dtype))

    def stream(self, blocking: bool = False) -> Any:
        """A new stream; one that is not blocking does not wait for the null stream."""
        flags = hip.hipStreamDefault if blocking else hip.hipStreamNonBlocking
        self.streams.append(ok(hip.hipStreamCreateWithFlags(flags)))
        return self.streams[-1]

    def after(self, before: Any, later: Any) -> None:
        """What follows in stream `later` waits for what is in stream `before`."""
        flags = hip.hipEventDisableTiming
        self.events.append(ok(hip.hipEventCreateWithFlags(flags)))
        ok(hip.hipEventRecord(self.events[-1], before))
        ok(hip.hipStreamWaitEvent(later, self.events[-1], 0))

    def reset(self) -> None:
        self.streams.clear()
        self.events.clear()
        self.built = None
        super().reset()

    def close(self) -> None:
        hip.hipDeviceSynchronize()
        for event in self.events:
            hip.hipEventDestroy(event)
        for stream in self.streams:
            hip.hipStreamDestroy(stream)
        super().close()
