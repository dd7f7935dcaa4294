# SPDX-License-Identifier: MIT
"""hipadapt/profile_client.h: a client and two children in C, and in C++."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import hipadapt
from tests.unit.profile.test_client import arrows

LIBRARIES = Path(hipadapt.__file__).parent / "_lib"

# Programs that no sanitizer instruments cannot load libraries that need one.
pytestmark = pytest.mark.plain

PROGRAM = r"""
#include <hipadapt/profile_client.h>
#include <stdio.h>
#include <string.h>

extern int hipMalloc(void **memory, size_t bytes);
extern int hipMemcpy(void *to, const void *from, size_t bytes, int kind);

static hipadapt_profile_handle handles[3];
static char told[3][16];
static uint64_t started[3];

static void note(void *context, const char *letter) { strcat((char *)context, letter); }

static int prepare(void *context, const struct hipadapt_profile_setup *setup)
{
    note(context, setup->detail == HIPADAPT_PROFILE_FLOPS ? "p" : "?");
    return 0;
}

static int start(void *context)
{
    started[((char (*)[16])context) - told] = hipadapt_profile_now();
    note(context, "s");
    return 0;
}

static int stop(void *context) { note(context, "e"); return 0; }
static void release(void *context) { note(context, "r"); }

static int collect(void *context)
{
    int i = (int)(((char (*)[16])context) - told);
    struct hipadapt_profile_slice slice;

    memset(&slice, 0, sizeof slice);
    slice.size = sizeof slice;
    slice.kind = HIPADAPT_PROFILE_SLICE_KERNEL;
    slice.name = "child work";
    slice.start = started[i];
    slice.end = started[i] + 10;
    slice.stream = 2;
    hipadapt_profile_child_device(handles[i], 0, i == 1 ? "npu" : "dsp", "{\"a\":1}");
    note(context, hipadapt_profile_child_slice(handles[i], &slice) ? "?" : "c");
    return 0;
}

#define SHOW(call) printf("%s\n", hipadapt_profile_result_name(call))

int main(int count, char **arguments)
{
    struct hipadapt_profile_options options;
    struct hipadapt_profile_client client;
    struct hipadapt_profile_child child;
    struct hipadapt_profile_event event;
    char text[64] = "text";
    void *memory = NULL;

    (void)count;
    memset(&options, 0, sizeof options);
    memset(&client, 0, sizeof client);
    memset(&child, 0, sizeof child);
    memset(&event, 0, sizeof event);
    SHOW(hipadapt_profile_register_client(&client, told[0], &handles[0]));
    client.size = sizeof client;
    client.name = "client";
    client.prepare = prepare;
    client.start = start;
    client.stop = stop;
    client.release = release;
    SHOW(hipadapt_profile_register_client(&client, told[0], &handles[0]));
    child.size = sizeof child;
    child.name = "child";
    child.configure = prepare;
    child.start = start;
    child.stop = stop;
    SHOW(hipadapt_profile_register_child(&child, told[1], &handles[1]));
    child.collect = collect;
    SHOW(hipadapt_profile_register_child(&child, told[1], &handles[1]));
    SHOW(hipadapt_profile_register_child(&child, told[2], &handles[2]));

    options.size = sizeof options;
    options.url = arguments[1];
    options.detail = HIPADAPT_PROFILE_FLOPS;
    SHOW(hipadapt_profile_prepare(&options));
    SHOW(hipadapt_profile_start());
    hipMalloc(&memory, sizeof text);
    event.start = hipadapt_profile_now();
    SHOW(hipadapt_profile_push(HIPADAPT_PROFILE_DOMAIN_OPERATION, 12));
    hipMemcpy(memory, text, sizeof text, 1);
    SHOW(hipadapt_profile_pop(HIPADAPT_PROFILE_DOMAIN_OPERATION));
    event.end = hipadapt_profile_now();
    SHOW(hipadapt_profile_hand_over(handles[0], &event));
    event.size = sizeof event;
    event.name = "load";
    event.external = 12;
    event.args = "\"a\":[1";
    SHOW(hipadapt_profile_hand_over(handles[0], &event));
    event.args = "\"a\":[1]";
    SHOW(hipadapt_profile_hand_over(handles[0], &event));
    SHOW(hipadapt_profile_stop());
    SHOW(hipadapt_profile_save(NULL));
    SHOW(hipadapt_profile_hand_over(handles[0], &event));
    SHOW(hipadapt_profile_unregister(handles[0]));
    SHOW(hipadapt_profile_unregister(handles[0]));
    printf("%s %s %s\n", told[0], told[1], told[2]);
    return 0;
}
"""

OK, INVALID = "HIPADAPT_PROFILE_OK", "HIPADAPT_PROFILE_INVALID"


@pytest.mark.parametrize("compiler", ["gcc", "g++"])
def test_program_has_a_client_and_children(tmp_path: Path, compiler: str) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"needs {compiler}")
    source = tmp_path / ("program.c" if compiler == "gcc" else "program.cpp")
    linkage = 'extern "C" int' if compiler == "g++" else "extern int"
    source.write_text(PROGRAM.replace("extern int", linkage))
    command = [compiler, "-Wall", "-Wextra", "-Werror", source]
    command += ["-o", tmp_path / "program"]
    command += ["-I", hipadapt.get_include(), "-L", LIBRARIES]
    command += ["-lhipadapt_tool", "-lhipadapt_cpu", f"-Wl,-rpath,{LIBRARIES}"]
    subprocess.run(command, check=True)

    out = tmp_path / "out.json"
    done = subprocess.run(
        [tmp_path / "program", out], capture_output=True, text=True, check=False
    )

    assert done.stdout.split() == [
        *(INVALID, OK, INVALID, OK, OK),  # registrations
        *(OK, OK, OK, OK),
        *(INVALID, INVALID, OK),  # handed over
        *(OK, OK, "HIPADAPT_PROFILE_STATE"),
        *(OK, INVALID),
        *("pser", "psec", "psec"),
    ], done.stderr
    trace = json.loads(out.read_text())
    ((operation, copy),) = arrows(trace)
    assert operation["name"] == "load"
    assert operation["args"] == {"External id": 12, "a": [1]}
    assert copy["cat"] == "gpu_memcpy"
    devices = {d["id"]: d["name"] for d in trace["child_devices"]}
    assert sorted(devices.values()) == ["dsp", "npu"]
    work = [e for e in trace["traceEvents"] if e["name"] == "child work"]
    assert {e["pid"] for e in work} == set(devices)
    assert "client_failures" not in trace
