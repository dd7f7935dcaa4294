# SPDX-License-Identifier: MIT
"""libkineto's configuration text: random ones, against its rules written once more."""

from __future__ import annotations

import random
import subprocess
import time
from pathlib import Path

from tests.c import run

TEXTS = 20_000
INT_MAX = 2**31 - 1
BOOLS = {"n": 0, "y": 1, "no": 0, "yes": 1, "f": 0, "t": 1, "false": 0, "true": 1}
BOOLS |= {"0": 0, "1": 1}
ACTIVITIES = {
    "cpu_op": 0,
    "user_annotation": 1,
    "gpu_user_annotation": 2,
    "gpu_memcpy": 3,
    "gpu_memset": 4,
    "kernel": 5,
    "external_correlation": 6,
    "cuda_runtime": 7,
    "overhead": 10,
    "cuda_sync": 11,
}
SPACES = " \t\n"
DEFAULTS: dict[str, int | str] = {
    "enabled": 1,
    "activities": 0xFFF,
    "duration_ms": 500,
    "warmup_ms": 5000,
    "iterations": 0,
    "warmup_iterations": 0,
    "start_iteration": -1,
    "roundup": -1,
    "buffer_mb": 0,
    "max_events": 0,
    "poll_ms": 5000,
    "sync_wait_events": 1,
    "input_shapes": 0,
    "memory": 0,
    "with_stack": 0,
    "with_flops": 0,
    "with_modules": 0,
    "verbose": 0,
    "log_file": "/tmp/libkineto_activities.json",
    "trace_id": "",
    "group": "",
}
KEYS = {
    "ACTIVITIES_ENABLED": ("bool", "enabled"),
    "ACTIVITY_TYPES": ("activities", "activities"),
    "ACTIVITIES_LOG_FILE": ("text", "log_file"),
    "ACTIVITIES_DURATION_SECS": ("seconds", "duration_ms"),
    "ACTIVITIES_DURATION_MSECS": ("int", "duration_ms"),
    "ACTIVITIES_WARMUP_PERIOD_SECS": ("seconds", "warmup_ms"),
    "ACTIVITIES_ITERATIONS": ("int", "iterations"),
    "ACTIVITIES_WARMUP_ITERATIONS": ("int", "warmup_iterations"),
    "PROFILE_START_ITERATION": ("int", "start_iteration"),
    "PROFILE_START_ITERATION_ROUNDUP": ("roundup", "roundup"),
    "PROFILE_START_TIME": ("time", ""),
    "ACTIVITIES_MAX_GPU_BUFFER_SIZE_MB": ("int", "buffer_mb"),
    "ACTIVITIES_DISPLAY_CUDA_SYNC_WAIT_EVENTS": ("bool", "sync_wait_events"),
    "ROCTRACER_MAX_EVENTS": ("int", "max_events"),
    "PROFILE_REPORT_INPUT_SHAPES": ("bool", "input_shapes"),
    "PROFILE_PROFILE_MEMORY": ("bool", "memory"),
    "PROFILE_WITH_STACK": ("bool", "with_stack"),
    "PYTHON_STACK_TRACE": ("bool", "with_stack"),
    "PROFILE_WITH_FLOPS": ("bool", "with_flops"),
    "PROFILE_WITH_MODULES": ("bool", "with_modules"),
    "REQUEST_TRACE_ID": ("text", "trace_id"),
    "REQUEST_GROUP_TRACE_ID": ("text", "group"),
    "ON_DEMAND_CONFIG_UPDATE_INTERVAL_SECS": ("seconds", "poll_ms"),
    "VERBOSE_LOG_LEVEL": ("int", "verbose"),
    "NO_SUCH_KEY": ("none", ""),
}


class BadValueError(Exception):
    pass


def number(text: str, most: int = INT_MAX) -> int:
    digits = text[1:] if text[:1] == "+" else text
    if not (digits.isascii() and digits.isdigit()) or int(digits) > most:
        raise BadValueError(text)
    return int(digits)


def value_of(kind: str, text: str) -> int | str:
    if kind == "bool":
        if text.lower() not in BOOLS:
            raise BadValueError(text)
        return BOOLS[text.lower()]
    if kind == "activities":
        names = [name.strip(SPACES).lower() for name in text.split(",")]
        if any(name not in ACTIVITIES for name in names):
            raise BadValueError(text)
        return sum(1 << bit for bit in {ACTIVITIES[name] for name in names})
    if kind == "text":
        return text
    return number(text) * (1000 if kind == "seconds" else 1)


def apply(config: dict[str, int | str], key: str, text: str) -> None:
    kind, field = KEYS.get(key, ("none", ""))
    if kind == "none":
        return
    if kind == "time":
        ms = number(text, 2**63 - 1)
        if ms != 0 and ms < (time.time() - 10) * 1000:
            raise BadValueError(text)
    elif kind == "roundup":
        value = number(text)
        config[field] = value if value > 0 else -1
        if value > 0:
            config["start_iteration"] = 0
    else:
        config[field] = value_of(kind, text)


def oracle(text: str) -> str:
    config = dict(DEFAULTS)
    good = 1
    try:
        for line in text.split("\n"):
            words = line.split("#")[0].strip(SPACES)
            if not words:
                continue
            if words.count("=") != 1:
                raise BadValueError(line)
            key, value = words.split("=")
            apply(config, key.strip(SPACES), value.strip(SPACES))
    except BadValueError:
        good = 0
    fields = list(config.values())
    return f"{good} {' '.join(map(str, fields[:-3]))} {'|'.join(map(str, fields[-3:]))}"


def random_value(chance: random.Random) -> str:
    kind = chance.randrange(6)
    if kind == 0:
        return chance.choice([*BOOLS, "Yes", "TRUE", "on", "2"])
    if kind == 1:
        return str(chance.choice([0, 1, 7, 300, INT_MAX, INT_MAX + 1, -1, 10**30]))
    if kind == 2:
        names = [*ACTIVITIES, "KERNEL", "x", " kernel", ""]
        return ",".join(chance.choices(names, k=chance.randrange(1, 4)))
    if kind == 3:
        return chance.choice(
            ["", " ", "a b", "/tmp/x.json", "a=b", "1.5", "0x10", "1 "]
        )
    return "".join(chance.choices(" \t=#,azAZ09_-./\r\x7f\x01", k=chance.randrange(8)))


def random_text(chance: random.Random) -> str:
    lines = []
    for _ in range(chance.randrange(5)):
        key = chance.choice([*KEYS, "", "activities_enabled", " # "])
        spaces = ["", " ", "\t", "  "]
        equals = chance.choice(["="] * 20 + ["", "=="])
        lines.append(
            chance.choice(spaces)
            + key
            + chance.choice(spaces)
            + equals
            + random_value(chance)
            + chance.choice(["", "", " # more", "#=", "\n"])
        )
    return "\n".join(lines)


def test_random_texts_mean_what_the_rules_say(tmp_path: Path) -> None:
    # Given: texts of all sorts, most of them nearly right.
    chance = random.Random(13)
    texts = [random_text(chance) for _ in range(TEXTS)]
    file = tmp_path / "texts"
    file.write_bytes(b"".join(text.encode() + b"\0" for text in texts))

    # When
    program = run.build(run.HERE / "tool" / "test_config.c")
    done = subprocess.run(
        [program, file],
        env={"HIPADAPT_LOG": "0"},
        capture_output=True,
        check=True,
    )

    # Then
    told = done.stdout.decode().split("\n")[:-1]  # as it came, with \r
    assert len(told) == TEXTS
    for text, line in zip(texts, told, strict=True):
        assert line == oracle(text), text
    assert 0.2 < sum(line[0] == "1" for line in told) / TEXTS < 0.8
