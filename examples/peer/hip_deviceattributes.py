# SPDX-License-Identifier: MIT
"""Limits of a device, asked for one by one."""

from common import check, peer

NAMES = ("MaxBlockDim", "MaxGridDim")


def main() -> None:
    """Prints the limits of block and grid, and the size of a warp."""
    hip = peer().hip
    attributes = [f"{name}{axis}" for name in NAMES for axis in "XYZ"] + ["WarpSize"]
    for name in attributes:
        attribute = hip.hipDeviceAttribute_t[f"hipDeviceAttribute{name}"]
        value = check(hip.hipDeviceGetAttribute(attribute, 0))
        if value <= 0:
            raise SystemExit(f"{attribute.name} is {value}")
        print(f"{attribute.name}: {value}")
    print("ok")


if __name__ == "__main__":
    main()
