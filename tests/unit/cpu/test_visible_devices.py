# SPDX-License-Identifier: MIT
"""HIP_VISIBLE_DEVICES on the CPU device: which devices programs see, in which order."""

from __future__ import annotations

import pytest

from tests.conftest import Run

PLACES = """
from hipadapt import hip

status, count = hip.hipGetDeviceCount()
print(status.name, count)
for device in range(count):
    name = hip.hipDeviceGetPCIBusId(32, device)[1]
    same = hip.hipDeviceGetByPCIBusId(name)[1]
    print(name, same == device, hip.hipGetDeviceProperties(device)[1].pciBusID)
print(len({bytes(hip.hipDeviceGetUuid(device)[1].bytes) for device in range(count)}))
"""


@pytest.mark.parametrize(
    ("visible", "ordinals"),
    [
        ("", [0, 1, 2]),
        ("2", [2]),
        ("2,0", [2, 0]),
        ("1,1,0", [1, 0]),
        ("1,3,0", [1]),
        ("1,-1,0", [1]),
        ("0, 1", [0]),
        ("0,01,2", [0]),
        ("1,", [1]),
    ],
)
def test_programs_see_what_is_listed(
    run_python: Run, visible: str, ordinals: list[int]
) -> None:
    done = run_python(PLACES, HIPADAPT_CPU_DEVICES="3", HIP_VISIBLE_DEVICES=visible)

    assert done.stdout.splitlines() == [
        f"hipSuccess {len(ordinals)}",
        *(f"0000:{ordinal:02x}:00.0 True {ordinal}" for ordinal in ordinals),
        str(len(ordinals)),
    ]


@pytest.mark.parametrize("visible", ["-1", "3", "none", ",0"])
def test_no_device_is_an_error(run_python: Run, visible: str) -> None:
    done = run_python(
        """
        import hipadapt
        from hipadapt import hip

        status, count = hip.hipGetDeviceCount()
        print(status.name, count)
        print(hip.hipMalloc(16)[0].name)
        print(hip.hipRuntimeGetVersion()[0].name)
        try:
            hipadapt.zeros(4)
        except hipadapt.errors.HipErrorNoDevice as error:
            print(error)
        """,
        HIPADAPT_CPU_DEVICES="3",
        HIP_VISIBLE_DEVICES=visible,
    )

    lines = done.stdout.splitlines()
    assert lines[:3] == ["hipErrorNoDevice 0", "hipErrorNoDevice", "hipErrorNoDevice"]
    assert f"HIP_VISIBLE_DEVICES='{visible}'" in lines[3]
