# SPDX-License-Identifier: MIT
"""Sizes, offsets and values of everything that a set of rocprofiler headers declares.

Names are read from the preprocessed headers; what they are is told by a program that the
compiler makes.  So the same questions can be put to two sets of headers, in two
languages.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

# Headers that AMD's set in the triton package has.
HEADERS = (
    "rocprofiler-sdk/agent.h",
    "rocprofiler-sdk/buffer.h",
    "rocprofiler-sdk/buffer_tracing.h",
    "rocprofiler-sdk/callback_tracing.h",
    "rocprofiler-sdk/external_correlation.h",
    "rocprofiler-sdk/fwd.h",
    "rocprofiler-sdk/hip/runtime_api_id.h",
    "rocprofiler-sdk/internal_threading.h",
    "rocprofiler-sdk/registration.h",
    "rocprofiler-sdk/marker/api_id.h",
    "rocprofiler-sdk-roctx/api_trace.h",
    "rocprofiler-sdk-roctx/types.h",
    "hsakmt/hsakmttypes.h",
)
FOLDERS = ("rocprofiler-sdk/", "rocprofiler-sdk-roctx/")
LANGUAGES = {"c11": ("c", "-std=gnu11"), "c++17": ("c++", "-std=c++17")}


@dataclass
class Names:
    """What headers declare: members by type, and enumerators."""

    members: dict[str, list[str]] = field(default_factory=dict)
    bits: dict[str, list[str]] = field(default_factory=dict)
    values: list[str] = field(default_factory=list)


def flags(include: Path, language: str) -> list[str]:
    kind, standard = LANGUAGES[language]
    return ["-x", kind, standard, "-w", f"-I{include}", "-D__HIP_PLATFORM_AMD__=1"]


def includes() -> str:
    return "".join(f"#include <{header}>\n" for header in HEADERS)


def preprocessed(include: Path) -> str:
    """The text of the wanted headers only."""
    done = subprocess.run(
        ["gcc", *flags(include, "c11"), "-E", "-"],
        input=includes(),
        capture_output=True,
        text=True,
        check=True,
    )
    kept, wanted = [], False
    for line in done.stdout.splitlines():
        marker = re.match(r'# \d+ "([^"]*)"', line)
        if marker:
            wanted = any(f"/{folder}" in marker.group(1) for folder in FOLDERS)
        elif wanted:
            kept.append(line)
    return "\n".join(kept)


def block_end(text: str, start: int) -> int:
    """The place behind the brace that closes the one at `start`."""
    depth = 0
    for place in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return place + 1
    raise ValueError("a brace is not closed")


def statements(body: str) -> list[str]:
    """Parts that end with a semicolon at the outermost level."""
    parts, start, place = [], 0, 0
    while place < len(body):
        if body[place] == "{":
            place = block_end(body, place)
        elif body[place] == ";":
            parts.append(body[start:place].strip())
            start = place = place + 1
        else:
            place += 1
    return parts


def read_members(body: str, prefix: str, members: list[str], bits: list[str]) -> None:
    for part in statements(body):
        part = re.sub(r"__attribute__\s*\(\(.*?\)\)", "", part).strip()
        brace = part.find("{")
        if brace >= 0 and re.match(r"(struct|union)\b", part):
            end = block_end(part, brace)
            name = part[end:].strip()
            inner = f"{prefix}{name}." if name else prefix
            if name:
                members.append(prefix + name)
            read_members(part[brace + 1 : end - 1], inner, members, bits)
            continue
        pointer = re.search(r"\(\s*\*\s*(\w+)\s*\)\s*\(", part)
        if pointer:
            members.append(prefix + pointer.group(1))
        elif re.search(r"(\w+)\s*:\s*\w+$", part):
            match = re.search(r"(\w+)\s*:\s*\w+$", part)
            assert match
            bits.append(prefix + match.group(1))
        elif part:
            match = re.search(r"(\w+)\s*(\[[^\]]*\]\s*)*$", part)
            assert match, part
            members.append(prefix + match.group(1))


def read_names(include: Path) -> Names:
    text = preprocessed(include)
    text = re.sub(r"\bextern\b\s*\"C\"\s*\{", "", text)
    found = Names()
    for match in re.finditer(r"\btypedef\s+(struct|union|enum)\b[^;{]*\{", text):
        start = match.end() - 1
        end = block_end(text, start)
        body = text[start + 1 : end - 1]
        name = re.search(r"(\w+)\s*;", text[end : text.index(";", end) + 1])
        assert name is not None
        if match.group(1) == "enum":
            for word in re.sub(r"=[^,]*", "", body).split(","):
                plain = re.sub(r"__attribute__\s*\(\(.*?\)\)", "", word).strip()
                if plain:
                    found.values.append(plain)
        else:
            members: list[str] = []
            bits: list[str] = []
            read_members(body, "", members, bits)
            found.members[name.group(1)] = members
            found.bits[name.group(1)] = bits
    return found


def program(names: Names) -> str:
    """A program that prints one fact a line."""
    lines = [
        # HIP 7.1 has a struct whose name it uses without the word, as only C++ allows.
        "#include <hip/hip_runtime_api.h>\n#ifndef __cplusplus\n"
        "typedef struct hipArrayMemoryRequirements hipArrayMemoryRequirements;\n"
        "#endif\n",
        includes(),
        "#include <stddef.h>\n#include <stdio.h>\n#include <string.h>\n",
        '#define FACT(name, value) printf("%s %lld\\n", name, (long long)(value));\n',
        "int main(void) {\n",
    ]
    for kind, members in names.members.items():
        lines.append(f'FACT("sizeof {kind}", sizeof({kind}))\n')
        for member in members:
            place = f"offsetof({kind}, {member})"
            size = f"sizeof((({kind} *)0)->{member})"
            lines.append(f'FACT("{kind}.{member}", {place})\n')
            lines.append(f'FACT("sizeof {kind}.{member}", {size})\n')
        for bit in names.bits[kind]:
            lines.append(
                f"{{ unsigned char raw[sizeof({kind})]; {kind} value;"
                " memset((void *)&value, 0, sizeof value);"
                f" value.{bit} = ~0u; memcpy(raw, &value, sizeof raw);"
                " for (size_t i = 0; i < sizeof raw; i++) if (raw[i])"
                f' printf("{kind}.{bit}@%zu %d\\n", i, raw[i]); }}\n'
            )
    lines += [f'FACT("{name}", {name})\n' for name in names.values]
    return "".join([*lines, "return 0; }\n"])


def facts(include: Path, names: Names, language: str, folder: Path) -> dict[str, int]:
    """The answers of these headers; a name that they lack is an error."""
    source, made = folder / "facts.c", folder / f"facts-{language}"
    source.write_text(program(names))
    compiler = "g++" if language == "c++17" else "gcc"
    command = [compiler, *flags(include, language), "-O0", "-o", str(made), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError("\n".join(done.stderr.splitlines()[:20]))
    done = subprocess.run([str(made)], capture_output=True, text=True, check=True)
    pairs = (line.rsplit(" ", 1) for line in done.stdout.splitlines())
    return {name: int(value) for name, value in pairs}
