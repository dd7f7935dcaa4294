# SPDX-License-Identifier: MIT
"""docs/api_functions.md: every function of HIP and hiprtc, and which are wrapped."""

from __future__ import annotations

from . import text
from .emit_methods import result_names
from .emit_wrappers import form_params
from .model import Api

INTRO = """\
# Functions

All functions of HIP and hiprtc that the description knows. Call them as
`hip.hipMalloc(4096)`; names of arguments are HIP's and may be used as keywords.
*Returns* lists what the tuple holds. *Since* is the earliest of the HIP versions 5.2,
6.2, 7.1 and 7.15 that has the function; on an older runtime it answers
`hipErrorNotSupported` (`HIPRTC_ERROR_INTERNAL_ERROR` for hiprtc). Functions without an
entry under *call* are not wrapped yet.
"""


def emit(api: Api) -> dict[str, str]:
    """Path below the root -> content."""
    wrapped = sum(f.wrapped for f in api.functions)
    lines = [
        text.banner("<!--", " -->").splitlines()[0],
        INTRO,
        f"{wrapped} of {len(api.functions)} functions are wrapped.",
        "",
    ]
    for family in dict.fromkeys(f.family for f in api.functions):
        lines += [
            f"## {family}",
            "",
            "| call | returns | since | |",
            "|---|---|---|---|",
        ]
        for f in api.functions:
            if f.family != family:
                continue
            if not f.wrapped:
                lines.append(f"| | | {f.since} | {f.name} |")
                continue
            forms = [", ".join(p.python_name for p in form) for form in form_params(f)]
            calls = " or ".join(f"`{f.name}({form})`" for form in forms)
            returns = ", ".join(result_names(f))
            lines.append(f"| {calls} | {returns} | {f.since} | {f.doc} |")
        lines.append("")
    return {"docs/api_functions.md": "\n".join(lines)}
