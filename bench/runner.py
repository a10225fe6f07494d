"""Runs suites, each in a process of its own: one that fails or hangs does not end the others."""

import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from bench import suites
from bench.machine import ROOT, read_load
from bench.rounds import Suite, run_suite
from bench.suite_records import RunCircumstances, SuiteRecord, build_record
from bench.versions import describe_versions
from nimbill.foundation import clock

SET_UP_SECONDS_MAX = 600
END_SECONDS_MAX = 60


class RunOptions(NamedTuple):
    """What the user asked for; None means what the suite proposes."""

    rounds: int | None
    lines: int | None
    minutes: float | None

    def list_arguments(self) -> list[str]:
        given = {"rounds": self.rounds, "lines": self.lines, "minutes": self.minutes}
        return [
            part
            for name, value in given.items()
            if value is not None
            for part in (f"--{name}", f"{value:g}" if name == "minutes" else str(value))
        ]


def load_suite(name: str, options: RunOptions) -> Suite:
    suite = suites.load_suite(name)
    if options.lines and suite.with_lines:
        return suite.with_lines(options.lines)
    return suite


def measure_suite(name: str, options: RunOptions, *, commit: str) -> SuiteRecord:
    """Measure in this process."""
    started, load = time.monotonic(), read_load()
    suite = load_suite(name, options)
    with suite.contenders() as contenders:
        print_progress(f"{name}: prepared in {time.monotonic() - started:.0f} s")
        run = run_suite(
            suite,
            contenders,
            rounds=options.rounds or suite.rounds,
            seconds_max=60 * (options.minutes or suite.minutes),
            print_progress=print_progress,
        )
    arguments = " ".join([name, *options.list_arguments()])
    circumstances = RunCircumstances(
        commit=commit,
        load=load,
        command=f'make bench ARGS="{arguments}"' if " " in arguments else f"make bench ARGS={name}",
        seconds=time.monotonic() - started,
        versions=describe_versions(),
    )
    return build_record(suite, contenders, run, circumstances)


def run_in_own_process(name: str, options: RunOptions, *, commit: str, result: Path) -> str | None:
    """Let another process write the record to `result`; return what went wrong, if anything."""
    try:
        minutes = options.minutes or load_suite(name, options).minutes
    except ImportError as error:
        return f"cannot be loaded: {error}"
    command = [sys.executable, "-m", "bench", name, *options.list_arguments()]
    process = subprocess.Popen([*command, "--commit", commit, "--result", str(result)], cwd=ROOT)
    return wait_for(process, seconds_max=2 * 60 * minutes + SET_UP_SECONDS_MAX)


def wait_for(process: subprocess.Popen[bytes], *, seconds_max: float) -> str | None:
    """Wait for a process, or end it; return what went wrong, if anything."""
    try:
        code = process.wait(seconds_max)
    except subprocess.TimeoutExpired:
        return f"not finished after {seconds_max:g} s"
    finally:
        _end(process)
    return f"ended with code {code}" if code else None


def _end(process: subprocess.Popen[bytes]) -> None:
    """Let the process stop its servers first."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(END_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def exit_on_termination() -> None:
    """Leave all blocks when the process is terminated, so that servers are stopped."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))


def print_progress(text: str) -> None:
    print(f"{clock.now():%H:%M:%S} {text}", file=sys.stderr, flush=True)


def summarize(failures: Sequence[str]) -> str:
    return "\n".join(["These suites failed; their records are the previous ones:", *failures])
