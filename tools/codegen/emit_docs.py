# SPDX-License-Identifier: MIT
"""docs/api: a page for each family of functions, and one for the CPU device.

What a role means for the reader stands in ROLES.  A role that is missing there is an
error, because a page that says nothing about an argument is worse than none.
"""

from __future__ import annotations

import re

from . import cpu_device, emit_docs_types
from .docs_text import FAMILIES, FIRST, Links, head, table
from .emit_methods import result_names
from .forms import form_params
from .model import Api, Function, Param

# Role -> direction, and what Python passes or gets; `{}` is a link to the adapter type.
# "in" becomes "in-out" where the call writes through the parameter.
ROLES = {
    "value": ("in", "{number}"),
    "enum": ("in", "{}"),
    "handle": ("in", "{}"),
    "pointer": ("in", "{}"),
    "text": ("in", "str, bytes, or memory"),
    "text_list": ("in", "list of str or bytes"),
    "list": ("in", "{}, list, tuple or memory"),
    "record": ("in", "{}, or its values"),
    "record_value": ("in", "{}, or its values"),
    "record_list": ("in", "{}, an array of them, or a list of them or their values"),
    "host_node": ("in", "{}, or a tuple of a callable and its argument"),
    "inout": ("in-out", "{}, or memory that holds one"),
    "kernel_params": (
        "in",
        "list of arguments, {py:obj}`~hipadapt.types.ListOfPointer`, or memory",
    ),
    "extra": ("in", "{py:obj}`~hipadapt.types.HipModuleLaunchKernel_extra`"),
    "callback": ("in", "{}, or a callable"),
    "handle_ref": ("in-out", "{}, or the address of one"),
    "out": ("out", "{}"),
    "out_array": ("out", "list of {}"),
    "out_list": ("out", "list of {}"),
    "out_record": ("out", "{}"),
    "out_text": ("out", "{py:obj}`~hipadapt.types.CStr`"),
}
FLOATS = ("float", "double")
LISTS = ("list", "text_list", "record_list", "out_list", "out_array")

# What numbers count.  A parameter that gives the size of another one needs no entry.
UNITS = {
    "bits": ["flags", "Flags", "flagsPtr", "pFlags"],
    "device number": [
        *("dev", "device", "deviceId", "device1", "device2", "ordinal"),
        *("dstDevice", "dstDeviceId", "peerDeviceId", "srcDevice", "srcDeviceId"),
    ],
    "bytes": [
        *("sharedMemBytes", "dynSharedMemPerBlk", "sharedMem", "dynamicSmemSize"),
        *("bytes", "free", "total", "pitch", "Pitch", "widthInBytes", "size"),
        *("elementSizeBytes", "ByteCount", "ByteOffset", "codeSizeRet", "logSizeRet"),
        *("bitcode_size", "min_bytes_to_hold", "length", "granularity", "alignment"),
        *("bufferSize", "offset", "dstOffset", "srcOffset", "paramOffset"),
        *("paramSize", "wOffset", "wOffsetDst", "wOffsetSrc"),
    ],
    "rows": ["hOffset", "hOffsetDst", "hOffsetSrc"],
    "blocks": ["gridDimX", "gridDimY", "gridDimZ", "gridSize", "numBlocks"],
    "threads": ["blockDimX", "blockDimY", "blockDimZ"],
    "threads of a block": ["blockSize", "blockSizeLimit"],
    "milliseconds": ["ms"],
    "the lower, the earlier": ["priority", "leastPriority", "greatestPriority"],
    "mipmap level": ["level", "mipLevel"],
    "entries": [
        *("numDependencies", "numExtSems", "numDevices", "numOps", "numAttrs"),
        *("num_attributes", "numAttributes", "numPrefetchLocs", "num_prefetch_locs"),
        *("cuMaskSize", "nbResources", "nbGroups", "numKernels"),
    ],
}
UNIT_OF = {name: unit for unit, names in UNITS.items() for name in names}

INDEX = """\
## How to read an entry

The signature shows what Python passes; names are HIP's own
and may be used as keywords. *Direction* is seen from C:

| direction | meaning |
|---|---|
| in | passed; the call reads it |
| in-out | passed; the call may write to it, so read-only memory is refused |
| out | not passed; it is in the returned tuple, 0 or `None` where the call failed |
| out, on failure too | the same, but a failed call has what it wrote, too |

*Also* shows other parameter lists that are accepted. An output that such a list names
is memory of the caller; for an input that it leaves out, C gets 0 or NULL and the tuple
has `None`.

*Size* of memory is the least number of bytes it must have, where that is known; memory
that is shorter is refused. What is accepted as memory, text, list or record stands in
[the adapter rules](../adapters.md).

*Since* is the earliest of the HIP versions 5.2, 6.2, 7.1 and 7.15 that has the
function. On an older runtime it answers `hipErrorNotSupported` (hiprtc:
`HIPRTC_ERROR_INTERNAL_ERROR`). The same answer comes from [functions that the CPU
device lacks](../cpu_device_functions.md).

*GIL* says whether other Python threads run during the call. *Memory* says how long the
call keeps what was passed; see [ownership](../ownership.md).
"""

CPU_INTRO = """\
The CPU device has {have} of {total} functions of HIP and hiprtc. The rest is listed
here. They can be called and check their arguments; then they answer
`hipErrorNotSupported` (hiprtc: `HIPRTC_ERROR_INTERNAL_ERROR`) with outputs of 0 or
`None`. `hip.has_symbol(name)` asks beforehand, on any provider.
"""


def direction(param: Param) -> str:
    """`in`, `in-out` or `out`, seen from C, and whether failed calls have it."""
    found = ROLES[param.role][0]
    if param.on_failure:
        return f"{found}, on failure too"
    return "in-out" if found == "in" and param.write else found


class Pages:
    """The pages of all families."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.links = Links(api)
        self.lacking = {f.name for f in cpu_device.lacking(api)}

    # ---- parameters ------------------------------------------------------------------

    def takes(self, param: Param) -> str:
        """What Python passes for a parameter, or gets."""
        words = ROLES[param.role][1]
        number = "float" if param.type.strip(" *") in FLOATS else "int"
        if words == "{number}":
            return number
        adapter = param.adapter or ""
        link = number if adapter == "scalar" else self.links.type(adapter)
        return words.replace("{}", link)

    def amount(self, function: Function, param: Param) -> str:
        """Size of memory, or the unit of a number."""
        if param.size:
            return size_text(param)
        if not is_number(param):
            return ""
        return role_in_sizes(function, param) or unit(function, param)

    def parameter_table(self, function: Function) -> list[str]:
        for param in function.params:
            if param.role not in ROLES:
                raise ValueError(
                    f"{function.name}: role {param.role!r} has no text for the "
                    "documents; add it to ROLES in tools/codegen/emit_docs.py"
                )
        rows = [
            [
                f"`{p.python_name}`",
                direction(p),
                self.takes(p),
                f"`{p.type}`",
                self.amount(function, p),
            ]
            for p in function.params
        ]
        return table(["parameter", "direction", "Python", "C", "size, unit"], rows)

    # ---- a function ------------------------------------------------------------------

    def returns(self, function: Function, form: int = 0) -> str:
        items = []
        for item in result_names(function, form):
            name, colon, kind = item.rpartition(": ")
            link = self.links.type(kind.removeprefix("list[").rstrip("]"))
            if kind.startswith("list["):
                link = f"list of {link}"
            items.append(f"`{name}`{colon}{link}" if colon else kind)
        items[0] = self.links.type(items[0])
        return "(" + ", ".join(items) + ("," if len(items) == 1 else "") + ")"

    def facts(self, function: Function) -> list[str]:
        device = "no, it answers that it is not supported"
        if function.name not in self.lacking:
            device = "yes"
        gil = "kept, the call cannot block" if function.gil == "keep" else "released"
        facts = [f"**Returns** {self.returns(function)}"]
        forms = form_params(function)
        for number, form in enumerate(forms[1:], start=1):
            names = ", ".join(p.python_name for p in form)
            facts.append(
                f"**Also** `{function.name}({names})`, which returns "
                f"{self.returns(function, number)}"
            )
        facts += [
            f"**Since** HIP {function.since}; **CPU device** {device}; **GIL** {gil}"
        ]
        facts += [f"**Memory** {line}" for line in lifetime(function)]
        facts += [f"**Effect** {line}" for line in effects(function)]
        return facts

    def function(self, function: Function) -> list[str]:
        if not function.wrapped:
            return [
                f":::{{py:function}} {function.name}()",
                f"Not wrapped. Since HIP {function.since}.",
                ":::",
                "",
            ]
        names = ", ".join(p.python_name for p in form_params(function)[0])
        lines = [f":::{{py:function}} {function.name}({names})", function.doc or "", ""]
        if function.params:
            lines += [*self.parameter_table(function), ""]
        lines += [f"- {fact}." for fact in self.facts(function)]
        return [*lines, ":::", ""]

    # ---- pages -----------------------------------------------------------------------

    def family(self, family: str) -> str:
        if family not in FAMILIES:
            raise ValueError(
                f"family {family!r} has no title; add it in tools/codegen/docs_text.py"
            )
        title, what = FAMILIES[family]
        functions = in_order(
            family, [f for f in self.api.functions if f.family == family]
        )
        have = sum(f.name not in self.lacking for f in functions)
        lines = [
            *head(title),
            f"{what} {len(functions)} functions; the CPU device has {have} of them. "
            "[How to read an entry](index.md#how-to-read-an-entry).",
            "",
            "```{py:currentmodule} hipadapt." + functions[0].module,
            "```",
            "",
        ]
        for function in functions:
            lines += self.function(function)
        return "\n".join(lines)

    def index(self, families: list[str]) -> str:
        wrapped = sum(f.wrapped for f in self.api.functions)
        lines = [
            *head("HIP and hiprtc"),
            "Every function, type and constant of HIP and hiprtc, generated from the "
            "description that the wrappers are generated from. "
            f"{wrapped} of {len(self.api.functions)} functions are wrapped.",
            "",
        ]
        rows = []
        for family in families:
            functions = [f for f in self.api.functions if f.family == family]
            have = sum(f.name not in self.lacking for f in functions)
            title, what = FAMILIES[family]
            link = f"[{title}]({family}.md)"
            rows.append([link, what, str(len(functions)), str(have)])
        lines += table(["page", "", "functions", "on the CPU device"], rows)
        pages = emit_docs_types.PAGES
        lines += ["", *table(["types and names", ""], [[*row] for row in pages]), ""]
        lines += [INDEX]
        targets = [*families, *emit_docs_types.NAMES]
        lines += ["```{toctree}", ":hidden:", "", *targets, "```", ""]
        return "\n".join(lines)

    def cpu_functions(self, families: list[str]) -> str:
        total = len(self.api.functions)
        lines = [
            *head("Functions that the CPU device lacks"),
            CPU_INTRO.format(have=total - len(self.lacking), total=total),
        ]
        for family in families:
            functions = [f for f in self.api.functions if f.family == family]
            missing = [f for f in functions if f.name in self.lacking]
            if not missing:
                continue
            title = FAMILIES[family][0]
            have = len(functions) - len(missing)
            lines += [
                f"## {title}",
                "",
                f"Has {have} of {len(functions)}. Lacks:",
                "",
                *[f"- {{py:func}}`hipadapt.{f.module}.{f.name}`" for f in missing],
                "",
            ]
        return "\n".join(lines)


def in_order(family: str, functions: list[Function]) -> list[Function]:
    """First those that most programs use."""
    names = FIRST.get(family, "").split()
    missing = set(names) - {f.name for f in functions}
    if missing:
        raise ValueError(f"docs_text.FIRST: {family} has no {', '.join(missing)}")
    rank = {name: number for number, name in enumerate(names)}
    return sorted(functions, key=lambda f: rank.get(f.name, len(rank)))


def is_number(param: Param) -> bool:
    """Whether Python passes or gets a number."""
    return param.role == "value" or (
        param.adapter == "scalar" and param.role not in LISTS
    )


def term_text(term: str) -> str:
    """`count*4` in words."""
    name, star, factor = (part.strip() for part in term.partition("*"))
    shown = name if name.isdigit() else f"`{name}`"
    return shown + (f" * {factor}" if star else "")


def size_text(param: Param) -> str:
    """How large memory must be, from the size relation of the description."""
    size = param.size or ""
    call = re.fullmatch(r"(\w+)\((.*)\)", size)
    if call and call[1] == "rows":
        pitch, width, height = (term_text(t) for t in call[2].split(","))
        return f"{height} rows of {width} bytes, {pitch} bytes apart"
    if call and call[1] == "pick":
        key, usual, *others = (part.strip() for part in call[2].split(","))
        cases: dict[str, list[str]] = {}
        for case in others:
            name, _, count = case.partition("=")
            cases.setdefault(count, []).append(f"`{name}`")
        shown = [f"{count} for {', '.join(names)}" for count, names in cases.items()]
        return f"{usual} bytes; by `{key}`: {'; '.join(shown)}"
    if size.startswith("out:"):
        return f"its size is `{size[4:]}`"
    optional = size.endswith("?")
    size = size.removesuffix("?")
    if not re.fullmatch(r"\w+(\s*\*\s*\d+)?", size):
        raise ValueError(f"size {size!r} of {param.name} has no words: add them here")
    kind = "entries" if param.role in LISTS else "bytes"
    return f"{term_text(size)} {kind}" + (", or None" if optional else "")


def role_in_sizes(function: Function, param: Param) -> str:
    """What a number counts, if another parameter's size is made of it."""
    for other in function.params:
        size = other.size or ""
        match = re.search(rf"\b{re.escape(param.name)}\b(?:\s*\*\s*(\d+))?", size)
        if match is None or size.startswith("pick("):
            continue
        if match[1]:
            return f"elements of {match[1]} bytes"
        if size.startswith("rows(") and size[5:-1].endswith(param.name):
            return "rows"
        return "entries" if other.role in LISTS else "bytes"
    return ""


def unit(function: Function, param: Param) -> str:
    """What a number counts, by its name."""
    if param.name in ("width", "height"):
        pitched = "Pitch" in function.name
        return {"width": "bytes", "height": "rows"}[param.name] if pitched else ""
    if param.name == "count" and param.type.startswith("size_t"):
        return "bytes"
    return UNIT_OF.get(param.name, "")


MEMORY_ROLES = (
    *("extra", "host_node", "kernel_params", "list", "pointer", "record"),
    *("record_list", "text", "text_list"),
)
# Keys of the description that this file has words for, or needs none for.
KNOWN = {
    *("name", "module", "returns", "since", "params", "symbol", "doc", "wrapped"),
    *("manual", "gil", "forms", "review", "reaps", "least_version"),
    *("stream", "streams", "hold", "share", "launches", "drop", "forget", "destroys"),
    *("captures", "frees", "resets", "image"),
}


def lifetime(function: Function) -> list[str]:
    """How long the call keeps what was passed."""
    raw = function.raw
    unknown = set(raw) - KNOWN
    if unknown:
        raise ValueError(
            f"{function.name}: key {', '.join(sorted(unknown))} has no words for the "
            "documents; add them to lifetime() in tools/codegen/emit_docs.py"
        )
    lines = []
    hold, share = raw.get("hold"), raw.get("share")
    if function.stream:
        lines.append(f"is kept until `{function.stream}` has passed the call")
    elif raw.get("streams"):
        entry = raw["streams"]
        place = f"`{entry['member']}` of each entry of `{entry['in']}`"
        lines.append(f"is kept until {place} has passed the call")
    elif any(p.role in MEMORY_ROLES for p in function.params) and not hold:
        lines.append("is kept until the call returns")
    if hold:
        names = ", ".join(f"`{name}`" for name in hold["params"])
        lines.append(f"of {names} is kept with `{hold['by']}` until that is ended")
        if hold.get("at"):
            lines.append(f"that was kept for `{hold['at']}` before is let go")
    if share:
        lines.append(f"kept with `{share['from']}` is kept with `{share['to']}` too")
    if raw.get("launches"):
        lines.append(
            f"kept with `{raw['launches']}` is kept until the stream has passed the "
            "call"
        )
    lines += [
        f"that was kept with `{raw[key]}` is let go"
        for key in ("drop", "forget")
        if raw.get(key)
    ]
    if raw.get("destroys"):
        lines.append("that its work uses is let go when the work is done")
    return lines


def effects(function: Function) -> list[str]:
    """What the call does to memory and streams beyond its outputs."""
    raw = function.raw
    lines = []
    if raw.get("frees"):
        lines.append(f"the memory of `{raw['frees']}` is gone after success")
    if raw.get("captures") == "begin":
        lines.append("work that is put into the stream is recorded from here on")
    if raw.get("captures") == "end":
        lines.append("work that is put into the stream is carried out again")
    if raw.get("resets"):
        lines.append("Python callables that the device would call are let go, uncalled")
    return lines


def emit(api: Api) -> dict[str, str]:
    """Path below the root -> content."""
    pages = Pages(api)
    found = dict.fromkeys(f.family for f in api.functions)
    families = [family for family in FAMILIES if family in found]
    families += [family for family in found if family not in FAMILIES]
    files = {f"docs/api/{family}.md": pages.family(family) for family in families}
    files["docs/api/index.md"] = pages.index(families)
    files["docs/cpu_device_functions.md"] = pages.cpu_functions(families)
    return files | emit_docs_types.emit(api)
