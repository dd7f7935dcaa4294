# SPDX-License-Identifier: MIT
"""The command line of ``hipadapt-cc``: what its options ask for."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .code_object import is_amd
from .host import LIBRARY, Failed

HIP_SUFFIXES = (".hip", ".cu", ".cpp", ".cc", ".cxx", ".c++", ".C")
LANGUAGES = ("hip", "c++", "c", "none")
# Options of AMD's compiler that hold here anyway, or mean nothing here.
QUIET = {
    "--cuda-host-only",  # there is nothing that the device's code could disturb
    "--offload-host-only",
    "-nogpulib",
    "-nogpuinc",
    "--hip-link",
    "-fhip-new-launch-api",
    "-fhip-kernel-arg-name",
    "-munsafe-fp-atomics",
    "-mno-unsafe-fp-atomics",
    "-mcumode",
    "-mno-cumode",
    "--offload-compress",
    "--no-offload-compress",
    "-no-hip-rt",
    "--offload-new-driver",
    "--no-offload-new-driver",
}
QUIET_VALUED = (
    "--rocm-path=",
    "--hip-path=",
    "--hip-version=",
    "--hip-device-lib-path=",
    "--rocm-device-lib-path=",
    "-mcode-object-version=",
    "--gpu-max-threads-per-block=",
    "-fgpu-default-stream=legacy",
)
REFUSED = {
    "-static": "the CPU device is a shared library",
    "-fgpu-default-stream=per-thread": "name the stream: hipStreamPerThread",
    "-": "standard input is not read",
}
# Options that change device code too: those that the device's compiler takes.
DEVICE_FLAGS = (
    "-ffast-math",
    "-fno-fast-math",
    "-funsafe-math-optimizations",
    "-fno-unsafe-math-optimizations",
    "-ffinite-math-only",
    "-fno-finite-math-only",
    "-fno-honor-nans",
    "-fno-honor-infinities",
    "-fno-signed-zeros",
    "-fassociative-math",
    "-freciprocal-math",
    "-fapprox-func",
    "-fwrapv",
    "-fno-strict-aliasing",
    "-funsigned-char",
)
DEVICE_VALUED = (
    "-ffp-contract=",
    "-ftemplate-depth=",
    "-fconstexpr-depth=",
    "-fconstexpr-steps=",
    "-fbracket-depth=",
)
# How other options begin that go to the host's compiler unchanged.
CODE_FLAGS = ("-f", "-m", "-W", "-g", "-M", "-w", "-pedantic", "-save-temps", "--")
PREPROCESSOR = ("-D", "-U", "-I", "-isystem", "-include", "-iquote", "-idirafter")
LINKER_VALUED = ("-L", "-l", "-Xlinker", "-T", "-z", "-u")
LINKER = ("-shared", "-rdynamic", "-pie", "-no-pie", "-static-libgcc", "-s")
HOST_VALUED = ("-Xclang", "-mllvm", "-MF", "-MT", "-MQ")
OWN_LIBRARIES = ("amdhip64", "hiprtc", "hipadapt_cpu")
# Libraries beside ours; one file has the functions of both roctx libraries.
OTHER_LIBRARIES = {
    "roctx64": "libroctx64.so.4",
    "rocprofiler-sdk-roctx": "libroctx64.so.4",
    "rocprofiler-sdk": "librocprofiler-sdk.so.1",
    "hipadapt_tool": "libhipadapt_tool.so",
}


@dataclass
class Job:
    """What the command line asks for."""

    inputs: list[tuple[str, str]] = field(default_factory=list)  # file, language
    output: str | None = None
    stop: str = ""  # -c, -S, -E, or "" for linking
    genco: bool = False
    archive: bool = False
    relocatable: bool = False  # device code of several files is linked
    check: bool = False  # nothing is kept of what is compiled
    gpus: list[str] = field(default_factory=list)  # AMD's, of --offload-arch
    jobs: int = 1
    level: str = "-O3"
    standard: str | None = None
    stdlib: str | None = None
    verbose: bool = False
    dry: bool = False
    preprocessor: list[str] = field(default_factory=list)
    host: list[str] = field(default_factory=list)
    device: list[str] = field(default_factory=list)
    link: list[str] = field(default_factory=list)


class Words:
    """The command line, word by word, with response files read."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self.words: list[str] = []
        self.at = 0
        for word in arguments:
            if word.startswith("@") and os.path.isfile(word[1:]):
                self.words += shlex.split(Path(word[1:]).read_text())
            else:
                self.words.append(word)

    def __iter__(self) -> Words:
        return self

    def __next__(self) -> str:
        if self.at >= len(self.words):
            raise StopIteration
        self.at += 1
        return self.words[self.at - 1]

    def value(self, word: str, option: str) -> str:
        """The value of an option: the rest of its word, or the next word."""
        if len(word) > len(option):
            return word[len(option) :]
        if self.at >= len(self.words):
            raise Failed(f"{option}: a value is missing")
        return next(self)


def language_of(name: str, chosen: str) -> str:
    """hip, c++, c, or "object" for what the linker takes."""
    if chosen not in ("", "none"):
        return chosen
    suffix = os.path.splitext(name)[1]
    if suffix in HIP_SUFFIXES:
        return "hip"
    if suffix == ".c":
        return "c"
    if suffix in (".o", ".obj", ".a", ".so", ".lo") or ".so." in os.path.basename(name):
        return "object"
    raise Failed(f"{name}: not a source file or an object; -x hip says that it is HIP")


def take_arch(job: Job, name: str) -> None:
    """An architecture: the device's own, or that of an AMD GPU."""
    from .device import ARCH

    if name in (ARCH, ARCH.split(":")[0], "native", "generic"):
        return
    if not is_amd(name):
        raise Failed(f"--offload-arch={name}: neither {ARCH} nor an AMD GPU (gfx942)")
    job.gpus.append(name)


def take_simple(job: Job, word: str) -> bool:
    """Options that stand alone."""
    if word in ("-c", "-S", "-E"):
        job.stop = word
    elif word in ("--genco", "--cuda-device-only", "--offload-device-only"):
        job.genco = True
    elif word == "--emit-static-lib":
        job.archive = True
    elif word == "--check":
        job.check = True
    elif word in ("-fgpu-rdc", "-fno-gpu-rdc"):
        job.relocatable = word == "-fgpu-rdc"
    elif word == "-v":
        job.verbose = True
    elif word == "-###":
        job.dry = True
    elif word in QUIET or word.startswith(QUIET_VALUED):
        pass
    elif word in REFUSED:
        raise Failed(f"{word}: not supported: {REFUSED[word]}")
    elif word.startswith("-O"):
        job.level = word
    elif word.startswith(("-std=", "--std=")):
        job.standard = "-std=" + word.split("=", 1)[1]
    elif word.startswith("-stdlib="):
        job.stdlib = word.split("=", 1)[1]
    elif word.startswith("-parallel-jobs="):
        job.jobs = positive(word)
    elif word in LINKER or word.startswith("-Wl,"):
        job.link.append(word)
    elif word == "-pthread":
        job.host.append(word)
        job.link.append(word)
    else:
        return False
    return True


def positive(word: str) -> int:
    """The number after `=`."""
    text = word.split("=", 1)[1]
    if not text.isdigit() or int(text) == 0:
        raise Failed(f"{word}: needs a whole number above 0")
    return int(text)


def take_valued(job: Job, word: str, words: Words) -> bool:
    """Options with a value in the same word or the next one."""
    for option in ("--offload-arch", "--cuda-gpu-arch", "--amdgpu-target"):
        if word == option:
            take_arch(job, next(words, ""))
            return True
        if word.startswith(option + "="):
            for name in word[len(option) + 1 :].split(","):
                take_arch(job, name)
            return True
    if word.startswith("-o"):
        job.output = words.value(word, "-o")
        return True
    if word == "-Xarch_host":
        job.host.append(words.value(word, word))
        return True
    if word == "-Xarch_device":
        take_flag(job, words.value(word, word), device_only=True)
        return True
    for option in PREPROCESSOR:
        if word.startswith(option):
            job.preprocessor += [option, words.value(word, option)]
            return True
    for option in HOST_VALUED:
        if word == option:
            job.host += [option, words.value(word, option)]
            return True
    for option in LINKER_VALUED:
        if word == option or (option in ("-L", "-l") and word.startswith(option)):
            value = words.value(word, option)
            if option == "-l" and value in OTHER_LIBRARIES:
                job.link.append(str(LIBRARY.parent / OTHER_LIBRARIES[value]))
            elif option != "-l" or value not in OWN_LIBRARIES:
                joined = option in ("-L", "-l")
                job.link += [option + value] if joined else [option, value]
            return True
    return False


def take_flag(job: Job, word: str, device_only: bool = False) -> None:
    """Flags of code generation and warnings."""
    on_device = word in DEVICE_FLAGS or word.startswith(DEVICE_VALUED)
    if on_device:
        job.device.append(word)
    elif device_only:
        raise Failed(f"-Xarch_device {word}: not an option of the device's compiler")
    if not device_only:
        if not word.startswith(CODE_FLAGS):
            raise Failed(f"unknown option: {word}")
        job.host.append(word)
        if word.startswith("-fsanitize"):
            job.link.append(word)


def parse(arguments: Sequence[str]) -> Job:
    """The command line as a job."""
    job = Job()
    words = Words(arguments)
    language = ""
    for word in words:
        if word == "-" or not word.startswith("-"):
            if word in REFUSED:
                raise Failed(f"{word}: not supported: {REFUSED[word]}")
            job.inputs.append((word, language_of(word, language)))
        elif word.startswith("-x"):
            language = words.value(word, "-x")
            if language not in LANGUAGES:
                raise Failed(f"-x {language}: must be one of {', '.join(LANGUAGES)}")
        elif not take_simple(job, word) and not take_valued(job, word, words):
            take_flag(job, word)
    if not job.inputs:
        raise Failed("no input files")
    for name, _ in job.inputs:
        if not os.path.exists(name):
            raise Failed(f"{name}: no such file")
    if job.check and (job.output or job.stop or job.genco or job.archive):
        raise Failed("--check keeps nothing: leave out -o, -c, -S, -E and --genco")
    return job
