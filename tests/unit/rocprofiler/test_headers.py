# SPDX-License-Identifier: MIT
"""Our headers have the ABI of rocprofiler-sdk 1.2.1, in C and in C++."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.unit.api import header_sets

from . import abi_facts
from .conftest import ROOT, headers

OURS = ROOT / "csrc" / "rocprofiler" / "include"
# Bytes of version 1.0, which 1.2 has kept.
SIZES = {
    "rocprofiler_client_id_t": 24,
    "rocprofiler_tool_configure_result_t": 32,
    "rocprofiler_callback_tracing_record_t": 64,
    "rocprofiler_record_header_t": 16,
    "rocprofiler_kernel_dispatch_info_t": 128,
    "rocprofiler_callback_tracing_hip_api_data_t": 120,
    "rocprofiler_callback_tracing_kernel_dispatch_data_t": 152,
    "rocprofiler_callback_tracing_memory_copy_data_t": 64,
    "rocprofiler_callback_tracing_memory_allocation_data_t": 48,
    "rocprofiler_callback_tracing_code_object_load_data_t": 88,
    "rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t": 88,
    "rocprofiler_callback_tracing_code_object_host_kernel_symbol_register_data_t": 120,
    "rocprofiler_buffer_tracing_hip_api_record_t": 64,
    "rocprofiler_buffer_tracing_hip_api_ext_record_t": 176,
    "rocprofiler_buffer_tracing_memory_copy_record_t": 96,
    "rocprofiler_buffer_tracing_memory_allocation_record_t": 88,
    "rocprofiler_buffer_tracing_kernel_dispatch_record_t": 184,
    "rocprofiler_buffer_tracing_correlation_id_retirement_record_t": 32,
    "rocprofiler_buffer_tracing_runtime_initialization_record_t": 72,
    "rocprofiler_buffer_tracing_scratch_memory_record_t": 96,
    "rocprofiler_agent_v0_t": 312,
    "rocprofiler_counter_record_t": 40,
}
OFFSETS = {
    "rocprofiler_callback_tracing_record_t.thread_id": 8,
    "rocprofiler_callback_tracing_record_t.correlation_id": 16,
    "rocprofiler_callback_tracing_record_t.kind": 40,
    "rocprofiler_callback_tracing_record_t.operation": 44,
    "rocprofiler_callback_tracing_record_t.phase": 48,
    "rocprofiler_callback_tracing_record_t.payload": 56,
    "rocprofiler_callback_tracing_hip_api_data_t.args": 8,
    "rocprofiler_callback_tracing_hip_api_data_t.retval": 96,
    "rocprofiler_agent_v0_t.name": 248,
    "rocprofiler_agent_v0_t.node_id": 280,
    "rocprofiler_agent_v0_t.runtime_visibility": 292,
    "rocprofiler_agent_v0_t.uuid": 296,
}
VALUES = {
    "ROCPROFILER_SCRATCH_ALLOC_FLAG_ALT": 2,
    "ROCPROFILER_CALLBACK_TRACING_LAST": 22,
    "ROCPROFILER_BUFFER_TRACING_LAST": 33,
    "ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED": 16,
    "ROCPROFILER_STATUS_ERROR_NOT_IMPLEMENTED": 17,
}
pytestmark = [
    pytest.mark.plain,  # nothing of ours runs but the compiler
    pytest.mark.skipif(
        not (shutil.which("gcc") and shutil.which("g++")),
        reason="no gcc and g++ to compile headers with",
    ),
]


def ours() -> Path:
    """The installed folder, which has HIP's headers too."""
    return Path(headers()[1])


@pytest.mark.parametrize("language", abi_facts.LANGUAGES)
def test_sizes_and_values_of_the_interface(language: str, tmp_path: Path) -> None:
    names = abi_facts.read_names(ours())

    found = abi_facts.facts(ours(), names, language, tmp_path)

    assert {name: found[f"sizeof {name}"] for name in SIZES} == SIZES
    assert {name: found[name] for name in OFFSETS} == OFFSETS
    assert {name: found[name] for name in VALUES} == VALUES


def real_headers() -> Path:
    """AMD's own headers, or a skip."""
    given = os.environ.get("HIPADAPT_ROCPROFILER_HEADERS")
    if given:
        return Path(given)
    return header_sets.fetch("7.1")  # with those of rocprofiler-sdk 1.2.1


# What ours have beyond the older ones: newer functions of HIP.
NEWER = re.compile(r"rocprofiler_hip_api_args_t\.|ROCPROFILER_HIP_\w+_API_ID_")


@pytest.mark.interop
@pytest.mark.fetched
@pytest.mark.parametrize("language", abi_facts.LANGUAGES)
def test_headers_are_as_amds(language: str, tmp_path: Path) -> None:
    real = real_headers()
    names = abi_facts.read_names(real)
    assert len(names.members) > 40

    theirs = abi_facts.facts(real, names, language, tmp_path)
    found = abi_facts.facts(ours(), names, language, tmp_path)

    different = {
        name: (value, found.get(name))
        for name, value in theirs.items()
        if found.get(name) != value and not name.endswith("_API_ID_LAST")
    }
    assert different == {}
    own = abi_facts.read_names(ours())
    for kind in set(names.members) & set(own.members):
        more = {f"{kind}.{m}" for m in own.members[kind]}
        more -= {f"{kind}.{m}" for m in names.members[kind]}
        assert all(NEWER.match(name) for name in more), more


def exported(library: Path) -> set[str]:
    done = subprocess.run(
        ["nm", "-D", "--defined-only", str(library)],
        capture_output=True,
        text=True,
        check=True,
    )
    return {line.split()[2].split("@")[0] for line in done.stdout.splitlines()}


def test_every_declared_function_is_there() -> None:
    library = ROOT / "hipadapt" / "_lib" / "librocprofiler-sdk.so.1"
    text = "\n".join(
        path.read_text() for path in (OURS / "rocprofiler-sdk").rglob("*.h")
    )
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    declared = set(re.findall(r"\b(rocprofiler_\w+)\s*\([^;{]*\)[^;{]*;", text))
    declared = {name for name in declared if not name.endswith("_t")}
    declared -= {"rocprofiler_configure", "rocprofiler_record_header_compute_hash"}
    assert len(declared) > 50

    assert declared - exported(library) == set()


def test_roctx_functions_are_there_under_both_names() -> None:
    folder = ROOT / "hipadapt" / "_lib"
    text = (OURS / "rocprofiler-sdk-roctx" / "roctx.h").read_text()
    names = re.findall(r"ROCTX_API [\w ]+?\*?(\w+)\(", text)
    assert len(names) >= 12
    for file in ("libroctx64.so.4", "librocprofiler-sdk-roctx.so.1"):
        library = ctypes.CDLL(str(folder / file))
        for name in names:
            assert hasattr(library, name), (file, name)


@pytest.mark.parametrize("language", abi_facts.LANGUAGES)
@pytest.mark.parametrize(
    "header",
    sorted(
        str(path.relative_to(OURS))
        for path in OURS.rglob("*.h")
        if path.parts[-2] not in ("hip", "marker")
    ),
)
def test_each_header_stands_alone(header: str, language: str, tmp_path: Path) -> None:
    kind, standard = abi_facts.LANGUAGES[language]
    compiler = "g++" if kind == "c++" else "gcc"
    command = [compiler, "-x", kind, standard, *headers(), "-Wall", "-Wextra"]
    command += ["-Werror", "-fsyntax-only", "-"]
    text = f"#include <{header}>\n#include <{header}>\n"

    done = subprocess.run(command, input=text, capture_output=True, text=True)

    assert done.returncode == 0, done.stderr


TABLES = """
#include <hip/amd_detail/hip_api_trace.hpp>
#include <rocprofiler-sdk/hip.h>
#include <stdio.h>
#define SLOT(name) (sizeof(size_t) + sizeof(void *) * (size_t)(name))
int main(void) {
    printf("%zu %zu %zu\\n", sizeof(struct HipCompilerDispatchTable),
           sizeof(struct HipDispatchTable) -
               SLOT(ROCPROFILER_HIP_RUNTIME_API_ID_LAST),
           offsetof(struct HipDispatchTable, hipMalloc_fn) -
               SLOT(ROCPROFILER_HIP_RUNTIME_API_ID_hipMalloc));
    return 0;
}
"""


@pytest.mark.parametrize("language", abi_facts.LANGUAGES)
def test_tables_have_their_slots(language: str, tmp_path: Path) -> None:
    assert run_program(TABLES, language, tmp_path) == "80 0 0\n"


NAMES = """
#include <rocprofiler-sdk/cxx/name_info.hpp>
#include <rocprofiler-sdk/hip.h>
#include <cstdio>
int main() {
    const rocprofiler::sdk::callback_name_info calls =
        rocprofiler::sdk::get_callback_tracing_names();
    const auto buffers = rocprofiler::sdk::get_buffer_tracing_names<std::string>();
    const auto &hip = calls[ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API];
    std::printf("%s %s %s %d %d %d\\n", hip.name.data(),
                calls.at(ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, 0).data(),
                buffers.at(ROCPROFILER_BUFFER_TRACING_MEMORY_COPY).c_str(),
                hip.items().size() == ROCPROFILER_HIP_RUNTIME_API_ID_LAST,
                calls.size() == ROCPROFILER_CALLBACK_TRACING_LAST,
                buffers.size() == ROCPROFILER_BUFFER_TRACING_LAST);
}
"""


def test_names_can_be_had_in_vectors(tmp_path: Path) -> None:
    library = ROOT / "hipadapt" / "_lib" / "librocprofiler-sdk.so.1"

    text = run_program(NAMES, "c++17", tmp_path, str(library))

    assert text == "HIP_RUNTIME_API hipApiName MEMORY_COPY 1 1 1\n"


HELPERS = """
#include <rocprofiler-sdk/cxx/hash.hpp>
#include <rocprofiler-sdk/cxx/operators.hpp>
#include <rocprofiler-sdk/cxx/utility.hpp>
#include <rocprofiler-sdk/cxx/version.hpp>
#include <cstdio>
#include <map>
#include <unordered_map>
int main() {
    const rocprofiler_agent_id_t one{1}, two{2};
    const rocprofiler_dim3_t flat{4, 1, 1}, square{2, 2, 1}, large{1, 1, 5};
    std::map<rocprofiler_agent_id_t, int> sorted{{two, 20}, {one, 10}};
    std::unordered_map<rocprofiler_counter_id_t, int> hashed{{{7}, 70}};
    rocprofiler_counter_record_dimension_info_t a{}, b{};
    a.name = "x";
    b.name = "y";
    constexpr auto version =
        rocprofiler::sdk::version::compute_version_triplet(10201);
    std::printf("%d%d%d%d%d%d ", one == one, one != two, one < two, one > two,
                one <= two, one >= two);
    std::printf("%d%d%d%d ", flat == flat, square < flat, flat < large, a < b);
    std::printf("%d %d %s %s %d\\n", sorted.begin()->second, hashed.at({7}),
                rocprofiler::sdk::utility::as_hex(255, 4).c_str(),
                rocprofiler::sdk::utility::as_hex((const char *)16).c_str(),
                version == rocprofiler_version_triplet_t{1, 2, 1});
}
"""


def test_handles_can_be_compared_and_hashed(tmp_path: Path) -> None:
    text = run_program(HELPERS, "c++17", tmp_path)

    assert text == "111010 1111 10 70 0x00ff 0x10 1\n"


# Tools count on what AMD's headers include.
INCLUDED = """
#include <rocprofiler-sdk/rocprofiler.h>
int main(void) {
    rocprofiler_buffer_tracing_scratch_memory_record_t record;
    memset(&record, 0, sizeof record);
    assert(record.size == 0);
    printf("%s %d %zu %zu\\n", getenv("PATH") != NULL ? "path" : "", (int)floor(1.5),
           sizeof(rocprofiler_pc_sampling_record_host_trap_v0_t),
           sizeof(rocprofiler_pc_sampling_record_stochastic_v0_t));
    return 0;
}
"""


@pytest.mark.parametrize("language", abi_facts.LANGUAGES)
def test_one_header_brings_what_tools_count_on(language: str, tmp_path: Path) -> None:
    library = ROOT / "hipadapt" / "_lib" / "librocprofiler-sdk.so.1"

    text = run_program(INCLUDED, language, tmp_path, str(library), "-lm")

    assert text == "path 1 88 104\n"


def run_program(source: str, language: str, folder: Path, *libraries: str) -> str:
    """What a program says that is made with the installed headers, without warnings."""
    kind, standard = abi_facts.LANGUAGES[language]
    compiler = "g++" if kind == "c++" else "gcc"
    file, made = folder / "program.txt", folder / "program"
    file.write_text(source)
    command = [
        compiler,
        "-x",
        kind,
        standard,
        *headers(),
        "-Wall",
        "-Wextra",
        "-Werror",
    ]
    command += [str(file), "-x", "none", *libraries, "-o", str(made)]
    if libraries:
        command.append(f"-Wl,-rpath,{Path(libraries[0]).parent}")
    subprocess.run(command, check=True, timeout=60)
    done = subprocess.run(
        [made], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout
