# SPDX-License-Identifier: MIT
"""``hipadapt-cc``: a compiler driver for HIP C++ programs on the CPU device.

In the manner of hipcc: each source is compiled twice, for the device (device.py)
and for the host with the device code inside (host.py), and what comes out is linked
with the CPU device's library.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from . import openmp, stop
from .host import LIBRARY, Failed, Host
from .work_folder import work_folder

USAGE = """\
usage: hipadapt-cc [options] FILE...

Compiles HIP C++ programs for the CPU device of hipadapt, in the manner of hipcc.

  -o FILE           where the result goes (default: a.out, or NAME.o with -c)
  -c, -S, -E        compile only; assembly of the host side; preprocess the host side
  --genco           device code alone, for hipModuleLoad
  -shared, -fPIC    make a shared library
  --emit-static-lib make an archive of the objects
  -fgpu-rdc         link the device code of several files
  -fopenmp          threads of the host, where libomp is installed
  -O0 ... -O3, -g, -std=STD, -D, -U, -I, -isystem, -include, -W..., -f..., -m...
  -L, -l, -Wl,...   for the linker
  -x LANGUAGE       hip, c++ or c, for the files that follow
  -stdlib=LIBRARY   libstdc++ (default where g++ is installed) or libc++
  -parallel-jobs=N  compile N files at a time
  -v, -###          show the commands; show them and do nothing
"""

HIP_SUFFIXES = (".hip", ".cu", ".cpp", ".cc", ".cxx", ".c++", ".C")
LANGUAGES = ("hip", "c++", "c", "none")
# Options of AMD's compiler that hold here anyway, or mean nothing here.
QUIET = {
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
    "--cuda-host-only": "both sides are always compiled",
    "--offload-host-only": "both sides are always compiled",
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


def check_arch(name: str) -> None:
    """Only the device's own architecture can be compiled for."""
    from .device import ARCH

    if name not in (ARCH, ARCH.split(":")[0], "native", "generic"):
        raise Failed(
            f"--offload-arch={name}: programs are made for the CPU device ({ARCH}) "
            f"only; `python -m hipadapt compile --arch {name}` makes AMD code objects"
        )


def take_simple(job: Job, word: str) -> bool:
    """Options that stand alone."""
    if word in ("-c", "-S", "-E"):
        job.stop = word
    elif word in ("--genco", "--cuda-device-only", "--offload-device-only"):
        job.genco = True
    elif word == "--emit-static-lib":
        job.archive = True
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
            check_arch(next(words, ""))
            return True
        if word.startswith(option + "="):
            for name in word[len(option) + 1 :].split(","):
                check_arch(name)
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
    return job


class Build:
    """The work of one job, with its temporary folder."""

    def __init__(self, job: Job, folder: Path) -> None:
        self.job = job
        self.folder = folder
        self.host = Host.choose(job.stdlib)
        self.host.verbose = job.verbose
        self.host.dry = job.dry
        if openmp.wanted(job.host):
            self.use_openmp()

    def use_openmp(self) -> None:
        """Applies -fopenmp as far as this machine can."""
        job = self.job
        found = openmp.find(job.link)
        if not found.threads:
            job.host = [flag for flag in job.host if flag not in openmp.ON]
        if found.folder is not None:
            self.host.more_folders.append(found.folder)
        job.link += found.link

    def device_words(self) -> tuple[list[str], list[str]]:
        """Flags of the device pass, for its preprocessor and for its compiler."""
        standard = self.job.standard or "-std=gnu++17"
        flags = [*self.job.preprocessor, standard]
        flags += ["-fno-signed-char"] if "-funsigned-char" in self.job.host else []
        flags += ["-D__HA_GENCO__=1"] if self.job.genco else []
        flags += ["-O2"] if self.job.level != "-O0" else []
        options = [standard, self.job.level, *self.job.device]
        # The host pass warns about the same text.
        return [*flags, "-w"], [*options, "-w"]

    def device_code(self, source: str) -> bytes:
        """The fat binary of a source."""
        from . import device

        return device.fat_binary(self.host, source, *self.device_words())

    def device_inside(self, number: int, source: str) -> list[str]:
        """The device pass for an object; what the host pass must know about it."""
        from . import device, rdc

        path = self.folder / f"device{number}"
        pass_words = self.device_words()
        try:
            if self.job.relocatable:
                code, mark = device.bitcode(self.host, source, *pass_words)
                data = rdc.pack(code)
                front = ["-fgpu-rdc", f"-fembed-offload-object={path}"]
                words = [f"-cuid={mark}"]
            else:
                data = device.fat_binary(self.host, source, *pass_words)
                front = ["-fcuda-include-gpubinary", str(path)]
                words = []
        except Failed as failure:
            # A source without HIP may use names that HIP's headers define.
            if failure.log and not device.names_hip(self.host, source, pass_words[0]):
                return []
            raise
        if not self.job.dry:
            path.write_bytes(data)
        words += ["-include", "hipadapt/std_first.h"]
        return [*words, *(word for flag in front for word in ("-Xclang", flag))]

    def compile(self, number: int, source: str, language: str, output: str) -> None:
        """Compiles one source to what `stop` says, or to an object."""
        job = self.job
        inside = []
        if language == "hip" and job.stop in ("", "-c", "-S"):
            inside = self.device_inside(number, source)
        flags = [job.stop or "-c", job.level]
        flags += [*job.preprocessor, *job.host]
        if job.standard and (language != "c" or "++" not in job.standard):
            flags.append(job.standard)
        elif language != "c":
            flags.append("-std=gnu++17")
        if output:
            flags += ["-o", output]
        self.host.compile(source, language, flags, inside)

    def run(self) -> None:
        """Does all of the job."""
        sources = [pair for pair in self.job.inputs if pair[1] != "object"]
        if self.job.genco:
            self.run_genco(sources)
        elif self.job.stop:
            self.run_compile(sources)
        else:
            self.run_link(sources)

    def one_output(self, sources: list[tuple[str, str]]) -> None:
        """Refuses several sources where -o names one file."""
        if self.job.output and len(sources) > 1:
            raise Failed("-o with several files needs linking: no -c, -S or --genco")

    def run_genco(self, sources: list[tuple[str, str]]) -> None:
        self.one_output(sources)
        for source, _ in sources:
            code = self.device_code(source)
            output = self.job.output or os.path.splitext(source)[0] + ".hsaco"
            if not self.job.dry:
                Path(output).write_bytes(code)

    def run_compile(self, sources: list[tuple[str, str]]) -> None:
        self.one_output(sources)
        suffix = {"-c": ".o", "-S": ".s", "-E": ""}[self.job.stop]

        def place(source: str) -> str:
            stem = os.path.splitext(os.path.basename(source))[0]
            return self.job.output or (stem + suffix if suffix else "")

        self.compile_all(sources, [place(source) for source, _ in sources])

    def run_link(self, sources: list[tuple[str, str]]) -> None:
        made = [str(self.folder / f"host{i}.o") for i in range(len(sources))]
        self.compile_all(sources, made)
        left = iter(made)
        objects = [
            name if language == "object" else next(left)
            for name, language in self.job.inputs
        ]
        output = self.job.output or "a.out"
        if self.job.archive:
            self.host.archive(objects, output)
            return
        if not self.job.dry:
            from . import rdc

            objects += rdc.link(
                self.host, objects, self.job.link, self.job.level, self.folder
            )
        self.host.link(objects, [*self.job.link, "-o", output])

    def compile_all(self, sources: list[tuple[str, str]], outputs: list[str]) -> None:
        """Compiles all sources, several at a time if asked for."""
        if len(sources) == 1:
            self.compile(0, *sources[0], outputs[0])
            return
        # Takes as long to import as a process takes to start.
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(self.job.jobs) as pool:
            done = [
                pool.submit(self.compile, number, *pair, output)
                for number, (pair, output) in enumerate(
                    zip(sources, outputs, strict=True)
                )
            ]
            for one in done:
                one.result()


def answer(arguments: Sequence[str]) -> bool:
    """Questions about the compiler itself; True if it was one."""
    if "--help" in arguments or "-h" in arguments:
        print(USAGE, end="")
        return True
    if "--version" in arguments:
        from .. import __version__

        print(f"hipadapt-cc {__version__} (clang of {Host.choose(None).zig})")
        return True
    return False


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; its exit status is the result."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    stop.watch()
    status = 0
    try:
        if answer(words):
            return 0
        job = parse(words)
        with work_folder() as folder:
            Build(job, folder).run()
    except Failed as failure:
        if not stop.stopped.is_set():
            sys.stderr.write(failure.log)
            if not failure.quiet:
                print(f"hipadapt-cc: error: {failure}", file=sys.stderr)
        status = 1
    if stop.stopped.is_set():
        stop.die()
    return status


if __name__ == "__main__":
    sys.exit(main())
