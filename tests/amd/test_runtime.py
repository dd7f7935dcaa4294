# SPDX-License-Identifier: MIT
"""AMD's own runtime, as far as it works without a GPU."""

from __future__ import annotations

from tests.conftest import Run


def test_library_is_found_by_its_versioned_name(amd: Run) -> None:
    amd("""
        import hipadapt
        provider = hipadapt.provider()
        assert provider.name == "amd", provider
        assert "libamdhip64" in provider.path
        assert provider.version.split(".")[0] in ("5", "6", "7"), provider
    """)


def test_calls_without_a_device_answer_codes_and_no_rubbish(amd: Run) -> None:
    amd("""
        from hipadapt import hip
        status, count = hip.hipGetDeviceCount()
        if status == 0:
            raise SystemExit  # there is a device
        assert status is hip.hipError_t.hipErrorNoDevice, status
        assert count == 0
        for call, outputs in (
            (lambda: hip.hipMalloc(64), (None,)),
            (lambda: hip.hipGetDevice(), (0,)),
            (lambda: hip.hipMemGetInfo(), (0, 0)),
            (lambda: hip.hipStreamCreate(), (None,)),
            (lambda: hip.hipGetDeviceProperties(0), (None,)),
        ):
            result = call()
            assert result[0] != 0 and result[1:] == outputs, result
        status, text = hip.hipGetErrorString(status)
        assert status == 0 and len(str(text)) > 3, text
    """)


def test_hiprtc_compiles_for_gfx90a(amd: Run) -> None:
    amd("""
        from hipadapt import hiprtc
        source = 'extern "C" __global__ void twice(float *x) { x[threadIdx.x] *= 2; }'
        good = hiprtc.hiprtcResult.HIPRTC_SUCCESS
        status, program = hiprtc.hiprtcCreateProgram(source, "twice.hip", 0, [], [])
        assert status == good, status
        options = ["--offload-arch=gfx90a"]
        status, = hiprtc.hiprtcCompileProgram(program, len(options), options)
        if status != good:
            _, size = hiprtc.hiprtcGetProgramLogSize(program)
            log = bytearray(size)
            hiprtc.hiprtcGetProgramLog(program, log)
            raise SystemExit(log.decode())
        status, size = hiprtc.hiprtcGetCodeSize(program)
        assert status == good and size > 1000, (status, size)
        code = bytearray(size)
        assert hiprtc.hiprtcGetCode(program, code) == (good,)
        assert b"gfx90a" in code
        assert hiprtc.hiprtcDestroyProgram(program) == (good,)
    """)


def test_compile_errors_are_in_the_log(amd: Run) -> None:
    amd("""
        from hipadapt import hiprtc
        source = "syntax error"
        status, program = hiprtc.hiprtcCreateProgram(source, "bad.hip", 0, [], [])
        options = [b"--offload-arch=gfx90a"]
        status, = hiprtc.hiprtcCompileProgram(program, len(options), options)
        assert status is hiprtc.hiprtcResult.HIPRTC_ERROR_COMPILATION, status
        status, size = hiprtc.hiprtcGetProgramLogSize(program)
        log = bytearray(size)
        assert hiprtc.hiprtcGetProgramLog(program, log)[0] == 0
        assert b"error" in log, log
        hiprtc.hiprtcDestroyProgram(program.createRef())
    """)


def test_new_layouts_are_not_read_from_old_runtimes(amd: Run) -> None:
    amd("""
        import hipadapt
        from hipadapt import hip
        old = int(hipadapt.provider().version.split(".")[0]) < 6
        if old:
            missing = hip.hipError_t.hipErrorNotSupported
            assert hip.hipGetDeviceProperties(0) == (missing, None)
            assert hip.hipPointerGetAttributes(0) == (missing, None)
    """)


def test_calls_that_an_old_runtime_lacks_name_the_version(amd: Run) -> None:
    amd("""
        import hipadapt
        from hipadapt import hip
        if int(hipadapt.provider().version.split(".")[0]) >= 6:
            raise SystemExit  # it has them
        lacking = hip.hipError_t.hipErrorNotSupported
        assert hip.hipKernelGetName(None) == (lacking, None)
        assert "HIP 7.15 has it" in hipadapt.error_text()
        # 5.2 has a function of this name; its memory types are numbered otherwise.
        assert hip.hipMemcpyParam2D(None) == (lacking,)
        assert "means something else" in hipadapt.error_text()
        assert "HIP 6.0 has it" in hipadapt.error_text()
        assert hip.hipGetDeviceProperties(0) == (lacking, None)
    """)
