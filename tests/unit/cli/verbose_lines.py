# SPDX-License-Identifier: MIT
"""Verbose lines, encoded as their format says and not as the writer does it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

COLUMNS = (
    "operation",
    "engine",
    "primitive",
    "implementation",
    "prop_kind",
    "memory_descriptors",
    "attributes",
    "auxiliary",
    "problem_desc",
    "exec_time",
)
PLAIN: Mapping[str, bytes | str] = {
    "operation": "exec",
    "engine": "gpu:0",
    "primitive": "kernel",
    "implementation": "saxpy",
    "prop_kind": "stream:1",
    "attributes": "corr:12 ext:0 tid:77",
    "auxiliary": "clock:device start:1000 end:13300 status:0 shmem:64",
    "problem_desc": "grid:4x1x1 block:64x1x1",
    "exec_time": "0.0123",
}


def field(value: bytes | str) -> bytes:
    """What would break a line, or is no UTF-8, as %XX."""
    data = value if isinstance(value, bytes) else value.encode()
    made = ""
    for sign in data.decode("utf-8", "surrogateescape"):
        number = ord(sign)
        if 0xDC80 <= number <= 0xDCFF:
            made += f"%{number - 0xDC00:02X}"
        elif number < 0x20 or sign in "%,\x7f":
            made += f"%{number:02X}"
        else:
            made += sign
    return made.encode()


def header(
    columns: Sequence[str] = COLUMNS, pid: int = 100, timestamp: bool = False
) -> bytes:
    """The three lines that a process begins with."""
    template = ",".join(["timestamp"] * timestamp + list(columns))
    return (
        "hipadapt_verbose,v1,info,hipadapt v0.1.0\n"
        f"hipadapt_verbose,v1,info,process:{pid},clock:1795219941631.560059\n"
        f"hipadapt_verbose,v1,kernel,info,template:{template}\n"
    ).encode()


def line(
    columns: Sequence[str] = COLUMNS,
    *,
    component: str = "kernel",
    timestamp: str = "",
    **values: bytes | str,
) -> bytes:
    """A line of results: `PLAIN`, but for what is named."""
    told = {**PLAIN, **values}
    start = ["hipadapt_verbose", "v1", *filter(None, [timestamp]), component]
    fields = [field(told.get(column, "")) for column in columns]
    return b",".join([*map(field, start), *fields]) + b"\n"


# Of oneDNN 3.12, as torch 2.13 printed them.
ONEDNN = """\
onednn_verbose,v1,info,oneDNN v3.12.0 (commit 80afa71049cd69a3df32adcccb623b12cd7baa22)
onednn_verbose,v1,info,cpu,runtime:OpenMP,nthr:2
onednn_verbose,v1,info,cpu,isa:Intel AVX-512 with Intel DL Boost and bfloat16 support
onednn_verbose,v1,info,gpu,runtime:none
onednn_verbose,v1,info,graph,backend,0:dnnl_backend
onednn_verbose,v1,primitive,info,template:operation,engine,primitive,implementation,prop_kind,memory_descriptors,attributes,auxiliary,problem_desc,exec_time
onednn_verbose,v1,graph,info,template:operation,engine,partition_id,partition_kind,op_names,data_formats,logical_tensors,fpmath_mode,implementation,backend,exec_time
onednn_verbose,v1,primitive,create:dispatch,reorder,src has a bad number of dimensions 4,src/cpu/x64/matmul/brgemm_matmul_reorders.cpp:302
onednn_verbose,v1,primitive,create:cache_miss,cpu,reorder,jit:blk,undef,src:f32::blocked:abcd::f0 dst:f32::blocked:aBcd16b::f0,attr-scratchpad:user,,8x64x56x56,0.0800781
onednn_verbose,v1,primitive,exec:check,primitive,unused primitive execution argument (80),src/common/primitive_exec_types.cpp:136
onednn_verbose,v1,primitive,exec,cpu,reorder,jit:blk,undef,src:f32::blocked:abcd::f0 dst:f32::blocked:aBcd16b::f0,attr-scratchpad:user,,8x64x56x56,44.4719
onednn_verbose,v1,primitive,exec,cpu,convolution,jit:avx512_core,forward_training,src:f32:a:blocked:aBcd16b::f0 wei:f32:a:blocked:ABcd16b16a::f0 bia:f32:a:blocked:a::f0 dst:f32:a:blocked:aBcd16b::f0,attr-scratchpad:user,alg:convolution_direct,mb8_ic64oc64_ih56oh56kh3sh1dh0ph1_iw56ow56kw3sw1dw0pw1,57.1492
"""
HAND = (
    header()
    + line(implementation="add<float, 4>", exec_time="0.01")
    + b"the program's own line\n"
    + line(implementation="mul", exec_time="0.045")
    + line(implementation="add<float, 4>", exec_time="0.02", operation="exec:sync")
    + line(implementation="add<float, 4>", exec_time="0.03", engine="gpu:1")
    + line(primitive="memcpy", implementation="HtoD", exec_time="1.234567891")
    + line(primitive="compile", implementation="p", operation="create:cache_miss")
    + line(primitive="compile", implementation="p", operation="create:cache_hit")
    + line(
        operation="exec:error",
        implementation="add<float, 4>",
        auxiliary="clock:device status:hipErrorLaunchFailure",
        problem_desc="it stopped, at once",
        exec_time="9",
    )
    + line(
        component="api",
        operation="error",
        primitive="call",
        implementation="hipFree",
        auxiliary="status:1",
        problem_desc="no memory",
        exec_time="",
    )
    + b"hipadapt_verbose,v1,info,lost:7\n"
)
