# SPDX-License-Identifier: MIT
"""The process around the CPU device: interrupts, forks, ends, limits, signals.

Bulk tests in C are tests/c/cpu/test_faults*.c and test_stress.c.  Each test has an
interpreter of its own.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.conftest import Run

from .test_runtime import PRELUDE

# A kernel that has been quick so far is run by the thread that waits for it.
QUICK = """
stop = ok(hip.hipHostMalloc(4, 0))
ok(hip.hipMemset(stop, 1, 4))
kernel, = build(ENDLESS, "endless")
for _ in range(20):
    ok(launch(kernel, extra=(stop,)))
    ok(hip.hipDeviceSynchronize())
"""
# The only worker is busy, so nobody else can run it.
BUSY = """
import ctypes
flag = ctypes.c_int.from_address(int(stop))
flag.value = 0
other, = build(ENDLESS.replace("endless", "other"), "other")
beside, own = (ok(hip.hipStreamCreateWithFlags(1)) for _ in range(2))
ok(launch(other, beside, (stop,)))
time.sleep(0.05)
"""
INTERRUPT = """
import hipadapt
AFTER_S, LIMIT_S = 0.25, 0.2

def interrupted(wait):
    sent = []
    def send():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)
    timer = threading.Timer(AFTER_S, send)
    timer.start()
    try:
        answer = wait()
    except KeyboardInterrupt:
        passed = time.monotonic() - sent[0]
        assert passed < LIMIT_S, passed
    else:
        raise AssertionError(("not interrupted", answer))
    timer.join()
"""
SLOW = os.environ.get("HIPADAPT_SLOW_TESTS", "0") not in ("", "0")


# ---- Ctrl-C ----


def test_interrupt_ends_a_wait_within_its_limit(run_python: Run) -> None:
    run_python(
        PRELUDE
        + INTERRUPT
        + """
kernel, = build(ENDLESS, "endless")
stream = ok(hip.hipStreamCreate())
stop = ok(hip.hipHostMalloc(4, 0))
ok(hip.hipMemset(stop, 0, 4))
ok(launch(kernel, stream, (stop,)))
time.sleep(0.05)  # a worker has it
event = ok(hip.hipEventCreate())
ok(hip.hipEventRecord(event, stream))
interrupted(hip.hipDeviceSynchronize)
interrupted(lambda: hip.hipStreamSynchronize(stream))
interrupted(lambda: hip.hipEventSynchronize(event))
memory = bytearray(4)
interrupted(lambda: hip.hipMemcpyDtoH(memory, stop, 4))
ctypes_stop = __import__("ctypes").c_int.from_address(int(stop))
ctypes_stop.value = 1
ok(hip.hipDeviceSynchronize())  # the kernel went on all the time
ok(hip.hipEventSynchronize(event))
"""
    )


@pytest.mark.plain  # a thread that runs a kernel asks nothing under a sanitizer
def test_interrupt_ends_a_wait_that_runs_the_kernel_itself(run_python: Run) -> None:
    run_python(
        PRELUDE
        + INTERRUPT
        + QUICK
        + BUSY
        + """
ok(launch(kernel, own, (stop,)))
interrupted(lambda: hip.hipStreamSynchronize(own))
status = hip.hipStreamSynchronize(own)[0]
assert status.name == "hipErrorLaunchTimeOut", status
assert "interrupted" in hipadapt.error_text()
ok(hip.hipDeviceReset())
ok(hip.hipFree(ok(hip.hipMalloc(64))))
""",
        HIPADAPT_LOG="0",
        HIPADAPT_CPU_THREADS="1",
    )


@pytest.mark.plain
def test_handler_that_returns_does_not_end_the_kernel(run_python: Run) -> None:
    run_python(
        PRELUDE
        + QUICK
        + BUSY
        + """
seen = []

def handler(number, frame):
    # What a handler may not do inside of a kernel is refused, what it may is done.
    seen.append((hip.hipMalloc(16)[0].name, hip.hipGetDevice()[0].name))
    if len(seen) == 3:
        flag.value = 1

signal.signal(signal.SIGUSR1, handler)
ok(launch(kernel, own, (stop,)))
for after in (0.1, 0.3, 0.5):
    threading.Timer(after, os.kill, (os.getpid(), signal.SIGUSR1)).start()
ok(hip.hipStreamSynchronize(own))
assert seen == [("hipErrorIllegalState", "hipSuccess")] * 3, seen
ok(hip.hipDeviceSynchronize())
""",
        HIPADAPT_CPU_THREADS="1",
    )


# ---- fork ----

CHILD = """
import traceback

def in_child(body):
    child = os.fork()
    if child == 0:
        code = 1
        try:
            body()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    begin = time.monotonic()
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert status == 0, status
            return
        if time.monotonic() - begin > 20:
            os.kill(child, signal.SIGKILL)
            raise AssertionError("the child hangs")
        time.sleep(0.005)

def refused():
    for call in (lambda: hip.hipMalloc(16), lambda: hip.hipGetDeviceCount(),
                 hip.hipDeviceSynchronize, hip.hipStreamCreate):
        name = call()[0].name
        assert name == "hipErrorNotInitialized", name

def begins_anew():
    refused()
    ok(hip.hipInit(0))
    array = ok(hip.hipMalloc(4096))
    ok(hip.hipMemset(array, 7, 4096))
    back = bytearray(4096)
    ok(hip.hipMemcpyDtoH(back, array, 4096))
    assert back == b"\\x07" * 4096
"""


def test_fork_right_after_import_is_no_fork(run_python: Run) -> None:
    run_python(
        PRELUDE
        + CHILD
        + """
in_child(lambda: ok(hip.hipFree(ok(hip.hipMalloc(64)))))
ok(hip.hipFree(ok(hip.hipMalloc(64))))
in_child(begins_anew)
"""
    )


def test_fork_in_the_middle_of_a_kernel(run_python: Run) -> None:
    run_python(
        PRELUDE
        + CHILD
        + """
import ctypes
kernel, = build(ENDLESS, "endless")
stop = ok(hip.hipHostMalloc(4, 0))
flag = ctypes.c_int.from_address(int(stop))
flag.value = 0
ok(launch(kernel, extra=(stop,)))
time.sleep(0.05)
for _ in range(5):
    in_child(refused)
    in_child(begins_anew)
flag.value = 1
ok(hip.hipDeviceSynchronize())
"""
    )


@pytest.mark.plain  # AddressSanitizer's allocator keeps a lock that another thread had
def test_fork_while_other_threads_call_hip(run_python: Run) -> None:
    """Also while the first of them loads the library."""
    run_python(
        PRELUDE
        + CHILD
        + """
over = False

def work():
    stream = ok(hip.hipStreamCreate())
    began.set()
    host = bytearray(65536)
    while not over:
        array = ok(hip.hipMalloc(65536))
        ok(hip.hipMemcpyAsync(array, host, 65536,
                              hip.hipMemcpyKind.hipMemcpyHostToDevice, stream))
        ok(hip.hipStreamSynchronize(stream))
        ok(hip.hipFree(array))

def works():
    if hip.hipGetDeviceCount()[0].name == "hipErrorNotInitialized":
        begins_anew()
    else:  # nobody had loaded it
        ok(hip.hipFree(ok(hip.hipMalloc(64))))

began = threading.Event()
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads:
    thread.start()
try:
    while not began.is_set():
        in_child(works)
    for _ in range(40):
        in_child(begins_anew)
finally:
    over = True
    for thread in threads:
        thread.join()
ok(hip.hipDeviceSynchronize())
"""
    )


@pytest.mark.parametrize("module", ["_enum", "_compiler"])
def test_fork_while_another_thread_imports_our_parts(
    run_python: Run, module: str
) -> None:
    """CPython gives a child the locks of imports that others were in the middle of."""
    run_python(
        f"SLOW = 'hipadapt.{module}'\n"
        + PRELUDE
        + CHILD
        + """
import importlib.machinery
assert SLOW not in sys.modules
midway = threading.Event()

class Late(importlib.machinery.SourceFileLoader):
    def exec_module(self, module):
        midway.set()
        time.sleep(0.5)
        super().exec_module(module)

class Finder:
    @staticmethod
    def find_spec(name, path, target=None):
        found = importlib.machinery.PathFinder.find_spec(name, path)
        if name == SLOW:
            found.loader = Late(name, found.origin)
        return found

sys.meta_path.insert(0, Finder)
first = threading.Thread(target=hip.hipGetDeviceCount)
first.start()
midway.wait()
in_child(lambda: hip.hipGetDeviceCount())
first.join()
"""
    )


@pytest.mark.parametrize("how", ["fork", "spawn"])
def test_multiprocessing_beside_a_live_device(
    run_python: Run, tmp_path: Path, how: str
) -> None:
    """Forked children are told so; those that are started anew have a device."""
    (tmp_path / "work_of_a_child.py").write_text(
        """
from hipadapt import hip

def copy(value):
    status = hip.hipGetDeviceCount()[0]
    if status.name == "hipErrorNotInitialized":
        assert int(hip.hipInit(0)[0]) == 0
    array = hip.hipMalloc(64)[1]
    back = bytearray(64)
    assert int(hip.hipMemset(array, value, 64)[0]) == 0
    assert int(hip.hipMemcpyDtoH(back, array, 64)[0]) == 0
    return status.name, back[63]
"""
    )
    first = {"fork": "hipErrorNotInitialized", "spawn": "hipSuccess"}[how]
    run_python(
        PRELUDE
        + f"""
HOW, FIRST = {how!r}, {first!r}
sys.path.insert(0, {str(tmp_path)!r})
"""
        + """
import multiprocessing
import work_of_a_child
stop = start_endless()
context = multiprocessing.get_context(HOW)
for value in (7, 8):
    with context.Pool(1) as pool:
        assert pool.map(work_of_a_child.copy, [value]) == [(FIRST, value)]
__import__("ctypes").c_int.from_address(int(stop)).value = 1
ok(hip.hipDeviceSynchronize())
"""
    )


# ---- memory ----

STORE = """
kernel, = build(
    'extern "C" __global__ void put(int *p, long long at) { p[at] = 1; }', "put")

def put(array, at):
    ok(hip.hipModuleLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, None, None,
                                 (ctypes.c_void_p(int(array)), ctypes.c_longlong(at))))
    status = hip.hipDeviceSynchronize()[0].name
    if status == "hipSuccess":
        return status, hip.hipFree(array)[0].name
    ok(hip.hipDeviceReset())
    kernel_again()
    return status, ""

def kernel_again():
    global kernel
    kernel, = build(
        'extern "C" __global__ void put(int *p, long long at) { p[at] = 1; }', "put")
"""
FAULT = ("hipErrorIllegalAddress", "")
TOLD = ("hipSuccess", "hipErrorIllegalAddress")  # by hipFree


@pytest.mark.parametrize("executor", ["fast", "reference"])
def test_guarded_memory_fails_at_the_first_bad_access(
    run_python: Run, executor: str
) -> None:
    run_python(
        PRELUDE
        + "import ctypes\n"
        + STORE
        + f"FAULT, TOLD = {FAULT!r}, {TOLD!r}\n"
        + """
N = 1024
for bytes_, at, want in (
    (4 * N, N, FAULT), (4 * N, N + N - 1, FAULT), (4 * N, -1, FAULT),
    (4 * N, N - 1, ("hipSuccess", "hipSuccess")), (4 * N, 0, ("hipSuccess",) * 2),
    (1 << 20, 1 << 18, FAULT), (1 << 20, -1, FAULT),
    (256, 64, FAULT), (256, -1, FAULT), (256, -1024, FAULT),
    (100, 25, FAULT), (100, 64, FAULT),
):
    got = put(ok(hip.hipMalloc(bytes_)), at)
    assert got == want, (bytes_, at, got)
array = ok(hip.hipMalloc(4096))
ok(hip.hipFree(array))
assert put(array, 0) == FAULT  # it was freed
many = [ok(hip.hipMalloc(i)) for i in range(1, 2000)]
for i, array in enumerate(many):
    ok(hip.hipMemset(array, 1, i + 1))
    ok(hip.hipFree(array))
""",
        HIPADAPT_CPU_GUARD="1",
        HIPADAPT_CPU_EXEC=executor,
        HIPADAPT_LOG="0",
    )


def test_write_past_the_end_is_told_when_memory_is_freed(run_python: Run) -> None:
    run_python(
        PRELUDE
        + "import ctypes\n"
        + STORE
        + f"TOLD = {TOLD!r}\n"
        + """
for bytes_ in (100, 4096, 1 << 20):
    assert put(ok(hip.hipMalloc(bytes_)), bytes_ // 4) == TOLD, bytes_
# What is before an allocation is behind another one.
low, high = sorted((ok(hip.hipMalloc(240)) for _ in range(2)), key=int)
assert int(high) - int(low) == 256
assert put(high, -1) == ("hipSuccess", "hipSuccess")
assert hip.hipFree(low)[0].name == "hipErrorIllegalAddress"
""",
        HIPADAPT_LOG="0",
    )


# ---- printf ----


def test_hostile_formats_do_no_harm(run_python: Run, tmp_path: Path) -> None:
    run_python(
        PRELUDE
        + f"PATH = {str(tmp_path / 'out')!r}\n"
        + """
kernel, = build(r'''
extern "C" __global__ void hostile(int *p) {
    const char *bad = (const char *)16;
    long long number = 5;
    printf("%n", p);
    printf("%s\\n", bad);
    printf("%s %s %s %s\\n", "a");
    printf("%999999999d|\\n", 1);
    printf("%.999999999f|\\n", 1.0);
    printf("%hhhhllqz%%%y %\\n", number);
    printf("%*.*s\\n", -2147483647 - 1, 2147483647, "x");
    printf((const char *)p);
    p[1] = 42;
}''', "hostile")
memory = ok(hip.hipMalloc(8))
ok(hip.hipMemset(memory, 0x25, 8))  # "%%%%%%%%", without an end
os.dup2(os.open(PATH, os.O_WRONLY | os.O_CREAT, 0o600), 1)
ok(launch(kernel, extra=(memory,)))
ok(hip.hipDeviceSynchronize())
back = np.zeros(2, np.int32)
ok(hip.hipMemcpyDtoH(back, memory, 8))
assert back.tolist() == [0x25252525, 42], back
"""
    )
    said = (tmp_path / "out").read_bytes()
    assert said.startswith(b"%n(bad address 0x10)\na ")
    assert len(said) < 100_000


def test_flood_of_lines_is_bounded_and_counted(run_python: Run) -> None:
    lines = 1_000_000
    done = run_python(
        PRELUDE
        + """
kernel, = build('''
extern "C" __global__ void flood() {
    for (int i = 0; i < 10; i++)
        printf("%d\\\\n", blockIdx.x * 1000 + threadIdx.x);
}''', "flood")
ok(hip.hipModuleLaunchKernel(kernel, 100, 1, 1, 1000, 1, 1, 0, None, None, ()))
ok(hip.hipDeviceSynchronize())
""",
    )
    seen = re.findall(r"^\d+$", done.stdout, re.M)
    lost = re.findall(r"printf of kernel 'flood': (\d+) calls lost", done.stdout)
    assert len(lost) == 1
    assert len(seen) + int(lost[0]) == lines
    assert len(seen) > 1000


# ---- the end ----


@pytest.mark.parametrize("how", ["sys.exit(3)", "os._exit(3)", "raise SystemExit(3)"])
def test_process_ends_in_the_middle_of_kernels(run_python: Run, how: str) -> None:
    run_python(
        PRELUDE
        + f"""
kernel, = build(ENDLESS, "endless")
stop = ok(hip.hipHostMalloc(4, 0))
ok(hip.hipMemset(stop, 0, 4))
streams = [ok(hip.hipStreamCreate()) for _ in range(6)]
for stream in streams:
    for _ in range(20):
        ok(launch(kernel, stream, (stop,)))
{how}
""",
        status=3,
        HIPADAPT_LOG="0",
    )


def test_process_ends_while_threads_wait(run_python: Run) -> None:
    run_python(
        PRELUDE
        + """
stop = start_endless()
for _ in range(4):
    threading.Thread(target=hip.hipDeviceSynchronize, daemon=True).start()
time.sleep(0.05)
sys.exit(4)
""",
        status=4,
        HIPADAPT_LOG="0",
    )


# ---- limits ----


def test_no_address_space_is_an_error_and_no_crash(run_python: Run) -> None:
    run_python(
        PRELUDE
        + """
import resource
kernel, = build('extern "C" __global__ void one(int *p) { p[threadIdx.x] = 1; }', "one")
stream = ok(hip.hipStreamCreate())
array = ok(hip.hipMalloc(4096))
ok(launch(kernel, stream, (array,)))
ok(hip.hipStreamSynchronize(stream))
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
limit = used + (64 << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, resource.getrlimit(resource.RLIMIT_AS)[1]))
kept, codes = [], set()
for size in (64 << 20, 1 << 20, 65536, 4096):
    for _ in range(400):
        status, memory = hip.hipMalloc(size)
        codes.add(status.name)
        if int(status) != 0:
            break
        kept.append(memory)
assert codes <= {"hipSuccess", "hipErrorOutOfMemory"} and len(codes) == 2, codes
hip.hipGetLastError()
# Without memory calls answer a code; what is there already goes on.
for _ in range(50):
    assert hip.hipStreamCreate()[0].name in ("hipSuccess", "hipErrorOutOfMemory")
ok(launch(kernel, stream, (array,)))
ok(hip.hipStreamSynchronize(stream))
for memory in kept:
    ok(hip.hipFree(memory))
ok(hip.hipFree(ok(hip.hipMalloc(1 << 20))))
back = bytearray(4)
ok(hip.hipMemcpyDtoH(back, array, 4))
assert back == b"\\x01\\0\\0\\0"
""",
        HIPADAPT_LOG="0",
    )


def test_no_file_descriptors_is_an_error_and_no_crash(run_python: Run) -> None:
    run_python(
        PRELUDE
        + """
import resource
SOURCE = 'extern "C" __global__ void one(int *p) { p[threadIdx.x] = 1; }'
kernel, = build(SOURCE, "one")
array = ok(hip.hipMalloc(4096))
program = ok(hiprtc.hiprtcCreateProgram(SOURCE + "//", "k.hip", 0, None, None))
code = bytearray(8192)
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
status = hiprtc.hiprtcCompileProgram(program, 0, [])[0]
assert int(status) != 0, status
assert int(hip.hipModuleLoad(b"/nowhere")[0]) != 0
assert int(hip.hipModuleLoadData(code)[0]) != 0
for _ in range(100):
    ok(launch(kernel, extra=(array,)))
    ok(hip.hipStreamDestroy(ok(hip.hipStreamCreate())))
    ok(hip.hipFree(ok(hip.hipMalloc(1 << 20))))
ok(hip.hipDeviceSynchronize())
resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
ok(hiprtc.hiprtcCompileProgram(program, 0, []))
""",
        HIPADAPT_LOG="0",
        HIPADAPT_CACHE="0",
    )


def test_no_threads_is_slower_and_no_crash(run_python: Run) -> None:
    """Where no worker can be made, threads that wait do the work."""
    run_python(
        PRELUDE
        + """
import resource
kernel, = build(
    'extern "C" __global__ void add(int *p) { p[blockIdx.x * 64 + threadIdx.x] += 1; }',
    "add")
if os.getuid() == 0:  # the limit does not count for root
    os.setresuid(54321, 54321, 54321)
resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
try:
    threading.Thread(target=lambda: None).start()
    print("threads can be made all the same")
except RuntimeError:
    pass
array = ok(hip.hipMalloc(4 * 64 * 64))
ok(hip.hipMemset(array, 0, 4 * 64 * 64))
stream = ok(hip.hipStreamCreate())
for i in range(200):
    ok(hip.hipModuleLaunchKernel(kernel, 64, 1, 1, 64, 1, 1, 0, stream, None, (array,)))
ok(hip.hipStreamSynchronize(stream))
ran = []
ok(hip.hipLaunchHostFunc(stream, lambda data: ran.append(data), None))
ok(hip.hipStreamSynchronize(stream))
assert len(ran) == 1
back = np.zeros(64 * 64, np.int32)
ok(hip.hipMemcpyDtoH(back, array, back.nbytes))
assert (back == 200).all(), back
""",
        HIPADAPT_LOG="0",
    )


def test_many_streams_and_events(run_python: Run) -> None:
    count = 100_000 if SLOW else 10_000
    run_python(
        PRELUDE
        + f"""
COUNT = {count}
"""
        + """
before = len(os.listdir("/proc/self/task"))
streams = [ok(hip.hipStreamCreateWithFlags(1)) for _ in range(COUNT)]
events = [ok(hip.hipEventCreate()) for _ in range(COUNT)]
for stream, event in zip(streams, events):
    ok(hip.hipEventRecord(event, stream))
ok(hip.hipDeviceSynchronize())
assert len(os.listdir("/proc/self/task")) < before + 64
for event in events:
    ok(hip.hipEventQuery(event))
    ok(hip.hipEventDestroy(event))
for stream in streams:
    ok(hip.hipStreamDestroy(stream))
assert hip.hipStreamQuery(streams[0])[0].name == "hipErrorContextIsDestroyed"
"""
    )


# ---- callbacks and signals ----


def test_callbacks_that_call_hip_are_refused(run_python: Run) -> None:
    run_python(
        PRELUDE
        + """
codes = []

def called(*arguments):
    for name, call in {
        "malloc": lambda: hip.hipMalloc(16),
        "free": lambda: hip.hipFree(array),
        "wait": hip.hipDeviceSynchronize,
        "stream": lambda: hip.hipStreamSynchronize(stream),
        "reset": hip.hipDeviceReset,
        "copy": lambda: hip.hipMemcpyDtoH(bytearray(4), array, 4),
        "event": lambda: hip.hipEventSynchronize(event),
    }.items():
        codes.append((name, call()[0].name))

stream = ok(hip.hipStreamCreate())
array = ok(hip.hipMalloc(4096))
event = ok(hip.hipEventCreate())
ok(hip.hipLaunchHostFunc(stream, called, None))
ok(hip.hipStreamAddCallback(stream, called, None, 0))
ok(hip.hipStreamSynchronize(stream))
assert len(codes) == 14, codes
wrong = [pair for pair in codes if pair[1] != "hipErrorIllegalState"]
assert not wrong, wrong
ok(hip.hipFree(array))
"""
    )


def test_storm_of_signals_disturbs_no_copy(run_python: Run) -> None:
    run_python(
        PRELUDE
        + """
count = 0

def counted(number, frame):
    global count
    count += 1

signal.signal(signal.SIGALRM, counted)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
kernel, = build(
    'extern "C" __global__ void twice(int *p, int n) {'
    ' int i = blockIdx.x * 256 + threadIdx.x; if (i < n) p[i] *= 2; }', "twice")
n = 1 << 20
host = np.arange(n, dtype=np.int32)
array = ok(hip.hipMalloc(host.nbytes))
stream = ok(hip.hipStreamCreate())
kind = hip.hipMemcpyKind
end = time.monotonic() + 2
rounds = 0
while time.monotonic() < end:
    back = np.zeros_like(host)
    ok(hip.hipMemcpyAsync(array, host, host.nbytes, kind.hipMemcpyHostToDevice, stream))
    ok(hip.hipModuleLaunchKernel(kernel, n // 256, 1, 1, 256, 1, 1, 0, stream, None,
                                 (array, n)))
    ok(hip.hipMemcpyAsync(back, array, host.nbytes, kind.hipMemcpyDeviceToHost, stream))
    ok(hip.hipStreamSynchronize(stream))
    assert (back == host * 2).all()
    rounds += 1
signal.setitimer(signal.ITIMER_REAL, 0)
assert rounds > 3 and count > 20, (rounds, count)
"""
    )
