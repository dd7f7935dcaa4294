# SPDX-License-Identifier: MIT
"""Which HIP library is used, and what is said about it."""

from __future__ import annotations

import shutil
from pathlib import Path

import hipadapt
from tests.conftest import Run


def test_provider_named_by_path(fake: Run, fake_library: Path) -> None:
    fake(f"""
        provider = hipadapt.provider()
        assert provider.name == "path", provider
        assert provider.path == {str(fake_library)!r}
        assert provider.version == "7.10.42"
        assert provider.tried == ()
        assert "HIPADAPT_PROVIDER" in provider.why
    """)


def test_cpu_device_is_used_where_nothing_else_is(run_python: Run) -> None:
    run_python(
        """
        import hipadapt, os
        provider = hipadapt.provider()
        assert provider.name == "cpu", provider
        assert os.path.basename(provider.path) == "libhipadapt_cpu.so"
        if not (os.path.exists("/dev/kfd") or os.path.exists("/dev/dxg")):
            assert "no AMD device" in provider.why
            assert any("driver" in place for place in provider.tried)
        """,
        HIPADAPT_PROVIDER="auto",
    )


def test_missing_library_lists_places_tried(run_python: Run) -> None:
    run_python(
        """
        from hipadapt import hip
        for _ in range(2):
            try:
                hip.hipGetDeviceCount()
            except RuntimeError as error:
                assert "/no/such/library.so" in str(error), error
            else:
                raise AssertionError
        """,
        HIPADAPT_PROVIDER="/no/such/library.so",
    )


def test_device_of_another_hipadapt_in_the_process_is_refused(
    run_python: Run, tmp_path: Path
) -> None:
    """Two devices in one process would not know each other's memory."""
    done = run_python(
        f"""
        import ctypes, hipadapt, pathlib, shutil
        own = pathlib.Path(hipadapt.__file__).parent / "_lib" / "libhipadapt_cpu.so"
        other = shutil.copy(own, {str(tmp_path)!r})
        ctypes.CDLL(other)
        try:
            hipadapt.provider()
        except RuntimeError as error:
            print(error)
        """,
        HIPADAPT_PROVIDER="cpu",
    )

    assert f"{tmp_path}/libhipadapt_cpu.so" in done.stdout
    assert "another hipadapt" in done.stdout


def test_own_device_that_a_library_has_loaded_is_used(run_python: Run) -> None:
    run_python(
        """
        import ctypes, hipadapt, pathlib
        own = pathlib.Path(hipadapt.__file__).parent / "_lib" / "libhipadapt_cpu.so"
        ctypes.CDLL(str(own))
        assert hipadapt.provider().name == "cpu"
        """,
        HIPADAPT_PROVIDER="cpu",
    )


def test_library_that_the_process_has_loaded_wins(
    run_python: Run, fake_library: Path, tmp_path: Path
) -> None:
    loaded = tmp_path / "libamdhip64-0123abcd.so"
    loaded.write_bytes(fake_library.read_bytes())
    run_python(
        """
        import ctypes, sys
        library = ctypes.CDLL(sys.argv[1])
        import hipadapt
        provider = hipadapt.provider()
        assert (provider.name, provider.path) == ("amd", sys.argv[1]), provider
        assert "already loaded" in provider.why
        """,
        str(loaded),
        HIPADAPT_PROVIDER="auto",
    )


def test_first_calls_of_many_threads_load_one_provider(run_python: Run) -> None:
    run_python("""
        import threading
        from hipadapt import hip
        results = []
        barrier = threading.Barrier(8)
        def call():
            barrier.wait()
            results.append(hip.hipGetDeviceCount())
        threads = [threading.Thread(target=call) for _ in range(8)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        assert len(set(results)) == 1, results
    """)


def test_import_loads_no_runtime(run_python: Run) -> None:
    run_python("""
        import sys
        before = set(sys.modules)
        import hipadapt
        assert not any("libhipadapt_cpu" in line for line in open("/proc/self/maps"))
        from hipadapt import hip, hiprtc, types
        heavy = {"numpy", "ctypes", "importlib.metadata", "subprocess", "re"} - before
        assert not heavy & set(sys.modules), heavy & set(sys.modules)
        assert not any("libhipadapt_cpu" in line for line in open("/proc/self/maps"))
        hip.hipGetDeviceCount()
        assert any("libhipadapt_cpu" in line for line in open("/proc/self/maps"))
    """)


def test_checks_are_refused_on_other_libraries(fake: Run) -> None:
    fake("""
        try:
            with hipadapt.check("memory"):
                raise AssertionError("the block was entered")
        except RuntimeError as error:
            assert "checks run on the CPU device, and HIP is" in str(error), error
    """)


def test_two_hipadapts_in_one_process_do_not_share_a_device(
    run_python: Run, tmp_path: Path
) -> None:
    package = Path(hipadapt.__file__).parent
    shutil.copytree(package, tmp_path / "hipadapt")

    run_python(
        f"""
        import sys
        import hipadapt
        from hipadapt import hip
        assert hip.hipGetDeviceCount() == (0, 1)

        first = {{n: m for n, m in sys.modules.items() if n.split(".")[0] == "hipadapt"}}
        for name in first:
            del sys.modules[name]
        sys.path.insert(0, {str(tmp_path)!r})
        from hipadapt import hip as other
        assert other.__file__.startswith({str(tmp_path)!r})
        try:
            other.hipGetDeviceCount()
        except RuntimeError as error:
            assert "the CPU device of another hipadapt" in str(error), error
            assert {str(package)!r} in str(error), error
        else:
            raise AssertionError("two devices in one process")

        assert hip.hipGetDeviceCount() == (0, 1), "the first one goes on"
        """
    )
