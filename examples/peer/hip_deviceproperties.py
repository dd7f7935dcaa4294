# SPDX-License-Identifier: MIT
"""All properties of a device, from one record."""

from common import peer


def main() -> None:
    """Prints each member of hipDeviceProp_t."""
    properties = peer().properties(0)
    names = sorted(properties.PROPERTIES())
    for name in names:
        print(f"props.{name}={getattr(properties, name)}")
    if properties.warpSize <= 0 or len(names) < 60:
        raise SystemExit("the record is not filled")
    print("ok")


if __name__ == "__main__":
    main()
