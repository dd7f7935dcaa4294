# SPDX-License-Identifier: MIT
"""What ``hipadapt-cc`` does for one command line.

Each source is compiled twice, for the device (device.py) and for the host with the
device code inside (host.py); what comes out is linked with the CPU device's library.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from . import openmp, stop
from .host import Failed, Host
from .job import Job


def note(text: str) -> None:
    """One line for the user that is no warning."""
    print(f"hipadapt-cc: note: {text}", file=sys.stderr)


def passes(compile_one: Callable[[], None]) -> bool:
    """Whether it succeeds; what is wrong is shown."""
    try:
        compile_one()
    except Failed as failure:
        if stop.stopped.is_set():
            raise
        sys.stderr.write(failure.log)
        if not failure.quiet:
            print(f"hipadapt-cc: error: {failure}", file=sys.stderr)
        return False
    return True


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
        if self.job.check:
            self.run_check(sources)
            return
        if self.job.gpus and sources:
            names = ", ".join(dict.fromkeys(self.job.gpus))
            note(f"--offload-arch={names}: compiled for the CPU device instead")
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
                fresh = Path(f"{output}.{os.getpid()}")
                try:
                    fresh.write_bytes(code)
                    fresh.replace(output)
                finally:
                    fresh.unlink(missing_ok=True)

    def run_check(self, sources: list[tuple[str, str]]) -> None:
        """Compiles all for the CPU device and for GPUs; every failure is shown."""
        failed = [
            source
            for number, (source, language) in enumerate(sources)
            for compile_one in self.checks(number, source, language)
            if not passes(compile_one)
        ]
        if failed:
            count = len(set(failed))
            raise Failed(f"--check: {count} of {len(sources)} files do not compile")

    def checks(
        self, number: int, source: str, language: str
    ) -> Iterator[Callable[[], None]]:
        """What --check does with one source; it tells what has compiled."""
        from . import gpu
        from .device import ARCH

        flags, _ = self.device_words()

        def on_cpu() -> None:
            made = str(self.folder / f"host{number}.o")
            self.job.stop = "-c"
            self.compile(number, source, language, made)
            print(f"{source}: compiles for {ARCH if language == 'hip' else 'the host'}")

        def on_gpu(arch: str) -> None:
            gpu.compile_for(arch, self.host, source, flags, self.folder)
            print(f"{source}: compiles for {arch} (not linked, not run)")

        yield on_cpu
        if language == "hip":
            for arch in dict.fromkeys(self.job.gpus or [gpu.DEFAULT]):
                yield partial(on_gpu, arch)

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
