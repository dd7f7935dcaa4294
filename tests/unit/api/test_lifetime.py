# SPDX-License-Identifier: MIT
"""Memory, strings and callables live as long as the provider needs them."""

from __future__ import annotations

from tests.conftest import Run


def test_async_copy_holds_its_buffers_until_it_is_done(fake: Run) -> None:
    fake("""
        from hipadapt import _core
        target, source = bytearray(4), bytearray(b"abcd")
        kind = hip.hipMemcpyKind.hipMemcpyDefault
        assert hip.hipMemcpyAsync(target, source, 4, kind, None) == (0,)
        assert _core.pending() == 1
        for buffer in (target, source):
            try:
                buffer.append(1)
            except BufferError:
                pass
            else:
                raise AssertionError("not held")
        hip.hipDeviceSynchronize()
        assert _core.pending() == 1  # the work is not done yet
        fake.fake_finish()
        hip.hipDeviceSynchronize()
        assert _core.pending() == 0
        assert target == b"abcd"
        target.append(1), source.append(1)
    """)


def test_async_copy_keeps_temporaries(fake: Run) -> None:
    fake("""
        import gc
        import numpy as np
        from hipadapt import types
        kind = hip.hipMemcpyKind.hipMemcpyDefault
        targets = []
        for i in range(100):
            target = np.zeros(1000, np.uint8)
            targets.append(target)
            hip.hipMemcpyAsync(target, np.full(1000, i, np.uint8), 1000, kind, None)
            source = types.Pointer(bytes([i]) * 1000)
            hip.hipMemcpyAsync(target, source, 1000, kind, None)
            del source
            gc.collect(0)
            junk = [np.full(1000, 255, np.uint8) for _ in range(3)]
        fake.fake_finish()
        assert all((t == i).all() for i, t in enumerate(targets))
    """)


def test_failed_or_device_only_calls_hold_nothing(fake: Run) -> None:
    fake("""
        from hipadapt import _core
        kind = hip.hipMemcpyKind.hipMemcpyDefault
        _, array = hip.hipMalloc(16)
        assert hip.hipMemcpyAsync(array, array, 16, kind, None) == (0,)
        assert hip.hipMemcpyAsync(int(array), array, 16, kind, None) == (0,)
        assert _core.pending() == 0
        fake.fake_fail(1)
        buffer = bytearray(16)
        assert hip.hipMemcpyAsync(array, buffer, 16, kind, None) == (1,)
        assert _core.pending() == 0
        buffer.append(1)
    """)


def test_kernel_arguments_are_kept_and_packed(fake: Run) -> None:
    fake("""
        import struct
        import numpy as np
        from hipadapt import _core
        host = np.arange(4, dtype=np.float32)
        _, array = hip.hipMalloc(16)
        extra = (array, ctypes.c_int(7), ctypes.c_float(1.5), host, ctypes.c_char(b"x"))
        launch = hip.hipModuleLaunchKernel
        assert launch(None, 1, 1, 1, 1, 1, 1, 0, None, None, extra) == (0,)
        assert _core.pending() == 1
        memory = ctypes.create_string_buffer(1024)
        size = fake.fake_arguments(memory)
        expected = struct.pack("@PifPc", int(array), 7, 1.5, host.ctypes.data, b"x")
        assert memory.raw[:size] == expected
        fake.fake_finish()
        hip.hipDeviceSynchronize()
        assert _core.pending() == 0
    """)


def test_events_are_used_again(fake: Run) -> None:
    fake("""
        from hipadapt import _core
        kind = hip.hipMemcpyKind.hipMemcpyDefault
        target, source = bytearray(4), bytearray(4)
        for _ in range(2000):
            hip.hipMemcpyAsync(target, source, 4, kind, 0x1000)
            fake.fake_finish()
        assert _core.pending() <= 4, _core.pending()
        for _ in range(300):
            hip.hipMemcpyAsync(target, source, 4, kind, 0x1000)
            if _core.pending() > 200:
                fake.fake_finish()
        fake.fake_finish()
        hip.hipStreamDestroy(0x1000)
        assert _core.pending() == 0
    """)


def test_program_keeps_source_and_options(fake: Run) -> None:
    fake("""
        import gc
        fake.fake_source.argtypes = fake.fake_option.argtypes = [ctypes.c_void_p]
        fake.fake_source.restype = fake.fake_option.restype = ctypes.c_char_p
        source = "".join(["__global__ void k() {}"] * 100)
        status, program = hiprtc.hiprtcCreateProgram(source + "", "k", 0, None, None)
        expected = source.encode()
        hiprtc.hiprtcCompileProgram(program, 1, ["-DA=" + "x" * 500])
        del source
        gc.collect()
        junk = [bytes(2300) for _ in range(100)]
        assert fake.fake_source(int(program)) == expected
        assert fake.fake_option(int(program)) == b"-DA=" + b"x" * 500
        assert hiprtc.hiprtcDestroyProgram(program) == (0,)
    """)


def test_program_is_destroyed_by_itself_or_by_reference(fake: Run) -> None:
    fake("""
        for destroy in (lambda p: p, lambda p: p.createRef()):
            _, program = hiprtc.hiprtcCreateProgram("", "k", 0, [], [])
            assert hiprtc.hiprtcDestroyProgram(destroy(program)) == (0,)
    """)


def test_strings_of_destroyed_programs_are_released(fake: Run) -> None:
    fake("""
        import resource
        def grow():
            for i in range(200):
                _, program = hiprtc.hiprtcCreateProgram(
                    str(i) + "x" * 1_000_000, "k", 0, None, None)
                hiprtc.hiprtcDestroyProgram(program)
        grow()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        grow()
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 8_000
    """)


def test_host_function_runs_and_is_released(fake: Run) -> None:
    fake("""
        import gc, weakref, threading
        seen = []
        class Call:
            def __call__(self, user):
                here = threading.current_thread()
                seen.append((user, here is threading.main_thread()))
        call = Call()
        gone = weakref.ref(call)
        user = {"a": 1}
        assert hip.hipLaunchHostFunc(None, call, user) == (0,)
        del call
        gc.collect()
        assert gone() is not None
        fake.fake_finish()
        assert seen == [({"a": 1}, False)], seen
        assert gone() is None
        def broken(user):
            raise KeyError("in host function")
        import sys
        caught = []
        sys.unraisablehook = lambda hook: caught.append(hook.exc_type)
        assert hip.hipLaunchHostFunc(None, broken, None) == (0,)
        fake.fake_finish()
        assert caught == [KeyError], caught
        fake.fake_fail(1)
        call = Call()
        gone = weakref.ref(call)
        assert hip.hipLaunchHostFunc(None, call, None) == (1,)
        del call
        assert gone() is None
    """)


def test_ctypes_host_function_is_kept(fake: Run) -> None:
    fake("""
        import gc
        seen = []
        prototype = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
        cell = ctypes.c_int(5)
        assert hip.hipLaunchHostFunc(None, prototype(seen.append), cell) == (0,)
        gc.collect()
        fake.fake_finish()
        assert seen == [ctypes.addressof(cell)], seen
    """)


def test_forked_child_forgets_what_its_parent_held(fake: Run) -> None:
    fake("""
        from hipadapt import _core
        kind = hip.hipMemcpyKind.hipMemcpyDefault
        target, source = bytearray(4), bytearray(4)
        hip.hipMemcpyAsync(target, source, 4, kind, None)
        child = os.fork()
        if child == 0:
            hip.hipMemcpyAsync(bytearray(4), bytearray(4), 4, kind, None)
            good = _core.pending() == 1
            source.append(1)
            os._exit(0 if good else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert _core.pending() == 1
        fake.fake_finish()
    """)


def test_interpreter_ends_with_work_in_flight(fake: Run) -> None:
    fake("""
        kind = hip.hipMemcpyKind.hipMemcpyDefault
        hip.hipMemcpyAsync(bytearray(4), bytearray(4), 4, kind, None)
        hip.hipLaunchHostFunc(None, print, None)
    """)
