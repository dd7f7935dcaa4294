# SPDX-License-Identifier: MIT
"""Which streams leave a launch provable where races are looked for, too."""

from __future__ import annotations

import pytest

from tests.conftest import Run

PROGRAM = """
import hipadapt
from hipadapt import hip

x = hipadapt.zeros(64, dtype="int32")
stream = None
"""
LAUNCH = """
with hipadapt.check("memory,race") as found:
    fill = hipadapt.compile_kernel(
        'extern "C" __global__ void fill(int *x) { x[threadIdx.x] = 1; }', "fill"
    )
    fill[1, 64, 0, stream](x)
print(found.summary.proved, found.summary.observed)
"""
PROVED = {
    "the default one": "",
    "one that waits for it": "stream = hipadapt.Stream()\n",
    "a wait between": "stream = hipadapt.Stream()\nstream.synchronize()\n",
}
OBSERVED = {
    "one that does not wait": "stream = hipadapt.Stream(nonblocking=True)\n",
    "two": "stream, other = hipadapt.Stream(), hipadapt.Stream()\n",
    "one after another": "s = hipadapt.Stream()\ndel s\nstream = hipadapt.Stream()\n",
    "that of the thread": "stream = hipadapt.Stream()\n"
    "hip.hipMemsetAsync(x, 0, 4, hip.ihipStream_t(2))\n",
}


@pytest.mark.parametrize("streams", [*PROVED, *OBSERVED])
def test_launch_is_proved_where_no_other_stream_works_beside(
    run_python: Run, streams: str
) -> None:
    done = run_python(PROGRAM + (PROVED | OBSERVED)[streams] + LAUNCH)

    assert done.stdout == ("64 0\n" if streams in PROVED else "0 64\n")
