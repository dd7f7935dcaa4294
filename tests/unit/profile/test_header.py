# SPDX-License-Identifier: MIT
"""hipadapt/profile.h: a program in C, and in C++, that profiles itself."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import hipadapt

LIBRARIES = Path(hipadapt.__file__).parent / "_lib"

# Programs that no sanitizer instruments cannot load libraries that need one.
pytestmark = pytest.mark.plain

PROGRAM = r"""
#include <hipadapt/profile.h>
#include <stdio.h>
#include <string.h>

extern int hipMalloc(void **memory, size_t bytes);
extern int hipMemcpy(void *to, const void *from, size_t bytes, int kind);

#define OK(call) \
    do { \
        if ((call) != HIPADAPT_PROFILE_OK) { \
            printf("%s: %s\n", #call, hipadapt_profile_error_text()); \
            return 1; \
        } \
    } while (0)

int main(int count, char **arguments)
{
    struct hipadapt_profile_options options;
    struct hipadapt_profile_status status;
    char text[64] = "text";
    void *memory = NULL;

    (void)count;
    memset(&options, 0, sizeof options);
    memset(&status, 0, sizeof status);
    printf("%s\n", hipadapt_profile_result_name(hipadapt_profile_prepare(&options)));
    printf("%s\n", hipadapt_profile_result_name(hipadapt_profile_status(&status)));
    options.size = sizeof options;
    status.size = sizeof status;
    OK(hipadapt_profile_prepare(&options));
    OK(hipadapt_profile_add_metadata("made_by", "\"a program\""));
    OK(hipadapt_profile_start());
    hipMalloc(&memory, sizeof text);
    OK(hipadapt_profile_push(HIPADAPT_PROFILE_DOMAIN_OPERATION, 12));
    hipMemcpy(memory, text, sizeof text, 1);
    OK(hipadapt_profile_pop(HIPADAPT_PROFILE_DOMAIN_OPERATION));
    OK(hipadapt_profile_stop());
    OK(hipadapt_profile_save(arguments[1]));
    OK(hipadapt_profile_status(&status));
    printf("%d %s\n", status.state, status.url);
    printf("%d\n", hipadapt_profile_result_name((enum hipadapt_profile_result)99) == NULL);
    return 0;
}
"""


@pytest.mark.parametrize("loaded", ["", "ROCP_TOOL_LIBRARIES", "HIPADAPT_PROFILE"])
@pytest.mark.parametrize("compiler", ["gcc", "g++"])
def test_program_profiles_itself(tmp_path: Path, compiler: str, loaded: str) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"needs {compiler}")
    # Given: a program that is linked with the library.
    source = tmp_path / ("program.c" if compiler == "gcc" else "program.cpp")
    linkage = 'extern "C" int' if compiler == "g++" else "extern int"
    source.write_text(PROGRAM.replace("extern int", linkage))
    command = [
        compiler,
        "-Wall",
        "-Wextra",
        "-Werror",
        source,
        "-o",
        tmp_path / "program",
    ]
    command += ["-I", hipadapt.get_include(), "-L", LIBRARIES]
    command += ["-lhipadapt_tool", "-lhipadapt_cpu", f"-Wl,-rpath,{LIBRARIES}"]
    subprocess.run(command, check=True)

    # When: it runs, and the library is also loaded as a tool, or by its variable.
    out = tmp_path / "out.json"
    values = {
        "ROCP_TOOL_LIBRARIES": str(LIBRARIES / "libhipadapt_tool.so"),
        "HIPADAPT_PROFILE": "on-demand",
    }
    settings = {loaded: values[loaded]} if loaded else {}
    done = subprocess.run(
        [tmp_path / "program", out],
        env=settings,
        capture_output=True,
        text=True,
        check=False,
    )

    # Then: there is one profiler, which has seen it.
    assert done.stdout.splitlines() == [
        "HIPADAPT_PROFILE_INVALID",
        "HIPADAPT_PROFILE_INVALID",
        f"0 {out}",
        "1",
    ], done.stderr
    assert done.returncode == 0
    trace = json.loads(out.read_text())
    (copy,) = [e for e in trace["traceEvents"] if e.get("cat") == "gpu_memcpy"]
    assert copy["args"]["bytes"] == 64
    assert copy["args"]["External id"] == 12
    assert trace["made_by"] == "a program"
