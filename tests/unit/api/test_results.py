# SPDX-License-Identifier: MIT
"""Outputs: what they are on success, and that failures show no rubbish."""

from __future__ import annotations

from tests.conftest import Run


def test_failed_call_gives_zero_and_none(fake: Run) -> None:
    fake("""
        calls = [
            (hip.hipGetDevice, (), (0,)),
            (hip.hipGetDeviceCount, (), (0,)),
            (hip.hipMemGetInfo, (), (0, 0)),
            (hip.hipMalloc, (64,), (None,)),
            (hip.hipDeviceGetName, (64, 0), (None,)),
            (hip.hipGetDeviceProperties, (0,), (None,)),
            (hip.hipStreamCreate, (), (None,)),
        ]
        for function, arguments, outputs in calls:
            function(*arguments)
            fake.fake_fail(1)
            result = function(*arguments)
            assert result == (hip.hipError_t.hipErrorInvalidValue, *outputs), result
    """)


def test_outputs_of_successful_calls(fake: Run) -> None:
    fake("""
        from hipadapt import types
        status, array = hip.hipMalloc(64)
        assert isinstance(array, types.DeviceArray) and array.size == 64
        assert hip.hipFree(array) == (0,)
        assert hip.hipMalloc(0) == (0, None)
        status, name = hip.hipDeviceGetName(64, 0)
        assert str(name) == "Fake device", name
        status, stream = hip.hipStreamCreate()
        assert isinstance(stream, hip.hipStream_t) and int(stream) == 0x1000
        assert hip.hipMemGetInfo() == (0, 1, 2)
        status, text = hip.hipGetErrorString(hip.hipError_t.hipSuccess)
        assert (status, str(text)) == (0, "no error")
        assert hip.hipGetErrorString(1) == (0, None)
        assert hiprtc.hiprtcVersion() == (hiprtc.hiprtcResult.HIPRTC_SUCCESS, 9, 0)
    """)


def test_both_call_forms_of_record_outputs(fake: Run) -> None:
    fake("""
        status, made = hip.hipGetDeviceProperties(0)
        assert (status, made.name, made.warpSize) == (0, "Fake", 32)
        own = hip.hipDeviceProp_t()
        assert hip.hipGetDeviceProperties(own, 0) == (0,)
        assert (own.name, own.warpSize) == ("Fake", 32)
        own = hip.hipDeviceProp_t()
        assert hip.hipGetDeviceProperties(deviceId=0, prop=own) == (0,)
        assert own.name == "Fake"
        name = bytearray(16)
        assert hip.hipDeviceGetName(name, 16, 0) == (0,)
        assert name.startswith(b"Fake device")
        for bad in (None, 0):
            try:
                hip.hipGetDeviceProperties(bad, 0)
            except ValueError as error:
                assert "prop" in str(error)
            else:
                raise AssertionError(bad)
    """)


def test_missing_function_answers_not_supported(fake: Run) -> None:
    fake("""
        assert hip.has_symbol("hipMalloc") and not hip.has_symbol("hipMallocPitch")
        assert hip.has_symbol("hipGetDeviceProperties")
        assert not hip.has_symbol("noSuchThing")
        status, array, pitch = hip.hipMallocPitch(16, 16)
        assert status is hip.hipError_t.hipErrorNotSupported, status
        assert (array, pitch) == (None, 0)
        assert "hipMallocPitch" in hipadapt.error_text(), hipadapt.error_text()
        answer = hiprtc.hiprtcGetBitcodeSize(None)
        assert answer == (hiprtc.hiprtcResult.HIPRTC_ERROR_INTERNAL_ERROR, 0), answer
    """)


def test_other_threads_run_while_a_call_blocks(fake: Run) -> None:
    fake("""
        import threading
        hip.hipGetDeviceCount()
        fake.fake_sleep(200)
        counts = []
        def count():
            n = 0
            while waiter.is_alive():
                n += 1
            counts.append(n)
        waiter = threading.Thread(target=hip.hipDeviceSynchronize)
        counter = threading.Thread(target=count)
        waiter.start(); counter.start(); waiter.join(); counter.join()
        assert counts[0] > 1000, counts
    """)
